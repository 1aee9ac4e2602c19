import { fireEvent, render, screen } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it, vi } from 'vitest';

import { imageLocation } from '../../../src/shared/markdown/image-reference';
import Markdown from '../../../src/shared/markdown/Markdown.svelte';
import { renderClosed } from '../../../src/shared/markdown/render';

/** The first image in the HTML: its place, or the link to it. */
function place(markdown: string): Record<string, string | undefined> {
  const root = document.createElement('div');
  root.innerHTML = renderClosed(markdown);
  expect(root.querySelector('img')).toBeNull();
  const found = root.querySelector<HTMLElement>('[data-image], [data-undrawn], a');
  return { ...found?.dataset, words: root.textContent.trim() };
}

/** The text in the window; the vault's images are at `image:…`. */
function show(text: string, streaming = false) {
  const open = vi.fn();
  const [onnote, onweb] = [vi.fn(), vi.fn()];
  const images = { urlOf: (target: string) => `image:${target}`, open };
  const view = render(Markdown, { text, streaming, images, onnote, onweb });
  return { ...view, images, open, onnote, onweb };
}

describe('an image of the vault is named in the HTML', () => {
  it.each([
    ['![[Plum.png]]', { image: 'Plum.png', words: 'Plum.png' }],
    [
      '![[img/Plum tree.JPEG|300]]',
      { image: 'img/Plum tree.JPEG', size: '300', words: 'Plum tree.JPEG' },
    ],
    ['![[Plum.webp|100x80]]', { image: 'Plum.webp', size: '100x80', words: 'Plum.webp' }],
    ['![[Plum.gif|In spring|300]]', { image: 'Plum.gif', size: '300', words: 'In spring' }],
    ['![[Plum.bmp|In spring]]', { image: 'Plum.bmp', words: 'In spring' }],
    ['![[Plum.avif#left]]', { image: 'Plum.avif', words: 'Plum.avif' }],
    ['![a tree](img/pic%20one.png)', { image: 'img/pic one.png', words: 'a tree' }],
    [
      '![a tree|100x80](img/pic.png "title")',
      { image: 'img/pic.png', size: '100x80', words: 'a tree' },
    ],
    ['![|300](pic.png)', { image: 'pic.png', size: '300', words: 'pic.png' }],
    ['![300](pic.png)', { image: 'pic.png', size: '300', words: 'pic.png' }],
    ['![](../img/pic.png)', { image: '../img/pic.png', words: 'pic.png' }],
    ['![x](/img/pic.png)', { image: '/img/pic.png', words: 'x' }],
    ['![x](<img/a (1).png>)', { image: 'img/a (1).png', words: 'x' }],
    ['![x][r]\n\n[r]: pic.png', { image: 'pic.png', words: 'x' }],
    ['![x](no-ending)', { image: 'no-ending', words: 'x' }],
    ['![room 12](pic.png)', { image: 'pic.png', words: 'room 12' }],
    ['![x|0](pic.png)', { image: 'pic.png', words: 'x|0' }],
    ['![x|99999](pic.png)', { image: 'pic.png', words: 'x|99999' }],
  ])('%s', (markdown, expected) => {
    expect(place(markdown)).toEqual(expected);
  });

  it('in a table too', () => {
    expect(place('| a |\n|---|\n| ![[Plum.png\\|40]] |')).toMatchObject({
      image: 'Plum.png',
      size: '40',
    });
  });
});

describe('an image that is not drawn is text with a mark', () => {
  it.each([
    ['![[Plan.svg]]', 'Plan.svg'],
    ['![[Offer.pdf#page=2|the offer]]', 'the offer'],
    ['![a plan](img/plan.svg)', 'a plan'],
    ['![x](//exfil.test/p.png)', 'x'],
    ['![x](data:image/png;base64,AAAA)', 'x'],
    ['![x](file:///etc/passwd)', 'x'],
    ['![x](http&#58;//exfil.test/p)', 'x'],
    ['![x](/\\exfil.test/p)', 'x'],
    ['![x](\\\\exfil.test\\p)', 'x'],
    ['![x](vault-image://localhost/?link=a.png)', 'x'],
    ['![x](http://vault-image.localhost/?link=a.png)', 'x'],
  ])('%s', (markdown, words) => {
    expect(place(markdown)).toEqual({ undrawn: '', words });
  });

  it.each([
    ['![a harbour](https://example.org/p.png)', 'https://example.org/p.png', 'a harbour'],
    ['![](https://example.org/p.png)', 'https://example.org/p.png', 'https://example.org/p.png'],
    ['![a|300](https://example.org/p.png#x)', 'https://example.org/p.png#x', 'a'],
  ])('%s is a link to where it is', (markdown, web, words) => {
    expect(place(markdown)).toEqual({ web, undrawn: '', words });
  });

  it('an image of the web in a link leaves the link whole', () => {
    const root = document.createElement('div');
    root.innerHTML = renderClosed('[![state](https://example.org/p.png)](https://example.com/)');
    expect([...root.querySelectorAll('a')].map((a) => [a.dataset.web, a.textContent])).toEqual([
      ['https://example.com/', 'state'],
    ]);
  });

  it('an embedded note is a link to it', () => {
    expect(place('![[Version 1.2]]')).toEqual({ note: 'Version 1.2', words: 'Version 1.2' });
  });
});

