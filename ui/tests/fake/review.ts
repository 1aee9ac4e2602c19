/** The outcome of decisions in the fake application. */
import type { NoteDecision, NoteDiff, NotePath } from '../../src/ipc/bindings';

/** The part of a note that is still pending after these decisions. */
export function remainingOf(note: NoteDiff, decisions: readonly NoteDecision[]): NoteDiff[] {
  const decision = decisions.find(({ path }) => path === note.path)?.decision;
  if (!decision) return [note];
  if (decision.type !== 'hunks') return [];
  const hunks = note.hunks.filter((_, index) => decision.hunks[index]?.type === 'wait');
  return hunks.length > 0 ? [{ ...note, hunks, seen: `${note.seen}+` }] : [];
}

/** The notes that were decided about. */
export function outcomeOf(decisions: readonly NoteDecision[]): {
  applied: NotePath[];
  rejected: NotePath[];
} {
  const paths = (is: (type: string) => boolean): NotePath[] =>
    decisions
      .filter(({ decision }) =>
        decision.type === 'hunks' ? decision.hunks.some(({ type }) => is(type)) : is(decision.type),
      )
      .map(({ path }) => path);
  return {
    applied: paths((type) => type === 'accept' || type === 'edit'),
    rejected: paths((type) => type === 'reject'),
  };
}
