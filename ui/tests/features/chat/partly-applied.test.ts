import { expect, it } from 'vitest';

import type { ToolItem } from '../../../src/features/chat/rows';
import { CallDecisions, outcomeOf } from '../../../src/features/chat/tool-calls/change-outcome';
import {
  callOutcomes,
  effectsOf,
  mixedIn,
} from '../../../src/features/chat/tool-calls/partly-applied';
import type {
  AppliedHunks,
  AppliedSet,
  ChangeStatus,
  ChatItem,
  DiffLineKind,
} from '../../../src/ipc/bindings';

const path = 'Soup.md';

function edit(id: string, given: object, tool = 'edit_file'): ToolItem {
  const at = { at: 0, output: 'done', isError: false, turn: 't', tool } as const;
  const change = { type: 'changed', path, created: false, added: 1, removed: 0 } as const;
  const reactions = [{ ...change, waiting: true }];
  return { type: 'tool', ...at, call: id, arguments: JSON.stringify(given), reactions };
}

function replace(id: string, old: string, fresh: string): ToolItem {
  return edit(id, { path, old_text: old, new_text: fresh });
}

/** The effect of a change, with one hunk of such lines. */
function hunks(...lines: [DiffLineKind, string][]): Map<string, AppliedHunks> {
  const told = lines.map(([sign, text]) => ({ sign, words: [{ text, marked: false }] }));
  const hunk = { heading: null, properties: false, oldStart: 1, newStart: 1, lines: told };
  return new Map([['e', { effect: 'e', hunks: [hunk], undone: [] }]]);
}

function applied(standing: ChangeStatus): AppliedSet[] {
  const note = { effect: 'e', path, target: null, kind: 'replace', unit: null } as const;
  const notes = [{ ...note, turn: 't', added: 1, removed: 1, standing, tooOld: false }];
  return [{ id: 's', conversation: 'c', turn: 't', by: 'assistant', request: '', at: 0, notes }];
}

const mixed: ChatItem = { type: 'decision', id: 'v', applied: [path], rejected: [path], at: 0 };

/** The outcome that is shown for each call. */
function outcomes(
  calls: readonly ToolItem[],
  known: Map<string, AppliedHunks>,
  standing: ChangeStatus,
) {
  const items = [...calls, mixed];
  const decided = new CallDecisions().read(items);
  const sets = applied(standing);
  const places = callOutcomes(mixedIn(items, decided), sets, known);
  const outside = { decided, places, pending: [], applied: sets };
  return calls.map((call) => outcomeOf([call], [path], outside));
}

const leek = replace('1', 'Two leeks', 'Three leeks');
const salt = replace('2', 'No salt today', 'A pinch of salt');
const onlyLeek = hunks(['removed', '- Two leeks'], ['added', '- Three leeks']);

it('each call of a note that was accepted in part tells its own state', () => {
  expect(outcomes([leek, salt], onlyLeek, 'stands')).toEqual(['applied', 'rejected']);
});

it('an undo leaves what was rejected as it was', () => {
  expect(outcomes([leek, salt], onlyLeek, 'undone')).toEqual(['undone', 'rejected']);
});

it('before the hunks are known single calls have no outcome', () => {
  expect(outcomes([leek, salt], new Map(), 'stands')).toEqual(['part', 'part']);
});

it.each<[string, ToolItem]>([
  ['two places of which one was accepted', replace('2', 'No salt\nTwo leeks', 'Salt\nThree leeks')],
  ['words so short that they are found anywhere', replace('2', 'Two', 'Thr')],
  ['every occurrence', edit('2', { path, old_text: 'a', new_text: 'b', replace_all: true })],
])('nothing is claimed of %s', (_, call) => {
  expect(outcomes([leek, call], onlyLeek, 'stands')).toEqual(['applied', 'part']);
});

const section = edit(
  '2',
  { path, heading: 'Steps', action: 'append', text: '- Serve hot' },
  'edit_section',
);

it('an added text is rejected where the calls wrote all lines', () => {
  expect(outcomes([leek, section], onlyLeek, 'stands')).toEqual(['applied', 'rejected']);
  const both = hunks(
    ['removed', '- Two leeks'],
    ['added', '- Three leeks'],
    ['added', '- Serve hot'],
  );
  expect(outcomes([leek, section], both, 'stands')).toEqual(['applied', 'applied']);
});

it('nothing is claimed of an added text where the user wrote another one', () => {
  const reworded = hunks(
    ['removed', '- Two leeks'],
    ['added', '- Three leeks'],
    ['added', '- Warm'],
  );
  expect(outcomes([leek, section], reworded, 'stands')).toEqual(['applied', 'part']);
});

function property(action: string, value?: unknown): ToolItem {
  return edit('2', { path, property: 'Tags', action, value }, 'set_property');
}

it.each<[string, ToolItem, [DiffLineKind, string][], string]>([
  ['set', property('set', 'vegan'), [['added', 'tags: vegan']], 'applied'],
  ['a number', property('set', 4), [['added', 'tags: 4']], 'applied'],
  ['appended to a line', property('append', 'vegan'), [['added', 'tags: [hot, vegan]']], 'applied'],
  ['appended to a list', property('append', ['vegan']), [['added', '- vegan']], 'applied'],
  ['removed', property('remove'), [['removed', 'tags: [hot]']], 'applied'],
  ['left alone', property('set', 'vegan'), [['added', 'serves: 4']], 'rejected'],
  ['set to another value', property('set', 'vegan'), [['added', 'tags: hot']], 'part'],
])('a property that was %s', (_, call, lines, outcome) => {
  const known = hunks(['removed', '- Two leeks'], ['added', '- Three leeks'], ...lines);
  expect(outcomes([leek, call], known, 'stands')).toEqual(['applied', outcome]);
});

it('a single call is accepted in part itself, and needs no hunks', () => {
  const decided = new CallDecisions().read([leek, mixed]);
  expect(mixedIn([leek, mixed], decided)).toEqual([]);
  const both = new CallDecisions().read([leek, salt, mixed]);
  const [one] = mixedIn([leek, salt, mixed], both);
  if (!one) throw new Error('no note in part');
  expect(effectsOf(one, applied('stands'))).toEqual(['e']);
});

it('what was accepted in part is found in a set that another turn began', () => {
  const items = [leek, salt, mixed];
  const [one] = mixedIn(items, new CallDecisions().read(items));
  if (!one) throw new Error('no note in part');
  const begun = applied('stands').map((set) => ({ ...set, turn: 'earlier' }));
  expect(effectsOf(one, begun)).toEqual(['e']);
  // The control: another turn changed the note.
  const others = begun.map((set) => ({
    ...set,
    turn: 't',
    notes: set.notes.map((note) => ({ ...note, turn: 'earlier' })),
  }));
  expect(effectsOf(one, others)).toEqual([]);
});
