import { afterEach, describe, expect, it, vi } from 'vitest';

import { stickToBottom } from '../../../src/shared/scroll/stick-to-bottom';

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
  stickToBottom(scroller);
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

  it('stops at the beginning of what is read from there', () => {
    const { scroller, grow, resize, scrolled } = attached(500);
    scrolled();
    const lead = document.createElement('ul');
    lead.dataset['lead'] = '';
    scroller.append(lead);
    // It begins at 550 of 900, and the frame shows 100.
    lead.getBoundingClientRect = () => new DOMRect(0, 550 - scroller.scrollTop, 10, 350);
    grow(400);
    resize();
    expect(scroller.scrollTop).toBe(550 - 48);
    scrolled();
    resize();
    expect(scroller.scrollTop).toBe(550 - 48);
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
