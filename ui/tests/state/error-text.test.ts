import { afterEach, describe, expect, it } from 'vitest';

import type { CatalogText, UserError } from '../../src/ipc/bindings';
import { setLanguage } from '../../src/shared/i18n/language.svelte';
import { errorText } from '../../src/state/error-text';

afterEach(() => setLanguage('system'));

const exists: UserError = {
  code: 'write',
  message: 'No vault is open.md already exists. Choose another name.',
  text: { key: 'file_exists', args: [['file', 'No vault is open.md']] },
};

describe('the text of an error', () => {
  it('is that of its entry in the language of the window', () => {
    setLanguage('en');
    expect(errorText(exists)).toBe(exists.message);
    setLanguage('de');
    expect(errorText(exists)).toBe('No vault is open.md gibt es schon. Wähle einen anderen Namen.');
  });

  it('has the entries of its arguments in the same language', () => {
    const text: CatalogText = {
      key: 'data_not_written',
      args: [
        ['path', '/data/key'],
        ['why', 'No space left on device'],
        ['what_to_do', { key: 'make_room', args: [] }],
      ],
    };
    setLanguage('de');
    expect(errorText({ message: 'Couldn’t write /data/key.', text })).toBe(
      '/data/key konnte nicht geschrieben werden: No space left on device. Der Datenträger ist voll. Schaffe Platz und versuche es erneut.',
    );
  });

  it('has the names of notes as they are, and texts without an entry in the same language', () => {
    const text: CatalogText = {
      key: 'not_changed_needs_review',
      args: [
        ['note', 'Read'],
        ['why', '`Read` already exists. Choose another name.'],
        ['more', ''],
      ],
    };
    setLanguage('de');
    expect(errorText({ message: 'Read wasn’t changed.', text })).toBe(
      'Read wurde nicht geändert und ist noch zu prüfen: `Read` gibt es schon. Wähle einen anderen Namen.',
    );
  });

  it('of an earlier version is translated by its English text', () => {
    const error: UserError = { code: 'vault', message: 'No vault is open. Choose one first.' };
    setLanguage('de');
    const german = 'Kein Notizordner ist geöffnet. Wähle zuerst einen.';
    expect(errorText(error)).toBe(german);
    for (const key of ['of_an_earlier_version', 'constructor']) {
      expect(errorText({ ...error, text: { key, args: [] } })).toBe(german);
    }
  });

  it('without an argument of its entry is not shown with a hole', () => {
    setLanguage('de');
    const text: CatalogText = { key: 'no_note_at', args: [] };
    expect(errorText({ message: 'Gone.', text })).toBe('Gone.');
  });
});
