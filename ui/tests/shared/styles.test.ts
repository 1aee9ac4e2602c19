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
