import { expect, it } from 'vitest';

import { TypedFields } from '../../../src/state/settings/typed-fields.svelte';

/** Saves that end when the test says so, and the texts that the user changed. */
function openSaves() {
  const bases: string[] = [];
  const ends: ((refusal: string | null) => void)[] = [];
  const save = (_: string, base: string): Promise<string | null> => {
    bases.push(base);
    return new Promise((resolve) => {
      ends.push(resolve);
    });
  };
  return { bases, ends, save };
}

it.each<[string, string | null, string]>([
  ['saved', null, 'B'],
  ['refused', 'The disk is full.', 'A'],
])('a text that goes on from one that is %s changes what is saved', async (_, refusal, base) => {
  const typed = new TypedFields();
  const { bases, ends, save } = openSaves();
  typed.write('list', 'B', 'A');
  const first = typed.save('list', 'B', 'A', save);
  typed.write('list', 'C', 'A');
  ends[0]?.(refusal);
  await first;
  expect(typed.text('list')).toBe('C');
  void typed.save('list', 'C', 'A', save);
  expect(bases).toEqual(['A', base]);
});

it('a text that goes on from several refused ones changes what is saved', async () => {
  const typed = new TypedFields();
  const { bases, ends, save } = openSaves();
  const first = typed.save('list', 'B', 'A', save);
  const second = typed.save('list', 'C', 'A', save);
  typed.write('list', 'D', 'A');
  for (const end of ends) end('The disk is full.');
  await Promise.all([first, second]);
  expect(typed.text('list')).toBe('D');
  void typed.save('list', 'D', 'A', save);
  expect(bases).toEqual(['A', 'B', 'A']);
});
