import { describe, expect, it } from 'vitest';

import { Blocks } from '../../src/shared/markdown/blocks';
import { renderOpen } from '../../src/shared/markdown/render';

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
    ['half pictures', '!['.repeat(50_000)],
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
