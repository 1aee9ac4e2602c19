import { describe, expect, it } from 'vitest';

import de from '../messages/de.json';
import en from '../messages/en.json';

const languages: Record<string, Record<string, unknown>> = { de, en };

/** The arguments a message takes, whatever its language's order. */
function placeholders(message: unknown): string[] {
  return [...new Set(JSON.stringify(message).match(/\{\w+\}/g) ?? [])].sort();
}

describe('the catalogue', () => {
  it('says everything in both languages', () => {
    expect(Object.keys(languages.de ?? {})).toEqual(Object.keys(languages.en ?? {}));
  });

  it.each(Object.keys(en))('takes the same arguments for %s in both languages', (key) => {
    expect(placeholders(languages.de?.[key])).toEqual(placeholders(languages.en?.[key]));
  });
});
