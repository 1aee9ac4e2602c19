/** The work that a decision takes when a review has thousands of notes, counted: a busy machine is slow, not wrong. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import type { NoteDiff, Review } from '../../../src/ipc/bindings';
import { ReviewDecisions } from '../../../src/state/review/review-decisions.svelte';
import { StoredDecisions } from '../../../src/state/review/stored-decisions';
import { line, noteDiff } from '../../fake/stories/changes/diff';
import { review as story } from '../../fake/stories/changes/review';

const size = 4000;
/** How often an action may look at one note. */
const looks = 40;

let reads = 0;
let writes = 0;

/** The same object; reading from it counts. It throws when it was read too often, since nobody wants to wait. */
function counted<T extends object>(object: T): T {
  return new Proxy(object, {
    get(target, key, receiver) {
      reads += 1;
      if (reads > looks * size) throw new Error('each note is looked at for each note');
      return Reflect.get(target, key, receiver);
    },
  });
}

class CountedDecisions extends StoredDecisions {
  override of(changeSet: string) {
    return super.of(changeSet).map(counted);
  }
}

/** A note in which one link changes. */
function linking(number: number, unit: string | null): NoteDiff {
  const lines = [line('removed', 'See *[[Old]]*.'), line('added', 'See *[[New]]*.')];
  const hunk = { heading: null, properties: false, oldStart: 1, newStart: 1, lines };
  return noteDiff(`Notes/${number}.md`, { unit, seen: `seen ${number}`, hunks: [hunk] });
}

/** A move with all that follows it, or the same change in as many notes. */
function reviewOf(unit: string | null): Review {
  const pending = story().views[0]?.review;
  if (!pending) throw new Error('the story has no review');
  const notes = Array.from({ length: size }, (_, number) => linking(number, unit));
  return { ...pending, notes: notes.map(counted) };
}

const paths = Array.from({ length: size }, (_, number) => `Notes/${number}.md`);
const places = paths.map((path) => ({ path, index: 0 }));
const stored = () => new CountedDecisions('notebook', 'c');

/** Does this with the counters at zero. */
function count(action: () => void): void {
  [reads, writes] = [0, 0];
  action();
}

beforeEach(() => {
  reads = 0;
  const setItem = Storage.prototype.setItem;
  vi.spyOn(Storage.prototype, 'setItem').mockImplementation(function (this: Storage, key, value) {
    writes += 1;
    setItem.call(this, key, value);
  });
});

afterEach(() => vi.restoreAllMocks());

describe('a move that thousands of notes follow', () => {
  const review = reviewOf('move-1');

  it('is decided with one look at each note, and kept once', () => {
    const reviewDecisions = new ReviewDecisions(stored());
    count(() => reviewDecisions.follow(review));
    expect(reads, 'the control').toBeGreaterThan(size);
    for (const [at, acceptance] of (['accept', 'reject'] as const).entries()) {
      count(() => reviewDecisions.decide(paths[at] ?? '', acceptance));
      expect([reviewDecisions.with(acceptance).length, writes]).toEqual([size, 1]);
    }
    count(() => expect(reviewDecisions.told()).toHaveLength(size));
  });

  it('is compared with itself once when the review is told again or is gone', () => {
    const reviewDecisions = new ReviewDecisions(stored());
    reviewDecisions.follow(review);
    count(() => reviewDecisions.decide(paths[0] ?? '', 'accept'));
    count(() => reviewDecisions.follow({ ...review, notes: [...review.notes] }));
    expect([reviewDecisions.count, writes]).toEqual([size, 1]);
    const last = noteDiff('Notes/0.md', { unit: 'move-1', seen: 'other' });
    const changed = [counted(last), ...review.notes.slice(1)];
    count(() => reviewDecisions.follow({ ...review, notes: changed }));
    expect(reviewDecisions.count).toBe(0);
    reviewDecisions.follow(review);
    count(() => reviewDecisions.decide(paths[0] ?? '', 'accept'));
    count(() => reviewDecisions.follow(null));
    expect([reviewDecisions.count, localStorage.length]).toEqual([0, 0]);
  });

  it('is restored with one look at each note, and not in part', () => {
    const kept = paths.map((path, number) => {
      return { path, seen: `seen ${number}`, choices: ['accept' as const] };
    });
    stored().keep(review.id, kept, []);
    const whole = new ReviewDecisions(stored());
    count(() => whole.follow(review));
    expect([whole.with('accept').length, writes]).toEqual([size, 1]);
    stored().keep(review.id, kept.slice(1), []);
    const part = new ReviewDecisions(stored());
    count(() => part.follow(review));
    expect(part.count).toBe(0);
  });
});

describe('the same change in thousands of notes', () => {
  const review = reviewOf(null);

  it.each<[string, (all: ReviewDecisions) => void]>([
    ['as one', (all) => all.decideHunks(places, 'accept')],
    ['with all others', (all) => all.acceptAll()],
  ])('is decided with one look at each note, and kept once: %s', (_, accept) => {
    const reviewDecisions = new ReviewDecisions(stored());
    count(() => reviewDecisions.follow(review));
    count(() => accept(reviewDecisions));
    expect([reviewDecisions.with('accept').length, writes]).toEqual([size, 1]);
    count(() => reviewDecisions.rejectAll());
    expect([reviewDecisions.with('reject').length, writes]).toEqual([size, 1]);
  });

  it('is decided with one look at each note while one is being edited', () => {
    const reviewDecisions = new ReviewDecisions(stored());
    reviewDecisions.follow(review);
    const [first] = review.notes;
    if (first) reviewDecisions.drafts.begin(first, 0, 'my words');
    count(() => reviewDecisions.decideHunks(places, 'accept'));
    count(() => expect(reviewDecisions.submit()).toHaveLength(size - 1));
  });
});

it('many lines that the user wrote are kept once when all their notes change', () => {
  const [few, all] = [200, reviewOf(null)];
  const reviewDecisions = new ReviewDecisions(stored());
  reviewDecisions.follow({ ...all, notes: all.notes.slice(0, few) });
  for (const path of paths.slice(0, few)) reviewDecisions.choose(path, 0, { edit: 'my words' });
  const hunk = { heading: null, properties: false, oldStart: 9, newStart: 9, lines: [] };
  const notes = paths.slice(0, few).map((path) => noteDiff(path, { seen: 'other', hunks: [hunk] }));
  count(() => reviewDecisions.follow({ ...all, notes }));
  expect([reviewDecisions.drafts.all.length, writes]).toEqual([few, 1]);
});
