import { describe, expect, it } from 'vitest';

import { VirtualList } from '../../../src/shared/scroll/virtual-list.svelte';

function of(count: number) {
  let rows = $state(count);
  const stretch = new VirtualList(() => rows);
  return { stretch, grow: (by: number) => (rows += by) };
}

/** Where it begins, how many rows stand in the page, and that none is missing. */
function shape({ stretch }: ReturnType<typeof of>): [number, number] {
  return [stretch.from, stretch.to - stretch.from];
}

describe('the stretch of a list that stands in the page', () => {
  it('is all of a short list', () => {
    const list = of(80);
    expect(shape(list)).toEqual([0, 80]);
    expect([list.stretch.above, list.stretch.below]).toEqual([0, 0]);
  });

  it('is the end of a long one, and goes with it in steps', () => {
    const list = of(10_000);
    expect(shape(list)).toEqual([9_920, 80]);
    list.grow(1);
    expect(shape(list)).toEqual([9_940, 61]);
    list.grow(19);
    expect(shape(list)).toEqual([9_940, 80]);
    expect(list.stretch.below).toBe(0);
    expect(list.stretch.above).toBeGreaterThan(100_000);
  });

  it.each([
    [0, 0],
    [30, 0],
    [5_000, 4_960],
    [9_900, 9_860],
  ])('is around row %i when that is wanted', (row, from) => {
    const list = of(10_000);
    list.stretch.bring(row);
    expect(shape(list)).toEqual([from, 80]);
    // New rows at the end do not move a reader further up.
    list.grow(1_000);
    expect(shape(list)).toEqual([from, 80]);
  });

  it('stays for a row that stands in it, and is at the end again for the last one', () => {
    const list = of(10_000);
    list.stretch.bring(9_950);
    expect(shape(list)).toEqual([9_920, 80]);
    list.stretch.bring(100);
    list.stretch.bring(9_999);
    list.grow(100);
    expect(list.stretch.to).toBe(10_100);
  });

  it('stays with what is read when rows come before all others', async () => {
    const list = of(200);
    list.stretch.bring(50);
    expect(shape(list)).toEqual([10, 80]);
    list.grow(800);
    await list.stretch.preceded(800);
    expect(shape(list)).toEqual([810, 80]);
  });

  it('stays at the end when rows come before all others', async () => {
    const list = of(200);
    list.grow(800);
    await list.stretch.preceded(800);
    list.grow(20);
    expect(shape(list)).toEqual([940, 80]);
  });

  it('never begins behind a list that became shorter', () => {
    const list = of(10_000);
    list.stretch.bring(5_000);
    list.grow(-9_950);
    expect(shape(list)).toEqual([0, 50]);
  });
});
