/** Errors with an entry of the catalog, in the language of the window. No phrase fits the English of these. */
import { render, screen } from '@testing-library/svelte';
import { afterEach, beforeEach, expect, it } from 'vitest';

import Status from '../../../src/features/conversations/Status.svelte';
import type { CatalogText, UserError } from '../../../src/ipc/bindings';
import { setLanguage } from '../../../src/shared/i18n/language.svelte';
import Problems from '../../../src/views/banners/Problems.svelte';
import { healthy } from '../../fake/stories/base';

beforeEach(() => setLanguage('de'));
afterEach(() => setLanguage('system'));

const nothing = (): void => undefined;

function error(key: string, args: CatalogText['args'] = []): UserError {
  return { code: 'other', message: 'Nobody knows this one.', text: { key, args } };
}

it('is that of a problem and of the trouble of the vault', () => {
  render(Problems, {
    problems: [{ id: 1, error: error('file_exists', [['file', 'a.md']]), passes: false }],
    trouble: error('folder_gone', [['folder', '/notes']]),
    ondismiss: nothing,
    onsettings: nothing,
  });
  expect(screen.getByTestId('problem')).toHaveTextContent(
    'a.md gibt es schon. Wähle einen anderen Namen.',
  );
  expect(screen.getByTestId('vault-trouble')).toHaveTextContent(
    'Den Ordner mit deinen Notizen gibt es nicht mehr: /notes.',
  );
});

it('is that of the trouble of the hub and of the provider', () => {
  const { hub, provider } = healthy([]);
  const lost: CatalogText = { key: 'hub_lost', args: [['hub', 'x:1']] };
  render(Status, {
    indexing: null,
    hub: { ...hub, state: 'waiting', trouble: error('retrying', [['trouble', lost]]) },
    provider: { ...provider, trouble: error('keyring_not_answered_yet') },
    spent: null,
    onhub: nothing,
    onspent: nothing,
    onprovider: nothing,
  });
  expect(screen.getByTestId('status-hub')).toHaveAttribute(
    'title',
    'Die Verbindung zum Hub unter x:1 ging verloren. Prüfe, ob der Hub läuft. Vaultmate versucht es automatisch erneut.',
  );
  expect(screen.getByTestId('status-provider')).toHaveAttribute(
    'title',
    'Der Schlüsselbund hat noch nicht geantwortet. Warte einen Moment.',
  );
});
