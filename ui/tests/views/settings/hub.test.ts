import { render, screen, waitFor } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { afterEach, describe, expect, it } from 'vitest';

import type { CatalogText, HubStatus } from '../../../src/ipc/bindings';
import { setLanguage } from '../../../src/shared/i18n/language.svelte';
import { Session } from '../../../src/state/session.svelte';
import App from '../../../src/views/App.svelte';
import { FakeHost } from '../../fake/host';
import { chat } from '../../fake/stories/chat/chat';

afterEach(() => setLanguage('system'));

const trouble = 'The hub at ws://127.0.0.1:9473 cannot be reached.';

/** The hub's section of the settings, with the hub in this state. */
async function open(status: Partial<HubStatus>, enabled = true) {
  const host = new FakeHost(chat());
  const session = new Session(host);
  render(App, { session });
  await session.start();
  await session.save({ hub: { ...session.app.settings.hub, enabled } });
  session.openSettings('hub');
  await screen.findByRole('switch');
  const hub = {
    state: 'waiting',
    trouble: { code: 'other', message: trouble },
    retryAt: Date.now() + 60_000,
    ignored: 0,
  } as const;
  host.tell({ type: 'hub_changed', hub: { ...hub, ...status } });
  await waitFor(() => expect(session.app.hub.ignored).toBe(0));
  return { host, keys: userEvent.setup() };
}

describe('a hub that is down', () => {
  it('is tried at once by the button beside its trouble, which then goes', async () => {
    const { host, keys } = await open({});
    expect(await screen.findByText(trouble)).toBeVisible();
    const now = screen.getByRole('button', { name: 'Retry now' });
    await keys.click(now);
    expect(host.asked('retryHub')).toHaveLength(1);
    await waitFor(() => expect(screen.queryByRole('button', { name: 'Retry now' })).toBeNull());
    expect(screen.queryByText(trouble)).toBeNull();
    await waitFor(() => expect(document.body).not.toHaveFocus());
  });

  it('has its trouble in the language of the window, by its key', async () => {
    const text: CatalogText = { key: 'hub_busy', args: [['hub', 'x:1']] };
    await open({ trouble: { code: 'other', message: 'Nobody knows this one.', text } });
    setLanguage('de');
    expect(
      await screen.findByText(
        'Der Hub unter x:1 ist ausgelastet und hat Vaultmate gebeten zu warten.',
      ),
    ).toBeVisible();
  });

  it('says why it cannot be tried', async () => {
    const { host, keys } = await open({});
    host.refusals.set('retryHub', { code: 'other', message: 'The vault is closed.' });
    await keys.click(await screen.findByRole('button', { name: 'Retry now' }));
    expect(await screen.findByTestId('problem')).toHaveTextContent('The vault is closed.');
    expect(screen.getByRole('button', { name: 'Retry now' })).toBeVisible();
  });

  it.each<[string, Partial<HubStatus>, boolean]>([
    ['is connected', { state: 'online', trouble: null, retryAt: null }, true],
    ['is switched off', {}, false],
  ])('is not offered to be tried while it %s', async (_, status, enabled) => {
    await open(status, enabled);
    expect(screen.queryByRole('button', { name: 'Retry now' })).toBeNull();
  });
});
