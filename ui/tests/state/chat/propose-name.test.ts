import { describe, expect, it } from 'vitest';

import { proposeName } from '../../../src/state/chat/propose-name';

const long = `${'word '.repeat(30)}`;

describe('the name that is proposed for an answer', () => {
  it.each([
    ['# Menu for Sunday\n\nSoup.', 'Menu for Sunday'],
    ['Here it is:\n\n## The *menu* ##\n', 'The menu'],
    ['```\n# no heading\n```\n# A heading', 'A heading'],
    ['# See [[House/Heating|the heating]] and [this](x.md)', 'See the heating and this'],
    ['# What? A/B: "c" <d> | #e', 'What A B c d e'],
    ['# ...hidden. ', 'hidden'],
    ['# main.rs', 'main rs'],
    ['# Since v1.2 of Dr. Smith', 'Since v1.2 of Dr. Smith'],
    ['# A\u202eB\u200b', 'AB'],
    ['# ', 'The title'],
    ['No heading', 'The title'],
    [`# ${long}`, long.slice(0, 79)],
    ['# #', 'The title'],
    ['#  ## \n# C# ##\r\n', 'C'],
    ['# one\u2028two', 'one two'],
    [`# ${'a'.repeat(39)} ${'#'.repeat(500)}x`, 'a'.repeat(39)],
  ])('%j is called %j', (text, name) => {
    expect(proposeName(text, 'The title')).toBe(name);
  });

  it.each([
    ['signs behind it', `# ${'#'.repeat(200_000)}x`],
    ['brackets', `# ${'['.repeat(100_000)}`],
    ['links', `# ${'[[a|'.repeat(100_000)}`],
    ['blanks', `# ${' '.repeat(100_000)}a\u2028b`],
  ])('takes no time over a heading with very many %s', (_, text) => {
    const begun = performance.now();
    proposeName(text, 'The title');
    expect(performance.now() - begun).toBeLessThan(500);
  });

  it('would take the square of the length with a pattern that begins at each sign', () => {
    const time = (count: number): number => {
      const line = `# ${'#'.repeat(count)}x`;
      const begun = performance.now();
      expect(/^#\s+(.*?)[\s#]*$/.exec(line)?.[1]).toContain('x');
      return performance.now() - begun;
    };
    time(100);
    expect(time(8_000) / time(4_000)).toBeGreaterThan(2.5);
  });

  it('is a plain word where nothing names it', () => {
    expect(proposeName('Soup.', ' / ')).toBe('Answer');
  });
});
