import { expect, it } from 'vitest';

import type { ToolItem } from '../../../src/features/chat/rows';
import {
  CallDecisions,
  type DecisionItem,
  outcomeOf,
  type Outside,
  undoneSince,
} from '../../../src/features/chat/tool-calls/change-outcome';
import type { AppliedSet, ChangeStatus, ChatItem } from '../../../src/ipc/bindings';

const path = 'Soup.md';

function call(id: string, turn: string, waiting = true, note = path): ToolItem {
  const at = { at: 0, arguments: '{}', output: 'done', isError: false } as const;
  const reaction = {
    type: 'changed',
    path: note,
    created: false,
    added: 1,
    removed: 0,
    waiting,
  } as const;
  return { type: 'tool', tool: 'edit_file', turn, call: id, ...at, reactions: [reaction] };
}

function decision(id: string, applied: string[], rejected: string[] = []): DecisionItem {
  return { type: 'decision', id, applied, rejected, at: 0 };
}

function set(turn: string, standing: ChangeStatus): AppliedSet {
  const note = { effect: 'e', path, target: null, kind: 'replace', unit: null } as const;
  const notes = [{ ...note, turn, added: 1, removed: 0, standing, tooOld: false }];
  return { id: `set-${turn}`, conversation: 'c', turn, by: 'assistant', request: '', at: 0, notes };
}

/** Changes that were accepted together: the note of each, its turn, and how it stands. */
function together(...changes: [string, string, ChangeStatus][]): AppliedSet {
  const begun = set('t1', 'stands');
  const notes = changes.flatMap(([note, turn, standing]) =>
    begun.notes.map((one) => ({ ...one, effect: `${note} ${turn}`, path: note, turn, standing })),
  );
  return { ...begun, notes };
}

/** The state of a call among these items. */
function state(one: ToolItem, items: readonly ChatItem[], around: Partial<Outside> = {}) {
  const decided = new CallDecisions().read(items);
  const changed = one.reactions.flatMap((made) => (made.type === 'changed' ? [made.path] : []));
  return outcomeOf([one], changed, { decided, pending: [], applied: [], ...around });
}

const first = call('1', 't1');
const second = call('2', 't2');

it.each<[string | null, ChatItem[], Partial<Outside>]>([
  [null, [first], {}],
  ['pending', [first], { pending: [path] }],
  ['applied', [first, decision('v', [path])], {}],
  ['rejected', [first, decision('v', [], [path])], {}],
  ['part', [first, decision('v', [path], [path])], {}],
  ['part', [first, decision('v', [path]), decision('w', [], [path])], {}],
  ['pending', [first, decision('v', [path])], { pending: [path] }],
  ['applied', [first, decision('v', [path])], { applied: [set('t1', 'stands')] }],
  ['undone', [first, decision('v', [path])], { applied: [set('t1', 'undone')] }],
  ['partly_undone', [first, decision('v', [path])], { applied: [set('t1', 'partly_undone')] }],
  ['applied', [first, decision('v', [path])], { applied: [set('t2', 'undone')] }],
  [null, [first, decision('v', ['Other.md'])], {}],
  ['applied', [first, decision('v', [path]), second, decision('w', [], [path])], {}],
  ['rejected', [first, second, decision('v', [], [path])], {}],
])('proposed changes are %s', (outcome, items, around) => {
  expect(state(first, items, around)).toBe(outcome);
});

it('changes that were applied at once tell only that they were undone', () => {
  const once = call('1', 't1', false);
  expect(state(once, [once], { applied: [set('t1', 'stands')] })).toBeNull();
  expect(state(once, [once], { applied: [set('t1', 'undone')], pending: [path] })).toBe('undone');
});

it('decisions are found once for the same calls, however an answer grows', () => {
  const found = new CallDecisions();
  const answer = { type: 'assistant', id: 'a', text: 'x', streaming: true, cut: false } as const;
  const before = found.read([first, decision('v', [path])]);
  expect(found.read([first, decision('v', [path])])).not.toBe(before);
  const items = [first, second];
  expect(found.read([...items, answer])).toBe(found.read([...items, { ...answer, text: 'xy' }]));
});

it.each<[ChangeStatus, string, ReturnType<typeof undoneSince>]>([
  ['stands', 't1', { undone: [], partly: [] }],
  ['undone', 't1', { undone: [path], partly: [] }],
  ['partly_undone', 't1', { undone: [], partly: [path] }],
  ['undone', 't2', { undone: [], partly: [] }],
])('a decision knows which of its changes were undone: %s in %s', (standing, turn, since) => {
  const mixed = decision('v', [path], [path]);
  const items = [first, mixed];
  const decided = new CallDecisions().read(items);
  expect(undoneSince(mixed, { decided, applied: [set(turn, standing)] })).toEqual(since);
});

const other = 'Stock.md';

it.each<[string, DecisionItem[]]>([
  ['together', [decision('v', [path, other])]],
  ['one after the other', [decision('v', [path]), decision('w', [other])]],
])('changes of two turns in one set are told each by itself: decided %s', (_, decisions) => {
  const later = call('2', 't2', true, other);
  const items = [first, later, ...decisions];
  const applied = [together([path, 't1', 'stands'], [other, 't2', 'undone'])];
  expect(state(later, items, { applied })).toBe('undone');
  const decided = new CallDecisions().read(items);
  const undone = decisions.flatMap((one) => undoneSince(one, { decided, applied }).undone);
  expect(undone).toEqual([other]);
  // The control: the change of the first turn stands.
  expect(state(first, items, { applied })).toBe('applied');
});

it('a change that two turns made in a note is told undone by the calls of both', () => {
  const items = [first, second, decision('v', [path])];
  const applied = [together([path, 't2', 'undone'])];
  expect(state(first, items, { applied })).toBe('undone');
  expect(state(second, items, { applied })).toBe('undone');
  // The control: they were decided one after the other, and only the later one is undone.
  const apart = [first, decision('v', [path]), second, decision('w', [path])];
  const both = [together([path, 't1', 'stands'], [path, 't2', 'undone'])];
  expect(state(first, apart, { applied: both })).toBe('applied');
  expect(state(second, apart, { applied: both })).toBe('undone');
});
