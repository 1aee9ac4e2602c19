/** Applied changes, read: what can still be taken back, and what can be put back. */
import type { AppliedNote, AppliedSet } from '../ipc/bindings';
import type { Done } from './effect-words';

export function canUndo({ standing }: AppliedNote): boolean {
  return standing === 'stands' || standing === 'partly_undone';
}

export function canRedo({ standing }: AppliedNote): boolean {
  return standing === 'undone' || standing === 'partly_undone';
}

/** How many notes and folders taking these back is about. */
export function undoCount(sets: readonly AppliedSet[]): number {
  return countOf(sets, canUndo);
}

/** How many of them were taken back. */
export function redoCount(sets: readonly AppliedSet[]): number {
  return countOf(sets, canRedo);
}

function countOf(sets: readonly AppliedSet[], wanted: (note: AppliedNote) => boolean): number {
  const notes = sets.flatMap((set) => set.notes).filter(wanted);
  return new Set(notes.map(({ path }) => path)).size;
}

/** The changes as a sentence tells of them. */
export function toDone(notes: readonly AppliedNote[]): Done[] {
  return notes.map(({ path, kind, target, added, removed }) => {
    return { path, kind, to: target, added, removed };
  });
}
