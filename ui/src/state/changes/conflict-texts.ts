/** The texts about a conflict, by the request that met it. */
import type { UndoAction } from '../../ipc/bindings';
import { m } from '../../messages/messages';

interface ConflictTexts {
  /** The places of a note that are in conflict. */
  readonly places: (inputs: { count: number; note: string }) => string;
  /** The whole note is in conflict. */
  readonly whole: (inputs: { note: string }) => string;
  /** The version that the request wants. */
  readonly wanted: () => string;
  readonly useWanted: () => string;
  readonly inThisNote: () => string;
  readonly inAllNotes: (inputs: { count: number }) => string;
  /** The request was completed in one note, or in `count` notes. */
  readonly settled: (count: number) => string;
  readonly completed: (count: number) => string;
}

const redone = (count: number): string =>
  count > 0 ? m.notice_redone({ count }) : m.notice_nothing_to_redo();
const reapplied = (count: number): string =>
  count > 0 ? m.notice_reapplied({ count }) : m.notice_nothing_to_redo();

export const conflictTexts: Readonly<Record<UndoAction, ConflictTexts>> = {
  undo: {
    places: m.conflict_title,
    whole: m.conflict_title_whole,
    wanted: m.conflict_then,
    useWanted: m.conflict_old,
    inThisNote: m.conflict_undo_here,
    inAllNotes: m.conflict_undo_all,
    settled: () => m.notice_settled(),
    completed: (count) => (count > 0 ? m.notice_undone({ count }) : m.notice_nothing_to_undo()),
  },
  redo: {
    places: m.conflict_redo_title,
    whole: m.conflict_redo_title_whole,
    wanted: m.conflict_redo_then,
    useWanted: m.conflict_changed,
    inThisNote: m.conflict_redo_here,
    inAllNotes: m.conflict_redo_all,
    settled: redone,
    completed: redone,
  },
  reapply: {
    places: m.conflict_reapply_title,
    whole: m.conflict_reapply_title_whole,
    wanted: m.conflict_reapply_then,
    useWanted: m.conflict_changed,
    inThisNote: m.conflict_reapply_here,
    inAllNotes: m.conflict_reapply_all,
    settled: reapplied,
    completed: reapplied,
  },
};
