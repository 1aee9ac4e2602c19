/** Recognizes values that come to the list of a property or leave it, in whichever way the list is written. */
import type { HunkSide, HunkSides } from './hunk-sides';
import { asItem, asProperty, flowValues, isFence, isRemark } from './property-lines';

export interface Exchanged {
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

interface ListChange extends Exchanged {
  readonly name: string;
}

/** The list of a property, as far as it is in sight. */
interface ShownList {
  readonly name: string;
  /** Its name and all its values on one line. */
  readonly inline: boolean;
  /** Whether the line with its name changes. */
  readonly named: boolean;
  readonly values: readonly string[];
}

/** The change of one list at the top level of the properties, where a hunk does nothing else. `null` also where the name
 * of the list is out of sight, where a link gives way to another, which is the same anywhere, and where the property goes
 * with its values or its list is written in another way. */
export function listChange({ old, now }: HunkSides): ListChange | null {
  const after = shownList(now);
  const before = old.changed.length === 0 && after?.named ? newList(now, after) : shownList(old);
  if (!before || !after || before.name !== after.name || !areAlike(before, after)) return null;
  const added = after.values.filter((one) => !before.values.includes(one));
  const removed = before.values.filter((one) => !after.values.includes(one));
  const both = [...added, ...removed];
  if (both.length === 0) return null;
  const isRenamed = added.length > 0 && removed.length > 0 && both.some((one) => /\[\[/.test(one));
  return isRenamed ? null : { name: after.name, added, removed };
}

/** A property that was not there is an empty list, if its values are new too and not those of the list above it. */
function newList(side: HunkSide, list: ShownList): ShownList | null {
  const own = shownList({ ...side, below: [] });
  return own?.values.length === list.values.length ? { ...list, values: [] } : null;
}

/** Whether both are written in the same way, as far as they have values, with the same behind their names. */
function areAlike(before: ShownList, after: ShownList): boolean {
  if (before.named !== after.named) return false;
  if (!before.named) return true;
  if (before.values.length === 0 || after.values.length === 0) return true;
  return before.inline && after.inline;
}

/** The list that all the changed lines belong to; where none changes, the one that ends or goes on there. */
function shownList({ above, changed, below }: HunkSide): ShownList | null {
  const lines = [...above, ...changed, ...below];
  const [from, to] = [above.length, above.length + changed.length];
  const isName = (line: string): boolean => asProperty(line) !== null;
  const named = isName(changed[0] ?? '');
  const at = named ? from : above.findLastIndex(isName);
  const property = asProperty(lines[at] ?? '');
  if (!property) return null;
  const length = lines.slice(at + 1).findIndex((line) => isName(line) || isFence(line));
  const end = length < 0 ? lines.length : at + 1 + length;
  const isChanged = (line: number): boolean => line >= from && line < to;
  const items = itemsOf(lines.slice(at + 1, end), (line) => isChanged(at + 1 + line));
  if (end < to || !items) return null;
  const { name, value } = property;
  const inline = flowValues(value);
  if (inline) return items.length > 0 ? null : { name, named, inline: true, values: inline };
  return isRemark(value) ? { name, named, inline: false, values: items } : null;
}

/** The values of the lines below a name; `null` where they are anything but one list. Comments may be around them, but
 * not among the changed lines. */
function itemsOf(
  lines: readonly string[],
  isChanged: (line: number) => boolean,
): readonly string[] | null {
  const values: string[] = [];
  let indentation: string | null = null;
  for (const [at, line] of lines.entries()) {
    if (isRemark(line) && !isChanged(at)) continue;
    const item = asItem(line);
    indentation ??= item?.indentation ?? null;
    if (!item || item.indentation !== indentation) return null;
    values.push(item.value);
  }
  return values;
}
