import { describe, expect, it } from 'vitest';

import { phrasebook } from '../../../src/shared/i18n/phrasebook';

const say = phrasebook({
  'There is no note `{asked}`.{0}': 'Eine Notiz `{asked}` gibt es nicht.{0}',
  ' Did you mean {0}?': ' Meinst du {0}?',
  '`{0}` or `{last}`': '`{0}` oder `{last}`',
  '`{path}` couldn’t be {verb}: {source}. Try again.':
    '`{path}` konnte nicht {verb} werden: {source}.',
  read: 'gelesen',
  'a folder': 'ein Ordner',
  'Not changed: {error}': 'Nicht geändert: {error}',
  'Couldn’t save this message: {why}': 'Nicht gespeichert: {why}',
  'the disk is full: free some space': 'der Datenträger ist voll: schaff Platz',
  'cannot {doing}': 'das ging nicht: {doing}',
  'list the notes': 'die Notizen auflisten',
  ' Check the disk, then try again.': ' Sieh nach dem Datenträger.',
  '{at} does not answer: is it running?': '{at} antwortet nicht: läuft er?',
  '{said} Retrying automatically.': '{said} Versucht es wieder.',
  '{sentence}: {inner}': '{sentence}: {inner}',
  '{error} does not answer {path}': '{path}: keine Antwort, {error}',
  '{0} was left: {why}{more}': '{0} blieb: {why}{more}',
  'Moved {note} to {place}.': '{note} nach {place} verschoben.',
  'Took {0}.': '{0} genommen.',
  ' ({0} more wait.)': ' ({0} weitere warten.)',
});

/** Both are sentences; what is expected is the whole of it. */
function check(english: string, german: string): void {
  expect(say(english)).toBe(german);
}

describe('the phrasebook', () => {
  it('fills the translation with the contents of the holes, wherever they are', () => {
    check('The hub does not answer: is it running?', 'The hub antwortet nicht: läuft er?');
    check('x does not answer y', 'y: keine Antwort, x');
    check('`a` or `b`', '`a` oder `b`');
    check('`a`, `b` or `c`', '`a`, `b` oder `c`');
  });

  it('says what stands in holes as well, to a small depth', () => {
    check('`a.md` couldn’t be read: EIO. Try again.', '`a.md` konnte nicht gelesen werden: EIO.');
    check(
      'Couldn’t save this message: Not changed: There is no note `x`.',
      'Nicht gespeichert: Nicht geändert: Eine Notiz `x` gibt es nicht.',
    );
    const deep = 'Not changed: '.repeat(40);
    expect(say(deep).match(/Nicht geändert/g)?.length).toBeLessThan(10);
  });

  it('leaves quotes alone, also when they read like our sentences', () => {
    check('There is no note `a folder`.', 'Eine Notiz `a folder` gibt es nicht.');
    check(
      'There is no note `read`. Did you mean `a folder`?',
      'Eine Notiz `read` gibt es nicht. Meinst du `a folder`?',
    );
  });

  it('leaves names of notes alone, and nothing else that stands without quotes', () => {
    check('Moved Read to a folder.', 'Read nach a folder verschoben.');
    check('Moved Cannot read to x.', 'Cannot read nach x verschoben.');
    check('Took a folder.', 'ein Ordner genommen.');
  });

  it('finds a text that became a sentence: a capital letter, a full stop', () => {
    check('The disk is full: free some space.', 'Der Datenträger ist voll: schaff Platz.');
    check('the disk is full: free some space', 'der Datenträger ist voll: schaff Platz');
    check('Cannot list the notes.', 'Das ging nicht: die Notizen auflisten.');
    check(
      'Cannot list the notes: database is locked. Check the disk, then try again.',
      'Das ging nicht: die Notizen auflisten: database is locked. Sieh nach dem Datenträger.',
    );
  });

  it('says one sentence behind the other', () => {
    check(
      'The disk is full: free some space. Nobody knows why.',
      'Der Datenträger ist voll: schaff Platz. Nobody knows why.',
    );
    check(
      'a:1 does not answer: is it running? Retrying automatically.',
      'a:1 antwortet nicht: läuft er? Versucht es wieder.',
    );
    check(
      'A was left: There is no note `x`. (2 more wait.)',
      'A blieb: Eine Notiz `x` gibt es nicht. (2 weitere warten.)',
    );
    check(
      'A was left: `a.md` couldn’t be read: EIO (5). Try again. (2 more wait.)',
      'A blieb: `a.md` konnte nicht gelesen werden: EIO (5). (2 weitere warten.)',
    );
  });

  it('leaves as it is what no template fits', () => {
    for (const text of [
      '',
      ' ',
      '…',
      'A model said this.',
      'does not answer',
      'There is no note x.',
    ]) {
      check(text, text);
    }
  });

  it('takes the template with the most text', () => {
    const either = phrasebook({
      '{0} is gone': 'weg ist {0}',
      'the note {0} is gone': 'die Notiz {0} ist weg',
    });
    expect(either('the note x is gone')).toBe('die Notiz x ist weg');
    expect(either('x is gone')).toBe('weg ist x');
  });

  it('takes no time over long texts and texts that nearly fit', () => {
    const nearly = `\`${'a` could not be '.repeat(200)}\`: ${': '.repeat(300)}. Try`;
    const begun = performance.now();
    check(nearly, nearly);
    check('Not changed: '.repeat(10_000), 'Not changed: '.repeat(10_000));
    say(`${'There is no note `x`. '.repeat(180)}`);
    expect(performance.now() - begun).toBeLessThan(500);
  });
});
