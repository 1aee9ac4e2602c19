import { render, screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';

import { Session } from '../../../src/state/session.svelte';
import App from '../../../src/views/App.svelte';
import { FakeHost } from '../../fake/host';
import { userMessage } from '../../fake/stories/base';
import { commands } from '../../fake/stories/chat/commands';

async function open() {
  const host = new FakeHost(commands());
  const session = new Session(host);
  render(App, { session });
  await session.start();
  await screen.findByTestId('chat-log');
  return { host, session, keys: userEvent.setup() };
}

/** The result of the command that was typed as this one, counted from 0. */
function card(at: number): HTMLElement {
  const found = screen.getAllByTestId('command-result').at(at);
  if (!found) throw new Error(`no result ${at}`);
  return found;
}

describe('passages from the notes', () => {
  it('are drawn as their notes are, without properties, and lead to the notes', async () => {
    const { host, keys } = await open();
    const log = within(screen.getByTestId('chat-log'));
    const bold = log.getByText('1.2 and 1.5 bar');
    expect(bold.tagName).toBe('STRONG');
    const best = bold.closest('li');
    expect(best?.querySelectorAll('blockquote li')).toHaveLength(2);
    expect(log.getByText('in a property').closest('li')).toHaveTextContent(/Offers, heating 2026/);
    expect(log.queryByText(/serviced/)).toBeNull();
    expect(screen.getByTestId('chat-log')).not.toHaveTextContent('---');
    await keys.click(log.getByRole('link', { name: 'Heating' }));
    await waitFor(() => expect(host.asked('showNote')).toEqual(['Heating.md']));
    await keys.click(log.getByRole('button', { name: /^Household contacts/ }));
    await waitFor(() => expect(host.asked('showNote')).toContain('People/Household contacts.md'));
  });

  it('are read from the best one on while nothing came after them', async () => {
    const { host, session } = await open();
    const log = screen.getByTestId('chat-log');
    expect(log.querySelector('[data-lead]')).toHaveTextContent(/^Heating/);
    const conversation = session.app.chat?.id ?? '';
    host.tell({ type: 'item_changed', conversation, item: userMessage('u9', 'help') });
    await waitFor(() => expect(log.querySelector('[data-lead]')).toBeNull());
  });
});

describe('the results of commands', () => {
  it('are cards with one sentence or the requested list, without a model', async () => {
    const { session } = await open();
    const [added, links, opened, none] = screen.getAllByTestId('command-result');
    expect(added).toHaveTextContent(/^Added 1 line to Tasks\.$/);
    expect(links).toHaveTextContent(/Links of Heating:/);
    expect(within(card(1)).getByText('Tool cupboard')).toBeVisible();
    expect(opened).toHaveTextContent(/^Opened Lentil soup\.$/);
    expect(none).toHaveTextContent(/^There is no note “Heatings”. The nearest: “Heating”.$/);
    const log = screen.getByTestId('chat-log');
    expect(log.querySelector('.says')).toBeNull();
    expect(within(log).queryByRole('button', { name: /^Save as note/ })).toBeNull();
    expect(session.answerSaver.last, 'no reply of a command becomes a note').toBeNull();
  });

  it('open to the note, the arguments and the result', async () => {
    const { host, keys } = await open();
    await keys.click(within(card(0)).getByRole('button', { name: /^Added 1 line/ }));
    await keys.click(within(card(0)).getByRole('button', { name: 'Tasks' }));
    await waitFor(() => expect(host.asked('showNote')).toEqual(['Tasks.md']));
  });
});
