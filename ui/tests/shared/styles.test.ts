import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, it } from 'vitest';

const src = join(import.meta.dirname, '../../src');

/** Values that WebKit refuses: it takes no line, style and colour in one. */
function refused(css: string): string[] {
  return [...css.matchAll(/text-decoration:([^;}]*)/g)]
    .map(([, value = '']) => value.trim())
    .filter((value) => /\s/.test(value));
}

it('no style has a decoration that the engine of the window refuses', () => {
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' });
  const styled = files.filter((file) => /\.(?:svelte|css)$/.test(file));
  expect(styled.length).toBeGreaterThan(80);
  const found = styled.flatMap((file) => refused(readFileSync(join(src, file), 'utf8')));
  expect(found).toEqual([]);
  expect(refused('a { text-decoration: underline dashed red; }')).toEqual(['underline dashed red']);
});

/** Headings on one line, which are cut where there is no room: their files, and their text. */
function cutHeadings(file: string, source: string): string[] {
  const headings = [...source.matchAll(/<h[1-4]\b([^>]*)>([\s\S]*?)<\/h[1-4]>/g)];
  return headings
    .filter(([, attributes = '']) => /class="[^"]*\bcut\b/.test(attributes))
    .map(([, , text = '']) => `${file}: ${text.trim()}`);
}

it('no heading in the words of the window is cut in a narrow window: only names are', () => {
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' });
  const found = files
    .filter((file) => file.endsWith('.svelte'))
    .flatMap((file) => cutHeadings(file, readFileSync(join(src, file), 'utf8')));
  expect(found.toSorted()).toEqual([
    'features/review/LinkUpdates.svelte: <Invisible text={noteName(note.path)} />',
    'features/review/ReviewNote.svelte: <Invisible text={noteName(note.path)} />',
    'views/App.svelte: {heading}',
  ]);
  expect(cutHeadings('A', '<h1 class="cut grow">{m.settings()}</h1>')).toEqual([
    'A: {m.settings()}',
  ]);
});

it('headings are divided where a word has no room, and bars grow with them', () => {
  const css = readFileSync(join(src, 'styles/base.css'), 'utf8');
  const rule = (selector: string): string =>
    css.slice(css.indexOf(`\n${selector} {`)).split('}')[0] ?? '';
  expect(rule('.wraps')).toContain('hyphens: auto');
  expect(rule('.wraps')).toContain('overflow-wrap: anywhere');
  expect(rule('.bar')).toContain('min-block-size');
  expect(rule('.bar')).not.toMatch(/[^-]block-size/);
  const uncut = ['shared/components/Dialog.svelte', 'features/review/ReviewList.svelte'];
  for (const file of uncut) {
    expect(readFileSync(join(src, file), 'utf8')).toMatch(/<h[12] class="wraps/);
  }
});
