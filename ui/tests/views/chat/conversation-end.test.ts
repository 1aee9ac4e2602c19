import { render, screen, waitFor } from '@testing-library/svelte';
import { expect, it } from 'vitest';

import { Session } from '../../../src/state/session.svelte';
import App from '../../../src/views/App.svelte';
import { FakeHost } from '../../fake/host';
import { userMessage } from '../../fake/stories/base';
import { over } from '../../fake/stories/chat/turn-ends';

async function open() {
  const host = new FakeHost(over());
  const session = new Session(host);
  render(App, { session });
  await session.start();
  return { host, session };
}

it('a conversation that the model ended says so, with the reason and the title', async () => {
  await open();
  const end = await screen.findByTestId('conversation-end');
  expect(end).toHaveTextContent('Vaultmate ended this conversation');
  expect(end).toHaveTextContent('Reason: You said that nothing is left to do.');
  expect(end).toHaveTextContent('Title: Books lent, and to whom');
  expect(end).toHaveTextContent('A new message continues the conversation.');
  expect(screen.queryByText('Ended the conversation')).toBeNull();
});

it('a conversation that goes on still tells where it was ended, and no longer under which title', async () => {
  const { host, session } = await open();
  const end = await screen.findByTestId('conversation-end');
  const row = session.app.current;
  if (!row) throw new Error('no conversation is open');
  host.tell(
    { type: 'item_changed', conversation: 'books-2', item: userMessage('u2', 'One more thing.') },
    { type: 'conversation_changed', conversation: { ...row, state: 'active' } },
  );
  await screen.findByText('One more thing.');
  expect(end).toHaveTextContent(/^Vaultmate ended this conversation ?Reason: /);
  expect(end).not.toHaveTextContent('Title:');
  expect(end).not.toHaveTextContent('A new message');
});

it('a screen reader hears that the conversation was ended', async () => {
  const { host } = await open();
  const { items } = await host.openConversation('books-2', true);
  const end = items.find(({ type }) => type === 'tool');
  if (!end) throw new Error('nothing ended it');
  host.tell({ type: 'item_changed', conversation: 'books-2', item: { ...end } });
  const heard = await screen.findByTestId('announcements');
  await waitFor(() => expect(heard).toHaveTextContent('Vaultmate ended this conversation'));
});
