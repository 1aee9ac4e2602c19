import { render, screen, waitFor } from '@testing-library/svelte';
import { describe, expect, it } from 'vitest';

import type { ChatItem } from '../../../src/ipc/bindings';
import { Session } from '../../../src/state/session.svelte';
import App from '../../../src/views/App.svelte';
import { FakeHost } from '../../fake/host';
import { review } from '../../fake/stories/changes/review';
import { chat } from '../../fake/stories/chat/chat';

async function open() {
  const host = new FakeHost(chat());
  const session = new Session(host);
  render(App, { session });
  await session.start();
  await screen.findByTestId('chat-log');
  const { current } = session.app;
  if (!current) throw new Error('no conversation');
  return { host, conversation: current };
}

const heard = (): (string | null)[] =>
  [...screen.getByTestId('announcements').children].map((one) => one.textContent);

describe('a screen reader', () => {
  it('comes by the chat as a log that is no live region', async () => {
    await open();
    const log = screen.getByRole('log', { name: 'Conversation' });
    expect(log).toHaveAttribute('aria-live', 'off');
    const told = screen.getByTestId('announcements');
    expect(told).toHaveAttribute('role', 'status');
    expect(told).toHaveAttribute('aria-atomic', 'false');
    expect(log).not.toContainElement(told);
  });

  it('hears nothing of tokens and steps, and each boundary once', async () => {
    const { host, conversation } = await open();
    const { id } = conversation;
    const answer: ChatItem = {
      type: 'assistant',
      id: 'a1',
      text: 'All.',
      streaming: true,
      cut: false,
    };
    host.tell({ type: 'text_added', conversation: id, id: 'a1', text: ' hot.' });
    host.tell({ type: 'item_changed', conversation: id, item: answer });
    host.tell({ type: 'item_changed', conversation: id, item: { ...answer, streaming: false } });
    await screen.findByText('All.');
    expect(heard()).toEqual([]);

    const waits = review().views[0]?.review ?? null;
    host.tell(
      { type: 'review_changed', conversation: id, review: waits },
      { type: 'conversation_changed', conversation: { ...conversation, working: false } },
    );
    await waitFor(() => expect(heard()).toHaveLength(2));
    expect(heard()).toEqual([expect.stringMatching(/^\d+ notes? .*/), 'Answer finished']);
  });
});
