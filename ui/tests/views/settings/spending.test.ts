import { render, screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';

import type { ModelCost, MonthCost, TurnCost } from '../../../src/ipc/bindings';
import { Session } from '../../../src/state/session.svelte';
import App from '../../../src/views/App.svelte';
import { FakeHost } from '../../fake/host';
import { answered, healthy, row, userMessage, view } from '../../fake/stories/base';
import { read } from '../../fake/stories/chat/chat';

function spent(cost: number, change: Partial<ModelCost> = {}): ModelCost {
  const usage = { input: 200, output: 50, cacheRead: 1800, cacheWrite: 0 };
  return { requests: 2, usage, cost, unpriced: 0, ...change };
}

const turns: TurnCost[] = [
  { turn: 't1', answer: 'a1', spent: spent(12_300_000) },
  { turn: 't2', answer: 'a2', spent: spent(0, { unpriced: 2 }) },
];
const months: MonthCost[] = [
  { month: '2026-11', spent: spent(1_230_000_000) },
  { month: '2026-10', spent: spent(0, { unpriced: 2 }) },
];

async function begin(spending: { turns: TurnCost[]; months: MonthCost[] }) {
  const conversation = row('c', 'Soup');
  const items = [userMessage('u1', 'One?'), answered('a1', 'One.'), userMessage('u2', 'Two?')];
  const host = new FakeHost({
    snapshot: healthy([conversation]),
    views: [view(conversation, [...items, answered('a2', 'Two.')])],
    notes: {},
    spent: spending,
  });
  const session = new Session(host);
  render(App, { session });
  await session.start();
  await session.open('c');
  return { host, session, keys: userEvent.setup() };
}

describe('the cost of models', () => {
  it('is told under an answer when it is asked for, and not before', async () => {
    const { host, keys } = await begin({ turns, months });
    const log = await screen.findByTestId('chat-log');
    const asks = await within(log).findAllByRole('button', { name: 'Cost' });
    expect(asks).toHaveLength(2);
    expect(host.asked('conversationCosts')).toEqual([]);
    for (const ask of asks) await keys.click(ask);
    const [first, second] = await within(log).findAllByTestId('answer-cost');
    expect(first).toHaveTextContent(/\$0\.0123 · 2 requests, 2,000 tokens sent \(1,800 cached\)/);
    expect(first).toHaveTextContent(
      '$0.0123, plus usage without a known price in this conversation',
    );
    expect(second).toHaveTextContent(/^price unknown · 2 requests/);
  });

  it('stands beside the button that copies the answer', async () => {
    const { keys } = await begin({ turns, months });
    const log = await screen.findByTestId('chat-log');
    for (const copy of await within(log).findAllByRole('button', { name: 'Copy' })) {
      await keys.click(copy);
    }
    expect(await within(log).findByRole('button', { name: 'Copied' })).toBeVisible();
    expect(await navigator.clipboard.readText()).toBe('Two.');
  });

  it('stands once below an answer of several parts, and copies all of them', async () => {
    const { host, session, keys } = await begin({ turns, months });
    for (const item of [
      userMessage('u3', 'Three?'),
      answered('a3', 'I look.'),
      read('c', 'Soup.md'),
      answered('a4', 'Three.'),
    ]) {
      host.tell({ type: 'item_changed', conversation: 'c', item });
    }
    await screen.findByText('Three.');
    expect(session.app.chat?.items).toHaveLength(8);
    const copies = screen.getAllByRole('button', { name: 'Copy' });
    expect(copies).toHaveLength(3);
    const [line] = screen.getAllByRole('button', { name: /Read Soup/ });
    const last = copies.at(-1);
    if (!line || !last) throw new Error('nothing was answered');
    expect(line.compareDocumentPosition(last)).toBe(Node.DOCUMENT_POSITION_FOLLOWING);
    await keys.click(last);
    expect(await navigator.clipboard.readText()).toBe('I look.\n\nThree.');
  });

  it('stands in the settings by month, with the limits', async () => {
    const { host, session, keys } = await begin({ turns, months });
    session.openSettings('spending');
    const section = await screen.findByRole('region', { name: 'Spending' });
    await waitFor(() => expect(within(section).getAllByTestId('month-spent')).toHaveLength(2));
    expect(section).toHaveTextContent(/November 2026 ?\$1\.23 · /);
    const month = within(section).getByLabelText('Monthly limit (USD)');
    expect(month).toHaveValue(20);
    await keys.clear(month);
    await keys.type(month, '35.5{Tab}');
    const saved = host.asked('saveSettings').at(-1);
    expect(saved).toMatchObject({ spending: { turnCents: 50, monthCents: 3550, paused: false } });
    await keys.clear(within(section).getByLabelText('Limit per answer (USD)'));
    await keys.tab();
    expect(host.asked('saveSettings').at(-1)).toMatchObject({ spending: { turnCents: 50 } });
  });

  it('can be stopped by a pause that the chat shows and ends', async () => {
    const { host, session, keys } = await begin({ turns: [], months: [] });
    session.openSettings('spending');
    await keys.click(await screen.findByRole('switch', { name: /Pause models/ }));
    expect(host.asked('saveSettings').at(-1)).toMatchObject({ spending: { paused: true } });
    session.backToChat();
    const notice = await screen.findByTestId('paused');
    expect(notice).toHaveTextContent('Models are paused. Nothing is sent to them.');
    await keys.click(within(notice).getByRole('button', { name: 'Resume' }));
    expect(host.asked('saveSettings').at(-1)).toMatchObject({ spending: { paused: false } });
    await waitFor(() => expect(screen.queryByTestId('paused')).toBeNull());
  });
});

describe('the budget of a month', () => {
  const now = new Date();
  const month = `${now.getFullYear()}-${String(now.getMonth() + 1).padStart(2, '0')}`;
  // The limit is 20 dollars.
  const dollar = 1_000_000_000;

  it.each([
    ['nothing', 15.9, null],
    ['how much is spent', 16.5, 'Monthly limit: 82% used'],
    ['that it is spent', 20, 'Monthly limit reached'],
  ])('says %s', async (_, dollars, words) => {
    const { host } = await begin({ turns, months: [{ month, spent: spent(dollars * dollar) }] });
    await waitFor(() => expect(host.asked('monthlyCosts')).toHaveLength(1));
    if (words === null) expect(screen.queryByTestId('status-spent')).toBeNull();
    else expect(await screen.findByTestId('status-spent')).toHaveTextContent(words);
  });

  it('of a month that is over is not told', async () => {
    const { host } = await begin({
      turns,
      months: [{ month: '2020-01', spent: spent(20 * dollar) }],
    });
    await waitFor(() => expect(host.asked('monthlyCosts')).toHaveLength(1));
    expect(screen.queryByTestId('status-spent')).toBeNull();
  });

  it('is loaded again after each turn, and leads to its limit', async () => {
    const all = { turns, months: [{ month, spent: spent(dollar) }] };
    const { host, session, keys } = await begin(all);
    await waitFor(() => expect(host.asked('monthlyCosts')).toHaveLength(1));
    host.monthlyCosts = async () => [{ month, spent: spent(18 * dollar) }];
    const item = { type: 'ended', turn: 't3', status: 'done', error: null, offer: null } as const;
    host.tell({ type: 'item_changed', conversation: 'c', item });
    await keys.click(await screen.findByTestId('status-spent'));
    expect(session.place).toMatchObject({ name: 'settings', section: 'spending' });
  });
});
