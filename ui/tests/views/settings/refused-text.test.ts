import { render, screen, waitFor } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';

import type { Settings } from '../../../src/ipc/bindings';
import { Session } from '../../../src/state/session.svelte';
import type { SettingsSection } from '../../../src/state/settings/settings-route';
import App from '../../../src/views/App.svelte';
import { FakeHost } from '../../fake/host';
import { regenerated } from '../../fake/stories/chat/regenerate';

const refusal = { code: 'write', message: 'The disk is full.' };

async function open(section: SettingsSection) {
  const host = new FakeHost(regenerated());
  const session = new Session(host);
  render(App, { session });
  await session.start();
  session.openSettings(section);
  await screen.findByTestId('settings');
  for (const details of document.querySelectorAll('details')) details.open = true;
  return { host, session, keys: userEvent.setup() };
}

type FieldCase = readonly [
  SettingsSection,
  RegExp,
  string,
  (settings: Settings) => unknown,
  unknown,
];

const fields: readonly FieldCase[] = [
  ['private', /^Never share/, 'Diary', (all) => all.private.never, ['Diary']],
  ['private', /^Local models/, 'Letters', (all) => all.private.local, ['Letters']],
  ['answering', /^How your notes/, 'By year', (all) => all.organisation, 'By year'],
  ['answering', /^What summaries/, 'Keep dates', (all) => all.compaction.prompt, 'Keep dates'],
  ['answering', /^Temperature/, '0.4', (all) => all.parameters[0]?.temperature, 0.4],
  ['answering', /^Extra/, '{"a": 1}', (all) => all.parameters[0]?.extra, '{"a": 1}'],
  ['spending', /^Limit per answer/, '0.7', (all) => all.spending.turnCents, 70],
  ['spending', /^Monthly limit/, '31', (all) => all.spending.monthCents, 3_100],
  ['hub', /^Server URL/, 'ws://10.0.0.2:9', (all) => all.hub.address, 'ws://10.0.0.2:9'],
  ['hub', /^Name$/, 'Desk', (all) => all.hub.name, 'Desk'],
  ['hub', /^Description/, 'Knows recipes.', (all) => all.hub.description, 'Knows recipes.'],
  ['hub', /^Inbox note/, 'Notes/In.md', (all) => all.hub.inboxNote, 'Notes/In.md'],
  ['hub', /^Notes the hub/, 'Tasks.md', (all) => all.hub.notes, ['Tasks.md']],
];

describe('a text of the settings that is refused', () => {
  it.each(fields)('stays in its field: %s, %s', async (section, label, text, read, value) => {
    const { host, session, keys } = await open(section);
    const saved = read(session.app.settings);
    const field = screen.getByLabelText(label);
    host.refusals.set('saveSettings', refusal);
    await keys.clear(field);
    await keys.click(field);
    await keys.paste(text);
    await keys.tab();
    await waitFor(() => expect(field).toHaveAccessibleDescription(/The disk is full\.$/));
    expect(field).toBeInvalid();
    expect(field).toHaveDisplayValue(text);
    expect(read(session.app.settings)).toEqual(saved);
    // Once it is changed again and saved, the reason is gone.
    await keys.clear(field);
    await keys.click(field);
    await keys.paste(text);
    expect(field).not.toHaveAccessibleDescription(/full/);
    await keys.tab();
    await waitFor(() => expect(read(session.app.settings)).toEqual(value));
    expect(field).toBeValid();
    expect(field).toHaveDisplayValue(text);
  });

  it('is there again when the user comes back to the page that was left with it', async () => {
    const { host, session, keys } = await open('private');
    host.refusals.set('saveSettings', refusal);
    await keys.click(screen.getByLabelText(/^Never share/));
    await keys.keyboard('Diary{Escape}');
    await screen.findByTestId('composer');
    await waitFor(() => expect(session.app.problems).toMatchObject([{ error: refusal }]));
    session.openSettings('private');
    const field = await screen.findByLabelText(/^Never share/);
    expect(field).toHaveDisplayValue('Diary');
    expect(field).toHaveAccessibleDescription(/The disk is full\.$/);
  });
});

