import { expect, it } from 'vitest';

import { plainText } from '../../../src/shared/text/plain-text';

it.each([
  ['Move it from [[Lists/Groceries|Groceries]] to [[Pantry]]', 'Move it from Groceries to Pantry'],
  ['Put what is missing on [[Lists/Groceries|Groc', 'Put what is missing on Groc'],
  ['**Budget** for *May*, `total` and ~~rent~~', 'Budget for May, total and rent'],
  ['***Really*** new', 'Really new'],
  ['**The _big_ plan**', 'The big plan'],
  ['## Plan for #work', 'Plan for #work'],
  ['> quoted', 'quoted'],
  ['- first', 'first'],
  ['See [the page](https://example.org/a_b)', 'See the page'],
  ['snake_case_name and 2 * 3 * 4', 'snake_case_name and 2 * 3 * 4'],
  ['_Soup_ for four', 'Soup for four'],
])('%j reads: %j', (markdown, words) => {
  expect(plainText(markdown)).toBe(words);
});
