import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { LatestOnly } from '../../../src/shared/async/latest-only';
import { Throttle } from '../../../src/shared/async/throttle';

describe('asking while an answer is awaited', () => {
  it('asks only the newest question next, and drops what was overtaken', async () => {
    const newest = new LatestOnly();
    const asked: string[] = [];
    const taken: string[] = [];
    const answers = new Map<string, () => void>();
    const ask = (words: string) =>
      newest.ask(async () => {
        asked.push(words);
        await new Promise<void>((resolve) => answers.set(words, resolve));
        return () => taken.push(words);
      });
    const first = ask('b');
    void ask('bo');
    void ask('boi');
    expect(asked).toEqual(['b']);
    answers.get('b')?.();
    await vi.waitFor(() => expect(asked).toEqual(['b', 'boi']));
    answers.get('boi')?.();
    await first;
    expect(taken).toEqual(['boi']);
  });
});

describe('a pace', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('lets something happen at once, then at most once a second, and never drops the last', () => {
    const work = vi.fn();
    const pace = new Throttle(work);
    for (let ring = 0; ring < 5; ring += 1) pace.ring();
    expect(work).toHaveBeenCalledTimes(1);
    vi.advanceTimersByTime(999);
    expect(work).toHaveBeenCalledTimes(1);
    vi.advanceTimersByTime(1);
    expect(work).toHaveBeenCalledTimes(2);
    vi.advanceTimersByTime(5000);
    expect(work).toHaveBeenCalledTimes(2);
    pace.ring();
    expect(work).toHaveBeenCalledTimes(3);
  });
});
