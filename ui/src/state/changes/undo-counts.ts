/** Counts the applied changes that can be undone, redone or reapplied. */
import type { AppliedNote, AppliedSet, TurnId } from '../../ipc/bindings';
import { groupByUnit } from '../review/decisions';
import type { NoteEffect } from './effect-text';

export function canUndo({ standing, tooOld }: AppliedNote): boolean {
  if (tooOld) return false;
  return standing === 'stands' || standing === 'partly_undone';
}

export function canRedo({ standing, tooOld }: AppliedNote): boolean {
  if (tooOld) return false;
  return standing === 'undone' || standing === 'partly_undone';
}

/** Whether another program overwrote it, and it can be reapplied. */
export function canReapply({ standing, tooOld }: AppliedNote): boolean {
  return standing === 'overwritten' && !tooOld;
}

/** The changes that an undo of a turn is about, by their sets: those of other turns may have been accepted together with
 * them. */
export function setsOfTurn(sets: readonly AppliedSet[], turn: TurnId): AppliedSet[] {
  return sets.flatMap((set) => {
    const notes = set.notes.filter((note) => note.turn === turn);
    return notes.length > 0 ? [{ ...set, notes }] : [];
  });
}

/** How many changes can be undone; a move with its links counts once. */
export function undoCount(sets: readonly AppliedSet[]): number {
  return countOf(sets, canUndo);
}

/** How many changes were undone. */
export function redoCount(sets: readonly AppliedSet[]): number {
  return countOf(sets, canRedo);
}

function countOf(sets: readonly AppliedSet[], wanted: (note: AppliedNote) => boolean): number {
  const leads = sets
    .flatMap((set) => groupByUnit(set.notes.filter(wanted)))
    .map(({ lead }) => lead);
  return new Set(leads.map(({ path }) => path)).size;
}

/** The changes as a sentence tells of them. */
export function toEffects(notes: readonly AppliedNote[]): NoteEffect[] {
  return notes.map(({ path, kind, target, added, removed }) => {
    return { path, kind, to: target, added, removed };
  });
}
