import { expect, it } from 'vitest';

import { looksLikeApiKey } from '../../../src/features/composer/looks-like-api-key';

it.each([
  'sk-abcdefg1',
  'the key is sk-ant-api03-abc.',
  '"AIza12345678"',
  '-sk-abcdefg1',
  'sk-sk-abcdefg1',
  'sk-one and gsk_abcdefg1',
  'github_pat_abcdefg_1',
])('%s looks like a key', (text) => {
  expect(looksLikeApiKey(text)).toBe(true);
});

it.each(['', 'sk-abcdefgh', 'sk-abcdef1', 'ask-abcdefg1', '2sk-abcdefg1', 'sk-abcdefgh 1', 'AIza'])(
  '%j does not',
  (text) => {
    expect(looksLikeApiKey(text)).toBe(false);
  },
);

it('is told in no time of a draft with very many beginnings', () => {
  const begun = performance.now();
  expect(looksLikeApiKey('sk-'.repeat(30_000))).toBe(false);
  expect(looksLikeApiKey('sk- '.repeat(30_000))).toBe(false);
  expect(performance.now() - begun).toBeLessThan(500);
});
