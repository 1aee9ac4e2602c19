import { render, screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';

import type { ChatItem } from '../../../src/ipc/bindings';
import { Session } from '../../../src/state/session.svelte';
import App from '../../../src/views/App.svelte';
import { FakeHost } from '../../fake/host';
import { answered, healthy, row, userMessage, view } from '../../fake/stories/base';

async function begin(exchanges: number) {
  const conversation = row('c', 'Soup');
  const items: ChatItem[] = Array.from({ length: exchanges }, (_, n) => [
    userMessage(`u${n}`, `Question ${n}?`),
    answered(`a${n}`, `Answer ${n}.`),
  ]).flat();
  const host = new FakeHost({
    snapshot: healthy([conversation]),
    views: [view(conversation, items)],
    notes: {},
  });
  const session = new Session(host);
  render(App, { session });
  await session.start();
  await session.open('c');
  return { host, session, keys: userEvent.setup() };
}

describe('earlier messages', () => {
  it('are summarized on request, with a line where they end and the summary on demand', async () => {
    const { host, keys } = await begin(8);
    const log = await screen.findByTestId('chat-log');
    const asks = await within(log).findAllByRole('button', { name: 'Cost' });
    await keys.click(asks.at(-1) ?? log);
    await keys.click(await within(log).findByRole('button', { name: /Summarize earlier/ }));
    expect(host.asked('compactConversation')).toEqual(['c']);
    const line = await within(log).findByText(/Earlier messages were summarized for the model/);
    expect(line).toHaveTextContent('Nothing was deleted.');
    const told = within(log).getByText('They talked.');
    expect(told).not.toBeVisible();
    await keys.click(line);
    expect(told).toBeVisible();
    const before = within(log).getByText('Answer 1.');
    expect(before.compareDocumentPosition(line)).toBe(Node.DOCUMENT_POSITION_FOLLOWING);
    expect(within(log).getByText('Question 2?').compareDocumentPosition(line)).toBe(
      Node.DOCUMENT_POSITION_PRECEDING,
    );
  });

  it('are too few to be summarized while only six exchanges stand there', async () => {
    const { keys } = await begin(6);
    const log = await screen.findByTestId('chat-log');
    const asks = await within(log).findAllByRole('button', { name: 'Cost' });
    await keys.click(asks.at(-1) ?? log);
    await within(log).findByTestId('answer-cost');
    expect(within(log).queryByRole('button', { name: /Summarize earlier/ })).toBeNull();
  });

  it('are summarized by the model and with the instructions of the settings', async () => {
    const { host, session, keys } = await begin(1);
    session.openSettings('answering');
    const saved = () => host.asked('saveSettings').at(-1);
    const model = await screen.findByRole('combobox', { name: 'Summary model' });
    await keys.type(model, 'cheap{Tab}');
    await waitFor(() => expect(saved()).toMatchObject({ compaction: { model: 'cheap' } }));
    await keys.type(screen.getByLabelText('What summaries should keep'), 'Keep dates.{Tab}');
    await waitFor(() => expect(saved()).toMatchObject({ compaction: { prompt: 'Keep dates.' } }));
  });
});
