/** The texts of a decision in a review: its place, and the effect of accepting it. */
import type { NoteDiff } from '../../ipc/bindings';
import { m } from '../../messages/messages';
import { isNote, moveOf, noteFolder } from '../../state/notes/note-path';
import { type Decision, isRemoval } from '../../state/review/decisions';
import type { Acceptance } from '../../state/review/review-decisions.svelte';

/** The text beside the name. */
export function noteText({ path, to, kind }: NoteDiff): string {
  switch (kind) {
    case 'create':
      return m.review_new_note();
    case 'replace':
      return noteFolder(path);
    case 'rename':
    case 'rename_folder':
      return to === null ? '' : m.review_to_place({ place: placeText(path, to) });
    case 'make_folder':
      return m.review_folder_new();
    case 'restore_folder':
      return m.review_folder_restored();
    case 'trash':
      return m.review_to_trash();
    case 'trash_folder':
      return m.review_folder_trash();
    default:
      return kind satisfies never;
  }
}

/** The text below the name in the list: the folder, or the effect. */
export function listText({ lead, others }: Pick<Decision, 'lead' | 'others'>): string {
  if (lead.kind === 'create' || lead.kind === 'replace') return noteFolder(lead.path);
  return belowText({ lead, others });
}

/** The effect, and how many links follow. */
export function belowText({ lead, others }: Pick<Decision, 'lead' | 'others'>): string {
  const effect = lead.kind === 'replace' ? '' : noteText(lead);
  const follow = others.length > 0 ? m.review_links_follow({ count: others.length }) : '';
  return [effect, follow].filter((part) => part !== '').join(', ');
}

function placeText(path: string, to: string): string {
  const move = moveOf(path, to);
  switch (move.type) {
    case 'name':
      return move.name;
    case 'folder':
      return move.folder || m.folder_top();
    case 'both':
      return move.label;
    default:
      return move satisfies never;
  }
}

/** The two buttons, as they stand after this decision. */
export function decisionText(
  { group }: Decision,
  acceptance: Acceptance | 'part' | null,
): [string, string] {
  if (group === 'removed') {
    return [
      acceptance === 'accept' ? m.review_trashed() : m.review_trash_it(),
      acceptance === 'reject' ? m.review_kept() : m.review_keep(),
    ];
  }
  return [
    acceptance === 'accept' ? m.accepted() : m.accept(),
    acceptance === 'reject' ? m.rejected() : m.reject(),
  ];
}

/** The label of the button that accepts all at once: what is rejected stays so, and deletions are decided one by one. */
export function acceptAllText(
  decisions: readonly Decision[],
  rejected: 'none' | 'some' | 'all',
): string {
  const removes = decisions.some(isRemoval);
  if (rejected === 'none') return removes ? m.accept_all_edits() : m.accept_all();
  return removes ? m.accept_rest_edits() : m.accept_rest();
}

/** The label of the button that applies the decisions. */
export function applyText(accepted: readonly NoteDiff[], rejected: readonly NoteDiff[]): string {
  if (accepted.length === 0) return rejectText(rejected);
  const action = acceptText(accepted);
  return rejected.length > 0 ? m.review_and_reject({ action, rejected: rejected.length }) : action;
}

function acceptText(accepted: readonly NoteDiff[]): string {
  const count = accepted.length;
  if (accepted.every(({ kind }) => kind === 'replace' || kind === 'create')) {
    return m.review_accept_notes({ count });
  }
  if (accepted.every(({ kind }) => kind === 'trash' || kind === 'trash_folder')) {
    return m.review_accept_deletions({ count });
  }
  return m.review_accept_changes({ count });
}

function rejectText(rejected: readonly NoteDiff[]): string {
  const count = rejected.length;
  if (count === 0) return m.review_nothing();
  return areNotes(rejected) ? m.review_reject({ count }) : m.review_reject_changes({ count });
}

/** Whether they can be counted as notes. */
export function areNotes(diffs: readonly NoteDiff[]): boolean {
  return diffs.every(({ path, kind }) => isNote(path) && kind !== 'rename');
}

/** How much there is to decide, and in how many decisions where those are fewer. */
export function extentText(notes: readonly NoteDiff[], decisions: number): string {
  const count = notes.length;
  const size = areNotes(notes) ? m.review_title({ count }) : m.review_changes_title({ count });
  return decisions < count ? m.review_in_decisions({ size, count: decisions }) : size;
}
