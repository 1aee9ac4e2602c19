/** The change that a hunk makes, whichever note it is in. Equal changes are decided together. */
import type { DiffLineKind, NoteHunk } from '../../ipc/bindings';
import { type Replacement, replacementOf } from './same-replacement';

export type EqualChange =
  /** Text or a link gives way to another, inside of lines. */
  | { readonly type: 'swap'; readonly old: string; readonly new: string }
  /** A property gets this value, whatever it was before. */
  | { readonly type: 'property'; readonly name: string; readonly value: string }
  /** Values come to the list of a property, or leave it. */
  | ({ readonly type: 'values'; readonly name: string } & Exchanged)
  /** Whole lines. */
  | ({ readonly type: 'lines'; readonly properties: boolean } & Exchanged);

interface Exchanged {
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

/** A change, and how often the hunk makes it. */
interface EqualChangeMatch {
  readonly change: EqualChange;
  readonly times: number;
}

/** `null` where a hunk changes nothing but blanks. */
export function equalChange(hunk: NoteHunk): EqualChangeMatch | null {
  const property = propertyChange(hunk);
  if (property) return { change: property, times: 1 };
  const swap = replacementOf(hunk);
  if (swap) return { change: swapped(swap), times: swap.times };
  const lines = exchanged(hunk);
  if (lines.added.length + lines.removed.length === 0) return null;
  return { change: { type: 'lines', properties: hunk.properties, ...lines }, times: 1 };
}

function swapped({ old, new: now }: Replacement): EqualChange {
  return { type: 'swap', old, new: now };
}

/** Of one property, on one line. A link that is renamed there is the same as anywhere else. */
function propertyChange(hunk: NoteHunk): EqualChange | null {
  const [before, ...more] = linesOf(hunk, 'removed').map(asProperty);
  const [after, ...others] = linesOf(hunk, 'added').map(asProperty);
  if (!hunk.properties || more.length + others.length > 0) return null;
  if (!before || !after || before.name !== after.name) return null;
  if (/\[\[/.test(before.value + after.value)) return null;
  const { name, value } = after;
  const [old, now] = [asList(before.value), asList(value)];
  if (!old || !now) return value === '' ? null : { type: 'property', name, value };
  const added = now.filter((one) => !old.includes(one));
  const removed = old.filter((one) => !now.includes(one));
  return added.length + removed.length > 0 ? { type: 'values', name, added, removed } : null;
}

function asProperty(line: string): { name: string; value: string } | null {
  const [, name, value] = /^([^\s:#-][^:]*):(?:\s+(.*?))?\s*$/.exec(line) ?? [];
  return name === undefined ? null : { name, value: value ?? '' };
}

/** The values of a list that is written in one line. */
function asList(value: string): string[] | null {
  const inside = /^\[(.*)\]$/.exec(value)?.[1];
  return (
    inside
      ?.split(',')
      .map((one) => one.trim())
      .filter((one) => one !== '') ?? null
  );
}

/** Without lines that only moved on, blank lines around, and the marks around new properties. */
function exchanged(hunk: NoteHunk): Exchanged {
  const [removed, added] = [linesOf(hunk, 'removed'), linesOf(hunk, 'added')];
  while (removed.length > 0 && removed[0] === added[0]) {
    removed.shift();
    added.shift();
  }
  while (removed.length > 0 && removed.at(-1) === added.at(-1)) {
    removed.pop();
    added.pop();
  }
  const isAside = (line: string): boolean => {
    return line.trim() === '' || (hunk.properties && line.trim() === '---');
  };
  return { added: trimmed(added, isAside), removed: trimmed(removed, isAside) };
}

function trimmed(lines: readonly string[], isAside: (line: string) => boolean): string[] {
  const first = lines.findIndex((line) => !isAside(line));
  return first < 0 ? [] : lines.slice(first, lines.findLastIndex((line) => !isAside(line)) + 1);
}

function linesOf({ lines }: NoteHunk, wanted: DiffLineKind): string[] {
  return lines
    .filter(({ sign }) => sign === wanted)
    .map(({ words }) => words.map(({ text }) => text).join(''));
}
