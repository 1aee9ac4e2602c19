import { beforeEach, describe, expect, it } from 'vitest';

import type { AppliedSet } from '../../../src/ipc/bindings';
import { Changes } from '../../../src/state/changes/changes.svelte';
import { effectText } from '../../../src/state/changes/effect-text';
import {
  redoCount,
  setsOfTurn,
  toEffects,
  undoCount,
} from '../../../src/state/changes/undo-counts';
import { Session } from '../../../src/state/session.svelte';
import { FakeHost } from '../../fake/host';
import { changes as story } from '../../fake/stories/changes/changes';
import { question } from '../../fake/stories/chat/question';
import { vaultAt } from '../../fake/view';

function set(id: string, at: number, change: Partial<AppliedSet> = {}): AppliedSet {
  const note = {
    effect: `e-${id}`,
    turn: `t-${id}`,
    path: `${id}.md`,
    target: null,
    kind: 'replace',
    unit: null,
    added: 1,
    removed: 0,
    standing: 'stands',
    tooOld: false,
  } as const;
  const from = { conversation: 'c', turn: `t-${id}`, by: 'assistant', request: '' } as const;
  return { id, at, notes: [note], ...from, ...change };
}

function ids(sets: readonly AppliedSet[]): string[] {
  return sets.map(({ id }) => id);
}

it('the page with the changes of a conversation shows all changes once another vault is open', async () => {
  const host = new FakeHost(story());
  const session = new Session(host);
  await session.start();
  const conversation = session.app.chat?.id ?? '';
  session.openChanges(conversation);
  // The control: in the same vault it stays with the conversation.
  await session.start();
  expect(session.place).toEqual({ name: 'changes', conversation, at: null });
  const other = { ...vaultAt('/other', false), id: 'another' };
  const subscribed = host.subscribe.bind(host);
  host.subscribe = async (receive) => {
    return { ...(await subscribed(receive)), vault: other, conversations: [] };
  };
  const before = host.asked('listApplied').length;
  host.tell({ type: 'vault_changed', vault: other });
  await expect.poll(() => host.asked('listApplied').length).toBeGreaterThan(before);
  expect(session.place).toEqual({ name: 'changes', conversation: null, at: null });
  expect(host.asked('listApplied').slice(before)).toEqual([{ conversation: null, before: null }]);
});

