import { fireEvent, render, screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';

import { Session } from '../../../src/state/session.svelte';
import App from '../../../src/views/App.svelte';
import { FakeHost } from '../../fake/host';
import { changes as story } from '../../fake/stories/changes/changes';

async function open() {
  const host = new FakeHost(story());
  const session = new Session(host);
  render(App, { session });
  await session.start();
  await waitFor(() => expect(session.app.chat).not.toBeNull());
  return { host, session, keys: userEvent.setup() };
}

describe('the desktop', () => {
  it('hears which conversation is in sight, and when none is', async () => {
    const { host, session } = await open();
    const chat = session.app.chat?.id;
    await waitFor(() => expect(host.asked('setWindowFocus').at(-1)).toBe(chat));
    session.openSettings('general');
    await waitFor(() => expect(host.asked('setWindowFocus').at(-1)).toBeNull());
    session.backToChat();
    await waitFor(() => expect(host.asked('setWindowFocus').at(-1)).toBe(chat));
  });

  it('leads to the conversation that a notification was about, from anywhere', async () => {
    const { host, session } = await open();
    const other = session.app.conversations.find((row) => row.id !== session.app.chat?.id);
    session.openSettings('general');
    host.tell({ type: 'called', conversation: other?.id ?? '' });
    await waitFor(() => expect(host.asked('openConversation').at(-1)).toBe(other?.id));
    expect(session.place.name).toBe('chat');
  });

  it('has the window ask once what closing it means', async () => {
    const { host, keys } = await open();
    for (const [button, answer] of [
      ['Keep running in tray', 'tray'],
      ['Quit', 'quit'],
    ] as const) {
      host.tell({ type: 'close_asked' });
      const dialog = await screen.findByRole('dialog', { name: 'Keep running in the tray?' });
      await keys.click(within(dialog).getByRole('button', { name: button }));
      expect(host.asked('answerCloseRequest').at(-1)).toBe(answer);
      await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
    }
    host.tell({ type: 'close_asked' });
    const dialog = await screen.findByRole('dialog', { name: 'Keep running in the tray?' });
    // The effect of Esc on a dialog.
    await fireEvent(dialog, new Event('cancel'));
    await waitFor(() => expect(host.asked('answerCloseRequest').at(-1)).toBe('ask'));
  });

  it('has its settings, which take effect at once and show what is so', async () => {
    const { host, session, keys } = await open();
    session.openSettings('general');
    const section = await screen.findByRole('region', { name: 'General' });
    await keys.click(within(section).getByRole('switch', { name: 'Notifications' }));
    await waitFor(() => expect(session.app.settings.desktop.notifications).toBe(false));
    await keys.selectOptions(
      within(section).getByLabelText('When the window is closed'),
      'Quit Vaultmate',
    );
    await waitFor(() => expect(session.app.settings.desktop.onClose).toBe('quit'));
    const login = within(section).getByRole('switch', { name: 'Start at login' });
    expect(login).not.toBeChecked();
    await keys.click(login);
    expect(host.asked('setAutostart')).toEqual(['starts']);
    await waitFor(() => expect(login).toBeChecked());
  });

  it('shows that it does not start at login where that is refused', async () => {
    const { host, session, keys } = await open();
    session.openSettings('general');
    const login = await screen.findByRole('switch', { name: 'Start at login' });
    await waitFor(() => expect(session.desktop.state).not.toBeNull());
    host.refusals.set('setAutostart', { code: 'other', message: 'The folder is read-only.' });
    await keys.click(login);
    await waitFor(() => expect(session.app.problems).toHaveLength(1));
    await waitFor(() => expect(login).not.toBeChecked());
    expect(session.desktop.state?.atLogin).toBe('stays_off');
    // The control: it can be switched on.
    host.refusals.clear();
    await keys.click(login);
    await waitFor(() => expect(session.desktop.state?.atLogin).toBe('starts'));
    expect(login).toBeChecked();
  });

  it('is offered at the hub as long as the program does not start at login', async () => {
    const { host, session, keys } = await open();
    const { settings } = session.app;
    await session.save({ hub: { ...settings.hub, enabled: true } });
    session.openSettings('hub');
    const section = await screen.findByRole('region', { name: 'Hub' });
    await keys.click(await within(section).findByRole('button', { name: 'Also start at login' }));
    expect(host.asked('setAutostart')).toEqual(['starts']);
    await waitFor(() =>
      expect(within(section).queryByRole('button', { name: 'Also start at login' })).toBeNull(),
    );
  });
});

describe('the token for the hub', () => {
  it('is set, kept in a file where there is no keyring, and removed; it is never shown', async () => {
    const { host, session, keys } = await open();
    session.openSettings('hub');
    const section = await screen.findByRole('region', { name: 'Hub' });
    host.refusals.set('setHubToken', { code: 'key', message: 'There is no keyring.' });
    await keys.type(await within(section).findByLabelText('Token'), 's3cret{Enter}');
    await keys.click(await within(section).findByRole('button', { name: 'Store in file' }));
    await within(section).findByText('Stored in a file only you can read');
    expect(host.asked('setHubToken')).toEqual([
      { token: 's3cret', place: 'keyring' },
      { token: 's3cret', place: 'file' },
    ]);
    expect(section.innerHTML).not.toContain('s3cret');
    await keys.click(within(section).getByRole('button', { name: 'Remove' }));
    await within(section).findByLabelText('Token');
    expect(host.asked('setHubToken').at(-1)).toEqual({ token: '', place: 'file' });
  });

  it('that is none is told beside the field', async () => {
    const { host, session, keys } = await open();
    session.openSettings('hub');
    const section = await screen.findByRole('region', { name: 'Hub' });
    const message = 'The token contains a space or control character.';
    host.refusals.set('setHubToken', { code: 'other', message });
    await keys.type(await within(section).findByLabelText('Token'), 'two words{Enter}');
    const told = within(section).getByTestId('secret-failure');
    await waitFor(() => expect(told).toHaveTextContent(message));
    expect(session.app.problems).toEqual([]);
    expect(session.hubToken.status.source).toBeNull();
  });
});
