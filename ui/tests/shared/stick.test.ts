import { afterEach, describe, expect, it, vi } from 'vitest';

import { stickToEnd } from '../../src/shared/stick';

/** A scroller that is 100 high, and what grows in it. */
function attached(height: number) {
  let grown = (): void => {};
  vi.stubGlobal(
    'ResizeObserver',
    class {
      constructor(heard: () => void) {
        grown = heard;
      }
      observe(): void {}
      disconnect(): void {}
    },
  );
  const scroller = document.createElement('div');
  let inner = height;
  Object.defineProperty(scroller, 'scrollHeight', { get: () => inner });
  Object.defineProperty(scroller, 'clientHeight', { value: 100 });
  stickToEnd(scroller);
  return {
    scroller,
    grow: (by: number) => (inner += by),
    resize: () => grown(),
    scrolled: () => scroller.dispatchEvent(new Event('scroll')),
  };
}

afterEach(() => vi.unstubAllGlobals());

describe('what is read at its end', () => {
  it('stays there when more comes before the last scroll was heard of', () => {
    const { scroller, grow, resize, scrolled } = attached(500);
    grow(200);
    scrolled();
    resize();
    expect(scroller.scrollTop).toBe(700);
  });

  it('is left alone once the reader goes up', () => {
    const { scroller, grow, resize, scrolled } = attached(500);
    scrolled();
    scroller.scrollTop = 100;
    scrolled();
    grow(200);
    resize();
    expect(scroller.scrollTop).toBe(100);
  });
});
