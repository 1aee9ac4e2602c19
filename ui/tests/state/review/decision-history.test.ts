import { beforeEach, describe, expect, it } from 'vitest';

import type { Review } from '../../../src/ipc/bindings';
import { ReviewDecisions } from '../../../src/state/review/review-decisions.svelte';
import { moves } from '../../fake/stories/changes/moves';
import { review as story } from '../../fake/stories/changes/review';
import type { Story } from '../../fake/story';

function pending(told: Story): Review {
  const review = told.views[0]?.review;
  if (!review) throw new Error('the story has no review');
  return review;
}

const [library = '', plan = '', invitation = ''] = pending(story()).notes.map(({ path }) => path);
let reviewDecisions: ReviewDecisions;

/** All decisions, as they would be told. */
const told = () => reviewDecisions.told().map(({ path, decision }) => [path, decision.type]);

beforeEach(() => {
  reviewDecisions = new ReviewDecisions();
  reviewDecisions.follow(pending(story()));
});

describe('decisions of a review', () => {
  it('are undone from the last one on, and redone', () => {
    reviewDecisions.decide(plan, 'accept');
    reviewDecisions.decide(plan, 'reject');
    reviewDecisions.decideHunks([{ path: library, index: 2 }], 'accept');
    expect(reviewDecisions.undo()).toEqual({ path: library, index: 2 });
    expect(told()).toEqual([[plan, 'reject']]);
    expect(reviewDecisions.undo()).toEqual({ path: plan, index: 0 });
    expect(told()).toEqual([[plan, 'accept']]);
    reviewDecisions.undo();
    expect([told(), reviewDecisions.undo()]).toEqual([[], null]);
    reviewDecisions.redo();
    reviewDecisions.redo();
    expect(reviewDecisions.redo()).toEqual({ path: library, index: 2 });
    expect(told()).toEqual([
      [plan, 'reject'],
      [library, 'hunks'],
    ]);
    expect(reviewDecisions.redo()).toBeNull();
  });

  it('are undone together when they were given together', () => {
    reviewDecisions.decide(plan, 'reject');
    reviewDecisions.acceptAll();
    // It changes nothing, so there is nothing to undo of it.
    reviewDecisions.acceptAll();
    reviewDecisions.undo();
    expect(told()).toEqual([[plan, 'reject']]);
    reviewDecisions.follow(pending(moves()));
    reviewDecisions.rejectAll();
    reviewDecisions.undo();
    expect(told()).toEqual([]);
  });

  it('are redone no more after another decision', () => {
    reviewDecisions.decide(plan, 'reject');
    reviewDecisions.undo();
    reviewDecisions.decide(invitation, 'accept');
    expect(reviewDecisions.redo()).toBeNull();
    expect(told()).toEqual([[invitation, 'accept']]);
  });

  it('are undone with the notes that belong to a move', () => {
    reviewDecisions.follow(pending(moves()));
    const follower = 'Diary/2026-11-03.md';
    reviewDecisions.decide(follower, 'accept');
    expect(reviewDecisions.undo()?.path).toBe('Projects/Reading room/Minutes, November.md');
    expect(reviewDecisions.count).toBe(0);
    reviewDecisions.redo();
    expect(reviewDecisions.count).toBe(5);
  });

  it('are undone no more once their notes have other changes', () => {
    reviewDecisions.decide(library, 'accept');
    reviewDecisions.decide(plan, 'accept');
    const review = pending(story());
    const notes = review.notes.map((note) =>
      note.path === library ? { ...note, seen: 'other' } : note,
    );
    reviewDecisions.follow({ ...review, notes });
    expect(reviewDecisions.undo()?.path).toBe(plan);
    expect(reviewDecisions.undo()).toBeNull();
    reviewDecisions.decide(plan, 'accept');
    reviewDecisions.follow({ ...review, id: 'another' });
    expect(reviewDecisions.undo()).toBeNull();
  });

  it('are undone without the lines that the user wrote', () => {
    reviewDecisions.choose(library, 1, { edit: 'my words' });
    reviewDecisions.undo();
    expect(reviewDecisions.hunk(library, 1)).toBeNull();
    expect(reviewDecisions.own(library, 1)).toBe('my words');
    reviewDecisions.redo();
    expect(reviewDecisions.hunk(library, 1)).toEqual({ edit: 'my words' });
  });
});
