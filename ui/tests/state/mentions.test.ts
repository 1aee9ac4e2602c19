import { describe, expect, it } from 'vitest';

import {
  askedAt,
  attachedIn,
  linkedConversation,
  type Mention,
  withMentions,
} from '../../src/state/mentions';

describe('what goes along', () => {
  it('is named behind the words, so that nothing goes along unseen', () => {
    const mentions: Mention[] = [
      { type: 'note', path: 'House/Heating.md' },
      { type: 'note', path: 'House/A # sign.md' },
      { type: 'folder', path: 'House' },
      { type: 'tag', tag: 'yearly' },
      { type: 'conversation', id: 'c1', title: 'Boats | [red]' },
    ];
    expect(withMentions('What is missing?', mentions)).toBe(
      'What is missing?\n\n[[House/Heating|Heating]] House/A # sign.md House/ #yearly [[conversation:c1|Boats    red ]]',
    );
    expect(withMentions('', mentions.slice(3, 4))).toBe('#yearly');
    // A bare name may be that of a note in a folder too.
    expect(withMentions('', [{ type: 'note', path: 'Plan.md' }])).toBe('[[Plan.md|Plan]]');
    expect(linkedConversation('conversation:c1|Boats')).toBe('c1');
    expect(linkedConversation('House/Heating|Heating')).toBeNull();
  });

  it.each([
    ['plain', 'one\ntwo'],
    ['with fences', '```js\nlet a;\n```\n\nAttached file: no.txt\n````\nx\n````'],
    ['empty lines', '\n\n'],
  ])('has files whole, and finds them again: %s', (_, text) => {
    const files = [
      { type: 'file', name: 'a.txt', text } as const,
      { type: 'file', name: 'b.csv', text: '1,2' } as const,
    ];
    const sent = withMentions('Look', [...files, { type: 'tag', tag: 'x' }]);
    expect(attachedIn(sent)).toEqual({
      words: 'Look\n\n#x',
      files: [
        { name: 'a.txt', text },
        { name: 'b.csv', text: '1,2' },
      ],
    });
  });

  it('is nothing where nobody attached anything', () => {
    const words = 'Attached file: what is that?\n```\ncode\n``` goes on';
    expect(attachedIn(words)).toEqual({ words, files: [] });
  });
});

describe('what is being mentioned', () => {
  it.each([
    ['@', 1, { from: 0, query: '' }],
    ['see @hea', 8, { from: 4, query: 'hea' }],
    ['(@Käse', 6, { from: 1, query: 'Käse' }],
    ['see [[House of', 14, { from: 4, query: 'House of' }],
    ['@one and @two', 4, { from: 0, query: 'one' }],
  ])('%s', (text, caret, asked) => {
    expect(askedAt(text, caret)).toEqual(asked);
  });

  it.each([
    ['anna@example.org', 16],
    ['@hea now', 8],
    ['[[Heating]] and', 15],
    ['[[one\ntwo', 9],
    ['plain', 5],
  ])('nothing in %s', (text, caret) => {
    expect(askedAt(text, caret)).toBeNull();
  });
});
