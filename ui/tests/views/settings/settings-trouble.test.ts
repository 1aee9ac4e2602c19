import { render, screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';

import type { SettingsProblem } from '../../../src/ipc/bindings';
import { Session } from '../../../src/state/session.svelte';
import App from '../../../src/views/App.svelte';
import { FakeHost } from '../../fake/host';
import { settingsCutOff } from '../../fake/stories/trouble';

async function begin(vault: 'open' | 'none' = 'open') {
  const story = settingsCutOff();
  const { snapshot } = story;
  const host = new FakeHost({
    ...story,
    snapshot: vault === 'open' ? snapshot : { ...snapshot, vault: null },
  });
  const session = new Session(host);
  render(App, { session });
  await session.start();
  const banner = await screen.findByTestId('settings-trouble');
  return { host, session, banner, keys: userEvent.setup() };
}

function unreadable(message: string): SettingsProblem {
  return { message, choices: ['defaults'] };
}

describe('a settings file that does not count', () => {
  it.each(['open', 'none'] as const)(
    'is told with what can be chosen, vault: %s',
    async (vault) => {
      const { host, banner, keys } = await begin(vault);
      expect(banner).toHaveTextContent(/config\.toml may be cut off.*No model is asked/);
      await keys.click(within(banner).getByRole('button', { name: /^Restore last readable/ }));
      expect(host.asked('recoverSettings')).toEqual(['last_good']);
      await waitFor(() => expect(screen.queryByTestId('settings-trouble')).toBeNull());
    },
  );

  it.each([
    ['file', /^Use the file/, /private notes and spending limits/],
    ['defaults', /^Use default settings/, /no note is private/],
  ] as const)('is asked about before rules go: %s', async (choice, name, about) => {
    const { host, banner, keys } = await begin();
    await keys.click(within(banner).getByRole('button', { name }));
    const dialog = await screen.findByRole('dialog');
    expect(dialog).toHaveTextContent(about);
    // The first button has the keyboard.
    expect(within(dialog).getAllByRole('button')[0]).toHaveTextContent('Cancel');
    await keys.click(within(dialog).getByRole('button', { name: 'Cancel' }));
    expect(host.asked('recoverSettings')).toEqual([]);
    await keys.click(within(banner).getByRole('button', { name }));
    const again = await screen.findByRole('dialog');
    await keys.click(within(again).getByRole('button', { name }));
    expect(host.asked('recoverSettings')).toEqual([choice]);
  });

  it('offers only what can be chosen, is read aloud, and goes when the file is whole again', async () => {
    const { host, session, banner } = await begin();
    const { settings } = session.app;
    const message = 'Settings file /c.toml is gone.';
    host.tell({ type: 'settings_changed', settings, trouble: unreadable(message) });
    await waitFor(() => expect(banner).toHaveTextContent(message));
    expect(within(banner).getAllByRole('button')).toHaveLength(1);
    expect(screen.getByTestId('announcements')).toHaveTextContent(message);
    host.tell({ type: 'settings_changed', settings, trouble: null });
    await waitFor(() => expect(screen.queryByTestId('settings-trouble')).toBeNull());
  });

  it('stays, and says why, where the choice is refused', async () => {
    const { host, banner, keys } = await begin();
    host.refusals.set('recoverSettings', { code: 'write', message: 'The disk is full.' });
    await keys.click(within(banner).getByRole('button', { name: /^Restore/ }));
    expect(await screen.findByTestId('problem')).toHaveTextContent('The disk is full.');
    expect(banner).toBeInTheDocument();
  });
});
