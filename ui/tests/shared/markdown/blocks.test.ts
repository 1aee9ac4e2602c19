import { describe, expect, it } from 'vitest';

import { Blocks } from '../../../src/shared/markdown/blocks';
import { renderOpen } from '../../../src/shared/markdown/render';

const text = [
  '# Title',
  '',
  'A paragraph',
  'of two lines.',
  '',
  '- one',
  '- two',
  '',
  '  with more',
  '',
  '```js',
  'const a = 1;',
  '',
  'const b = 2;',
  '```',
  '',
  '| a | b |',
  '| - | - |',
  '| 1 | 2 |',
  '',
  'The end.',
].join('\n');

describe('cutting Markdown into blocks', () => {
  it('loses nothing', () => {
    expect(new Blocks().cut(text).join('')).toBe(text);
  });

  it('comes to the same blocks, whether the text is there at once or letter by letter', () => {
    const growing = new Blocks();
    let blocks: string[] = [];
    for (let end = 1; end <= text.length; end += 1) blocks = growing.cut(text.slice(0, end));
    expect(blocks).toEqual(new Blocks().cut(text));
  });

  const kinds = [
    [
      'entries',
      '- one\n- two\nlazy\n\n1. three\n   four\n* five\n\n+ six\n---\n- - -\n* * *\nwords\n***\n',
    ],
    ['titles', 'Words\n===\nmore\n---\n# one\n#two\n## three ##\nfour\n\na\n- b\n  ===\n'],
    [
      'rows',
      'a | b\n--- | ---\nc | d\ne\n\n| f | g |\n| h | i |\n\n| j |\n| :-- |\n| k |\nend\n> | l |\n',
    ],
    ['quotes', '> one\ntwo\n> - three\nfour\n\n>> five\n> ```\n> code\n> ```\nsix\n'],
    [
      'code',
      '```js\na\n\nb\n``\n```\nc\n~~~\nd\n~~~~ e\n~~~\n\n    four\n\tfive\nsix\n    seven\n',
    ],
    ['elements', '<div>\na\n\n<b>c</b> d\n<!-- e\nf -->\ng\n<script>\nh\n\ni</script>\nj\n'],
    ['addresses', '[a]: b\n[c]:\nd "e"\n\n[^1]: f\ng\n\nh [a]\n[i]: j "k\nl"\nm\n'],
  ];

  it.each(kinds)(
    'splits an open text as if it were new, in pieces of any length: %s',
    (_, written) => {
      const long = `${written}\n${text}\n${written}`;
      for (let size = 1; size <= 12; size += 1) {
        const growing = new Blocks();
        for (let end = size; end < long.length + size; end += size) {
          const blocks = growing.cut(long.slice(0, end));
          expect(blocks.join('')).toBe(long.slice(0, end));
          const open = blocks.slice(-1);
          expect(new Blocks().cut(open.join(''))).toEqual(open);
        }
      }
    },
  );

  it('never touches a closed block again', () => {
    const growing = new Blocks();
    let closed: string[] = [];
    for (let end = 1; end <= text.length; end += 1) {
      const blocks = growing.cut(text.slice(0, end));
      expect(blocks.slice(0, closed.length)).toEqual(closed);
      closed = blocks.slice(0, -1);
    }
    expect(closed.length).toBeGreaterThan(3);
  });

  it('begins afresh when the text is another one', () => {
    const blocks = new Blocks();
    blocks.cut('One.\n\nTwo.');
    expect(blocks.cut('Three.')).toEqual(['Three.']);
  });

  it('knows Windows lines', () => {
    expect(new Blocks().cut('One.\r\n\r\nTwo.')).toEqual(['One.\n\n', 'Two.']);
  });
});

describe('text that no person writes', () => {
  it.each([
    ['deep quotations', '>'.repeat(100_000)],
    ['deep elements', '<div>'.repeat(100_000)],
    ['half images', '!['.repeat(50_000)],
    ['emphasis without end', '*a '.repeat(100_000)],
    ['one line of a megabyte', 'x'.repeat(1_048_576)],
  ])('is shown as it is instead of stopping the window: %s', (_, hostile) => {
    const blocks = new Blocks().cut(hostile);
    expect(blocks.join('')).toBe(hostile);
    const shown = document.createElement('div');
    shown.innerHTML = blocks.map((block) => renderOpen(block)).join('');
    expect(shown.textContent?.trim()).toBe(hostile.trim());
  });
});
