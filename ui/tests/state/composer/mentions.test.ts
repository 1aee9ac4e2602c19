import { describe, expect, it } from 'vitest';

import {
  attachedIn,
  findMentionText,
  linkedConversation,
  type Mention,
  mentionKey,
  mentionNames,
  mentionQueryAt,
  mentionText,
  withMentions,
} from '../../../src/state/composer/mentions';

describe('the mentions of a message', () => {
  it('stands in the sentence, and behind it where it was attached', () => {
    const note: Mention = { type: 'note', path: 'House/Heating.md', link: 'Heating' };
    const sign: Mention = { type: 'note', path: 'House/A # sign.md', link: 'A # sign' };
    const boats: Mention = { type: 'conversation', id: 'c1', title: 'Boats | [red]' };
    const others: Mention[] = [
      { type: 'folder', path: 'House' },
      { type: 'tag', tag: 'yearly' },
    ];
    expect([note, sign, ...others, boats].map(mentionText)).toEqual([
      '[[Heating]]',
      'House/A # sign.md',
      'House/',
      '#yearly',
      '[[Boats    red ]]',
    ]);
    const words = 'From [[Heating]] to [[Boats    red ]]?';
    expect(withMentions(words, [note, boats], [])).toBe(
      'From [[Heating]] to [[conversation:c1|Boats    red ]]?',
    );
    expect(withMentions('See', [], [note, ...others])).toBe('See\n\n[[Heating]] House/ #yearly');
    // A note of the same name is the one that is meant.
    const same: Mention = { type: 'conversation', id: 'c2', title: 'Heating' };
    expect(withMentions('[[Heating]]', [note, same], [])).toBe('[[Heating]]');
    expect(linkedConversation('conversation:c1|Boats')).toBe('c1');
    expect(linkedConversation('House/Heating|Heating')).toBeNull();
  });

  it.each([
    ['move from [[A]] to', '[[A]]', 10],
    ['x[[A]]y', '[[A]]', 1],
    ['#household #house', '#house', 11],
    ['a#house', '#house', 1],
    ['House/Old House/', 'House/', 10],
    ['my-House/', 'House/', -1],
    ['', '', -1],
  ])('is found where it stands alone: %s', (text, part, at) => {
    expect(findMentionText(text, part)).toBe(at);
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
    const sent = withMentions('Look', [], [...files, { type: 'tag', tag: 'x' }]);
    expect(attachedIn(sent)).toEqual({
      text: 'Look\n\n#x',
      files: [
        { name: 'a.txt', text },
        { name: 'b.csv', text: '1,2' },
      ],
    });
  });

  it('has each file of one name under a name of its own', () => {
    const file = (name: string, text: string): Mention => ({ type: 'file', name, text });
    const files = [
      ...[file('a.txt', 'one'), file('a.txt', 'two'), file('a.txt (2)', 'three')],
      ...[file('b  c.txt', 'four'), file('b c.txt', 'five'), file('a.txt', 'six')],
    ];
    const tag: Mention = { type: 'tag', tag: 'a.txt' };
    const names = ['a.txt', 'a.txt (2)', 'a.txt (2) (2)', 'b c.txt', 'b c.txt (2)', 'a.txt (3)'];
    expect(mentionNames([tag, ...files])).toEqual(['a.txt', ...names]);
    const sent = attachedIn(withMentions('Compare', [], [tag, ...files]));
    expect(sent.files.map(({ name }) => name)).toEqual(names);
    const texts = ['one', 'two', 'three', 'four', 'five', 'six'];
    expect(sent.files.map(({ text }) => text)).toEqual(texts);
  });

  it('has no sign in the name of a file that ends a line anywhere', () => {
    const ends = ['\r', '\n', '\v', '\f', '\u0085', '\u2028', '\u2029'];
    const names = mentionNames(
      ends.map((end) => ({ type: 'file', name: `a${end}[[b]].txt`, text: end })),
    );
    const numbered = ends.map((_, at) => (at === 0 ? '' : ` (${at + 1})`));
    expect(names).toEqual(numbered.map((number) => `a [[b]].txt${number}`));
  });

  it('has one key for one thing, which a file is by its name and text', () => {
    const key = (name: string, text: string): string => mentionKey({ type: 'file', name, text });
    expect(key('a.txt', 'one')).toBe(key('a.txt', 'one'));
    const others = [
      key('a.txt', 'two'),
      key('b.txt', 'one'),
      key('a.txto', 'ne'),
      key('a.tx', 'tone'),
    ];
    expect(new Set([key('a.txt', 'one'), ...others]).size).toBe(5);
  });

  it('is nothing where nobody attached anything', () => {
    const words = 'Attached file: what is that?\n```\ncode\n``` goes on';
    expect(attachedIn(words)).toEqual({ text: words, files: [] });
  });

  it.each([
    ['the beginning of another one', 'Attached file: b.txt\n````\nx', '````'],
    ['an end without a beginning', 'x\n````\n\nmore', '```'],
    ['a whole other one', 'Attached file: b.txt\n````\nx\n````\n\nAttached file: ', '```'],
  ])('is one file whose text has %s', (_, text, fence) => {
    const name = 'a.txt';
    const inside = `\n\n${text}`;
    const sent = `Look\n\nAttached file: ${name}\n${fence}\n${inside}\n${fence}`;
    expect(attachedIn(sent)).toEqual({ text: 'Look', files: [{ name, text: inside }] });
  });

  it('is read behind one that begins and does not end', () => {
    const open = 'Attached file: a.txt\n````\n\nAttached file: b.txt\n```\nx\n```';
    expect(attachedIn(open)).toEqual({
      text: 'Attached file: a.txt\n````',
      files: [{ name: 'b.txt', text: 'x' }],
    });
  });

  it.each([
    ['begin and do not end', () => '\n\nAttached file: a\n```\nb', 40_000],
    [
      'begin with a fence of their own and do not end',
      (at: number) => `\n\nAttached file: a\n${'`'.repeat(3 + at)}\nb`,
      1_500,
    ],
    ['end and do not begin', () => '\n```\n\nAttached file: ', 40_000],
  ])('takes time in proportion to the length where many files %s', (_, part, count) => {
    const message = Array.from({ length: count }, (_one, at) => part(at)).join('');
    const begun = performance.now();
    expect(attachedIn(message).files).toEqual([]);
    expect(performance.now() - begun).toBeLessThan(500);
  });

  it('is not found by one pattern, whose time grows with the square of the length', () => {
    const pattern = /\n\nAttached file: ([^\n]+)\n(`{3,})\n([\s\S]*?)\n\2$/g;
    const time = (count: number): number => {
      const message = '\n\nAttached file: a\n```\nb'.repeat(count);
      const begun = performance.now();
      expect([...message.matchAll(pattern)]).toEqual([]);
      return performance.now() - begun;
    };
    time(100);
    const [half, whole] = [time(1_000), time(2_000)];
    expect(whole / half).toBeGreaterThan(2.5);
  });
});

describe('the mention that is being typed', () => {
  it.each([
    ['@', 1, { from: 0, query: '' }],
    ['see @hea', 8, { from: 4, query: 'hea' }],
    ['(@Käse', 6, { from: 1, query: 'Käse' }],
    ['see [[House of', 14, { from: 4, query: 'House of' }],
    ['@one and @two', 4, { from: 0, query: 'one' }],
  ])('%s', (text, caret, asked) => {
    expect(mentionQueryAt(text, caret)).toEqual(asked);
  });

  it.each([
    ['anna@example.org', 16],
    ['@hea now', 8],
    ['[[Heating]] and', 15],
    ['[[one\ntwo', 9],
    ['plain', 5],
  ])('nothing in %s', (text, caret) => {
    expect(mentionQueryAt(text, caret)).toBeNull();
  });
});
