import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { describe, expect, it } from 'vitest';

import german from '../../messages/sentences.de.json';
import { phrasebook } from '../../src/shared/i18n/phrasebook';
import { folders, isForTheWindow, outdated } from './terminal-sentences';
import { templates, templatesIn } from './sources';

const root = join(fileURLToPath(import.meta.url), '../../../..');
const all = templatesIn(root, folders);
const shown = all.filter(isForTheWindow);

/** Missing and surplus translations, as the author of the Rust code is told. */
function compared(
  sentences: readonly { file: string; line: number; text: string }[],
  known: readonly { text: string }[],
  translations: Readonly<Record<string, string>>,
): string[] {
  const there = new Set(known.map(({ text }) => text));
  return [
    ...sentences
      .filter(({ text }) => !Object.hasOwn(translations, text))
      .map(({ file, line, text }) => `${file}:${line} is not in German: ${text}`),
    ...Object.keys(translations)
      .filter((text) => !there.has(text))
      .map((text) => `no source says any more: ${text}`),
  ];
}

function holes(text: string): string[] {
  return [...new Set(text.match(/\{\w+\}/g) ?? [])].sort();
}

describe('the sentences of the application', () => {
  it('is all in German, and nothing else is', () => {
    expect(compared(shown, all, german)).toEqual([]);
  });

  it('is in German where a reason for a model stands in it', () => {
    const reason = 'The message could not be added to the inbox note.';
    expect(phrasebook(german)(`Couldn’t save this message: ${reason}`)).toBe(
      'Diese Nachricht konnte nicht gespeichert werden: Die Nachricht konnte der Eingangsnotiz nicht hinzugefügt werden.',
    );
  });

  it('is in German before the hub is tried again', () => {
    const lost = 'The hub at x:1 isn’t responding. Check that it’s running.';
    expect(phrasebook(german)(`${lost} Retrying automatically.`)).toBe(
      'Der Hub unter x:1 antwortet nicht. Prüfe, ob er läuft. Vaultmate versucht es automatisch erneut.',
    );
  });

  it.each([
    ['Put Question into the trash.', 'Question in den Papierkorb gelegt.'],
    ['Opened Read.', 'Read geöffnet.'],
    ['Created Token.', 'Token angelegt.'],
    ['Moved Turn to Created.', 'Turn nach Created verschoben.'],
    ['Added 1 line to Move.', '1 Zeile zu Move hinzugefügt.'],
    ['Replaced “a” with “b” in Question.', '„a“ in Question durch „b“ ersetzt.'],
    ['The change to Question needs your review.', 'Die Änderung an Question ist zu prüfen.'],
    ['Links of Question:\n\n- [[Turn]] (backlink)', 'Links von Question:\n\n- [[Turn]] (Backlink)'],
    [
      'Question has no links, and no note links to it.',
      'Question hat keine Links, und keine Notiz verlinkt darauf.',
    ],
    [
      'There is no note “Question”. To begin it, type `new Question: read`.',
      'Eine Notiz „Question“ gibt es nicht. Um sie zu beginnen, schreibe `new Question: read`.',
    ],
  ])('leaves the names of notes in %j as they are', (english, said) => {
    expect(phrasebook(german)(english)).toBe(said);
  });

  it('has German words for what these notes are called', () => {
    const words = ['question', 'read', 'token', 'turn', 'created', 'move'];
    expect(words.filter((word) => !Object.hasOwn(german, word))).toEqual([]);
  });

  it('has the same holes in German', () => {
    const uneven = Object.entries(german).filter(
      ([from, to]) =>
        holes(from).join() !== holes(to).join() || from.startsWith(' ') !== to.startsWith(' '),
    );
    expect(uneven).toEqual([]);
  });

  it('has no outdated exceptions', () => {
    expect(outdated(all)).toEqual([]);
  });

  it('is found out when it is missing, and when it is left over', () => {
    const one = { file: 'a.rs', line: 3, text: 'The disk is full.' };
    expect(compared([one], [one], {})).toEqual(['a.rs:3 is not in German: The disk is full.']);
    expect(
      compared([], [one], { 'The disk is full.': 'Voll.', 'It burns.': 'Es brennt.' }),
    ).toEqual(['no source says any more: It burns.']);
  });
});

describe('the sentences of a source', () => {
  const texts = (source: string): string[] =>
    templates(source)
      .found.filter(({ says }) => says)
      .map(({ text }) => text);

  it('are found in errors, calls, matches and constants, as they are shown', () => {
    const source = String.raw`
      /// "No sentence at all" is a comment.
      #[error("${'`{path}`'} could not be {verb}: {source}. \
               Try again.")]
      fn why(it: It<'_>) -> UserError {
        let words = match it { It::Full => "The disk is \"full\".", _ => r#"It "is" gone."# };
        UserError::other(format!("{} of {:?} in {at:>4} holds {{braces}}: {words}", one(), 'x'))
      }
      const PAUSED: &str = "Models are paused";`;
    expect(texts(source)).toEqual([
      '`{path}` could not be {verb}: {source}. Try again.',
      'The disk is "full".',
      'It "is" gone.',
      '{0} of {1} in {at} holds {{braces}}: {words}',
      'Models are paused',
    ]);
  });

  it('are not logs, comparisons, SQL or attributes', () => {
    const source = String.raw`
      #[expect(clippy::all, reason = "the file is small")]
      tracing::warn!(%error, "it went wrong here");
      found.expect("somebody is there");
      if words.contains("not allowed") { panic!("it cannot be") }
      sqlx::query("SELECT a FROM b WHERE c = ?");
      let bytes = b"two words";
      let word = "single";`;
    expect(texts(source)).toEqual([]);
  });

  it('are those of tests neither, in the file or beside it', () => {
    const source = String.raw`
      #[cfg(test)]
      mod tests;
      fn a() { say("First of all") }
      #[cfg(test)]
      mod inside { #[test] fn b() { say("Second of all"); } const A: [u8; 2] = [1, 2]; }
      fn c() { say("Third of all") }`;
    expect(texts(source)).toEqual(['First of all', 'Third of all']);
    expect(templates(source).tests).toEqual(['tests']);
  });

  it('are single words too, where a sentence contains them', () => {
    expect(
      texts('VaultError::system("read", path); Io { verb: "listed" }; trouble("write", p)'),
    ).toEqual(['read', 'listed', 'write']);
  });
});
