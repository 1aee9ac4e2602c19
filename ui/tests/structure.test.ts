import { readdirSync } from 'node:fs';
import { join, relative } from 'node:path';

import { expect, it } from 'vitest';

/** The most modules that a folder holds: a reader takes in about so many names at once. */
const limit = 14;
/** Compiled from the message catalogs. */
const generated = join('src', 'messages');
const ui = join(import.meta.dirname, '..');

/** Modules of each folder, by the folder's path inside `root`. */
function modulesByFolder(root: string, folders: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  const entries = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true }),
  );
  for (const entry of entries) {
    const folder = relative(root, entry.parentPath);
    if (!entry.isFile() || folder.startsWith(generated)) continue;
    if (/\.(?:ts|svelte)$/.test(entry.name)) counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  return counts;
}

function crowded(counts: ReadonlyMap<string, number>): string[] {
  return [...counts]
    .filter(([, count]) => count > limit)
    .map(([folder, count]) => `${folder} holds ${count} modules: make folders in it`);
}

it('no folder holds more modules than a reader takes in', () => {
  const counts = modulesByFolder(ui, ['src', 'tests']);
  expect(counts.size).toBeGreaterThan(40);
  expect(counts.get(join('src', 'state', 'chat'))).toBeGreaterThan(1);
  expect(crowded(counts)).toEqual([]);
});

it('reports a folder with one module too many', () => {
  const counts = new Map([
    ['full', limit],
    ['crowded', limit + 1],
  ]);
  expect(crowded(counts)).toEqual(['crowded holds 15 modules: make folders in it']);
});