type ListCase = readonly [
  SettingsSection,
  RegExp,
  (settings: Settings) => readonly string[],
  (settings: Settings, list: string[]) => Settings,
];

const lists: readonly ListCase[] = [
  [
    'private',
    /^Never share/,
    (all) => all.private.never,
    (all, never) => ({ ...all, private: { ...all.private, never } }),
  ],
  [
    'private',
    /^Local models/,
    (all) => all.private.local,
    (all, local) => ({ ...all, private: { ...all.private, local } }),
  ],
  [
    'hub',
    /^Notes the hub/,
    (all) => all.hub.notes,
    (all, notes) => ({ ...all, hub: { ...all.hub, notes } }),
  ],
];

describe('a list of the settings that changes elsewhere while a text for it is refused', () => {
  async function openList(
    section: SettingsSection,
    label: RegExp,
    read: (settings: Settings) => readonly string[],
    changed: (settings: Settings, list: string[]) => Settings,
  ) {
    const { host, session, keys } = await open(section);
    const field = screen.getByLabelText(label);
    const tell = (...list: string[]) => {
      const settings = changed(session.app.settings, list);
      host.tell({ type: 'settings_changed', settings, trouble: null });
    };
    const type = async (text: string) => {
      await keys.clear(field);
      await keys.click(field);
      await keys.paste(text);
      await keys.tab();
    };
    return { host, field, tell, type, saved: () => read(session.app.settings) };
  }

  it.each(lists)('keeps what was added there: %s, %s', async (section, label, read, changed) => {
    const opened = await openList(section, label, read, changed);
    const { host, field, tell, type, saved } = opened;
    tell('A', 'Gone');
    await waitFor(() => expect(field).toHaveValue('A\nGone'));
    host.refusals.set('saveSettings', refusal);
    await type('A\n../x');
    await waitFor(() => expect(field).toBeInvalid());
    tell('A', 'Gone', 'C');
    await waitFor(() => expect(saved()).toEqual(['A', 'Gone', 'C']));
    expect(field).toHaveValue('A\n../x');
    await type('A\nB');
    // The control: the line that the user removed is removed.
    await waitFor(() => expect(saved()).toEqual(['A', 'C', 'B']));
    await waitFor(() => expect(field).toHaveValue('A\nC\nB'));
    // A line that is in the field by now may be removed too, and takes another place.
    await type('B\nA');
    await waitFor(() => expect(saved()).toEqual(['B', 'A']));
  });
});

describe('a text of the settings that is saved', () => {
  it('is shown as it was saved', async () => {
    const { session, keys } = await open('private');
    const field = screen.getByLabelText(/^Never share/);
    await keys.click(field);
    await keys.paste(' Diary \n\nLetters');
    await keys.tab();
    await waitFor(() => expect(session.app.settings.private.never).toEqual(['Diary', 'Letters']));
    await waitFor(() => expect(field).toHaveValue('Diary\nLetters'));
    expect(screen.getAllByTestId('refusal').map((one) => one.textContent)).toEqual(['', '']);
  });

  it('makes way for what is changed elsewhere', async () => {
    const { host, session, keys } = await open('private');
    const field = screen.getByLabelText(/^Never share/);
    await keys.click(field);
    await keys.paste('Diary');
    await keys.tab();
    await waitFor(() => expect(session.app.settings.private.never).toEqual(['Diary']));
    const { settings } = session.app;
    const elsewhere = { ...settings, private: { ...settings.private, never: ['By hand'] } };
    host.tell({ type: 'settings_changed', settings: elsewhere, trouble: null });
    await waitFor(() => expect(field).toHaveValue('By hand'));
  });
});
