import { render, screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';

import { Session } from '../../../src/state/session.svelte';
import App from '../../../src/views/App.svelte';
import { FakeHost } from '../../fake/host';
import { paused } from '../../fake/stories/interruptions';
import { chat } from '../../fake/stories/chat/chat';

async function open(tell = chat) {
  const host = new FakeHost(tell());
  const session = new Session(host);
  render(App, { session });
  await session.start();
  await screen.findByTestId('composer');
  return { host, session, keys: userEvent.setup() };
}

describe('a banner', () => {
  it('tells once that the hub may not show answers, wherever the user is, until it is dismissed', async () => {
    const { host, session, keys } = await open();
    const message =
      'More came over the hub than it remembers, so it may not show 30 answers. Read them in the ' +
      'hub’s conversation.';
    const tell = (): void => host.tell({ type: 'problem', error: { code: 'other', message } });
    tell();
    tell();
    const banner = await screen.findByTestId('problem');
    expect(banner).toHaveTextContent('it may not show 30 answers');
    session.openSettings();
    await screen.findByTestId('settings');
    session.backToChat();
    expect(screen.getAllByTestId('problem')).toHaveLength(1);
    await keys.click(
      within(screen.getByTestId('problem')).getByRole('button', { name: /dismiss/i }),
    );
    await waitFor(() => expect(screen.queryByTestId('problem')).toBeNull());
  });

  it('says what it offers on a button that looks like one', async () => {
    const { host } = await open(paused);
    expect(within(screen.getByTestId('paused')).getByRole('button')).toHaveClass('btn');
    host.tell({ type: 'problem', error: { code: 'key', message: 'The key was refused.' } });
    const banner = await screen.findByTestId('problem');
    expect(within(banner).getByRole('button', { name: 'Open settings' })).toHaveClass('btn');
  });
});
