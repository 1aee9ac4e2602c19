import { render } from '@testing-library/svelte';
import { describe, expect, it } from 'vitest';

import Markdown from '../../../src/shared/markdown/Markdown.svelte';
import { lineElement } from '../../../src/shared/markdown/rendered/line-element';

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

  it.each([
    ['an image with a size', '![[a.png|300]] of it'],
    ['an image with brackets in its path', '![x](a(1).png) of it'],
    ['a link with a label', 'see [[Key|second key]] too'],
    ['an embedded note with a label', 'see ![[Key|second key]]'],
    ['a link with brackets in its URL', 'see [that](https://example.org/a_(b)_(c)) here'],
  ])('with %s is found', (_, line) => {
    const shown = shownAt(1, `- one\n- ${line}\n- three`);
    expect(shown).toMatch(/of it|see second key|see that here/);
    expect(shown).not.toContain('three');
  });

  it('is the smallest part with its text, however deep it stands', () => {
    const deep = '> - one\n> - two\n>   > three\n>   >\n>   > - four\n> - five';
    expect(shownAt(4, deep)).toBe('four');
    expect(shownAt(2, deep)).toBe('three');
    expect(shownAt(5, deep)).toBe('five');
  });

  it('that is very long is found by its beginning', () => {
    const long = 'word '.repeat(1_000);
    expect(shownAt(1, `- one\n- ${long}\n- three`)).toBe(long.trim());
  });

  /** The milliseconds until a line is found in a block that holds another one above it. */
  function timeBelow(hostile: string): number {
    const root = document.createElement('div');
    const block = root.appendChild(document.createElement('div'));
    block.className = 'block';
    for (const words of [hostile, 'invoice 2024']) {
      block.appendChild(document.createElement('p')).textContent = words;
    }
    const begun = performance.now();
    const found = lineElement(root, [`${hostile}\ninvoice 2024`], 1);
    const took = performance.now() - begun;
    expect(found?.textContent).toBe('invoice 2024');
    return took;
  }

  it.each([
    ['![[', 2_000],
    ['![[a|', 2_000],
    ['[[', 50_000],
    ['[[a|', 50_000],
    ['](', 50_000],
    ['](a(', 50_000],
    ['![a](', 50_000],
    ['](](x)', 50_000],
  ])('is found soon below many of %s', (part, count) => {
    expect(timeBelow(part.repeat(count))).toBeLessThan(1_500);
  });

  it('would be found too late by a pattern with two repeats of the same signs', () => {
    const time = (count: number): number => {
      const begun = performance.now();
      expect('![['.repeat(count).replace(/!\[\[([^\]|]*)[^\]]*\]\]/g, '')).toContain('![[');
      return performance.now() - begun;
    };
    time(50);
    expect(time(400) / time(200)).toBeGreaterThan(4);
  });
});
