import { render } from '@testing-library/svelte';
import { afterEach, describe, expect, it, vi } from 'vitest';

import { AppendableBlock, isPlainText } from '../../../src/shared/markdown/append';
import Block from '../../../src/shared/markdown/Block.svelte';
import * as rendering from '../../../src/shared/markdown/render';
import hostile from './hostile-markdown.json';

const blocks = [
  'The beds along the **north wall** want water, as [[Garden 1]] says, and *the rest* once.',
  'Snake_case and _emphasis and more_ words, 2 * 3 * 4, ~~gone now~~ and `some code here` at the end',
  '# A title with `code` in it and more',
  '- one of them\n- two **bold ones**\n  - deeper words\n- [x] done now\n- [ ] open yet',
  '1. first words\n2. second words\n10. tenth',
  '> quoted words, and\n> more of them\n>\n> - a list in it',
  '| bed | seeds |\n| --- | --- |\n| north | peas and beans |\n| south | more',
  '```js\nconst left = seeds filter more;\nconsole.log(left);\n```',
  'A [link with words](https://example.org/some/path) and www.example.org and anna@example.org too',
  'Words<br>and <b>tags</b> and &amp; entities &copy; here &nbsp and there',
  'A footnote[^1] and ![an image of it](some/where.png) and ==marked words== here',
  'Grüße aus Köln, Ærøskøbing und 東京 都 and a ⁠hidden sign, ﬁn',
  'Setext words\n===\n',
  'Two spaces  \nand a new line\\\nand another',
  '[ref]: https://example.org word\nand more words',
  '***both words*** and **open words and *more of',
  `It is done (nearly), says the "yard": a well-known one! Is it? Anna's boat. 1. no list, 2) nor this`,
  '2024. Then words.\nIn 7. more.\n3) third (of them).',
  'See www.example.org. Then http://example.org: more, a.b.c and (http://example.org) and e.g. www.',
  '**bold (and more) of it.** then *a "word"* and _an end-word._ and ~~gone (quite) -- so~~ &amp: x',
  '`code (in it): "x"` and a | b. and [words (with) "signs".](there.md) and ![a "image".](x.png)!',
];

/** Without a vault whose links could be broken. */
const alone = { broken: new Set<string>(), onlinks: () => undefined };

/** The page for a text that comes in such pieces, after each piece. */
function streamed(text: string, cut: () => number, look: (drawn: string, so_far: string) => void) {
  let end = cut();
  const { container, rerender, unmount } = render(Block, {
    ...alone,
    source: text.slice(0, end),
    open: true,
  });
  const steps: Promise<void>[] = [];
  const step = async (): Promise<void> => {
    look(container.querySelector('.block')?.innerHTML ?? '', text.slice(0, end));
    if (end >= text.length) return;
    end = Math.min(text.length, end + cut());
    await rerender({ source: text.slice(0, end), open: true });
    await step();
  };
  steps.push(step());
  return Promise.all(steps).then(() => unmount());
}

/** HTML as a page has it, without the anchors of the framework. */
function html(markup: string): string {
  const holder = document.createElement('div');
  holder.innerHTML = markup.replace(/<!--.*?-->/g, '');
  holder.normalize();
  return holder.innerHTML.trim();
}

/** A row of numbers that is the same each time. */
function numbers(seed: number, most: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return 1 + (Math.floor(state / 65_536) % most);
  };
}

afterEach(() => vi.restoreAllMocks());

describe('a block that is being written', () => {
  it.each(blocks)('looks after each letter as if it were drawn again: %s', async (text) => {
    await streamed(
      text,
      () => 1,
      (drawn, so_far) => {
        const fine = [so_far, so_far.trimEnd()].map((one) => html(rendering.renderOpen(one)));
        expect(fine, so_far).toContain(html(drawn));
      },
    );
  });

  it('does so in pieces of any length, with hostile text too', async () => {
    const texts = [...blocks, ...hostile.map((one) => one.markdown)];
    for (const [seed, text] of texts.entries()) {
      await streamed(text.slice(0, 300), numbers(seed, 24), (drawn, so_far) => {
        const fine = [so_far, so_far.trimEnd()].map((one) => html(rendering.renderOpen(one)));
        expect(fine, so_far).toContain(html(drawn));
      });
    }
  });

  it('is parsed seldom while plain text comes', async () => {
    const text = `The **first** words, ${'and then some more of them '.repeat(40)}`;
    const parsed = vi.spyOn(rendering, 'renderOpen');
    await streamed(
      text,
      () => 4,
      () => undefined,
    );
    expect(parsed.mock.calls.length).toBeLessThan(20);
  });

  it('is drawn again when it becomes another text', async () => {
    const { container, rerender } = render(Block, { ...alone, source: 'some', open: true });
    await rerender({ source: 'some words', open: true });
    await rerender({ source: 'some\n', open: true });
    expect(container.textContent?.trim()).toBe('some');
    await rerender({ source: 'some words', open: false });
    expect(container.textContent?.trim()).toBe('some words');
  });
});

describe('the end of a block, to which text is appended', () => {
  function ended(source: string, drawn: string): AppendableBlock | null {
    const body = document.createElement('div');
    body.appendChild(document.createElement('p')).textContent = drawn;
    return AppendableBlock.of(source, body);
  }

  it('is its last word, not the URL of a link', () => {
    expect(ended('some words', 'some words')).not.toBeNull();
    expect(ended(`some ${'word'.repeat(100)}`, `some ${'word'.repeat(100)}`)).not.toBeNull();
    expect(ended('[a](b) words', 'a words')).not.toBeNull();
    expect(ended('some words', 'some other')).toBeNull();
    expect(ended('[a](b', '[a](b')).toBeNull();
    expect(ended('[a](b) and [c](d', 'a and [c](d')).toBeNull();
    expect(ended('[a](b\nwords', '[a](b words')).not.toBeNull();
    expect(ended('some words.', 'some words.')).toBeNull();
  });

  it.each([
    ['a word without an end', `${'a'.repeat(100_000)}.`],
    ['links without an end', `${']('.repeat(50_000)}\nwords.`],
  ])('is looked for in no time behind %s', (_, source) => {
    const begun = performance.now();
    expect(ended(source, source)).toBeNull();
    expect(performance.now() - begun).toBeLessThan(500);
  });
});

describe('text that is appended as it is', () => {
  it.each([
    ['some', ' words', true],
    ['Tōky', 'ō and more', true],
    ['some', '', true],
    ['some ', 'words', false],
    ['some', ' words.', true],
    ['some', ' (words): "more"! Well-known, is it?', true],
    ['some', '.', true],
    ['some', '.com', false],
    ['1', '. words', false],
    ['some', ' 1. words', false],
    ['some', ' 1) words', false],
    ['http', '://', false],
    ['some', ' - words', false],
    ['some', '; words', false],
    ['some', '\nwords', false],
    ['**', 'words', false],
    ['some', '\u3164', false],
  ])('%j and %j', (text, more, are) => {
    expect(isPlainText(text, more)).toBe(are);
  });
});
