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

/** Terms that the glossary retires, in each language. */
const retired: Readonly<Record<string, RegExp>> = {
  en: new RegExp(
    [
      'folder of notes|notebook|chats?|verdicts?|put in|leave out|forget|forgotten|sum(?:med)? up',
      '(?:take|took|taken|taking|put|putting|bring|bringing) (?:it |them )?back|ask again|asked anew',
      'waits?|by itself|in other words|goes along|take (?:a file )?along|put away|ceilings?|purse',
      'budget|variants?|pictures?|points|dead links?|nowhere|another name|beside the vault',
      'note of the day|picks?|picked|vendors?|us|we|address|requests?|removals?|organis\\w+',
    ]
      .map((terms) => `\\b(?:${terms})\\b`)
      .join('|'),
    'iu',
  ),
  de: new RegExp(
    [
      'Vaults?|Chats?|Urteil|Durchsicht|Taskleiste|Schlagw(?:ort|örter)|Rechner|Adresse|Varianten?',
      'zurück(?:nehmen|genommen|holen|geholt)|vergessen|mit(?:nehmen|gehen)|noch einmal|neu fragen',
      'Bitte|Auftrag|Aufträge|tote Links?|warte[nt]? auf dich|Grenzen?|an(?:ge)?halten|aufgehoben',
      'Ordner daneben|anderer Name|Dollar|Worte',
    ]
      .map((terms) => `(?<!\\p{L})(?:${terms})(?!\\p{L})`)
      .join('|'),
    'iu',
  ),
};

/** Messages in which such a word means something else. */
const meant: readonly string[] = [
  ...[
    'link_copy',
    'first_folder_about',
    'inbox_note_hidden',
    'parameter_extra_note',
    'spent_tokens',
  ],
  ...['status_budget', 'status_budget_spent'],
];

/** The text of a message in each of its forms, without its arguments. */
function said(message: unknown): string[] {
  if (typeof message === 'string') return [message.replaceAll(/\{\w+\}/g, '…')];
  if (Array.isArray(message)) return message.flatMap(said);
  if (typeof message !== 'object' || message === null) return [];
  return 'match' in message ? said(Object.values(message.match ?? {})) : [];
}

function retiredIn(language: string, messages: Record<string, unknown>): string[] {
  return Object.entries(messages)
    .filter(([key]) => !key.startsWith('$') && !meant.includes(key))
    .flatMap(([key, message]) =>
      said(message).flatMap((text) => {
        const term = retired[language]?.exec(text);
        return term ? [`${language}.${key} says “${term[0]}”: ${text}`] : [];
      }),
    );
}

describe('the words of the glossary', () => {
  it.each(['en', 'de'])('are the only ones for their things in %s', (language) => {
    expect(retiredIn(language, languages[language] ?? {})).toEqual([]);
  });

  it('are missed where a retired one is said, in any form', () => {
    const forms = [{ match: { 'form=one': '{count} note', 'form=other': '{count} verdicts' } }];
    expect(retiredIn('en', { a: 'Take back', b: forms, c: 'Undo {words}' })).toEqual([
      'en.a says “Take back”: Take back',
      'en.b says “verdicts”: … verdicts',
    ]);
    expect(retiredIn('de', { a: 'In der Taskleiste bleiben', b: 'Notizordner öffnen' })).toEqual([
      'de.a says “Taskleiste”: In der Taskleiste bleiben',
    ]);
  });
});
