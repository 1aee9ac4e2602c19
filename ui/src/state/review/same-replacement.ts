/** Recognizes a hunk that replaces one text by another and changes nothing else. */
import type { DiffLine, NoteHunk } from '../../ipc/bindings';

/** The old and the new text, and how often it is replaced. */
export interface Replacement {
  readonly old: string;
  readonly new: string;
  readonly times: number;
}

/** Links stand for themselves; else words, blanks and single signs. */
const pieces = /\[\[[^[\]]*\]\]|[\p{L}\p{N}_]+|\s+|./gu;

/** Longer lines are looked at as they are. */
const longest = 400;

/** The one swap of a hunk; `null` when it does anything else besides. */
export function replacementOf({ lines }: NoteHunk): Replacement | null {
  const removed = lines.filter(({ sign }) => sign === 'removed').map(text);
  const added = lines.filter(({ sign }) => sign === 'added').map(text);
  if (removed.length === 0 || removed.length !== added.length) return null;
  const all = removed.flatMap((before, at) => swaps(before, added[at] ?? ''));
  const [first] = all;
  if (!first || first.old.trim() === '' || first.new.trim() === '') return null;
  const same = all.every((one) => one.old === first.old && one.new === first.new);
  return same ? { ...first, times: all.length } : null;
}

function text({ words }: DiffLine): string {
  return words.map((word) => word.text).join('');
}

function swaps(before: string, after: string): Omit<Replacement, 'times'>[] {
  const [old, now] = [before.match(pieces) ?? [], after.match(pieces) ?? []];
  if (old.length > longest || now.length > longest) return [{ old: before, new: after }];
  const found: { old: string; new: string }[] = [];
  let open: { old: string; new: string } | null = null;
  const shared = sharedLengths(old, now);
  let [i, j] = [0, 0];
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && old[i] === now[j]) {
      open = null;
      i += 1;
      j += 1;
      continue;
    }
    if (!open) {
      open = { old: '', new: '' };
      found.push(open);
    }
    const takesOld = (shared[i + 1]?.[j] ?? -1) >= (shared[i]?.[j + 1] ?? -1);
    if (i < old.length && (j >= now.length || takesOld)) open.old += old[i++] ?? '';
    else open.new += now[j++] ?? '';
  }
  return found;
}

/** How much the rests of both have in common, from each place on. */
function sharedLengths(old: readonly string[], now: readonly string[]): number[][] {
  const table = Array.from({ length: old.length + 1 }, () =>
    Array.from({ length: now.length + 1 }, () => 0),
  );
  for (let i = old.length - 1; i >= 0; i -= 1) {
    for (let j = now.length - 1; j >= 0; j -= 1) {
      const row = table[i];
      if (!row) continue;
      row[j] =
        old[i] === now[j]
          ? 1 + (table[i + 1]?.[j + 1] ?? 0)
          : Math.max(table[i + 1]?.[j] ?? 0, row[j + 1] ?? 0);
    }
  }
  return table;
}
