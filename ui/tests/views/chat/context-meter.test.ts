import { render, screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';

import type { ContextUse } from '../../../src/ipc/bindings';
import { Session } from '../../../src/state/session.svelte';
import App from '../../../src/views/App.svelte';
import { FakeHost } from '../../fake/host';
import { full, fullWorking } from '../../fake/stories/interruptions';

async function open(tell: () => ReturnType<typeof full> = full) {
  const host = new FakeHost(tell());
  const session = new Session(host);
  render(App, { session });
  await session.start();
  await screen.findByTestId('chat-log');
  return { host, session, keys: userEvent.setup() };
}

/** So much of a window is used. */
function used(tokens: number, window = 1_000): ContextUse {
  return {
    used: tokens,
    window,
    parts: [{ kind: 'messages', tokens }],
    canSummarize: true,
  };
}

describe('the context meter', () => {
  it('shows above 80 % of the window alone, and follows what is told of this conversation', async () => {
    const { host } = await open();
    const tell = (context: ContextUse | null, conversation = 'archive'): void =>
      host.tell({ type: 'context_changed', conversation, context });
    expect(screen.getByTestId('context-meter')).toHaveTextContent('84% of the context window used');
    tell(used(800));
    await waitFor(() => expect(screen.queryByTestId('context-meter')).toBeNull());
    tell(used(801));
    await waitFor(() => expect(screen.getByTestId('context-meter')).toHaveTextContent(/^80% of/));
    tell(used(100), 'another');
    // A model with a larger window answers now, then one with a smaller one.
    tell(used(801, 10_000));
    await waitFor(() => expect(screen.queryByTestId('context-meter')).toBeNull());
    tell(used(801, 500));
    await waitFor(() => expect(screen.getByTestId('context-meter')).toHaveTextContent(/^100% of/));
    tell(null);
    await waitFor(() => expect(screen.queryByTestId('context-meter')).toBeNull());
  });

  it('tells by keyboard what fills the window, and goes once it is summarized', async () => {
    const { host, keys } = await open();
    const meter = screen.getByTestId('context-meter');
    const line = within(meter).getByText('84% of the context window used');
    const button = within(meter).getByRole('button', { name: 'Summarize now', hidden: true });
    expect(button).not.toBeVisible();
    line.focus();
    expect(line).toHaveFocus();
    // As an engine does on Enter.
    await keys.click(line);
    expect(button).toBeVisible();
    expect(meter).toHaveTextContent('About 154,600 of 184,000 tokens');
    const parts = within(meter)
      .getAllByRole('term')
      .map((term) => `${term.textContent}: ${term.nextElementSibling?.textContent}`);
    expect(parts).toEqual([
      'System prompt and tools: 4,400',
      'Summary: 1,300',
      'Earlier messages: 21,400',
      'Tool results: 124,900',
    ]);
    await keys.click(button);
    expect(host.asked('compactConversation')).toEqual(['archive']);
    await waitFor(() => expect(screen.queryByTestId('context-meter')).toBeNull());
  });

  it('summarizes nothing while a turn runs, and where the newest exchanges alone fill it', async () => {
    const { host, session, keys } = await open(fullWorking);
    const button = within(screen.getByTestId('context-meter')).getByRole('button', {
      name: 'Summarize now',
      hidden: true,
    });
    expect(button).toHaveAccessibleDescription('You can summarize once the answer is finished.');
    expect(button).toHaveAttribute('aria-disabled', 'true');
    await keys.click(button);
    const row = session.app.current;
    if (!row) throw new Error('no row');
    host.tell({ type: 'conversation_changed', conversation: { ...row, working: false } });
    const context = { ...used(900), canSummarize: false };
    host.tell({ type: 'context_changed', conversation: 'archive', context });
    await waitFor(() =>
      expect(button).toHaveAccessibleDescription(/^The last six exchanges are never/),
    );
    await keys.click(button);
    expect(host.asked('compactConversation')).toEqual([]);
    host.tell({ type: 'context_changed', conversation: 'archive', context: used(900) });
    await waitFor(() => expect(button).not.toHaveAccessibleDescription());
    await keys.click(button);
    expect(host.asked('compactConversation')).toEqual(['archive']);
  });
});
