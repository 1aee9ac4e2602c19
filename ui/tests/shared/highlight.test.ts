import { describe, expect, it } from 'vitest';

import { placesOf } from '../../src/shared/highlight';

function found(html: string, words: string[]): string[] {
  const root = document.createElement('div');
  root.innerHTML = html;
  return placesOf(root, words).map(String);
}

describe('words that were found', () => {
  it('are seen wherever they stand, in any case, in the order of the text', () => {
    const html = '<h1>Boiler</h1><p>the <b>boiler</b> is cold</p>';
    expect(found(html, ['boiler', 'cold'])).toEqual(['Boiler', 'boiler', 'cold']);
  });

  it('are taken letter by letter, whatever signs they hold', () => {
    const words = ['a.c', 'x-y', '(1)', '$&', 'back\\slash', '[[Key]]', '{2}', 'a|b', 'é/ü', '🌱'];
    expect(found(`<p>abc ${words.join(' ')}</p>`, words)).toEqual([
      'a.c',
      'x-y',
      '(1)',
      '$&',
      'back\\slash',
      '[[Key]]',
      '{2}',
      'a|b',
      'é/ü',
      '🌱',
    ]);
  });

  it('are the longest that begin at a place, and none of blanks alone', () => {
    expect(found('<p>seedlings and seeds</p>', ['seed', 'seedling', ' ', ''])).toEqual([
      'seedling',
      'seed',
    ]);
    expect(found('<p>seeds</p>', [' '])).toEqual([]);
  });
});
