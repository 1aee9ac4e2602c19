import { render, screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';

import type { AppliedSet, UndoConflict } from '../../../src/ipc/bindings';
import { Session } from '../../../src/state/session.svelte';
import App from '../../../src/views/App.svelte';
import { FakeHost } from '../../fake/host';
import { reapplyConflict, redoConflict, unsureChanges } from '../../fake/stories/changes/changes';
import type { Story } from '../../fake/story';

/**
 * The story with one change of so many notes. In the place of each stands another file, but for the
 * last `elsewhere` of them.
 */
function unsure(count: number, elsewhere: number, folder: string): Story {
  const story = unsureChanges();
  const [template] = Object.values(story.applied?.conflicts ?? {});
  const [set] = story.applied?.sets ?? [];
  const note = set?.notes[0];
  if (!template || !set || !note) throw new Error('the story has no change in conflict');
  const names = Array.from({ length: count }, (_, at) => `${folder}/Day ${String(at)}.md`);
  const conflicts = names.map((path, at): UndoConflict => {
    const here = at < count - elsewhere ? path : path.replace('.md', ',md');
    const candidates = [
      { path: here, file: `here-${String(at)}` },
      { path: `Archive/${path}`, file: `there-${String(at)}` },
    ];
    return { ...template, effect: path, listed: path, path, candidates };
  });
  const changed: AppliedSet = {
    ...set,
    notes: names.map((path) => ({ ...note, effect: path, path })),
  };
  const byEffect = Object.fromEntries(conflicts.map((conflict) => [conflict.effect, conflict]));
  return { ...story, applied: { sets: [changed], hunks: {}, conflicts: byEffect } };
}

/** The list of changes, after an undo that asks which notes are meant. */
async function ask(count: number, elsewhere = 0, folder = 'Diary') {
  const host = new FakeHost(unsure(count, elsewhere, folder));
  const session = new Session(host);
  render(App, { session });
  await session.start();
  const keys = userEvent.setup();
  await keys.click(await screen.findByTestId('open-changes'));
  await keys.click(await screen.findByTestId('change-undo'));
  await waitFor(() => expect(screen.getAllByTestId('conflict')).toHaveLength(count));
  return { host, keys };
}

describe('the question which note an undo is about', () => {
  it('is answered by a click on a candidate, and goes with it', async () => {
    const { host, keys } = await ask(1);
    const conflict = within(screen.getByTestId('conflict'));
    const name = 'Undo in this note: Archive/Diary/Day 0.md';
    await keys.click(conflict.getByRole('button', { name }));
    await waitFor(() => expect(screen.queryByTestId('conflict')).toBeNull());
    const note = { path: 'Archive/Diary/Day 0.md', file: 'there-0' };
    expect(host.asked('undoInNote')).toEqual([
      { action: 'undo', effect: 'Diary/Day 0.md', hunks: [], note },
    ]);
    // The keyboard is not lost with the button.
    expect(screen.getByTestId('change').querySelector('.what')).toHaveFocus();
  });

  it('marks characters of a path that nobody sees', async () => {
    await ask(1, 0, 'Diary\u202e');
    const paths = [...screen.getByTestId('conflict').querySelectorAll('.path')];
    expect(paths.map(({ textContent }) => textContent)).toEqual([
      'Diary⊘/Day 0.md',
      'Archive/Diary⊘/Day 0.md',
    ]);
  });

  it('is answered with the candidate that was clicked, and no other', async () => {
    const { host, keys } = await ask(2);
    const [first] = screen.getAllByTestId('conflict');
    if (!first) throw new Error('nothing is asked');
    const name = 'Undo in this note: Diary/Day 0.md';
    await keys.click(within(first).getByRole('button', { name }));
    await waitFor(() => expect(screen.getAllByTestId('conflict')).toHaveLength(1));
    const note = { path: 'Diary/Day 0.md', file: 'here-0' };
    expect(host.asked('undoInNote')).toEqual([
      { action: 'undo', effect: 'Diary/Day 0.md', hunks: [], note },
    ]);
  });

  it('is not answered for a note that the user leaves as it is', async () => {
    const { host, keys } = await ask(1);
    await keys.click(screen.getByRole('button', { name: 'Change nothing' }));
    await waitFor(() => expect(screen.queryByTestId('conflict')).toBeNull());
    expect(host.asked('undoInNote')).toEqual([]);
  });

  it('is not offered for all notes where there is one', async () => {
    await ask(1);
    expect(screen.queryByTestId('undo-in-place')).toBeNull();
  });

  it('is not answered with a file whose path differs in one sign from that of the note', async () => {
    const { host, keys } = await ask(11, 2);
    const all = screen.getByTestId('undo-in-place');
    expect(all).toHaveTextContent('Undo in 9 notes');
    await keys.click(all);
    await waitFor(() => expect(screen.getAllByTestId('conflict')).toHaveLength(2));
    const asked = host.asked('undoInNote');
    expect(asked).toHaveLength(9);
    expect(JSON.stringify(asked)).not.toMatch(/Day (9|10)|,md/);
  });

  it('is not offered for all notes where one of two files stands in its place', async () => {
    await ask(2, 1);
    expect(screen.queryByTestId('undo-in-place')).toBeNull();
  });

  it.each([2, 11])('is answered for %d notes at once, each once', async (count) => {
    const { host, keys } = await ask(count);
    const all = screen.getByTestId('undo-in-place');
    expect(all).toHaveTextContent(`Undo in ${String(count)} notes`);
    await keys.click(all);
    await waitFor(() => expect(screen.queryByTestId('conflict')).toBeNull());
    const wanted = Array.from({ length: count }, (_, at) => {
      const effect = `Diary/Day ${String(at)}.md`;
      return {
        action: 'undo',
        effect,
        hunks: [],
        note: { path: effect, file: `here-${String(at)}` },
      };
    });
    expect(host.asked('undoInNote')).toEqual(wanted);
    expect(screen.queryByTestId('undo-in-place')).toBeNull();
    await waitFor(() => expect(document.body).not.toHaveFocus());
  });
});

describe('the conflict of a reapplied change', () => {
  it('is told as such, and its answer completes it', async () => {
    const host = new FakeHost(reapplyConflict());
    const session = new Session(host);
    render(App, { session });
    await session.start();
    const keys = userEvent.setup();
    await keys.click(await screen.findByTestId('open-changes'));
    await keys.click(await screen.findByRole('button', { name: /^Reapply/ }));
    const conflict = await screen.findByTestId('conflict');
    expect(conflict).toHaveTextContent('1 conflict while reapplying changes to Tasks');
    expect(conflict).toHaveTextContent('After reapplying');
    await keys.click(within(conflict).getByRole('button', { name: 'Use changed version' }));
    await waitFor(() => expect(screen.queryByTestId('conflict')).toBeNull());
    expect(host.asked('resolveConflict')).toMatchObject([
      { action: 'reapply', effect: 'e-boiler' },
    ]);
    expect(session.undo.notice?.text()).toBe('Reapplied changes to 1 note');
    expect(session.undo.notice?.reverse?.name).toBe('undo');
  });
});

describe('the conflict of a redo', () => {
  it('about a change that is not listed is shown with the change that was undone', async () => {
    const host = new FakeHost(redoConflict());
    const session = new Session(host);
    render(App, { session });
    await session.start();
    const keys = userEvent.setup();
    await keys.click(await screen.findByRole('button', { name: 'Redo 1' }));
    expect(host.asked('redo')).toEqual([{ type: 'turn', turn: 't1' }]);
    await keys.click(await screen.findByRole('button', { name: 'Show' }));
    expect(session.place).toEqual({ name: 'changes', conversation: 'groceries', at: 's9' });
    const conflict = await screen.findByTestId('conflict');
    expect(conflict.closest('[data-testid="change"]')).toHaveTextContent('Added 3 lines');
    expect(conflict).toHaveTextContent('1 conflict while redoing changes to Groceries');
    await keys.click(within(conflict).getByRole('button', { name: 'Use changed version' }));
    await waitFor(() => expect(screen.queryByTestId('conflict')).toBeNull());
    expect(host.asked('resolveConflict')).toMatchObject([{ action: 'redo', effect: 'e-undo' }]);
    expect(session.app.changes.setOf('e-pears')?.notes[0]?.standing).toBe('stands');
  });
});

describe('the answer to one of two conflicts of a move', () => {
  it('closes its own conflict and leaves the other one', async () => {
    const story = reapplyConflict();
    const [one] = Object.values(story.applied?.conflicts ?? {});
    if (!one) throw new Error('the story has no conflict');
    const two: UndoConflict = { ...one, effect: 'e-other' };
    const host = new FakeHost(story);
    const session = new Session(host);
    await session.start();
    const { conflicts } = session.app.changes;
    conflicts.set(one.effect, one);
    const left = { changeSet: 'set', changed: [one.path], conflicts: [two], left: 0 };
    host.resolveConflict = () => Promise.resolve(left);
    await session.undo.settle(one);
    expect([...conflicts.keys()]).toEqual(['e-other']);
    // The control: the same conflict is asked again.
    host.resolveConflict = () => Promise.resolve({ ...left, changeSet: null, changed: [] });
    await session.undo.settle(two);
    expect([...conflicts.keys()]).toEqual(['e-other']);
  });
});
