import { beforeEach, describe, expect, it } from 'vitest';

import type { NoteDiff, Review } from '../../../src/ipc/bindings';
import { decisions } from '../../../src/state/review/decisions';
import { ReviewDecisions } from '../../../src/state/review/review-decisions.svelte';
import { StoredDecisions } from '../../../src/state/review/stored-decisions';
import { moves as movesStory } from '../../fake/stories/changes/moves';
import { review as story } from '../../fake/stories/changes/review';

function waiting(): Review {
  const review = story().views[0]?.review;
  if (!review) throw new Error('the story has no review');
  return review;
}

const [library = '', plan = '', invitation = ''] = waiting().notes.map((note) => note.path);
let reviewDecisions: ReviewDecisions;

beforeEach(() => {
  reviewDecisions = new ReviewDecisions();
  reviewDecisions.follow(waiting());
});

function changeFirst(change: Partial<NoteDiff>): Review {
  const review = waiting();
  return { ...review, notes: review.notes.map((note, at) => (at ? note : { ...note, ...change })) };
}

describe('decisions of a review', () => {
  it('begin undecided for every note', () => {
    expect([library, plan, invitation].map((path) => reviewDecisions.of(path))).toEqual([
      null,
      null,
      null,
    ]);
    expect(reviewDecisions.count).toBe(0);
  });

  it('change from one to the other, and are cleared by giving them again', () => {
    reviewDecisions.decide(library, 'accept');
    reviewDecisions.decide(library, 'reject');
    expect(reviewDecisions.of(library)).toBe('reject');
    reviewDecisions.decide(library, 'reject');
    expect(reviewDecisions.of(library)).toBeNull();
  });

  it('are given to all notes at once', () => {
    reviewDecisions.decide(plan, 'reject');
    reviewDecisions.acceptAll();
    expect(reviewDecisions.with('accept').toSorted()).toEqual(
      [library, plan, invitation].toSorted(),
    );
    expect(reviewDecisions.with('reject')).toEqual([]);
  });

  it('stay when the same review is told again', () => {
    reviewDecisions.decide(library, 'accept');
    reviewDecisions.follow(waiting());
    expect(reviewDecisions.of(library)).toBe('accept');
  });

  it('do not stand for a diff that the user has not seen', () => {
    reviewDecisions.acceptAll();
    reviewDecisions.follow(changeFirst({ seen: 'other' }));
    expect(reviewDecisions.of(library)).toBeNull();
    expect(reviewDecisions.of(plan)).toBe('accept');
  });

  it('are gone with the notes that were decided', () => {
    reviewDecisions.acceptAll();
    reviewDecisions.follow(null);
    expect(reviewDecisions.count).toBe(0);
  });
});

describe('changes that belong together', () => {
  const waits = movesStory().views[0]?.review ?? null;
  const follower = 'Diary/2026-11-03.md';
  const move = 'Projects/Reading room/Minutes, November.md';

  beforeEach(() => reviewDecisions.follow(waits));

  it('is one decision, led by the move', () => {
    const [found] = decisions(waits?.notes ?? []).notes.filter(({ lead }) => lead.path === move);
    expect(found?.group).toBe('moved');
    expect(found?.others.map(({ path }) => path)).toContain(follower);
    expect(found?.others).toHaveLength(4);
  });

  it('is accepted, rejected and cleared as one, whichever part is named', () => {
    reviewDecisions.decide(follower, 'accept');
    expect(reviewDecisions.of(move)).toBe('accept');
    expect(reviewDecisions.count).toBe(5);
    reviewDecisions.decide(move, 'reject');
    expect(reviewDecisions.with('reject')).toHaveLength(5);
    reviewDecisions.decide(follower, 'reject');
    expect(reviewDecisions.count).toBe(0);
  });

  it('loses its decision when a part of it is replaced', () => {
    reviewDecisions.acceptAll();
    const notes = waits?.notes.map((note) =>
      note.path === follower ? { ...note, seen: 'other' } : note,
    );
    reviewDecisions.follow(waits && { ...waits, notes: notes ?? [] });
    expect(reviewDecisions.of(move)).toBeNull();
    expect(reviewDecisions.of('Groceries.md')).toBe('accept');
  });

  it('stands in its group, with deletions last', () => {
    expect(
      decisions(waits?.notes ?? []).notes.map(({ group, lead }) => [group, lead.path]),
    ).toEqual([
      ['edited', 'Groceries.md'],
      ['moved', move],
      ['moved', 'Letters/Drafts'],
      ['folders', 'Archive/2026'],
      ['removed', 'Projects/Reading room.md.bak.md'],
      ['removed', 'Untitled folder'],
    ]);
  });

  it('is accepted with all others, but nothing that takes something away is', () => {
    reviewDecisions.acceptAll();
    expect(reviewDecisions.of('Projects/Reading room.md.bak.md')).toBeNull();
    expect(reviewDecisions.of('Untitled folder')).toBeNull();
    expect(reviewDecisions.with('accept')).toHaveLength(8);
    reviewDecisions.rejectAll();
    expect(reviewDecisions.with('reject')).toHaveLength(10);
  });
});

describe('decisions that were not submitted', () => {
  /** The window is reloaded, with the review as it is now. */
  function reload(review: Review | null): ReviewDecisions {
    const reloaded = new ReviewDecisions(new StoredDecisions('c'));
    reloaded.follow(review);
    return reloaded;
  }

  beforeEach(() => {
    const before = reload(waiting());
    before.decide(plan, 'reject');
    before.choose(library, 0, { edit: 'my words' });
  });

  it('stand again after a restart', () => {
    const reloaded = reload(waiting());
    expect(reloaded.of(plan)).toBe('reject');
    expect(reloaded.hunk(library, 0)).toEqual({ edit: 'my words' });
    expect(reloaded.count).toBe(2);
  });

  it('are gone for a note of which the changes are others', () => {
    expect(reload(changeFirst({ seen: 'other' })).of(library)).toBeNull();
    const reloaded = reload(waiting());
    expect(reloaded.of(library)).toBeNull();
    expect(reloaded.of(plan)).toBe('reject');
  });

  it('are gone with their change set, and once they were submitted', () => {
    expect(reload({ ...waiting(), id: 'another' }).count).toBe(0);
    expect(reload(waiting()).count).toBe(0);
    const submitted = reload(waiting());
    submitted.decide(plan, 'accept');
    submitted.follow(null);
    expect(localStorage).toHaveLength(0);
  });

  it('are none where something else lies in their place', () => {
    localStorage.setItem('vaultmate.decisions.c', '{"changeSet":');
    expect(reload(waiting()).count).toBe(0);
  });
});
