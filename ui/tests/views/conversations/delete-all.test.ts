import { render, screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';

import { Session } from '../../../src/state/session.svelte';
import App from '../../../src/views/App.svelte';
import { FakeHost } from '../../fake/host';
import { chat } from '../../fake/stories/chat/chat';

/** The settings of a window in which one conversation of seven is being answered. */
async function open() {
  const host = new FakeHost(chat());
  const session = new Session(host);
  render(App, { session });
  await session.start();
  session.openSettings('vault');
  const button = await screen.findByRole('button', { name: 'Delete all' });
  await waitFor(() => expect(button).toHaveAttribute('aria-disabled', 'false'));
  return { host, session, button, keys: userEvent.setup() };
}

const news = () => screen.getByTestId('clearing-news');

describe('deleting all conversations', () => {
  it('says how many go and what stays, and does nothing before it was confirmed', async () => {
    const { host, session, button, keys } = await open();
    const rows = session.app.conversations;
    expect(screen.getByTestId('kept-conversations')).toHaveTextContent('7 conversations');
    await keys.click(button);
    const dialog = await screen.findByRole('dialog', { name: 'Delete all 7 conversations?' });
    expect(dialog).toHaveTextContent('Your notes aren’t affected.');
    expect(dialog).toHaveTextContent('You can restore them here for 10 minutes.');
    // The first button has the keyboard.
    expect(within(dialog).getAllByRole('button')[0]).toHaveTextContent('Cancel');
    await keys.click(within(dialog).getByRole('button', { name: 'Cancel' }));
    await waitFor(() => expect(button).toHaveFocus());
    expect(host.asked('deleteConversations')).toEqual([]);
    expect(session.app.conversations).toEqual(rows);
  });

  it('keeps running conversations, and restores the deleted ones', async () => {
    const { host, session, button, keys } = await open();
    await keys.click(button);
    await keys.click(await screen.findByRole('button', { name: 'Delete conversations' }));
    await waitFor(() => expect(news()).toHaveTextContent(/^6 conversations deleted\. You can/));
    expect(news()).toHaveTextContent(
      /until \d.*\. 1 conversation was kept because it’s still running\.$/,
    );
    expect(session.app.conversations.map(({ id }) => id)).toEqual(['groceries']);
    expect(session.app.chat?.id).toBe('groceries');
    expect(session.app.behind).toBeNull();

    await keys.click(screen.getByRole('button', { name: 'Restore' }));
    await waitFor(() => expect(news()).toHaveTextContent(/^$/));
    expect(button).toHaveFocus();
    // A page of the application in memory has three rows.
    expect(session.app.conversations).toHaveLength(3);
    expect(session.app.behind).not.toBeNull();
    await session.conversationActions.listMore();
    await session.conversationActions.listMore();
    expect(session.app.conversations).toHaveLength(7);
    expect(screen.getByTestId('kept-conversations')).toHaveTextContent('7 conversations');
    expect(host.asked('restoreConversations')).toHaveLength(1);
  });

  it('that is refused is a problem, and nothing is gone', async () => {
    const { host, session, button, keys } = await open();
    host.refusals.set('deleteConversations', { code: 'other', message: 'The disk is full.' });
    await keys.click(button);
    await keys.click(await screen.findByRole('button', { name: 'Delete conversations' }));
    await waitFor(() => expect(session.app.problems).toHaveLength(1));
    expect(session.app.conversations).toHaveLength(7);
    expect(news()).toHaveTextContent(/^$/);
    expect(button).toHaveAttribute('aria-disabled', 'false');
  });

  it('is of no use where there are none', async () => {
    const { host, session, button, keys } = await open();
    const row = session.app.current;
    if (!row) throw new Error('no conversation is open');
    await host.stop(row.id);
    await keys.click(button);
    await keys.click(await screen.findByRole('button', { name: 'Delete conversations' }));
    await waitFor(() => expect(button).toHaveAttribute('aria-disabled', 'true'));
    expect(session.app.chat).toBeNull();
    await keys.click(button);
    expect(screen.queryByRole('dialog')).toBeNull();
  });
});
