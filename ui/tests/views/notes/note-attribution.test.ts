import { render, screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';

import { Session } from '../../../src/state/session.svelte';
import App from '../../../src/views/App.svelte';
import { FakeHost } from '../../fake/host';
import { noteText } from '../../fake/note-text';
import { search } from '../../fake/stories/search';

async function open() {
  const host = new FakeHost(search());
  const session = new Session(host);
  render(App, { session });
  await session.start();
  await waitFor(() => expect(screen.getByTestId('composer')).toHaveFocus());
  await session.showNote('House/Heating');
  const pane = within(await screen.findByTestId('note-pane'));
  return { host, session, pane, keys: userEvent.setup() };
}

const signs = () => screen.findAllByRole('button', { name: /^Written by Vaultmate, / });
const marked = () =>
  [...document.querySelectorAll('[data-marked]')].map((part) => part.textContent);

describe('the lines that the assistant wrote', () => {
  it('are marked in the margin, properties too, and no others', async () => {
    await open();
    expect(await signs()).toHaveLength(3);
    expect(marked()).toEqual([
      expect.stringContaining('serviced'),
      expect.stringMatching(/^\s*Pre-charge of the expansion vessel/),
      'ask Bruno for the pump',
      'write down the pressure in the cold boiler',
    ]);
  });

  it('tell when they were written and what led to it, and lead to the change', async () => {
    const { session, keys } = await open();
    const [, measured, tasks] = await signs();
    if (!measured || !tasks) throw new Error('no marks');
    await keys.click(measured);
    const about = await screen.findByRole('region', { name: 'About these lines' });
    expect(about).toHaveTextContent(/Written by Vaultmate on .*\d/);
    expect(about).toHaveTextContent('Bruno was here; put in what he measured.');
    expect(within(about).getByRole('button', { name: 'View change' })).toHaveFocus();
    await keys.keyboard('{Escape}');
    expect(screen.queryByTestId('note-mark')).toBeNull();
    expect(measured).toHaveFocus();
    expect(session.app.note).not.toBeNull();

    tasks.focus();
    await keys.keyboard('{Enter}');
    expect(await screen.findByTestId('note-mark')).toHaveTextContent('What the heating needs');
    await keys.keyboard('{Enter}');
    expect(session.place).toEqual({ name: 'changes', conversation: 'heating', at: 'set-19' });
  });

  it('are not marked in a text that nobody looked at yet', async () => {
    const { host, session } = await open();
    await signs();
    const content = noteText('# Heating\n\nBy hand.');
    host.tell({ type: 'note_changed', path: 'House/Heating.md', content });
    await waitFor(() => expect(session.app.note?.content).toEqual(content));
    await waitFor(() => expect(marked()).toEqual([]));
    expect(screen.queryByRole('button', { name: /^Written by/ })).toBeNull();
  });

  it('keep the keyboard in the note when their mark goes', async () => {
    const { host, pane, keys } = await open();
    const [, measured] = await signs();
    measured?.focus();
    const content = noteText('By hand.');
    host.tell({ type: 'note_changed', path: 'House/Heating.md', content });
    await waitFor(() => expect(pane.getByRole('region', { name: 'Heating' })).toHaveFocus());
    await keys.keyboard('{Escape}');
    expect(screen.queryByTestId('note-pane')).toBeNull();
  });

  it('are marked whole where all of a block is theirs, and once in a table or in code', async () => {
    const { host, session } = await open();
    const text = ['| a | b |', '| - | - |', '| c | d |', '', 'one', 'two', '', '```', 'x', '```'];
    host.write('T.md', text.join('\n'));
    const { markLines } = await import('../../../src/shared/markdown/rendered/margin-marks');
    await session.showNote('T');
    const root = document.querySelector<HTMLElement>('[data-testid=note-pane] .markdown');
    if (!root) throw new Error('no note');
    const blocks = ['| a | b |\n| - | - |\n| c | d |\n\n', 'one\ntwo\n\n', '```\nx\n```'];
    const label = 'mine';
    const marks = [
      { first: 2, last: 2, label },
      { first: 4, last: 8, label },
    ];
    const undo = markLines(root, blocks, marks, () => undefined);
    const drawn = [...root.querySelectorAll(':scope > .block')];
    expect([...document.querySelectorAll('[data-marked]')]).toEqual(drawn);
    expect(screen.getAllByRole('button', { name: 'mine' })).toHaveLength(2);
    undo();
    expect(marked()).toEqual([]);
    expect(screen.queryByRole('button', { name: 'mine' })).toBeNull();
  });
});