describe('applied changes', () => {
  let changes: Changes;

  beforeEach(() => {
    changes = new Changes();
  });

  it('is listed newest first, page by page', () => {
    changes.addPage({ seq: 0, sets: [set('d', 40), set('c', 30)], more: true });
    expect(changes.oldest).toBe('c');
    changes.addPage({ seq: 0, sets: [set('b', 20), set('a', 10)], more: false });
    expect(ids(changes.listed)).toEqual(['d', 'c', 'b', 'a']);
    expect(changes.more).toBe(false);
  });

  it('is listed as the newest once more of an old set is applied', () => {
    changes.addPage({ seq: 0, sets: [set('d', 40), set('c', 30)], more: true });
    const old = set('a', 10);
    changes.tell(old, 1);
    // The control: as it was it belongs on a later page.
    expect(ids(changes.listed)).toEqual(['d', 'c']);
    changes.tell({ ...old, at: 50, notes: [...old.notes, ...set('a2', 50).notes] }, 2);
    expect(ids(changes.listed)).toEqual(['a', 'd', 'c']);
  });

  it('is listed without gaps: old changes of one conversation come with their page', () => {
    changes.addPage({ seq: 0, sets: [set('d', 40), set('c', 30)], more: true });
    changes.addOf('old', { seq: 0, sets: [set('a', 10, { conversation: 'old' })], more: false });
    expect(ids(changes.listed)).toEqual(['d', 'c']);
    expect(ids(changes.of('old'))).toEqual(['a']);
    expect(changes.whole.has('old')).toBe(true);
  });

  it('is as it is listed when it lost its text, without what was loaded of it', () => {
    const sets = [set('d', 40), set('c', 30)];
    changes.addPage({ seq: 0, sets, more: false });
    for (const effect of ['e-d', 'e-c']) {
      changes.hunks.set(effect, { effect, hunks: [], undone: [] });
      changes.since.set(effect, { effect, path: null, hunks: [] });
    }
    const old = set('c', 30, {
      notes: set('c', 30).notes.map((note) => ({ ...note, tooOld: true })),
    });
    changes.tell(old, 1);
    const fetched = new Changes();
    fetched.addPage({ seq: 1, sets: [set('d', 40), old], more: false });
    expect(changes.listed).toEqual(fetched.listed);
    expect(undoCount(changes.listed)).toBe(1);
    expect([...changes.hunks.keys(), ...changes.since.keys()]).toEqual(['e-d', 'e-d']);
  });

  it('keeps a conflict open when history is deleted, until its change is too old', async () => {
    const [conflict] = Object.values(story().applied?.conflicts ?? {});
    if (!conflict) throw new Error('the story has no conflict');
    const old = set('b', 20, {
      notes: set('b', 20).notes.map((note) => ({ ...note, tooOld: true })),
    });
    for (const effect of ['e-a', 'e-b']) changes.conflicts.set(effect, conflict);
    changes.conflicts.set('e-undo', { ...conflict, listed: 'e-b' });
    changes.forget();
    expect([...changes.conflicts.keys()]).toEqual(['e-a', 'e-b', 'e-undo']);
    changes.addPage({ seq: 0, sets: [old, set('a', 10)], more: false });
    expect([...changes.conflicts.keys()]).toEqual(['e-a']);
    changes.clear();
    expect(changes.conflicts.size).toBe(0);

    const host = new FakeHost(story());
    const session = new Session(host);
    await session.start();
    session.app.changes.conflicts.set(conflict.effect, conflict);
    host.tell({ type: 'history_changed' });
    expect(session.app.changes.conflicts.has(conflict.effect)).toBe(true);
  });

  it('is as the newest event tells it, however late an older page comes', () => {
    const undone = set('d', 40, {
      notes: set('d', 40).notes.map((note) => ({ ...note, standing: 'undone' })),
    });
    changes.tell(undone, 7);
    changes.addPage({ seq: 5, sets: [set('d', 40)], more: false });
    expect(undoCount(changes.listed)).toBe(0);
    changes.addPage({ seq: 8, sets: [set('d', 40)], more: false });
    expect(undoCount(changes.listed)).toBe(1);
  });

  it('omits sets that only undid something: that shows in the undone set', () => {
    changes.addPage({ seq: 0, sets: [set('d', 40, { by: 'undo' }), set('c', 30)], more: false });
    expect(ids(changes.listed)).toEqual(['c']);
  });

  it('counts for a turn its own changes in sets that hold those of several', () => {
    const { notes } = set('m', 1);
    const of = (turn: string) => notes.map((note) => ({ ...note, turn, path: `${turn}.md` }));
    const both = set('m', 1, { notes: [...of('one'), ...of('two')] });
    const sets = [both, set('n', 2)];
    expect(undoCount(sets)).toBe(3);
    expect(setsOfTurn(sets, 'two')).toEqual([{ ...both, notes: of('two') }]);
    expect(undoCount(setsOfTurn(sets, 'two'))).toBe(1);
    expect(setsOfTurn(sets, 'three')).toEqual([]);
  });

  it('counts a move with its links once', () => {
    const { notes } = set('m', 1);
    const [note] = notes;
    if (!note) throw new Error('no note');
    const unit = { unit: 'u' };
    const moved = set('m', 1, {
      notes: [
        { ...note, ...unit, effect: '1', path: 'a.md' },
        { ...note, ...unit, effect: '2', kind: 'rename', target: 'x/m.md' },
        { ...note, effect: '3', path: 'b.md', standing: 'partly_undone' },
      ],
    });
    expect(undoCount([moved])).toBe(2);
    expect(redoCount([moved])).toBe(1);
  });
});

describe('a set in one sentence', () => {
  it.each([
    ['s9', 'Added 3 lines to Groceries'],
    ['s7', 'Changed 2 notes'],
    ['s6', 'Moved Minutes, November to Archive/2026 and updated links in 4 notes'],
    ['s5', 'Created Water tank, three offers'],
    ['s4', 'Changed 4 notes'],
    ['s3', 'Moved Untitled 4 to trash'],
    ['s2', 'Created folder 2026'],
  ])('%s says: %s', (id, words) => {
    const found = story().applied?.sets.find((one) => one.id === id);
    const { before, note, after } = effectText(toEffects(found?.notes ?? []));
    expect(before + note + after).toBe(words);
  });

  it('counts what is not only notes', () => {
    const sets = story().applied?.sets ?? [];
    const mixed = sets.filter(({ id }) => ['s2', 's3', 's5'].includes(id));
    const { before } = effectText(toEffects(mixed.flatMap(({ notes }) => notes)));
    expect(before).toBe('Made 3 changes');
  });
});

