import { describe, expect, it } from 'vitest';

import { fuzzy } from '../../../src/shared/text/fuzzy';

/** The letters of the name that fit, apart by `·`; `null` where it does not fit. */
function fitting(query: string, name: string): string | null {
  const marks = fuzzy(query, name)?.marks ?? null;
  return marks && marks.map(([start, end]) => name.slice(start, end)).join('·');
}

describe('letters of a name', () => {
  it.each([
    ['re', 'Rename this', 'Re'],
    ['wait re', 'Review waiting changes', 'Re·wait'],
    ['rwc', 'Review waiting changes', 'R·w·c'],
    ['kase', 'Käse und Brot', 'Käse'],
    ['', 'Anything', ''],
    ['note', 'Open the note', 'note'],
  ])('%s fits %s', (query, name, letters) => {
    expect(fitting(query, name)).toBe(letters);
  });

  it.each([
    ['xyz', 'Review waiting changes'],
    ['review zebra', 'Review waiting changes'],
    // From the middle of a word nothing scattered is meant.
    ['eiwc', 'Review waiting changes'],
  ])('%s does not fit %s', (query, name) => {
    expect(fitting(query, name)).toBeNull();
  });

  it('fit best where the name begins, then a word, then anywhere, then scattered', () => {
    const names = ['Shore', 'Rest again', 'Then rest', 'Run everything'];
    const scores = names.map((name) => [name, fuzzy('re', name)?.score ?? 0] as const);
    const order = scores.toSorted(([, one], [, other]) => other - one).map(([name]) => name);
    expect(order).toEqual(['Rest again', 'Then rest', 'Shore', 'Run everything']);
  });
});
