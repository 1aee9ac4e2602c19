/** What verdicts come to in the application in memory. */
import type { NoteDecision, NoteDiff, NotePath } from '../../src/ipc/bindings';

/** What keeps waiting of a note after these verdicts. */
export function remainingOf(note: NoteDiff, verdicts: readonly NoteDecision[]): NoteDiff[] {
  const verdict = verdicts.find(({ path }) => path === note.path)?.verdict;
  if (!verdict) return [note];
  if (verdict.type !== 'hunks') return [];
  const hunks = note.hunks.filter((_, index) => verdict.hunks[index]?.type === 'wait');
  return hunks.length > 0 ? [{ ...note, hunks, seen: `${note.seen}+` }] : [];
}

/** The notes that were decided about. */
export function outcomeOf(verdicts: readonly NoteDecision[]): {
  applied: NotePath[];
  rejected: NotePath[];
} {
  const paths = (is: (type: string) => boolean): NotePath[] =>
    verdicts
      .filter(({ verdict }) =>
        verdict.type === 'hunks' ? verdict.hunks.some(({ type }) => is(type)) : is(verdict.type),
      )
      .map(({ path }) => path);
  return {
    applied: paths((type) => type === 'accept' || type === 'edit'),
    rejected: paths((type) => type === 'reject'),
  };
}
