import { beforeEach, describe, expect, it } from 'vitest';

import type { NoteDiff, Review } from '../../src/ipc/bindings';
import { review as story } from '../../src/ipc/stories/review';
import { Verdicts } from '../../src/state/verdicts.svelte';

function waiting(): Review {
  const review = story().views[0]?.review;
  if (!review) throw new Error('the story has no review');
  return review;
}

const [library = '', plan = '', invitation = ''] = waiting().notes.map((note) => note.path);
let verdicts: Verdicts;

beforeEach(() => {
  verdicts = new Verdicts();
  verdicts.follow(waiting());
});

function changeFirst(change: Partial<NoteDiff>): Review {
  const review = waiting();
  return { ...review, notes: review.notes.map((note, at) => (at ? note : { ...note, ...change })) };
}

describe('verdicts', () => {
  it('begin undecided for every note', () => {
    expect([library, plan, invitation].map((path) => verdicts.of(path))).toEqual([
      null,
      null,
      null,
    ]);
    expect(verdicts.count).toBe(0);
  });

  it('change from one to the other, and are taken back by giving them again', () => {
    verdicts.decide(library, 'accept');
    verdicts.decide(library, 'reject');
    expect(verdicts.of(library)).toBe('reject');
    verdicts.decide(library, 'reject');
    expect(verdicts.of(library)).toBeNull();
  });

  it('are given to all notes at once', () => {
    verdicts.decide(plan, 'reject');
    verdicts.decideAll('accept');
    expect(verdicts.with('accept').toSorted()).toEqual([library, plan, invitation].toSorted());
    expect(verdicts.with('reject')).toEqual([]);
  });

  it('stay when the same review is told again', () => {
    verdicts.decide(library, 'accept');
    verdicts.follow(waiting());
    expect(verdicts.of(library)).toBe('accept');
  });

  it('do not stand for a diff that the user has not seen', () => {
    verdicts.decideAll('accept');
    verdicts.follow(changeFirst({ added: 99 }));
    expect(verdicts.of(library)).toBeNull();
    expect(verdicts.of(plan)).toBe('accept');
  });

  it('are gone with the notes that were decided', () => {
    verdicts.decideAll('accept');
    verdicts.follow(null);
    expect(verdicts.count).toBe(0);
  });
});
