import { render, screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';

import type { AppliedSet, NoteHunk, UndoScope } from '../../../src/ipc/bindings';
import { Session } from '../../../src/state/session.svelte';
import App from '../../../src/views/App.svelte';
import { FakeHost } from '../../fake/host';
import { changes } from '../../fake/stories/changes/changes';
import { line } from '../../fake/stories/changes/diff';
import type { Story } from '../../fake/story';

const list = 'e-list';
const at = { heading: 'Sunday', properties: false };
const hunks: NoteHunk[] = [
  {
    ...{ ...at, oldStart: 3, newStart: 3 },
    lines: [line('removed', '- tea'), line('added', '- mushrooms'), line('added', '- sage')],
  },
  { ...{ ...at, oldStart: 9, newStart: 10 }, lines: [line('added', '- 4 pears')] },
];

/** The story with two places in Groceries and one in another note, changed in one turn. */
function story(): { story: Story; set: AppliedSet } {
  const before = changes();
  const [first, ...rest] = before.applied?.sets ?? [];
  const [groceries] = first?.notes ?? [];
  if (!first || !groceries) throw new Error('the story has no change');
  const changed = { ...groceries, effect: list, added: 3, removed: 1 };
  const other = { ...groceries, effect: 'e-other', path: 'Pantry.md', added: 1 };
  const set: AppliedSet = { ...first, notes: [changed, other] };
  const applied = {
    sets: [set, ...rest],
    hunks: { [list]: hunks, 'e-other': hunks.slice(1) },
    conflicts: {},
  };
  return { story: { ...before, applied }, set };
}

/** The same, with one note in the set. */
function storyOfOneNote(): Story {
  const { story: both, set } = story();
  const sets = [{ ...set, notes: set.notes.slice(0, 1) }];
  return both.applied ? { ...both, applied: { ...both.applied, sets } } : both;
}

/** The opened row of the set. */
async function open(of: Story) {
  const host = new FakeHost(of);
  const session = new Session(host);
  render(App, { session });
  await session.start();
  const keys = userEvent.setup();
  await keys.click(await screen.findByTestId('open-changes'));
  const [row] = await screen.findAllByTestId('change');
  if (!row) throw new Error('no change is listed');
  const inRow = within(row);
  const [opener] = inRow.getAllByRole('button', { expanded: false });
  await keys.click(opener ?? row);
  const places = () => inRow.queryAllByRole('button', { name: 'Undo this edit' });
  await waitFor(() => expect(places().length).toBeGreaterThan(1));
  /** Undoes one of the places that still stand. */
  const undoPlace = (number: number) => keys.click(places()[number] ?? row);
  const shown = () => ({
    counts: textOf(row.querySelector('.counts')),
    notes: inRow.getAllByRole('heading', { level: 3 }).map(textOf),
    places: [...row.querySelectorAll('.hunk .where')].map(textOf),
    next: textOf(inRow.getByTestId('change-undo')).replace(/:.*/, ''),
  });
  const expectShown = (wanted: ReturnType<typeof shown>) =>
    waitFor(() => expect(shown()).toEqual(wanted));
  return { host, keys, inRow, undoPlace, expectShown };
}

function textOf(element: Element | null): string {
  return (element?.textContent ?? '').trim().replaceAll(/\s+/g, ' ');
}

const [stands, undone] = ['Sunday Undo this edit', 'Sunday undone'];
const untouched = {
  ...{ counts: '+3 −1', notes: ['Groceries'], places: [stands, stands], next: 'Undo' },
};
const withoutPears = {
  ...{ counts: '+2 −1', notes: ['Groceries partly undone'], places: [stands, undone] },
  next: 'Undo',
};
const allUndone = {
  ...{ counts: '+3 −1', notes: ['Groceries undone'], places: [undone, undone], next: 'Redo' },
};

describe('one place of a change that is undone', () => {
  it('leaves the rest with its lines, and the last place takes the change with it', async () => {
    const { host, undoPlace, expectShown } = await open(storyOfOneNote());
    await expectShown(untouched);
    await undoPlace(1);
    await expectShown(withoutPears);
    await undoPlace(0);
    await expectShown(allUndone);
    const place = (hunk: number): UndoScope => ({ type: 'effect', effect: list, hunks: [hunk] });
    expect(host.asked('undo')).toEqual([place(1), place(0)]);
  });

  it('has other lines than another place', async () => {
    const { undoPlace, expectShown } = await open(storyOfOneNote());
    await undoPlace(0);
    const [counts, places] = ['+1 −0', [undone, stands]];
    await expectShown({ ...withoutPears, counts, places });
  });

  it('comes back with the whole change, from its line and from the button of the set', async () => {
    const { host, keys, inRow, undoPlace, expectShown } = await open(storyOfOneNote());
    await undoPlace(1);
    await expectShown(withoutPears);
    await keys.click(inRow.getByRole('button', { name: /^Redo: / }));
    await expectShown(untouched);
    expect(inRow.queryByRole('button', { name: /^Redo: / })).toBeNull();
    await undoPlace(1);
    await undoPlace(0);
    await expectShown(allUndone);
    await keys.click(inRow.getByTestId('change-undo'));
    await expectShown(untouched);
    expect(host.asked('redo')).toHaveLength(2);
  });

  it('comes back alone from the notice, which is about the last one', async () => {
    const { keys, undoPlace, expectShown } = await open(storyOfOneNote());
    await undoPlace(1);
    await expectShown(withoutPears);
    await undoPlace(0);
    await expectShown(allUndone);
    const notice = within(screen.getByTestId('undo-notice'));
    await keys.click(notice.getByRole('button', { name: 'Redo' }));
    await expectShown(withoutPears);
  });

  it('goes with the others when all that is left is undone', async () => {
    const { host, keys, inRow, undoPlace, expectShown } = await open(storyOfOneNote());
    await undoPlace(1);
    await expectShown(withoutPears);
    await keys.click(inRow.getByTestId('change-undo'));
    await expectShown(allUndone);
    expect(host.asked('undo').at(-1)).toEqual({ type: 'change_set', changeSet: 's9' });
  });

  it('changes the state of its own note, and the sum of the set', async () => {
    const { keys, inRow, undoPlace, expectShown } = await open(story().story);
    const pantry = 'Added 1 line to Pantry';
    const of = (counts: string, first: string, places: readonly string[], next: string) => {
      return { counts, notes: [first, pantry], places: [...places, stands], next };
    };
    await expectShown(of('+4 −1', 'Changed Groceries', [stands, stands], 'Undo 2'));
    await undoPlace(0);
    // Only added lines are left.
    const first = 'Added 1 line to Groceries';
    await expectShown(of('+2 −0', `${first} partly undone`, [undone, stands], 'Undo 2'));
    await undoPlace(0);
    await expectShown(of('+4 −1', 'Changed Groceries undone', [undone, undone], 'Undo'));
    await keys.click(inRow.getByRole('button', { name: 'Redo: Changed Groceries' }));
    await expectShown(of('+4 −1', 'Changed Groceries', [stands, stands], 'Undo 2'));
  });

  it('is told on the line of the call, until the rest is undone as well', async () => {
    const { keys, undoPlace, expectShown } = await open(storyOfOneNote());
    await undoPlace(1);
    await expectShown(withoutPears);
    await keys.keyboard('{Escape}');
    const sentence = 'Added 3 lines to Groceries';
    const call = await screen.findByRole('button', { name: new RegExp(`^${sentence}`) });
    const expectLine = (state: string) =>
      waitFor(() => expect(textOf(call)).toBe(`${sentence}${state}`));
    await expectLine(' partly undone');
    await keys.click(screen.getByRole('button', { name: 'Undo 1' }));
    await expectLine(' undone');
    await keys.click(screen.getByRole('button', { name: 'Redo 1' }));
    await expectLine('');
  });

  it('shows nothing of an undo that was refused', async () => {
    const { host, undoPlace, expectShown } = await open(storyOfOneNote());
    host.refusals.set('undo', { code: 'vault', message: 'The vault is gone.' });
    await undoPlace(1);
    expect(await screen.findByTestId('problem')).toHaveTextContent('The vault is gone.');
    await expectShown(untouched);
    // The control: the same place, not refused.
    await undoPlace(1);
    await expectShown(withoutPears);
  });
});

describe('the fake application', () => {
  /** `a_change_whose_places_are_undone_one_by_one_is_undone_and_can_be_redone` in `tests/it` asks the real one the same. */
  it('tells of a change whose places are undone one by one what the real one tells', async () => {
    const host = new FakeHost(storyOfOneNote());
    const place = (hunk: number): UndoScope => ({ type: 'effect', effect: list, hunks: [hunk] });
    const state = async () => {
      const { sets } = await host.listApplied({ conversation: null, before: null });
      const note = sets.flatMap(({ notes }) => notes).find(({ effect }) => effect === list);
      const { undone: places } = await host.appliedHunks(list);
      return [note?.standing, note?.added, note?.removed, places];
    };
    expect(await state()).toEqual(['stands', 3, 1, []]);
    await host.undo(place(1));
    expect(await state()).toEqual(['partly_undone', 2, 1, [1]]);
    const refusal = { message: 'This is already undone, or nothing was changed.' };
    await expect(host.undo(place(1))).rejects.toMatchObject(refusal);
    await host.undo(place(0));
    expect(await state()).toEqual(['undone', 3, 1, [0, 1]]);
    await host.redo({ type: 'effect', effect: list, hunks: [] });
    expect(await state()).toEqual(['stands', 3, 1, []]);
  });
});
