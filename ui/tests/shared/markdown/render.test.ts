import { describe, expect, it } from 'vitest';

import { renderClosed, renderOpen } from '../../../src/shared/markdown/render';
import hostile from './hostile-markdown.json';

const tags = new Set(
  'p br hr h1 h2 h3 h4 h5 h6 blockquote pre code ul ol li table thead tbody tr th td a em strong del kbd sub sup mark span'.split(
    ' ',
  ),
);
const attributes = new Set([
  'role',
  'tabindex',
  'data-note',
  'data-web',
  'data-task',
  'start',
  'align',
  'data-image',
  'data-size',
  'data-undrawn',
]);

/** The DOM that the window would show. */
function dom(html: string): HTMLElement {
  const root = document.createElement('div');
  root.innerHTML = html;
  return root;
}

/** Everything in it that is not on the list of what may be shown. */
function strangers(root: HTMLElement): string[] {
  return [...root.querySelectorAll('*')].flatMap((element) => [
    ...(tags.has(element.localName) ? [] : [element.localName]),
    ...[...element.attributes]
      .filter(({ name }) => !attributes.has(name))
      .map(({ name }) => `${element.localName}[${name}]`),
  ]);
}

function webTargets(root: HTMLElement): string[] {
  return [...root.querySelectorAll<HTMLElement>('[data-web]')].map((a) => a.dataset.web ?? '');
}

describe.each(hostile)('hostile Markdown $id ($why)', ({ markdown }) => {
  it('becomes nothing but allowed elements, closed or still open', () => {
    for (const html of [renderClosed(markdown), renderOpen(markdown)]) {
      const root = dom(html);
      expect(strangers(root)).toEqual([]);
      for (const target of webTargets(root)) {
        const url = new URL(target);
        expect(['http:', 'https:', 'mailto:']).toContain(url.protocol);
        expect(url.hostname).not.toMatch(/(^|\.)localhost$/);
      }
      expect(dom(root.innerHTML).innerHTML).toBe(root.innerHTML);
    }
  });
});

it('the check for strangers finds them when nothing is cleaned', () => {
  const root = dom('<img src=x onerror=1><a href="javascript:1">x</a>');
  expect(strangers(root)).toEqual(['img', 'img[src]', 'img[onerror]', 'a[href]']);
});

describe('what is written', () => {
  it.each([
    ['# Title', '<h1>Title</h1>'],
    [
      'text **bold** _it_ `code`',
      '<p>text <strong>bold</strong> <em>it</em> <code>code</code></p>',
    ],
    ['~~old~~', '<p><del>old</del></p>'],
    ['H<sub>2</sub>O', '<p>H<sub>2</sub>O</p>'],
    ['日本語 **太字** 🎉', '<p>日本語 <strong>太字</strong> 🎉</p>'],
    ['$x^2$', '<p>$x^2$</p>'],
    ['```rust\nfn main(){}\n```', '<pre tabindex="0"><code>fn main(){}\n</code></pre>'],
  ])('%s is shown', (markdown, html) => {
    expect(renderClosed(markdown).trim()).toBe(html);
  });

  it('keeps tables', () => {
    const root = dom(renderClosed('| a | b |\n|---|---|\n| 1 | 2 |'));
    expect([...root.querySelectorAll('th, td')].map((cell) => cell.textContent)).toEqual([
      'a',
      'b',
      '1',
      '2',
    ]);
  });

  it('marks the tasks that are done', () => {
    const root = dom(renderClosed('- [x] done\n- [ ] open'));
    const tasks = [...root.querySelectorAll<HTMLElement>('[data-task]')];
    expect(tasks.map((task) => task.dataset.task)).toEqual(['done', 'open']);
  });
});

it('shows what is nested beyond any sense as it is written, and a line of dashes as a line', () => {
  expect(renderClosed('> '.repeat(60))).toContain('&gt; &gt;');
  expect(renderClosed('- '.repeat(59) + 'x')).toContain('<li>');
  expect(renderClosed('-'.repeat(200)).trim()).toBe('<hr>');
});

it('shows a footnote with its text', () => {
  expect(renderClosed('[^1]: text').trim()).toBe('<p>[^1]: text</p>');
});

it('cuts a line that no engine lays out in time, and loses no sign of it', () => {
  for (const line of ['x'.repeat(20_001), '🌳'.repeat(9_001), 'a word or two '.repeat(2_000)]) {
    const root = dom(renderClosed(line));
    const pieces = [...root.querySelectorAll('p')].map((piece) => piece.textContent);
    expect(pieces.join('')).toBe(line);
    expect(pieces.length).toBeGreaterThan(8);
    expect(
      pieces.filter((piece) => piece.length > 2_000 || /^[\uDC00-\uDFFF]/.test(piece)),
    ).toEqual([]);
  }
});

describe('links', () => {
  function link(markdown: string): HTMLElement | null {
    return dom(renderClosed(markdown)).querySelector('a');
  }

  it.each([
    ['[[Pantry]]', 'Pantry', 'Pantry'],
    ['[[notes/a#h|alias]]', 'notes/a#h', 'alias'],
    ['[[Groceries#Sunday]]', 'Groceries#Sunday', 'Groceries › Sunday'],
    ['[the pantry](Pantry.md)', 'Pantry.md', 'the pantry'],
    ['[x](Two%20words.md)', 'Two words.md', 'x'],
  ])('%s leads to a note', (markdown, target, words) => {
    expect(link(markdown)?.dataset.note).toBe(target);
    expect(link(markdown)?.textContent).toBe(words);
  });

  it('to the web keep the whole URL, and no href for the webview to follow', () => {
    const a = link('[bank](https://bank.test/x?y=1&z=2)');
    expect(a?.dataset.web).toBe('https://bank.test/x?y=1&z=2');
    expect(a?.hasAttribute('href')).toBe(false);
  });

  it.each([
    'javascript:1',
    'file:///etc/passwd',
    'data:text/html,x',
    '//exfil.test/x',
    '/etc',
    '#a',
  ])('to %s are only text', (url) => {
    expect(link(`[words](<${url}>)`)).toBeNull();
    expect(renderClosed(`[words](<${url}>)`)).toContain('words');
  });

  it('are not made inside code', () => {
    expect(link('`[[Pantry]]`')).toBeNull();
  });
});

describe('a block that is still open', () => {
  it.each([
    ['some **bold', '<p>some <strong>bold</strong></p>'],
    ['see [the site](https://exa', '<p>see the site</p>'],
    ['`cod', '<p><code>cod</code></p>'],
  ])('%s is shown as it will be', (markdown, html) => {
    expect(renderOpen(markdown).trim()).toBe(html);
  });
});
