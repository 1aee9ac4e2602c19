/** The order in which the keyboard goes through a review, from top to bottom. */
import type { NoteDiff, NotePath } from '../../ipc/bindings';
import {
  type Decision,
  type Decisions,
  type HunkPosition,
  isByHunk,
  type RepeatedChange,
} from '../../state/review/decisions';

type Stop =
  | { readonly type: 'same'; readonly id: string; readonly same: RepeatedChange }
  | { readonly type: 'note'; readonly id: string; readonly path: NotePath }
  | { readonly type: 'hunk'; readonly id: string; readonly place: HunkPosition };

export function focusOrder({ same, notes }: Decisions): Stop[] {
  return [
    ...same.map((one) => ({ type: 'same', id: one.id, same: one }) as const),
    ...notes.flatMap(stopsIn),
  ];
}

/** Whether the hunks that a decision holds are decided one by one. */
export function hasOwnHunks({ lead, hunks }: Decision): boolean {
  return isByHunk(lead) && lead.hunks.length > 1 && hunks.length > 0;
}

/** Names a hunk by its lines: it stays the same one when a change above it is added or goes. */
export function hunkFocusId(note: NoteDiff, index: number): string {
  return `hunk:${hunkKeys(note)[index] ?? index}:${note.path}`;
}

const keysOfNotes = new WeakMap<NoteDiff, readonly string[]>();

/** For each hunk a hash of its lines, and how many before it have the same. */
function hunkKeys(note: NoteDiff): readonly string[] {
  const known = keysOfNotes.get(note);
  if (known) return known;
  const seen = new Map<number, number>();
  const keys = note.hunks.map(({ heading, lines }) => {
    const hash = hashOf(JSON.stringify([heading, lines]));
    const before = seen.get(hash) ?? 0;
    seen.set(hash, before + 1);
    return `${hash.toString(36)}-${before}`;
  });
  keysOfNotes.set(note, keys);
  return keys;
}

/** FNV-1a over the UTF-16 units, in 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  return hash >>> 0;
}

function stopsIn(decision: Decision): Stop[] {
  const { path } = decision.lead;
  if (!hasOwnHunks(decision)) return [{ type: 'note', id: `note:${path}`, path }];
  return decision.hunks.flatMap((index) => {
    const hunk = decision.lead.hunks[index];
    return hunk
      ? [{ type: 'hunk', id: hunkFocusId(decision.lead, index), place: { path, index, hunk } }]
      : [];
  });
}
