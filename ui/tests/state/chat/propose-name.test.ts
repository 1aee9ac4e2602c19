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
  ])('%j is called %j', (text, name) => {
    expect(proposeName(text, 'The title')).toBe(name);
  });

  it('is a plain word where nothing names it', () => {
    expect(proposeName('Soup.', ' / ')).toBe('Answer');
  });
});
