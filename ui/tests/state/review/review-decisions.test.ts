import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import type { AppEvent, NoteDiff, Review } from '../../../src/ipc/bindings';
import { AppState } from '../../../src/state/app.svelte';
import { decisions } from '../../../src/state/review/decisions';
import { ReviewDecisions } from '../../../src/state/review/review-decisions.svelte';
import { StoredDecisions } from '../../../src/state/review/stored-decisions';
import { healthy, row, view } from '../../fake/stories/base';
import { line } from '../../fake/stories/changes/diff';
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

  it('are given to all notes at once, except to what is rejected', () => {
    const extents = [reviewDecisions.rejectedExtent];
    reviewDecisions.decide(plan, 'reject');
    reviewDecisions.decideHunks([{ path: library, index: 1 }], 'reject');
    extents.push(reviewDecisions.rejectedExtent);
    reviewDecisions.acceptAll();
    expect([reviewDecisions.of(plan), reviewDecisions.of(invitation)]).toEqual([
      'reject',
      'accept',
    ]);
    expect([0, 1, 2].map((index) => reviewDecisions.hunk(library, index))).toEqual([
      'accept',
      'reject',
      'accept',
    ]);
    reviewDecisions.rejectAll();
    extents.push(reviewDecisions.rejectedExtent);
    reviewDecisions.acceptAll();
    expect(reviewDecisions.with('reject')).toHaveLength(3);
    expect(extents).toEqual(['none', 'some', 'all']);
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

describe("the user's own lines", () => {
  const own = { edit: 'my words' };
  const told = () => reviewDecisions.told().find(({ path }) => path === library)?.decision;

  beforeEach(() => reviewDecisions.choose(library, 1, own));

  it('stay when the note is accepted, and what is told has them', () => {
    reviewDecisions.decide(library, 'accept');
    expect(reviewDecisions.of(library)).toBe('accept');
    expect(reviewDecisions.hunk(library, 1)).toEqual(own);
    const hunks = [{ type: 'accept' }, { type: 'edit', text: 'my words' }, { type: 'accept' }];
    expect(told()).toEqual({ type: 'hunks', hunks });
  });

  it('stay when their place is accepted with others', () => {
    const places = [0, 1, 2].map((index) => ({ path: library, index }));
    reviewDecisions.decideHunks([...places, { path: plan, index: 0 }], 'accept');
    expect(reviewDecisions.hunk(library, 0)).toBe('accept');
    expect(reviewDecisions.hunk(library, 1)).toEqual(own);
    expect(reviewDecisions.of(plan)).toBe('accept');
  });

  it('are not told while the note or the place is rejected', () => {
    reviewDecisions.decideHunks([{ path: library, index: 1 }], 'reject');
    expect(reviewDecisions.hunk(library, 1)).toBe('reject');
    reviewDecisions.decide(library, 'reject');
    expect(told()).toEqual({ type: 'reject' });
  });

  it.each<[string, () => void, () => void]>([
    [
      'the place was rejected',
      () => reviewDecisions.decideHunks([{ path: library, index: 1 }], 'reject'),
      () => reviewDecisions.decideHunks([{ path: library, index: 1 }], 'accept'),
    ],
    [
      'its decision was cleared',
      () => reviewDecisions.decideHunks([{ path: library, index: 1 }], 'accept'),
      () => reviewDecisions.decideHunks([{ path: library, index: 1 }], 'accept'),
    ],
    [
      'the note was rejected',
      () => reviewDecisions.decide(library, 'reject'),
      () => reviewDecisions.decide(library, 'accept'),
    ],
    [
      'everything was rejected',
      () => reviewDecisions.rejectAll(),
      () => reviewDecisions.decide(library, 'accept'),
    ],
  ])('are accepted again after %s', (_, leave, accept) => {
    leave();
    expect(reviewDecisions.hunk(library, 1)).not.toEqual(own);
    expect(reviewDecisions.own(library, 1)).toBe('my words');
    accept();
    expect(reviewDecisions.hunk(library, 1)).toEqual(own);
  });

  it('do not count as a decision once theirs was cleared', () => {
    reviewDecisions.decideHunks([{ path: library, index: 1 }], 'accept');
    expect([reviewDecisions.of(library), reviewDecisions.count]).toEqual([null, 0]);
    expect(told()).toBeUndefined();
  });
});

describe("the user's own lines, when their note gets other changes", () => {
  const [note] = waiting().notes;
  if (!note) throw new Error('no note');
  const drafts = () => reviewDecisions.drafts.all.map(({ path, text }) => [path, text]);
  /** The hunks of the note, the edited one replaced by these. */
  const withSecond = (...hunks: NoteDiff['hunks']): Partial<NoteDiff> => {
    const [first, , ...last] = note.hunks;
    return { seen: 'other', hunks: first ? [first, ...hunks, ...last] : [] };
  };
  const [, second] = note.hunks;
  if (!second) throw new Error('no second hunk');
  const replaced = { ...second, lines: [line('added', 'From the model')] };

  beforeEach(() => reviewDecisions.choose(library, 1, { edit: 'my words' }));

  it('stay at their hunk, without the decision', () => {
    reviewDecisions.follow(changeFirst({ seen: 'other' }));
    expect(reviewDecisions.hunk(library, 1)).toBeNull();
    expect(reviewDecisions.own(library, 1)).toBe('my words');
    expect([reviewDecisions.count, drafts()]).toEqual([0, []]);
    reviewDecisions.decide(library, 'accept');
    expect(reviewDecisions.hunk(library, 1)).toEqual({ edit: 'my words' });
  });

  it('go with their hunk when others come before it', () => {
    reviewDecisions.follow(changeFirst(withSecond(replaced, second)));
    expect(reviewDecisions.own(library, 1)).toBeNull();
    expect(reviewDecisions.own(library, 2)).toBe('my words');
  });

  it.each<[string, () => void]>([
    ['accepted', () => undefined],
    ['rejected', () => reviewDecisions.decide(library, 'reject')],
    ['undecided', () => reviewDecisions.decideHunks([{ path: library, index: 1 }], 'accept')],
  ])(
    'are being edited at the nearest hunk when theirs is gone, where they were %s',
    (_, decide) => {
      decide();
      const changed = changeFirst(withSecond(replaced));
      reviewDecisions.follow(changed);
      expect(drafts()).toEqual([[library, 'my words']]);
      const [now] = changed.notes;
      expect(now && reviewDecisions.drafts.of(now, 1)).toBe('my words');
      expect(reviewDecisions.of(library)).toBeNull();
    },
  );

  it('are gone when their hunk was applied with them, and no others are', () => {
    reviewDecisions.choose(library, 2, { edit: 'more words' });
    reviewDecisions.choose(library, 2, null);
    reviewDecisions.choose(library, 0, { edit: 'other words' });
    reviewDecisions.decideHunks([{ path: library, index: 0 }], 'accept');
    reviewDecisions.submit();
    reviewDecisions.follow(changeFirst(withSecond()));
    expect([drafts(), reviewDecisions.own(library, 0)]).toEqual([[], 'other words']);
    reviewDecisions.follow(changeFirst({ seen: 'last', hunks: [replaced] }));
    expect(drafts()).toEqual([[library, 'other words']]);
  });

  it('are gone with the changes of their note', () => {
    reviewDecisions.follow({ ...waiting(), notes: waiting().notes.slice(1) });
    expect([drafts(), reviewDecisions.own(library, 1)]).toEqual([[], null]);
  });
});

describe('a hunk that is being edited', () => {
  const [note] = waiting().notes;
  const toldAs = () => reviewDecisions.told().find(({ path }) => path === library)?.decision;

  it('waits with its decision until its editor is closed', () => {
    if (!note) throw new Error('no note');
    reviewDecisions.decide(library, 'accept');
    reviewDecisions.drafts.begin(note, 1, 'half a sentence');
    expect(reviewDecisions.of(library)).toBe('part');
    const wait = [{ type: 'accept' }, { type: 'wait' }, { type: 'accept' }];
    expect(toldAs()).toEqual({ type: 'hunks', hunks: wait });
    reviewDecisions.drafts.end(note, 1);
    expect(reviewDecisions.of(library)).toBe('accept');
    expect(toldAs()).toEqual({ type: 'accept' });
  });

  it('keeps its note from being told when nothing else of it is decided', () => {
    if (!note) throw new Error('no note');
    reviewDecisions.choose(library, 1, { edit: 'my words' });
    expect(reviewDecisions.count).toBe(1);
    reviewDecisions.drafts.begin(note, 1, 'my words, and');
    expect(reviewDecisions.count).toBe(0);
    expect(toldAs()).toBeUndefined();
    expect(reviewDecisions.own(library, 1)).toBe('my words');
    reviewDecisions.decide(library, 'accept');
    reviewDecisions.drafts.end(note, 1);
    expect(reviewDecisions.hunk(library, 1)).toEqual({ edit: 'my words' });
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
    const reloaded = new ReviewDecisions(new StoredDecisions('notebook', 'c'));
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

  it('stand again with own lines that were rejected', () => {
    const before = reload(waiting());
    before.decide(library, 'reject');
    before.decideHunks([{ path: library, index: 2 }], 'accept');
    const reloaded = reload(waiting());
    expect(reloaded.hunk(library, 0)).toBe('reject');
    expect(reloaded.hunk(library, 2)).toBe('accept');
    reloaded.decide(library, 'accept');
    expect(reloaded.hunk(library, 0)).toEqual({ edit: 'my words' });
  });

  it('are gone for a note of which the changes are others, but not the lines that the user wrote', () => {
    const changed = changeFirst({ seen: 'other' });
    const other = reload(changed);
    const [note] = changed.notes;
    expect(other.of(library)).toBeNull();
    expect(note && other.drafts.of(note, 0)).toBe('my words');
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

describe('decisions of a deleted conversation', () => {
  const conversation = row('c', 'A conversation');
  const minute = 60_000;
  let app: AppState;
  let seq = 0;

  /** The window starts, with the conversations that exist now. */
  function start(rows = [conversation], vault = 'notebook'): AppState {
    const snapshot = healthy(rows);
    if (snapshot.vault) snapshot.vault.id = vault;
    const started = new AppState();
    started.restore({ ...snapshot, seq });
    return started;
  }

  function tell(event: AppEvent): void {
    seq += 1;
    app.receive([{ seq, event }]);
  }

  /** The window is closed for this long. */
  function close(milliseconds = 0): void {
    const until = Date.now() + milliseconds;
    vi.clearAllTimers();
    vi.setSystemTime(until);
  }

  function openAgain(): ReviewDecisions | undefined {
    const expected = app.expect('c');
    app.show({ ...view(conversation, [], { review: waiting() }), seq }, expected);
    return app.chat?.reviewDecisions;
  }

  beforeEach(() => {
    vi.useFakeTimers();
    app = start();
    openAgain()?.choose(library, 0, { edit: 'my words' });
    expect(localStorage).toHaveLength(1);
    tell({ type: 'conversation_gone', conversation: 'c' });
  });

  afterEach(() => {
    vi.clearAllTimers();
    vi.useRealTimers();
  });

  it('are removed when it can no longer be restored', () => {
    vi.advanceTimersByTime(9 * minute);
    expect(localStorage).toHaveLength(1);
    vi.advanceTimersByTime(minute);
    expect(localStorage).toHaveLength(0);
  });

  it('stand again when it is restored', () => {
    vi.advanceTimersByTime(9 * minute);
    tell({ type: 'conversation_changed', conversation });
    vi.advanceTimersByTime(20 * minute);
    expect(openAgain()?.hunk(library, 0)).toEqual({ edit: 'my words' });
  });

  it('are removed on time after a restart of the window', () => {
    vi.advanceTimersByTime(9 * minute);
    close();
    app = start([]);
    vi.advanceTimersByTime(minute);
    expect(localStorage).toHaveLength(0);
  });

  it('stand again when it was restored while the window was closed', () => {
    close(60 * minute);
    app = start();
    vi.advanceTimersByTime(20 * minute);
    expect(openAgain()?.hunk(library, 0)).toEqual({ edit: 'my words' });
  });

  it('are removed when it was deleted while the window was closed', () => {
    tell({ type: 'conversation_changed', conversation });
    close();
    app = start([]);
    vi.advanceTimersByTime(10 * minute);
    expect(localStorage).toHaveLength(0);
  });

  it('stay while another vault is open', () => {
    tell({ type: 'conversation_changed', conversation });
    app = start([], 'another');
    vi.advanceTimersByTime(20 * minute);
    expect(localStorage).toHaveLength(1);
  });
});

describe('entries of decisions that cannot be read', () => {
  it('are removed at the start, and nothing of others is', () => {
    localStorage.setItem('vaultmate.decisions.c', '{"changeSet":');
    localStorage.setItem('vaultmate.recent', '[]');
    new AppState().restore(healthy([]));
    expect(Object.keys(localStorage)).toEqual(['vaultmate.recent']);
  });
});
