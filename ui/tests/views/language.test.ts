import { render, screen } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { afterEach, describe, expect, it } from 'vitest';

import { FakeHost } from '../../src/ipc/fake';
import { stories } from '../../src/ipc/stories';
import { speak } from '../../src/shared/language.svelte';
import { moneyWords } from '../../src/shared/money';
import { numberWords } from '../../src/shared/number';
import { sizeWords } from '../../src/shared/size';
import { dateWords } from '../../src/shared/when';
import { Session } from '../../src/state/session.svelte';
import App from '../../src/views/App.svelte';

afterEach(() => speak('system'));

describe('the language', () => {
  it('that is chosen in the settings is spoken at once, everywhere', async () => {
    const tell = stories.chat;
    if (!tell) throw new Error('no story');
    const host = new FakeHost(tell());
    const session = new Session(host);
    render(App, { session });
    await session.start();
    const keys = userEvent.setup();
    session.openSettings('appearance');
    await keys.selectOptions(await screen.findByLabelText('Language'), 'Deutsch');
    expect(host.asked('saveSettings')).toMatchObject([{ language: 'de' }]);
    expect(await screen.findByLabelText('Sprache')).toHaveValue('de');
    expect(document.documentElement.lang).toBe('de');
    session.backToChat();
    expect(await screen.findByLabelText('Nachricht')).toBeVisible();
    session.openSettings('appearance');
    await keys.selectOptions(await screen.findByLabelText('Sprache'), 'English');
    expect(await screen.findByLabelText('Language')).toHaveValue('en');
  });

  it('is also that of dates, numbers and amounts', () => {
    const day = Date.UTC(2026, 10, 3, 12);
    speak('de');
    expect(dateWords(day)).toBe('3. November 2026');
    expect([numberWords(12_000), moneyWords(1.5e9), sizeWords(12_300_000)]).toEqual([
      '12.000',
      '1,50\u00a0$',
      '12,3 MB',
    ]);
    speak('en');
    expect(dateWords(day)).toBe('November 3, 2026');
    expect([numberWords(12_000), moneyWords(1.5e9), sizeWords(12_300_000)]).toEqual([
      '12,000',
      '$1.50',
      '12.3 MB',
    ]);
  });
});
