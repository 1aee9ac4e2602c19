import { describe, expect, it } from 'vitest';

import { type MarginMark, markLines } from '../../../src/shared/markdown/rendered/margin-marks';

/** Each of these blocks as it would be drawn: a list by its entries, anything else as a paragraph. */
function drawn(blocks: readonly string[]): HTMLElement {
  const root = document.createElement('div');
  for (const block of blocks) {
    const holder = root.appendChild(document.createElement('div'));
    holder.className = 'block';
    const entries = block.split('\n').filter((line) => line.startsWith('- '));
    for (const words of entries.length > 0 ? entries : [block]) {
      const part = document.createElement(entries.length > 0 ? 'li' : 'p');
      holder.appendChild(part).textContent = words;
    }
  }
  return root;
}

const mark = (first: number, last = first): MarginMark => ({ first, last, label: `${first}` });

/** The text of each marked part, and the parts with a button. */
function marked(blocks: readonly string[], marks: readonly MarginMark[]) {
  const root = drawn(blocks);
  markLines(root, blocks, marks, () => undefined);
  const parts = [...root.querySelectorAll<HTMLElement>('[data-marked]')];
  return {
    texts: parts.map(({ textContent }) => textContent.replaceAll('\n', '~')),
    signs: [...root.querySelectorAll('button')].map(({ title }) => Number(title)),
  };
}

describe('the marks of lines', () => {
  // Lines 0, 2 to 4, 6.
  const blocks = ['one\n\n', '- two\n- three\n- four\n\n', 'five'];

  it('are drawn at the parts of their lines, each with one button', () => {
    expect(marked(blocks, [mark(0), mark(3), mark(6)])).toEqual({
      texts: ['one~~', '- three', 'five'],
      signs: [0, 3, 6],
    });
    expect(marked(blocks, [mark(2, 3), mark(4)])).toEqual({
      texts: ['- two', '- three', '- four'],
      signs: [2, 4],
    });
  });

  it('reach over blocks, begin before the text and end behind it', () => {
    expect(marked(blocks, [mark(-3, 2), mark(4, 9)])).toEqual({
      texts: ['one~~', '- two', '- four', 'five'],
      signs: [-3, 4],
    });
    expect(marked(blocks, [mark(0, 6)]).signs).toEqual([0]);
  });

  it('are none at empty lines, and none outside the text', () => {
    expect(marked(blocks, [mark(-2, -1), mark(1), mark(5), mark(7, 8)])).toEqual({
      texts: [],
      signs: [],
    });
  });

  /** The milliseconds until these marks are drawn in so many paragraphs. */
  function time(count: number, marks: readonly MarginMark[]): number {
    const paragraphs = Array.from({ length: count }, (_, at) => `words ${at}\n\n`);
    const root = drawn(paragraphs);
    const begun = performance.now();
    const undo = markLines(root, paragraphs, marks, () => undefined);
    const took = performance.now() - begun;
    expect(root.querySelectorAll('[data-marked]').length).toBeGreaterThan(count / 3);
    undo();
    return took;
  }

  it.each([
    ['many', (count: number) => Array.from({ length: count / 2 }, (_, at) => mark(at * 4))],
    ['one long', (count: number) => [mark(0, count * 2)]],
  ])('are drawn in time that grows with the text: %s', (_, marks) => {
    time(500, marks(500));
    const [short, long] = [time(1_000, marks(1_000)), time(4_000, marks(4_000))];
    expect(long / short).toBeLessThan(9);
  });
});
