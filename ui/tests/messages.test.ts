import { describe, expect, it } from 'vitest';

import coreDe from '../messages/core.de.json';
import coreEn from '../messages/core.en.json';
import de from '../messages/de.json';
import en from '../messages/en.json';
import sentences from '../messages/sentences.de.json';

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

/** The English of these is written by `./dev bindings`, from the texts in the crates. */
describe('the texts of the crates', () => {
  const [english, german]: Record<string, string>[] = [coreEn, coreDe];
  const phrases: Readonly<Record<string, string>> = sentences;

  it('are all in German, and nothing else is', () => {
    expect(Object.keys(german ?? {})).toEqual(Object.keys(english ?? {}));
  });

  it.each(Object.keys(coreEn))('take the same arguments for %s in German', (key) => {
    expect(placeholders(german?.[key])).toEqual(placeholders(english?.[key]));
  });

  it.each(Object.keys(coreEn))('say %s in German as the phrasebook does', (key) => {
    expect(german?.[key]).toBe(phrases[english?.[key] ?? '']);
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

/** Messages in which such a term means something else. */
const meant: readonly string[] = [
  'first_folder_about',
  'inbox_note_hidden',
  'link_copy',
  'parameter_extra_note',
  'spent_tokens',
];

/** Terms that no key may contain: a key is made of whole words, with `_` between them. */
const retiredInKeys = new RegExp(
  `(?<![a-z])(?:${[
    'address|anew|another_name|ask_again|beside|budget|by_itself|ceilings?|chats?|dead|doors?',
    'folder_of_notes|forget|forgetting|forgotten|leave_out|left_out|needs_you|notebook|nowhere',
    'organis[a-z]+|picks?|picked|pictures?|planned|points|prepared|purse|removals?|requests?|said',
    '(?:bring|put|take|taken)_(?:along|away|back|in)|shelf|summ(?:ed|ing)_up|sum_up|variants?',
    'vendors?|verdicts?|wait|waits|waiting|words',
  ].join('|')})(?![a-z])`,
  'u',
);

/** Keys that may contain such a term, by the reason. */
const reasons: Readonly<Record<string, string>> = {
  hub_waiting: 'The state `waiting` of the hub in the protocol: Rust names the key.',
  keyring_waiting: 'The window waits for the user to unlock the keyring.',
  tray_waiting: 'The state `Waiting` of the tray: Rust names the key.',
};

function retiredKeys(messages: Record<string, unknown>): string[] {
  return Object.keys(messages).flatMap((key) => {
    const term = retiredInKeys.exec(key);
    return term && !(key in reasons) ? [`${key} contains “${term[0]}”`] : [];
  });
}

/** The text of a message in each of its forms, without its arguments. */
function texts(message: unknown): string[] {
  if (typeof message === 'string') return [message.replaceAll(/\{\w+\}/g, '…')];
  if (Array.isArray(message)) return message.flatMap(texts);
  if (typeof message !== 'object' || message === null) return [];
  return 'match' in message ? texts(Object.values(message.match ?? {})) : [];
}

function retiredIn(language: string, messages: Record<string, unknown>): string[] {
  return Object.entries(messages)
    .filter(([key]) => !key.startsWith('$') && !meant.includes(key))
    .flatMap(([key, message]) =>
      texts(message).flatMap((text) => {
        const term = retired[language]?.exec(text);
        return term ? [`${language}.${key} says “${term[0]}”: ${text}`] : [];
      }),
    );
}

describe('the terms of the glossary', () => {
  it.each(['en', 'de'])('are the only ones for their things in %s', (language) => {
    expect(retiredIn(language, languages[language] ?? {})).toEqual([]);
  });

  it('are reported where a retired one is used, in any form', () => {
    const forms = [{ match: { 'form=one': '{count} note', 'form=other': '{count} verdicts' } }];
    expect(retiredIn('en', { a: 'Take back', b: forms, c: 'Undo {words}' })).toEqual([
      'en.a says “Take back”: Take back',
      'en.b says “verdicts”: … verdicts',
    ]);
    expect(retiredIn('de', { a: 'In der Taskleiste bleiben', b: 'Notizordner öffnen' })).toEqual([
      'de.a says “Taskleiste”: In der Taskleiste bleiben',
    ]);
  });

  it('are the only ones in the keys', () => {
    expect(retiredKeys(en)).toEqual([]);
  });

  it('are reported where a key contains a retired one as a word', () => {
    const keys = { settings_address: '', sum_up: '', keyword: '', awaited: '', hub_waiting: '' };
    expect(retiredKeys(keys)).toEqual([
      'settings_address contains “address”',
      'sum_up contains “sum_up”',
    ]);
  });

  it('have no exception for a key that needs none', () => {
    const unneeded = [...Object.keys(reasons), ...meant].filter((key) => !(key in en));
    const plain = Object.keys(reasons).filter((key) => !retiredInKeys.test(key));
    const silent = meant.filter((key) => {
      const of = (all: Record<string, unknown>): string => texts(all[key]).join(' ');
      return !retired['en']?.test(of(en)) && !retired['de']?.test(of(de));
    });
    expect([...unneeded, ...plain, ...silent]).toEqual([]);
  });
});
