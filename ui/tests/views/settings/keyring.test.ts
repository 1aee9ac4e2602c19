import { render, screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';

import type { Unlocking } from '../../../src/ipc/bindings';
import { Session } from '../../../src/state/session.svelte';
import App from '../../../src/views/App.svelte';
import { FakeHost } from '../../fake/host';
import { stories } from '../../fake/stories';

/** The window over a story, with sample notes, in the chat. */
async function open(story: string) {
  const told = stories[story]?.();
  if (!told) throw new Error(`no story ${story}`);
  const host = new FakeHost(told);
  const session = new Session(host);
  render(App, { session });
  await session.start();
  await session.openSample();
  return { host, session, keys: userEvent.setup() };
}

describe('a locked keyring with the API key in it', () => {
  it('is told in place of a missing model, and unlocked from the banner', async () => {
    const { host, session, keys } = await open('keyring-locked');
    await session.begin(null);
    const notice = await screen.findByTestId('keyring-notice');
    expect(notice).toHaveTextContent('The keyring is locked. Unlock it to use your API key.');
    expect(screen.queryByPlaceholderText(/No model connected/)).toBeNull();
    expect(screen.queryByRole('button', { name: 'Connect a model' })).toBeNull();
    await keys.click(within(notice).getByRole('button', { name: 'Unlock keyring' }));
    await waitFor(() => expect(screen.queryByTestId('keyring-notice')).toBeNull());
    expect(host.asked('unlockKeyring')).toHaveLength(1);
    expect(session.app.provider).toMatchObject({ hasModel: true, keyring: null });
    expect(session.app.announcements.at(-1)?.text).toBe('The keyring is unlocked.');
  });

  it('can be unlocked until the user cancels, and the window goes on meanwhile', async () => {
    const { host, session, keys } = await open('keyring-locked');
    await session.begin(null);
    host.unlocked = () => new Promise<Unlocking>(() => undefined);
    const notice = within(await screen.findByTestId('keyring-notice'));
    await keys.click(notice.getByRole('button', { name: 'Unlock keyring' }));
    const cancel = await notice.findByRole('button', { name: 'Cancel' });
    expect(cancel).toHaveFocus();
    expect(notice.getByRole('status')).toHaveTextContent('Waiting for you to unlock the keyring…');
    await keys.type(screen.getByTestId('composer'), 'meanwhile');
    expect(screen.getByTestId('composer')).toHaveValue('meanwhile');
    await keys.click(cancel);
    expect(await notice.findByText(/^The keyring wasn’t unlocked/)).toBeVisible();
    expect(cancel).toHaveAccessibleName('Unlock keyring');
    expect(host.asked('stopUnlocking')).toHaveLength(1);
  });

  it('is told where it does not answer', async () => {
    const { host, session, keys } = await open('keyring-locked');
    await session.begin(null);
    host.unlocked = () => Promise.resolve('unavailable');
    const notice = within(await screen.findByTestId('keyring-notice'));
    await keys.click(notice.getByRole('button', { name: 'Unlock keyring' }));
    expect(await notice.findByText(/^The keyring isn’t responding/)).toBeVisible();
  });

  it('is unlocked in the first run and in the settings', async () => {
    const { session, keys } = await open('keyring-locked');
    expect(screen.getByRole('radio', { name: /Use an API key/ })).toBeChecked();
    await keys.click(screen.getByRole('button', { name: 'Unlock keyring' }));
    expect(await screen.findByText('API key found')).toBeVisible();
    await session.begin(null);

    const { keyring, ...rest } = { ...session.app.provider, keyring: 'locked' as const };
    const trouble = { code: 'key', message: 'It is locked.' } as const;
    session.app.provider = { ...rest, keyring, keySource: null, trouble };
    session.openSettings('answering');
    const settings = within(await screen.findByTestId('settings'));
    await keys.click(await settings.findByRole('button', { name: 'Unlock keyring' }));
    expect(await settings.findByText('Stored in the system keyring')).toBeVisible();
  });
});

describe('a locked keyring of which nobody knows what is in it', () => {
  it('is shown beside the composer only, and commands go on', async () => {
    const { session, keys } = await open('keyring-unknown');
    await session.begin(null);
    const line = within(await screen.findByTestId('composer-keyring'));
    expect(screen.queryByTestId('keyring-notice')).toBeNull();
    expect(screen.queryByPlaceholderText(/No model connected/)).toBeNull();
    expect(line.getByRole('status')).toHaveTextContent(
      'The keyring is locked. If your API key is in it, unlock it.',
    );
    await keys.click(line.getByRole('button', { name: 'Unlock keyring' }));
    await waitFor(() => expect(session.app.provider.hasModel).toBe(true));
    expect(screen.queryByTestId('composer-keyring')).toBeNull();
  });
});

describe('a locked keyring with the token for the hub in it', () => {
  it('is not told as a missing token', async () => {
    const { host, session, keys } = await open('chat');
    host.hubToken = { source: null, keyring: 'locked' };
    session.openSettings('hub');
    expect(await screen.findByText(/Unlock it to use the token\.$/)).toBeVisible();
    await keys.click(screen.getByRole('button', { name: 'Unlock keyring' }));
    await waitFor(() => expect(screen.queryByText(/Unlock it to use the token/)).toBeNull());
  });
});

describe('a question that failed while the keyring was locked', () => {
  it('offers to unlock it, and then first of all to try again', async () => {
    const { session, keys } = await open('failed');
    const { provider } = session.app;
    const trouble = { code: 'key', message: 'The keyring is locked.' } as const;
    session.app.provider = { ...provider, keyring: 'locked', trouble };
    const section = (await screen.findByText('Your message is saved.')).closest('section');
    if (!section) throw new Error('no card');
    const card = within(section);
    expect(card.queryByRole('button', { name: 'Open settings' })).toBeNull();
    await keys.click(card.getByRole('button', { name: 'Unlock keyring' }));
    expect(await card.findByText(/^The keyring is unlocked now/)).toBeVisible();
    expect(card.getByRole('button', { name: 'Try again' })).toHaveClass('primary');
    expect(card.queryByRole('button', { name: 'Open settings' })).toBeNull();
  });

  it('is told by the banner and not once more below the composer', async () => {
    const { session } = await open('keyring-locked');
    await session.begin(null);
    await screen.findByTestId('keyring-notice');
    expect(screen.queryByTestId('composer-keyring')).toBeNull();
    expect(screen.getAllByRole('button', { name: 'Unlock keyring' })).toHaveLength(1);
  });
});
