import { render, screen, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { tick } from 'svelte';
import { afterEach, describe, expect, it } from 'vitest';

import type { Question } from '../../../src/ipc/bindings';
import { formatDate } from '../../../src/shared/i18n/format-date';
import { formatMoney } from '../../../src/shared/i18n/format-money';
import { formatNumber } from '../../../src/shared/i18n/format-number';
import { formatSize } from '../../../src/shared/i18n/format-size';
import { setLanguage } from '../../../src/shared/i18n/language.svelte';
import { translateAnswer } from '../../../src/shared/i18n/translate-sentence';
import { questionText } from '../../../src/state/chat/builtin-replies';
import { Session } from '../../../src/state/session.svelte';
import App from '../../../src/views/App.svelte';
import { FakeHost } from '../../fake/host';
import { stories } from '../../fake/stories';
import { row } from '../../fake/stories/base';

afterEach(() => setLanguage('system'));

async function open(name: string): Promise<{ host: FakeHost; session: Session }> {
  const tell = stories[name];
  if (!tell) throw new Error('no story');
  const host = new FakeHost(tell());
  const session = new Session(host);
  render(App, { session });
  await session.start();
  return { host, session };
}

describe('the language', () => {
  it('that is chosen in the settings is used at once, everywhere', async () => {
    const { host, session } = await open('chat');
    const keys = userEvent.setup();
    session.openSettings('general');
    await keys.selectOptions(await screen.findByLabelText('Language'), 'Deutsch');
    expect(host.asked('saveSettings')).toMatchObject([{ language: 'de' }]);
    expect(await screen.findByLabelText('Sprache')).toHaveValue('de');
    expect(document.documentElement.lang).toBe('de');
    session.backToChat();
    expect(await screen.findByLabelText('Nachricht')).toBeVisible();
    session.openSettings('general');
    await keys.selectOptions(await screen.findByLabelText('Sprache'), 'English');
    expect(await screen.findByLabelText('Language')).toHaveValue('en');
  });

  it('is that of sentences of the application, at once and also for older ones', async () => {
    const { host } = await open('trouble');
    const [settings, keyring] = await screen.findAllByTestId('problem');
    expect(settings).toHaveTextContent('The settings can’t be written: no space left');
    setLanguage('de');
    await tick();
    expect(settings).toHaveTextContent(
      'Die Einstellungen können nicht geschrieben werden: no space left',
    );
    expect(keyring).toHaveTextContent(
      'Vaultmate konnte den API-Schlüssel nicht im Schlüsselbund des Systems speichern',
    );
    host.tell({ type: 'problem', error: { code: 'other', message: 'Nobody knows this one.' } });
    host.tell({ type: 'problem', error: { code: 'other', message: 'Something went wrong.' } });
    expect(
      await screen.findByText('Etwas ist schiefgegangen.', { selector: '.text' }),
    ).toBeVisible();
    expect(screen.getByText('Nobody knows this one.', { selector: '.text' })).toBeVisible();
    expect(
      screen.getByText('Etwas ist schiefgegangen.', { selector: '[aria-live] *' }),
    ).toBeDefined();
    setLanguage('en');
    await tick();
    expect(keyring).toHaveTextContent('The API key couldn’t be saved in the system keyring');
  });

  it('is that of replies without a model, and never changes the text of a model or a note', async () => {
    await open('commands');
    setLanguage('de');
    expect(await screen.findByText('1 Zeile zu Tasks hinzugefügt.')).toBeVisible();
    expect(screen.getByText('Kein Modell verbunden. 7 Notizen passen')).toBeVisible();
    const asked: Question = {
      id: 'q',
      conversation: 'c',
      turn: 't',
      call: 'cmd-2',
      originalMessage: 'm',
      text: 'Several notes are called “Plan”. Which one?',
      options: [],
      toolCallsCompleted: 1,
      askedAt: 0,
    };
    expect(questionText(asked)).toBe('Mehrere Notizen heißen „Plan“. Welche?');
    expect(questionText({ ...asked, call: 'toolu_1' })).toBe(asked.text);
    const noteOf = (body: string): string => `**Plan**\n\n${body}`;
    expect(translateAnswer(noteOf('Something went wrong.'))).toBe(noteOf('Something went wrong.'));
    expect(translateAnswer(noteOf('This note is empty.'))).toBe(noteOf('Diese Notiz ist leer.'));
  });

  it('is not that of an answer by a model with the same text', async () => {
    const { host, session } = await open('chat');
    const conversation = session.app.current?.id;
    if (!conversation) throw new Error('no conversation');
    setLanguage('de');
    const item = {
      type: 'assistant',
      id: 'a9',
      text: 'Something went wrong.',
      streaming: false,
      cut: false,
    } as const;
    host.tell({ type: 'item_changed', conversation, item });
    expect(await screen.findByText('Something went wrong.')).toBeVisible();
  });

  it('is that of the weekday in the titles of hub conversations, and of no other title', async () => {
    const { host } = await open('chat');
    const chosen = row('mine', 'Inbox, Monday');
    host.tell({ type: 'conversation_changed', conversation: chosen });
    const list = within(await screen.findByTestId('conversation-list'));
    expect(await list.findByText('Inbox, Friday')).toBeVisible();
    setLanguage('de');
    await tick();
    expect(list.getByText('Eingang, Freitag')).toBeVisible();
    expect(list.getByText('Inbox, Monday')).toBeVisible();
  });

  it('is also that of dates, numbers and amounts', () => {
    const day = Date.UTC(2026, 10, 3, 12);
    setLanguage('de');
    expect(formatDate(day)).toBe('3. November 2026');
    expect([formatNumber(12_000), formatMoney(1.5e9), formatSize(12_300_000)]).toEqual([
      '12.000',
      '1,50\u00a0$',
      '12,3 MB',
    ]);
    setLanguage('en');
    expect(formatDate(day)).toBe('November 3, 2026');
    expect([formatNumber(12_000), formatMoney(1.5e9), formatSize(12_300_000)]).toEqual([
      '12,000',
      '$1.50',
      '12.3 MB',
    ]);
  });
});
