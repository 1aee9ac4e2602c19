/** The change that a hunk makes, whichever note it is in. Equal changes are decided together. */
import type { NoteHunk } from '../../ipc/bindings';
import { type HunkSide, type HunkSides, sidesOf } from './hunk-sides';
import { type Exchanged, listChange } from './list-change';
import { asItem, asProperty, flowValues, isRemark } from './property-lines';
import { type Replacement, replacementOf } from './same-replacement';

export type EqualChange =
  /** Text or a link gives way to another, inside of lines. */
  | { readonly type: 'swap'; readonly old: string; readonly new: string }
  /** A property gets this value, whatever it was before. */
  | { readonly type: 'property'; readonly name: string; readonly value: string }
  /** Values come to the list of a property, or leave it. */
  | ({ readonly type: 'values'; readonly name: string } & Exchanged)
  /** Whole lines. */
  | ({
      readonly type: 'lines';
      readonly properties: boolean;
      /** Among the properties the lines that they stand under, as far as these are in sight. */
      readonly under: readonly string[];
    } & Exchanged);

/** A change, and how often the hunk makes it. */
interface EqualChangeMatch {
  readonly change: EqualChange;
  readonly times: number;
}

/** `null` where a hunk changes nothing but blanks. The hunk before it in the note may have the name of the property that
 * its lines belong to. */
export function equalChange(hunk: NoteHunk, before?: NoteHunk): EqualChangeMatch | null {
  const { properties } = hunk;
  const sides = properties ? sidesOf(hunk, before) : sidesOf(hunk);
  const property = properties ? propertyChange(sides) : null;
  if (property) return { change: property, times: 1 };
  const swap = replacementOf(hunk);
  if (swap) return { change: swapped(swap), times: swap.times };
  const [added, removed] = [sides.now.changed, sides.old.changed];
  if (added.length + removed.length === 0) return null;
  const under = properties ? linesAbove(added.length > 0 ? sides.now : sides.old) : [];
  return { change: { type: 'lines', properties, under, added, removed }, times: 1 };
}

function swapped({ old, new: now }: Replacement): EqualChange {
  return { type: 'swap', old, new: now };
}

/** Of one property. A link that is renamed there is the same as anywhere else. */
function propertyChange(sides: HunkSides): EqualChange | null {
  const list = listChange(sides);
  if (list) return { type: 'values', ...list };
  const [before, ...more] = sides.old.changed.map(asProperty);
  const [after, ...others] = sides.now.changed.map(asProperty);
  if (more.length + others.length > 0) return null;
  if (!before || !after || before.name !== after.name) return null;
  if (/\[\[/.test(before.value + after.value)) return null;
  const { name, value } = after;
  const isList = flowValues(before.value) !== null && flowValues(value) !== null;
  return isList || value === '' ? null : { type: 'property', name, value };
}

/** The lines that the changed ones stand under, from the outermost on. */
function linesAbove({ above, changed }: HunkSide): string[] {
  let depth = depthOf(changed[0] ?? '');
  const found: string[] = [];
  for (const line of above.toReversed()) {
    if (isRemark(line) || depthOf(line) >= depth) continue;
    depth = depthOf(line);
    found.unshift(line.trim());
  }
  return found;
}

/** The items of a list may stand right below its name, and belong to it. */
function depthOf(line: string): number {
  const blanks = line.length - line.trimStart().length;
  return 2 * blanks + (asItem(line) ? 1 : 0);
}
