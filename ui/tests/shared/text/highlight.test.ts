import { afterEach, describe, expect, it, vi } from 'vitest';

import { highlight, rangesOf } from '../../../src/shared/text/highlight';

function found(html: string, words: string[]): string[] {
  const root = document.createElement('div');
  root.innerHTML = html;
  return rangesOf(root, words).map(String);
}

describe('highlighted matches', () => {
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

describe('highlighted text', () => {
  afterEach(() => vi.unstubAllGlobals());

  it('stay so in one place when another one goes', () => {
    const highlights = new Map<string, Set<Range>>();
    vi.stubGlobal('CSS', { highlights });
    vi.stubGlobal('Highlight', Set);
    const [one, other] = ['the boiler', 'a boiler'].map((words) => {
      const root = document.createElement('p');
      root.textContent = words;
      return highlight(['boiler'])(root);
    });
    expect(highlights.get('found')?.size).toBe(2);
    one?.();
    expect(highlights.get('found')?.size).toBe(1);
    other?.();
    expect(highlights.get('found')?.size).toBe(0);
  });
});
