import { fireEvent, render, screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';

import { Session } from '../../../src/state/session.svelte';
import App from '../../../src/views/App.svelte';
import { FakeHost } from '../../fake/host';
import { advanceClockEachTime } from '../../fake/advancing-clock';
import { stories } from '../../fake/stories';

/** The whole window over a story, once it is drawn. */
async function open(story: string) {
  const tell = stories[story];
  if (!tell) throw new Error(`no story ${story}`);
  const host = new FakeHost(tell());
  const session = new Session(host);
  render(App, { session });
  await session.start();
  return { host, session, keys: userEvent.setup() };
}

async function openChanges() {
  const opened = await open('changes');
  await opened.keys.click(await screen.findByTestId('open-changes'));
  await screen.findAllByTestId('change');
  return opened;
}

/** The row of the list with this text. */
function rowOf(words: RegExp): HTMLElement {
  const row = screen.getAllByTestId('change').find((one) => words.test(one.textContent));
  if (!row) throw new Error(`no change says ${String(words)}`);
  return row;
}

it('a change is not undone and redone by a double click', async () => {
  const { host } = await openChanges();
  const [button] = screen
    .getAllByTestId('change-undo')
    .filter((one) => /^Undo/.test(one.textContent));
  if (!button) throw new Error('nothing can be undone');
  await fireEvent.click(button, { detail: 1 });
  await waitFor(() => expect(button).toHaveTextContent(/^Redo/));
  await fireEvent.click(button, { detail: 2 });
  expect(host.asked('redo')).toEqual([]);
});

describe('the end of a turn', () => {
  it('offers the way back from what it changed, and forward again, on one button', async () => {
    const { host, keys } = await open('changes');
    const undo = await screen.findByRole('button', { name: 'Undo 1' });
    await keys.click(undo);
    expect(host.asked('undo')).toEqual([{ type: 'turn', turn: 't1' }]);
    await waitFor(() => expect(undo).toHaveTextContent('Redo 1'));
    expect(undo).toHaveFocus();
    await keys.keyboard('{Enter}');
    expect(host.asked('redo')).toEqual([{ type: 'turn', turn: 't1' }]);
    await waitFor(() => expect(undo).toHaveTextContent('Undo 1'));
  });

  it('is not undone and redone by a double click or by a key that is held', async () => {
    const { host } = await open('changes');
    const undo = await screen.findByRole('button', { name: 'Undo 1' });
    await fireEvent.click(undo, { detail: 1 });
    await waitFor(() => expect(undo).toHaveTextContent('Redo 1'));
    await fireEvent.click(undo, { detail: 2 });
    // A browser clicks a button at each repeated key that nobody prevents.
    expect(await fireEvent.keyDown(undo, { key: 'Enter', repeat: true })).toBe(false);
    expect(await fireEvent.keyDown(undo, { key: 'Tab', repeat: true })).toBe(true);
    expect(host.asked('redo')).toEqual([]);
    // The control: once one has read the button, it does what it says.
    const clock = advanceClockEachTime();
    await fireEvent.click(undo, { detail: 2 });
    clock.mockRestore();
    await waitFor(() => expect(host.asked('redo')).toHaveLength(1));
  });

  it('tells on the line of the call that its changes were undone', async () => {
    const { keys } = await open('changes');
    const line = await screen.findByRole('button', { name: /^Added 3 lines to Groceries/ });
    expect(line).not.toHaveTextContent('undone');
    await keys.click(await screen.findByRole('button', { name: 'Undo 1' }));
    await waitFor(() => expect(line).toHaveTextContent(/Groceries ?undone$/));
  });

  it('leads to its changes', async () => {
    const { keys } = await open('changes');
    await keys.click(await screen.findByRole('button', { name: 'View changes' }));
    expect(await screen.findByText('- mushrooms')).toBeVisible();
    expect(screen.getByText('Changes in “Groceries for Sunday”')).toBeVisible();
    expect(within(rowOf(/Added 3 lines/)).getByRole('button', { expanded: true })).toHaveFocus();
  });

  it('counts the changes of its turn, of several that were accepted together', async () => {
    const { host, session, keys } = await open('changes');
    await screen.findByRole('button', { name: 'Undo 1' });
    const set = session.app.changes.setOf('e-pears');
    const [pears] = set?.notes ?? [];
    if (!set || !pears) throw new Error('the change is not known');
    const of = (turn: string) => ({ ...pears, turn, effect: `e-${turn}`, path: `${turn}.md` });
    host.tell({ type: 'applied_changed', set: { ...set, notes: [pears, of('another')] } });
    await waitFor(() => expect(session.app.changes.setOf('e-another')).not.toBeNull());
    await keys.click(screen.getByRole('button', { name: 'Undo 1' }));
    expect(host.asked('undo')).toEqual([{ type: 'turn', turn: 't1' }]);
    // The control: another change of the turn.
    host.tell({ type: 'applied_changed', set: { ...set, notes: [pears, of('t1')] } });
    await screen.findByRole('button', { name: 'Undo 2' });
  });

  it('offers nothing while the turn goes on', async () => {
    const { host, session } = await open('changes');
    await screen.findByTestId('turn-undo');
    const row = session.app.current;
    if (!row) throw new Error('no conversation is open');
    host.tell({ type: 'conversation_changed', conversation: { ...row, working: true } });
    await waitFor(() => expect(screen.queryByTestId('turn-undo')).toBeNull());
  });
});

describe('changes since then', () => {
  it('is told of a note when it is asked for, and again when the change was undone', async () => {
    const { host, keys } = await openChanges();
    const row = within(rowOf(/Added 3 lines/));
    await keys.click(row.getByRole('button', { expanded: false }));
    expect(host.asked('diffSince')).toEqual([]);
    const since = await row.findByRole('button', { name: 'Changes since then: Groceries' });
    await keys.click(since);
    const told = await row.findByTestId('since');
    await waitFor(() => expect(told).toHaveTextContent('Changed in 1 place since then:'));
    expect(within(told).getByText(/the firm ones/)).toBeVisible();
    expect(since).toHaveAttribute('aria-expanded', 'true');
    await keys.click(row.getByTestId('change-undo'));
    await waitFor(() => expect(host.asked('diffSince')).toEqual(['e-pears', 'e-pears']));
    await keys.click(since);
    expect(row.queryByTestId('since')).toBeNull();
  });

  it('is closed again when it cannot be told', async () => {
    const { host, keys } = await openChanges();
    const row = within(rowOf(/Added 3 lines/));
    await keys.click(row.getByRole('button', { expanded: false }));
    host.refusals.set('diffSince', { code: 'other', message: 'It is not kept.' });
    const since = await row.findByRole('button', { name: /^Changes since then/ });
    await keys.click(since);
    expect(await screen.findByTestId('problem')).toHaveTextContent('It is not kept.');
    await waitFor(() => expect(since).toHaveAttribute('aria-expanded', 'false'));
    expect(row.queryByTestId('since')).toBeNull();
  });

  it('says that a note was moved, or is gone, or is as it was left', async () => {
    const { keys } = await openChanges();
    const row = within(rowOf(/Changed 2 notes/));
    await keys.click(row.getByRole('button', { expanded: false }));
    for (const button of await row.findAllByRole('button', { name: /^Changes since then/ })) {
      await keys.click(button);
    }
    const [moved, gone] = await row.findAllByTestId('since');
    await waitFor(() =>
      expect(moved).toHaveTextContent(
        'Now called Letters/Sent/Letter to Signora Furlan. No changes since then.',
      ),
    );
    expect(gone).toHaveTextContent('This note no longer exists.');
  });
});

describe('Ctrl+Z', () => {
  it('undoes what was done last, beside the notice of an older action too', async () => {
    const { host, session, keys } = await open('changes');
    const conversation = session.app.current;
    const [before] = session.app.changes.of('groceries');
    if (!conversation || !before) throw new Error('nothing was changed');
    await session.conversationActions.setArchiveState(conversation, 'archived');
    await screen.findByTestId('kept-notice');
    const notes = before.notes.map((note) => ({ ...note, effect: 'e-later', turn: 'later' }));
    const from = { conversation: null, turn: 'later', at: Date.now() + 1000 };
    const later = { ...before, ...from, id: 'later', notes };
    host.tell({ type: 'applied_changed', set: later });
    screen.getByTestId('open-changes').focus();
    await keys.keyboard('{Control>}z{/Control}');
    await waitFor(() =>
      expect(host.asked('undo')).toEqual([{ type: 'change_set', changeSet: 'later' }]),
    );
    expect(host.asked('setArchiveState')).toHaveLength(1);
    // The control: no change that stands is newer than the notice.
    const undone = notes.map((note) => ({ ...note, standing: 'undone' as const }));
    host.tell({ type: 'applied_changed', set: { ...later, notes: undone } });
    await keys.keyboard('{Control>}z{/Control}');
    await waitFor(() => expect(host.asked('setArchiveState')).toHaveLength(2));
    expect(host.asked('undo')).toHaveLength(1);
  });

  it('undoes the newest changes from anywhere but a text field', async () => {
    const { host, keys } = await open('changes');
    await waitFor(() => expect(screen.getByTestId('composer')).toHaveFocus());
    await keys.keyboard('{Control>}z{/Control}');
    expect(host.asked('undo')).toEqual([]);
    screen.getByTestId('open-changes').focus();
    await keys.keyboard('{Control>}z{/Control}');
    await waitFor(() =>
      expect(host.asked('undo')).toEqual([{ type: 'change_set', changeSet: 's9' }]),
    );
    const notice = await screen.findByTestId('undo-notice');
    expect(notice).toHaveTextContent('Undid changes to 1 note');
    expect(notice.closest('[role="status"]')).not.toBeNull();
    await keys.keyboard('{Control>}{Shift>}z{/Shift}{/Control}');
    expect(host.asked('undo').at(-1)).toEqual({ type: 'change_set', changeSet: 'undo-1' });
    await keys.click(within(notice).getByRole('button', { name: 'Dismiss' }));
    expect(screen.queryByTestId('undo-notice')).toBeNull();
  });
});

describe('the notice', () => {
  it('offers Redo after an undo, and Undo after a redo', async () => {
    const { keys } = await openChanges();
    await keys.click(within(rowOf(/Moved Untitled 4/)).getByTestId('change-undo'));
    const notice = await screen.findByTestId('undo-notice');
    await keys.click(within(notice).getByRole('button', { name: 'Redo' }));
    await waitFor(() => expect(notice).toHaveTextContent('Redid changes to 1 note'));
    expect(within(notice).queryByRole('button', { name: 'Redo' })).toBeNull();
    await keys.click(within(notice).getByRole('button', { name: 'Undo' }));
    await waitFor(() => expect(notice).toHaveTextContent('Undid changes to 1 note'));
    expect(within(notice).getByRole('button', { name: 'Redo' })).toBeVisible();
  });

  it('offers Undo after changes were redone or reapplied in the list', async () => {
    const { keys } = await openChanges();
    const button = within(rowOf(/Created Water tank/)).getByTestId('change-undo');
    expect(button).toHaveTextContent('Redo');
    await keys.click(button);
    const notice = await screen.findByTestId('undo-notice');
    expect(within(notice).getByRole('button', { name: 'Undo' })).toBeVisible();
    await keys.click(
      within(rowOf(/Tasks was overwritten/)).getByRole('button', { name: /^Reapply/ }),
    );
    await waitFor(() => expect(notice).toHaveTextContent('Reapplied changes to 1 note'));
    expect(within(notice).getByRole('button', { name: 'Undo' })).toBeVisible();
  });
});

describe('the changes', () => {
  it('are reached and left by keyboard', async () => {
    const { keys, session } = await open('changes');
    (await screen.findByTestId('open-changes')).focus();
    await keys.keyboard('{Enter}');
    await waitFor(() => expect(screen.getByTestId('changes')).toHaveFocus());
    await keys.tab();
    expect(within(rowOf(/Added 3 lines/)).getByRole('button', { expanded: false })).toHaveFocus();
    await keys.keyboard('{Escape}');
    expect(session.place.name).toBe('chat');
    await waitFor(() => expect(screen.getByTestId('composer')).toHaveFocus());
  });

  it('are not left by an Esc that is meant for a dialog over them', async () => {
    const { host, session, keys } = await openChanges();
    host.tell({ type: 'close_asked' });
    const dialog = await screen.findByRole('dialog');
    await keys.keyboard('{Escape}');
    expect(session.place.name).toBe('changes');
    dialog.dispatchEvent(new Event('cancel'));
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
    await keys.keyboard('{Escape}');
    expect(session.place.name).toBe('chat');
  });

  it('are undone and redone as a set, and say so', async () => {
    const { host, keys } = await openChanges();
    const button = within(rowOf(/Moved Untitled 4/)).getByTestId('change-undo');
    await keys.click(button);
    expect(host.asked('undo')).toEqual([{ type: 'change_set', changeSet: 's3' }]);
    await waitFor(() => expect(button).toHaveTextContent('Redo'));
    await keys.click(button);
    expect(host.asked('redo')).toEqual([{ type: 'change_set', changeSet: 's3' }]);
  });

  it('offer no place again that was undone', async () => {
    const { keys } = await openChanges();
    const row = within(rowOf(/Added 3 lines/));
    await keys.click(row.getByRole('button', { expanded: false }));
    const places = await row.findAllByRole('button', { name: 'Undo this edit' });
    await keys.click(places[0] ?? document.body);
    await waitFor(() => {
      const left = row.queryAllByRole('button', { name: 'Undo this edit' });
      expect(left).toHaveLength(places.length - 1);
    });
    expect(row.getAllByText('undone')).not.toEqual([]);
  });

  it('open to their notes; one note or one place is undone on its own', async () => {
    const { host, keys } = await openChanges();
    const row = rowOf(/Changed 2 notes/);
    await keys.click(within(row).getByRole('button', { expanded: false }));
    await within(row).findByText(/regards/, { selector: '.added .text' });
    const places = within(row).getAllByRole('button', { name: 'Undo this edit' });
    await keys.click(places[1] ?? row);
    expect(host.asked('undo')).toEqual([{ type: 'effect', effect: 'e-letter', hunks: [1] }]);
    await keys.click(
      within(row).getByRole('button', { name: 'Undo: Added 1 line to Signora Furlan' }),
    );
    expect(host.asked('undo').at(-1)).toEqual({ type: 'effect', effect: 'e-furlan', hunks: [] });
    await within(row).findByRole('button', { name: 'Redo: Added 1 line to Signora Furlan' });
  });

  it('show what stopped an undo, both versions, and leave the choice to the user', async () => {
    const { host, keys } = await openChanges();
    const row = rowOf(/Changed 2 notes/);
    await keys.click(within(row).getByTestId('change-undo'));
    const conflict = await within(row).findByTestId('conflict');
    expect(conflict).toHaveTextContent('1 conflict while undoing');
    expect(conflict).toHaveTextContent('on the 9th, in the afternoon');
    expect(conflict).toHaveTextContent('on the 12th, if that suits you.');
    await keys.click(within(conflict).getByRole('button', { name: 'Keep current version' }));
    await waitFor(() => expect(screen.queryByTestId('conflict')).toBeNull());
    expect(host.asked('resolveConflict')).toEqual([]);
    await waitFor(() => expect(within(row).getByRole('button', { expanded: false })).toHaveFocus());
    await keys.click(within(row).getByTestId('change-undo'));
    await keys.click(await within(row).findByRole('button', { name: 'Restore old version' }));
    expect(host.asked('resolveConflict')).toHaveLength(1);
    await waitFor(() => expect(screen.queryByTestId('conflict')).toBeNull());
  });

  it('that another program overwrote are reapplied', async () => {
    const { host, keys } = await openChanges();
    const row = rowOf(/Tasks was overwritten by another program/);
    await keys.click(within(row).getByRole('button', { name: /^Reapply/ }));
    expect(host.asked('reapply')).toEqual(['e-boiler']);
    await waitFor(() => expect(rowOf(/Added 1 line to Tasks/)).toBeVisible());
  });

  it('come in pages', async () => {
    const { keys } = await openChanges();
    const first = screen.getAllByTestId('change').length;
    await keys.click(screen.getByRole('button', { name: 'Show older' }));
    await waitFor(() => expect(screen.getAllByTestId('change').length).toBeGreaterThan(first));
    await keys.click(screen.getByRole('button', { name: 'Show older' }));
    await waitFor(() => expect(screen.queryByRole('button', { name: 'Show older' })).toBeNull());
    expect(screen.getAllByTestId('change')).toHaveLength(48);
  });

  it('say that there are none', async () => {
    const { keys } = await open('empty-vault');
    await keys.click(await screen.findByTestId('open-changes'));
    expect(await screen.findByText('No changes yet')).toBeVisible();
  });

  it('that could not be listed can be asked for again', async () => {
    const { host, keys } = await open('changes');
    host.refusals.set('listApplied', { code: 'vault', message: 'The vault is gone.' });
    await keys.click(await screen.findByTestId('open-changes'));
    expect(await screen.findByTestId('problem')).toHaveTextContent('The vault is gone.');
    await keys.click(screen.getByRole('button', { name: 'Show older' }));
    expect((await screen.findAllByTestId('change')).length).toBeGreaterThan(7);
  });

  it('of one conversation are undone together', async () => {
    const { host, session, keys } = await open('changes');
    session.openChanges('boiler');
    await keys.click(await screen.findByRole('button', { name: 'Undo all 3' }));
    expect(host.asked('undo')).toEqual([{ type: 'conversation', conversation: 'boiler' }]);
    await keys.click(screen.getByRole('button', { name: 'All conversations' }));
    await waitFor(() => expect(rowOf(/Added 3 lines/)).toBeVisible());
  });

  it('lead to the note and back', async () => {
    const { keys } = await openChanges();
    const row = rowOf(/Added 3 lines/);
    await keys.click(within(row).getByRole('button', { expanded: false }));
    await keys.click(within(row).getByRole('button', { name: 'Open note: Groceries' }));
    const pane = await screen.findByTestId('note-pane');
    await keys.click(within(pane).getByRole('button', { name: 'Close note' }));
    expect(screen.queryByTestId('note-pane')).toBeNull();
    expect(screen.getByTestId('changes')).toHaveFocus();
  });
});

describe('a review of moves and deletions', () => {
  it('decides a move with its links at once, and removals on their own', async () => {
    const { host, keys } = await open('moves');
    await keys.click(await screen.findByTestId('review-open'));
    await screen.findByTestId('review-apply');
    expect(screen.getByText(/Part of moving Minutes, November/)).toBeVisible();
    await keys.click(screen.getByRole('button', { name: 'Accept all except deletions' }));
    expect(screen.getByTestId('review-apply')).toHaveTextContent('Apply 8 changes');
    await keys.keyboard('j');
    await keys.keyboard('r');
    expect(screen.getByTestId('review-apply')).toHaveTextContent('Apply 3 changes, reject 5');
    await keys.click(screen.getAllByRole('button', { name: 'Move to trash' })[0] ?? document.body);
    await keys.keyboard('{Control>}{Enter}{/Control}');
    await waitFor(() => expect(host.asked('decideReview')).toHaveLength(1));
    const [told] = host.decided();
    const given = (type: string) =>
      told?.notes.filter(({ decision }) => decision.type === type).map(({ path }) => path);
    expect(told?.review).toBe('review-2');
    expect(given('accept')?.toSorted()).toEqual([
      'Archive/2026',
      'Groceries.md',
      'Letters/Drafts',
      'Projects/Reading room.md.bak.md',
    ]);
    expect(given('reject')?.toSorted()).toEqual([
      'Boards/Reading room.canvas',
      'Diary/2026-11-03.md',
      'Municipality, contact persons.md',
      'Projects/Reading room.md',
      'Projects/Reading room/Minutes, November.md',
    ]);
  });
});
