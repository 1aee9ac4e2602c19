/** The order in which the keyboard goes through a review, from top to bottom. */
import type { NotePath } from '../../ipc/bindings';
import {
  type Decision,
  type Decisions,
  type HunkPosition,
  isByHunk,
  type RepeatedChange,
} from '../../state/review/decisions';
import { hunkId } from '../../state/review/hunk-id';

export type Stop =
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

function stopsIn(decision: Decision): Stop[] {
  const { path } = decision.lead;
  if (!hasOwnHunks(decision)) return [{ type: 'note', id: `note:${path}`, path }];
  return decision.hunks.flatMap((index) => {
    const hunk = decision.lead.hunks[index];
    return hunk
      ? [{ type: 'hunk', id: hunkId(decision.lead, index), place: { path, index, hunk } }]
      : [];
  });
}