describe('in the window', () => {
  it('an image is drawn when it is near, with its label and its size', () => {
    const { container } = show('![a tree|100x80](img/Plum.png) and ![[Roof.png|300]]');
    const [tree, roof] = container.querySelectorAll('img');
    expect(tree?.getAttribute('src')).toBe('image:img/Plum.png');
    expect([
      tree?.alt,
      tree?.loading,
      tree?.getAttribute('width'),
      tree?.getAttribute('height'),
    ]).toEqual(['a tree', 'lazy', '100', '80']);
    expect([roof?.getAttribute('width'), roof?.getAttribute('height')]).toEqual(['300', null]);
    expect(container.textContent.trim()).toBe('and');
  });

  it('is opened by click and by key, and in a link the link is followed', async () => {
    const { open, onnote } = show('![tree](Plum.png)\n\n[![roof](Roof.png)](House.md)');
    await userEvent.click(screen.getByRole('button', { name: 'tree' }));
    await userEvent.keyboard('{Enter}');
    expect(open.mock.calls).toEqual([['Plum.png'], ['Plum.png']]);
    await userEvent.click(screen.getByRole('img', { name: 'roof' }));
    expect(onnote).toHaveBeenCalledExactlyOnceWith('House.md');
    expect(open).toHaveBeenCalledTimes(2);
  });

  it('one that does not load is its label with a mark, until it is there', async () => {
    const { container, rerender, images } = show('See ![a tree|40](Plum.png).');
    const img = container.querySelector('img');
    if (!img) throw new Error('no image');
    await fireEvent.error(img);
    const undrawn = container.querySelector<HTMLElement>('[data-undrawn]');
    expect([container.textContent.trim(), undrawn?.title]).toEqual([
      'See a tree.',
      'This image is missing or in an unsupported format',
    ]);
    expect(container.querySelector('button, img')).toBeNull();

    const made: HTMLImageElement[] = [];
    const create = document.createElement.bind(document);
    vi.spyOn(document, 'createElement').mockImplementation((name: string) => {
      const element = create(name);
      if (element instanceof HTMLImageElement) made.push(element);
      return element;
    });
    await rerender({ images: { ...images } });
    vi.restoreAllMocks();
    const [again] = made;
    if (!again) throw new Error('not tried again');
    expect(container.querySelector('img')).toBeNull();
    await fireEvent.load(again);
    expect(container.querySelector('img')).toBe(again);
    expect([again.alt, again.getAttribute('width')]).toEqual(['a tree', '40']);
    expect(container.querySelector('[data-undrawn], [title^="This"]')).toBeNull();
  });

  it('stays when others are tried again', async () => {
    const { container, rerender, images } = show('![tree](Plum.png)');
    const before = container.querySelector('img');
    await rerender({ images: { ...images } });
    expect(container.querySelector('img')).toBe(before);
  });

  it('is text while its block is written, and drawn once that is closed', async () => {
    const { container, rerender } = show('![tree](Plum.png)', true);
    expect(container.querySelector('img')).toBeNull();
    expect(container.textContent.trim()).toBe('tree');
    await rerender({ text: '![tree](Plum.png)', streaming: false });
    expect(container.querySelector('img')?.alt).toBe('tree');
  });

  it('no text reaches a URL but as the name of an image', () => {
    const { container } = show(
      [
        '<span data-image="https://exfil.test/p.png">x</span>',
        '<img src="https://exfil.test/p.png">',
        '![" onerror=1 x="](a.png)',
        `<span data-image="${'a'.repeat(70_000)}">long</span>`,
      ].join('\n\n'),
    );
    const sources = [...container.querySelectorAll('img')].map((img) => img.getAttribute('src'));
    expect(sources.slice(0, 2)).toEqual(['image:https://exfil.test/p.png', 'image:a.png']);
    expect(container.querySelectorAll('[onerror]')).toHaveLength(0);
    for (const source of sources) expect(source?.length).toBeLessThan(2_000);
  });

  it('without images of a vault there are labels', () => {
    const { container } = render(Markdown, {
      text: '![tree](Plum.png)',
      onnote: vi.fn(),
      onweb: vi.fn(),
    });
    expect([container.querySelector('img'), container.textContent.trim()]).toEqual([null, 'tree']);
  });
});

it('reads a path before very many signs of a place in it in no time', () => {
  const begun = performance.now();
  const signs = '#'.repeat(60_000);
  expect(imageLocation(`a.png${signs}\u2028b`)).toEqual({ kind: 'vault', at: 'a.png' });
  expect(performance.now() - begun).toBeLessThan(500);
});
