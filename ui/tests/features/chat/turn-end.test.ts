import { render, screen } from '@testing-library/svelte';
import { afterEach, expect, it } from 'vitest';

import TurnEnd from '../../../src/features/chat/answer/TurnEnd.svelte';
import type { CatalogText, TurnStatus, UserError } from '../../../src/ipc/bindings';
import { setLanguage } from '../../../src/shared/i18n/language.svelte';
import { AppState } from '../../../src/state/app.svelte';
import { Keyring } from '../../../src/state/settings/keyring.svelte';
import { FakeHost } from '../../fake/host';
import { stories } from '../../fake/stories';

afterEach(() => setLanguage('system'));

function ended(status: TurnStatus, error: UserError | null): void {
  const nothing = (): void => undefined;
  const no = (): Promise<boolean> => Promise.resolve(false);
  const story = stories['chat'];
  if (!story) throw new Error('no story');
  const host = new FakeHost(story());
  render(TurnEnd, {
    ...{ turn: 't1', status, error, open: true, offer: null },
    keyring: { trouble: null, asking: new Keyring(host, new AppState()) },
    ...{ onundo: no, onleave: no, oncontinue: no, onretry: no },
    onsettings: nothing,
  });
}

it('says that a spending limit stopped the answer, not the number of steps', () => {
  const message = 'This answer reached your limit of $1.00.';
  ended('limit', { code: 'spending', message });
  expect(screen.getByText(/because it reached a spending limit/)).toBeVisible();
  expect(screen.getByText(message)).toBeVisible();
  expect(screen.queryByText(/more steps/)).toBeNull();
});

it('says that the answer took too many steps where no money was the reason', () => {
  ended('limit', null);
  expect(screen.getByText(/more steps than one answer may take/)).toBeVisible();
  expect(screen.queryByText(/spending limit/)).toBeNull();
});

it.each(['failed', 'limit'] as const)('words the error of its turn by the key: %s', (status) => {
  setLanguage('de');
  const text: CatalogText = { key: 'answer_limit_reached', args: [['limit', '$1.00']] };
  ended(status, { code: 'spending', message: 'Nobody knows this one.', text });
  expect(screen.getByText(/^Diese Antwort hat dein Limit von \$1\.00 erreicht\./)).toBeVisible();
});