describe('undoing', () => {
  let host: FakeHost;
  let session: Session;

  beforeEach(async () => {
    host = new FakeHost(story());
    session = new Session(host);
    await session.start();
  });

  function standing(id: string): string[] {
    const found = session.app.changes.listed.find((one) => one.id === id);
    return found?.notes.map((note) => note.standing) ?? [];
  }

  it('knows what the open conversation led to without having been asked', () => {
    expect(host.asked('listApplied')).toEqual([{ conversation: 'groceries', before: null }]);
    expect(ids(session.app.changes.of('groceries'))).toEqual(['s9', 's8']);
  });

  it('asks for nothing where a conversation changed nothing', async () => {
    const chat = new FakeHost(question());
    await new Session(chat).start();
    expect(chat.asked('listApplied')).toEqual([]);
  });

  it('lists the next page from where the last one ended', async () => {
    session.openChanges();
    await session.undo.listMore();
    expect(session.app.changes.listed.length).toBeGreaterThan(8);
    const before = session.app.changes.oldest;
    await session.undo.listMore();
    expect(host.asked('listApplied').at(-1)).toEqual({ conversation: null, before });
  });

  it.each([
    ['of all changes', null],
    ['of one conversation', 'c'],
  ])('has no gap in the list %s that was dropped while a page was on its way', async (_, of) => {
    const all = [set('d', 40), set('c', 30), set('b', 20), set('a', 10)];
    let arrive = (): void => undefined;
    host.listApplied = async ({ conversation, before }) => {
      if (conversation !== of) return { seq: 0, sets: [], more: false };
      const from = all.findIndex(({ id }) => id === before) + 1;
      if (from > 0) await new Promise<void>((resolve) => (arrive = resolve));
      return { seq: 0, sets: all.slice(from, from + 2), more: from + 2 < all.length };
    };
    const { changes } = session.app;
    const known = () => (of === null ? changes.listed : changes.of(of));
    const listed = () => ids(known().filter(({ conversation }) => conversation === 'c'));
    const list = () => (of === null ? session.undo.listMore() : session.undo.listOf(of));
    if (of === null) await list();
    const second = list();
    await expect.poll(listed).toEqual(['d', 'c']);
    host.tell({ type: 'history_changed' });
    expect(listed()).toEqual([]);
    arrive();
    await expect.poll(listed).toEqual(['d', 'c']);
    arrive();
    await second;
    // The control: the page after it is not dropped.
    const rest = of === null ? list() : null;
    arrive();
    await rest;
    expect(listed()).toEqual(['d', 'c', 'b', 'a']);
  });

  it('undoes the newest set that stands, and then the one before it', async () => {
    await session.undo.undoLast();
    expect(host.asked('undo')).toEqual([{ type: 'change_set', changeSet: 's9' }]);
    expect(standing('s9')).toEqual(['undone']);
    expect(session.undo.notice?.text()).toBe('Undid changes to 1 note');
    await session.undo.undoLast();
    expect(host.asked('undo').at(-1)).toEqual({ type: 'change_set', changeSet: 's7' });
  });

  it('redoes by undoing the undo', async () => {
    await session.undo.undoLast();
    await session.undo.redoLast();
    expect(host.asked('undo').at(-1)).toEqual({ type: 'change_set', changeSet: 'undo-1' });
    expect(standing('s9')).toEqual(['stands']);
    expect(session.undo.notice?.text()).toBe('Redid changes to 1 note');
  });

  it('undoes what was just redone, and redoes that', async () => {
    await session.undo.undoLast();
    await session.undo.redoLast();
    expect(session.undo.canRedoLast).toBe(false);
    await session.undo.redoLast();
    expect(standing('s9')).toEqual(['stands']);
    await session.undo.undoLast();
    expect(host.asked('undo').at(-1)).toEqual({ type: 'change_set', changeSet: 'undo-2' });
    expect(standing('s9')).toEqual(['undone']);
    expect(session.undo.notice?.text()).toBe('Undid changes to 1 note');
    await session.undo.redoLast();
    expect(standing('s9')).toEqual(['stands']);
  });

  it('undoes what was applied since a redo, and not the redo', async () => {
    await session.undo.undoLast();
    await session.undo.redoLast();
    host.tell({ type: 'applied_changed', set: set('later', Date.now() + 1000) });
    await session.undo.undoLast();
    expect(host.asked('undo').at(-1)).toEqual({ type: 'change_set', changeSet: 'later' });
  });

  it('does what comes while something is under way after it, and nothing twice', async () => {
    const scope = { type: 'change_set', changeSet: 's9' } as const;
    const { undo } = session;
    await undo.listMore();
    await Promise.all([undo.undo(scope), undo.undo(scope), undo.redo(scope)]);
    expect([host.asked('undo'), host.asked('redo')]).toEqual([[scope], [scope]]);
    expect(standing('s9')).toEqual(['stands']);
    expect(undo.notice?.text()).toBe('Redid changes to 1 note');
  });

  it('keeps a conflict until it is decided, and says where it stopped', async () => {
    await session.undo.undo({ type: 'change_set', changeSet: 's7' });
    expect(session.undo.notice?.text()).toBe(
      'Undid changes to 1 note. 1 change needs your decision',
    );
    const [conflict] = session.app.changes.conflicts.values();
    if (!conflict) throw new Error('no conflict');
    await session.undo.settle(conflict);
    expect(host.asked('resolveConflict')).toEqual([conflict]);
    expect(session.app.changes.conflicts.size).toBe(0);
  });

  it('answers for the one place that was to be undone', async () => {
    await session.undo.undo({ type: 'effect', effect: 'e-letter', hunks: [1] });
    const [conflict] = session.app.changes.conflicts.values();
    if (!conflict) throw new Error('no conflict');
    const note = { path: 'Letter.md', file: '1' };
    await session.undo.undoIn(conflict, note);
    expect(host.asked('undoInNote')).toEqual([
      { action: 'undo', effect: 'e-letter', hunks: [1], note },
    ]);
    await session.undo.settle(conflict);
    expect(host.asked('resolveConflict')).toMatchObject([{ effect: 'e-letter', hunks: [1] }]);
  });

  it('leaves the note alone when the user keeps it', async () => {
    await session.undo.undo({ type: 'change_set', changeSet: 's7' });
    session.undo.keep('e-letter');
    expect(session.app.changes.conflicts.size).toBe(0);
    expect(host.asked('resolveConflict')).toEqual([]);
  });

  it('reports a refusal, and can be repeated', async () => {
    host.refusals.set('undo', { code: 'write', message: 'The disk is full.' });
    await session.undo.undoLast();
    expect(session.app.problems[0]?.error.message).toBe('The disk is full.');
    expect(session.undo.notice).toBeNull();
    await session.undo.undoLast();
    expect(standing('s9')).toEqual(['undone']);
  });

  it('looks for it on older pages, and stops where it cannot look', async () => {
    for (const id of ['s9', 's7', 's6']) {
      await session.undo.undo({ type: 'change_set', changeSet: id });
    }
    host.refusals.set('listApplied', { code: 'vault', message: 'The vault is gone.' });
    await session.undo.undoLast();
    expect(session.app.problems[0]?.error.message).toBe('The vault is gone.');
    await session.undo.undoLast();
    expect(host.asked('undo').at(-1)).toEqual({ type: 'change_set', changeSet: 's7' });
  });

  it('says so when nothing is left', async () => {
    const bare = new Session(
      new FakeHost({ ...story(), applied: { sets: [], hunks: {}, conflicts: {} } }),
    );
    await bare.start();
    await bare.undo.undoLast();
    expect(bare.undo.notice?.text()).toBe('Nothing to undo');
  });

  it('drops everything with the vault', async () => {
    await session.undo.undo({ type: 'change_set', changeSet: 's7' });
    await session.chooseVault();
    expect(session.app.changes.conflicts.size).toBe(0);
    expect(session.undo.notice).toBeNull();
  });
});
