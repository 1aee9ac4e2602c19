import { render, screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { afterEach, describe, expect, it, vi } from 'vitest';

import { Session } from '../../../src/state/session.svelte';
import { type SettingsSection, settingsSections } from '../../../src/state/settings/settings-route';
import App from '../../../src/views/App.svelte';
import { FakeHost } from '../../fake/host';
import { stories } from '../../fake/stories';

/** The window over a story. */
async function open(story: string) {
  const told = stories[story]?.();
  if (!told) throw new Error(`no story ${story}`);
  const host = new FakeHost(told);
  const session = new Session(host);
  render(App, { session });
  await session.start();
  return { host, session, keys: userEvent.setup() };
}

/** The looks that a button may have. */
const looks = '.btn, .ib, .it, .opt';
/** Sections with fields and switches alone. */
const withoutButtons: readonly SettingsSection[] = ['private', 'spending', 'general'];

/** The texts of these buttons that have none of the looks. */
function bareTexts(buttons: readonly HTMLElement[]): string[] {
  return buttons
    .filter((button) => !button.matches(looks))
    .map((button) => button.textContent.trim());
}

describe('a button', () => {
  it.each(settingsSections)('looks like one in the settings of %s', async (section) => {
    const { session } = await open('regenerated');
    session.openSettings(section);
    const buttons = within(await screen.findByTestId('settings')).queryAllByRole('button');
    expect(buttons.length === 0).toBe(withoutButtons.includes(section));
    expect(bareTexts(buttons)).toEqual([]);
  });

  it('looks like one in the first run', async () => {
    const { session } = await open('first-run');
    await session.openSample();
    const buttons = within(await screen.findByTestId('firstrun')).getAllByRole('button');
    expect(bareTexts(buttons)).toEqual([]);
  });

  it('that is a bare text is found', async () => {
    const { session } = await open('regenerated');
    session.openSettings('vault');
    const page = await screen.findByTestId('settings');
    const added = document.createElement('button');
    added.textContent = 'Bare';
    page.append(added);
    expect(bareTexts(within(page).getAllByRole('button'))).toEqual(['Bare']);
    added.className = 'btn s';
    expect(bareTexts(within(page).getAllByRole('button'))).toEqual([]);
  });
});

describe('a section of the settings', () => {
  afterEach(() => vi.restoreAllMocks());

  it('is shown alone, and its heading has the focus', async () => {
    const { session, keys } = await open('chat');
    session.openSettings('hub');
    expect(await screen.findByRole('heading', { name: 'Hub' })).toHaveFocus();
    expect(screen.queryByLabelText('Theme')).toBeNull();
    await keys.click(screen.getByRole('button', { name: 'General' }));
    expect(screen.getByRole('heading', { name: 'General' })).toHaveFocus();
    expect(screen.getByLabelText('Theme')).toBeVisible();
    expect(screen.getAllByRole('heading', { level: 2 })).toHaveLength(1);
    const current = screen.getByRole('button', { current: 'page' });
    expect(current).toHaveTextContent('General');
  });

  it('is led to by what names a field of it', async () => {
    const { session } = await open('chat');
    session.openSettings('vault');
    await screen.findByRole('heading', { name: 'Vault' });
    session.openSettings('answering', 'organisation');
    await waitFor(() => expect(screen.getByLabelText(/How your notes/)).toHaveFocus());
  });

  it('leads back to the list of sections where the window is narrow', async () => {
    const media = window.matchMedia;
    vi.spyOn(window, 'matchMedia').mockImplementation((query) =>
      Object.assign(media(query), { matches: query.includes('max-width: 900px') }),
    );
    const { session, keys } = await open('chat');
    session.openSettings();
    const list = await screen.findByRole('navigation', { name: 'Settings' });
    expect(screen.queryByRole('heading', { level: 2 })).toBeNull();
    await keys.click(within(list).getByRole('button', { name: 'General' }));
    expect(screen.getByRole('heading', { name: 'General' })).toHaveFocus();
    expect(screen.queryByRole('navigation', { name: 'Settings' })).toBeNull();
    await keys.click(screen.getByRole('button', { name: 'All settings' }));
    expect(screen.getByRole('button', { name: 'General' })).toHaveFocus();
    await keys.keyboard('{Escape}');
    expect(session.place.name).toBe('chat');
  });
});

describe('a keyring that is locked', () => {
  it('has a message of its own, and the key can be tried again once it is open', async () => {
    const { host, session, keys } = await open('chat');
    session.openSettings('answering');
    await keys.click(await screen.findByRole('button', { name: 'Replace' }));
    const message =
      'The API key couldn’t be saved in the system keyring (locked). Unlock the keyring and try ' +
      'again, set ANTHROPIC_API_KEY, or keep the API key in a file that only you can read.';
    host.refusals.set('setKey', { code: 'key', message });
    await keys.type(screen.getByLabelText('API key'), 'sk-secret{Enter}');
    await waitFor(() => expect(screen.getByTestId('secret-failure')).toHaveTextContent(message));
    expect(screen.getByLabelText('API key')).toHaveAccessibleDescription(message);
    await keys.click(screen.getByRole('button', { name: 'Try again' }));
    await screen.findByText('Stored in the system keyring');
    const sent = { key: 'sk-secret', place: 'keyring' };
    expect(host.asked('setKey')).toEqual([sent, sent]);
    expect(document.body.innerHTML).not.toContain('sk-secret');
  });
});
