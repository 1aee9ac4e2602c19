import { render, screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';

import type { ChatItem } from '../../../src/ipc/bindings';
import { Session } from '../../../src/state/session.svelte';
import App from '../../../src/views/App.svelte';
import { FakeHost } from '../../fake/host';
import { answered, healthy, row, userMessage, view } from '../../fake/stories/base';
import { search } from '../../fake/stories/search';

async function open() {
  const host = new FakeHost(search());
  const session = new Session(host);
  render(App, { session });
  await session.start();
  await waitFor(() => expect(screen.getByTestId('composer')).toHaveFocus());
  return { host, session, keys: userEvent.setup() };
}

const looked: ChatItem = {
  type: 'tool',
  turn: 'q1',
  call: 'c1',
  tool: 'read_file',
  at: 0,
  arguments: '{}',
  output: 'Boiler',
  isError: false,
  reactions: [{ type: 'read', path: 'Boiler.md' }],
};

const field = () => screen.findByRole('textbox', { name: 'Note name' });

describe('an answer', () => {
  it('becomes a note under the name that is proposed, which is shown and can be undone', async () => {
    const { host, session, keys } = await open();
    await keys.click(screen.getByRole('button', { name: 'Save as note' }));
    expect(await field()).toHaveFocus();
    expect(await field()).toHaveValue('What the heating needs');
    await keys.keyboard('{Enter}');
    const pane = await screen.findByTestId('note-pane');
    expect(within(pane).getByRole('heading', { name: 'What the heating needs' })).toBeVisible();
    expect(host.asked('saveAnswer')).toEqual([{ answer: 's2', name: 'What the heating needs' }]);
    expect(screen.queryByTestId('save-answer')).toBeNull();
    await waitFor(() => expect(screen.getByRole('button', { name: 'Save as note' })).toHaveFocus());

    const notice = screen.getByTestId('kept-notice');
    expect(notice).toHaveTextContent('Saved as “What the heating needs”');
    await keys.click(within(notice).getByRole('button', { name: 'Undo' }));
    const [set] = session.app.changes.of('heating');
    expect(host.asked('undo')).toEqual([{ type: 'change_set', changeSet: set?.id }]);
    expect(set?.notes[0]?.standing).toBe('undone');
    expect(screen.queryByTestId('turn-undo')).toBeNull();
  });

  it('is told that its name is taken, and gets another one', async () => {
    const { host, keys } = await open();
    await keys.keyboard('{Control>}{Shift>}S{/Shift}{/Control}');
    await field();
    await keys.keyboard('House/Heating{Enter}');
    const told = await screen.findByRole('alert');
    expect(told).toHaveTextContent('“House/Heating” already exists. This name is available.');
    expect(await field()).toHaveAccessibleDescription(told.textContent.trim());
    expect(await field()).toHaveValue('House/Heating 2');
    expect(await field()).toHaveFocus();
    expect(host.asked('showNote')).toEqual([]);
    await keys.keyboard('{Enter}');
    await screen.findByTestId('note-pane');
    expect(host.asked('showNote')).toEqual(['House/Heating 2.md']);
  });

  it('stays where it is when nobody names it, and when the name is refused', async () => {
    const { host, session, keys } = await open();
    await keys.click(screen.getByRole('button', { name: 'Save as note' }));
    await field();
    await keys.keyboard('{Escape}');
    expect(screen.queryByTestId('save-answer')).toBeNull();
    await waitFor(() => expect(screen.getByRole('button', { name: 'Save as note' })).toHaveFocus());
    await keys.keyboard('{Enter}');
    await keys.clear(await field());
    expect(screen.getByRole('button', { name: 'Save' })).toBeDisabled();
    await keys.keyboard('{Enter}');
    expect(host.asked('saveAnswer')).toEqual([]);
    const refusal = { code: 'other', message: '“what?” holds one of `?`. Leave it out.' };
    host.refusals.set('saveAnswer', refusal);
    await keys.keyboard('what?{Enter}');
    await waitFor(() => expect(session.app.problems.map(({ error }) => error)).toEqual([refusal]));
    expect(await field()).toHaveValue('what?');
    session.openNew();
    await waitFor(() => expect(screen.queryByTestId('save-answer')).toBeNull());
  });

  it('is saved whole, with the text before and between calls', async () => {
    const conversation = row('bath', 'The boiler');
    const items = [
      userMessage('q1', 'Is the boiler fine?'),
      answered('a1', '# The boiler\n\nLet me look.'),
      looked,
      answered('a2', 'It lost pressure.'),
      userMessage('q2', 'And now?'),
      answered('a3', 'Nothing.'),
    ];
    const story = {
      snapshot: healthy([conversation]),
      views: [view(conversation, items)],
      notes: {},
    };
    const host = new FakeHost(story);
    const session = new Session(host);
    render(App, { session });
    await session.start();
    const keys = userEvent.setup();
    const [first] = await screen.findAllByRole('button', { name: 'Save as note' });
    if (!first) throw new Error('nothing to save');
    await keys.click(first);
    expect(await field()).toHaveValue('The boiler');
    await keys.keyboard('{Enter}');
    await screen.findByTestId('note-pane');
    expect(host.asked('saveAnswer')).toEqual([{ answer: 'a2', name: 'The boiler' }]);
    const saved = await host.readNote('The boiler.md');
    expect(saved.content.text).toBe('# The boiler\n\nLet me look.\n\nIt lost pressure.');
  });

  it('stands in the page while it is named, wherever in a long conversation one reads', async () => {
    const conversation = row('long', 'Everything');
    const items = Array.from({ length: 150 }, (_, at) => [
      userMessage(`q${at}`, `Question ${at}`),
      answered(`a${at}`, `Answer ${at}`),
    ]).flat();
    const story = {
      snapshot: healthy([conversation]),
      views: [view(conversation, items)],
      notes: {},
    };
    const session = new Session(new FakeHost(story));
    render(App, { session });
    await session.start();
    await screen.findByText('Answer 149');
    session.turnActions.editing = 'q0';
    await screen.findByText('Answer 1');
    expect(screen.queryByText('Answer 149')).toBeNull();
    await userEvent.setup().keyboard('{Control>}{Shift>}S{/Shift}{/Control}');
    await waitFor(() => expect(screen.getByText('Answer 149')).toBeVisible());
    expect(await field()).toHaveFocus();
  });

  it('that is being written cannot be saved yet', async () => {
    const { host, session } = await open();
    const { current } = session.app;
    if (!current) throw new Error('no conversation');
    expect(session.answerSaver.last).toBe('s2');
    host.tell({ type: 'conversation_changed', conversation: { ...current, working: true } });
    await waitFor(() => expect(session.answerSaver.last).toBeNull());
  });
});
