/** The two sides of a hunk: its changed lines, and the lines around them that are in sight. */
import type { DiffLine, NoteHunk } from '../../ipc/bindings';
import { isFence } from './property-lines';

/** The lines as they were, or as they shall be. */
export interface HunkSide {
  readonly above: readonly string[];
  readonly changed: readonly string[];
  readonly below: readonly string[];
}

export interface HunkSides {
  readonly old: HunkSide;
  readonly now: HunkSide;
}

/** Lines that only moved on, blank lines around, and the marks around new properties do not count as changed. The lines
 * of the hunk before it count as above where they reach this far. */
export function sidesOf(hunk: NoteHunk, before?: NoteHunk): HunkSides {
  const { lines, properties } = hunk;
  const above = lines.slice(0, lines.findIndex(isChanged)).map(text);
  const below = lines.slice(lines.findLastIndex(isChanged) + 1).map(text);
  const [old, now] = [linesOf(lines, 'removed'), linesOf(lines, 'added')];
  while (old[0] !== undefined && old[0] === now[0]) {
    above.push(old[0]);
    old.shift();
    now.shift();
  }
  for (let end = old.at(-1); end !== undefined && end === now.at(-1); end = old.at(-1)) {
    below.unshift(end);
    old.pop();
    now.pop();
  }
  const isAside = (line: string): boolean => line.trim() === '' || (properties && isFence(line));
  const side = (sign: 'removed' | 'added', changed: readonly string[]): HunkSide => {
    const earlier = before && reaches(before, hunk) ? sideOf(before, sign) : [];
    return trimmed({ above: [...earlier, ...above], changed, below }, isAside);
  };
  return { old: side('removed', old), now: side('added', now) };
}

function trimmed(
  { above, changed, below }: HunkSide,
  isAside: (line: string) => boolean,
): HunkSide {
  const counts = (line: string): boolean => !isAside(line);
  const from = changed.some(counts) ? changed.findIndex(counts) : changed.length;
  const to = changed.findLastIndex(counts) + 1 || changed.length;
  return {
    above: [...above, ...changed.slice(0, from)],
    changed: changed.slice(from, to),
    below: [...changed.slice(to), ...below],
  };
}

/** Whether the lines of a hunk end where those of the next one begin. */
function reaches(before: NoteHunk, { oldStart }: NoteHunk): boolean {
  return before.oldStart + sideOf(before, 'removed').length === oldStart;
}

function sideOf({ lines }: NoteHunk, changed: 'removed' | 'added'): string[] {
  return lines.filter(({ sign }) => sign === 'same' || sign === changed).map(text);
}

function linesOf(lines: readonly DiffLine[], wanted: 'removed' | 'added'): string[] {
  return lines.filter(({ sign }) => sign === wanted).map(text);
}

function isChanged({ sign }: DiffLine): boolean {
  return sign !== 'same';
}

function text({ words }: DiffLine): string {
  return words.map((word) => word.text).join('');
}
