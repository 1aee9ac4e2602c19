import { vi } from 'vitest';

/** Between two looks at the clock a second goes by: nothing that the user presses comes too soon. */
export function advanceClockEachTime() {
  let now = performance.now();
  return vi.spyOn(performance, 'now').mockImplementation(() => (now += 1000));
}
