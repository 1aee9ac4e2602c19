import { render } from '@testing-library/svelte';
import { describe, expect, it } from 'vitest';

import Markdown from '../../../src/shared/markdown/Markdown.svelte';

const nothing = () => undefined;
const text = [
  '# Boiler', // 0
  '',
  'Cold, below **1.5** bar', // 2
  'and the same again.',
  '',
  '- [ ] ask Bruno', // 5
  '- [x] a [[Key|second key]]',
  '  - inside the second',
  '- ask Bruno',
  '',
  '```', // 10
  'let a = 1;',
  '```',
  '',
  '| a | b |', // 14
  '| - | - |',
  '| c | d |',
].join('\n');

/** The text that is set apart when `line` is asked for. */
function shownAt(line: number | null, source = text): string | null {
  const { container } = render(Markdown, {
    text: source,
    at: line,
    onnote: nothing,
    onweb: nothing,
  });
  const here = container.querySelectorAll('[data-here]');
  expect(here.length).toBeLessThanOrEqual(1);
  return here[0] ? here[0].textContent.trim() : null;
}

describe('a line of the text', () => {
  it.each([
    [0, 'Boiler'],
    [2, 'Cold, below 1.5 bar\nand the same again.'],
    [5, 'ask Bruno'],
    [7, 'inside the second'],
    [8, 'ask Bruno'],
    [11, 'let a = 1;'],
  ])('%i is shown where it was drawn', (line, words) => {
    expect(shownAt(line)).toBe(words);
  });

  it('in a table is its row', () => {
    expect(shownAt(16)?.replace(/\s+/g, ' ')).toBe('c d');
  });

  it('is told from the same text above it', () => {
    const { container } = render(Markdown, { text, at: 8, onnote: nothing, onweb: nothing });
    const items = [...container.querySelectorAll('li')];
    expect(items.findIndex((item) => item.hasAttribute('data-here'))).toBe(3);
  });

  it('is none when none is asked for, or there is no text', () => {
    expect(shownAt(null)).toBeNull();
    expect(shownAt(3, '')).toBeNull();
  });
});
