/** The parts of a browser that jsdom lacks, as far as the window uses them. */
import '@testing-library/jest-dom/vitest';

import { afterEach } from 'vitest';

// No test finds entries of another one in the window's own storage.
afterEach(() => localStorage.clear());

globalThis.ResizeObserver ??= class {
  observe(): void {}
  unobserve(): void {}
  disconnect(): void {}
};

globalThis.matchMedia ??= (media: string): MediaQueryList =>
  Object.assign(new EventTarget(), {
    media,
    matches: false,
    onchange: null,
    addListener: () => undefined,
    removeListener: () => undefined,
  });

HTMLDialogElement.prototype.showModal ??= function showModal(this: HTMLDialogElement): void {
  this.open = true;
  this.querySelector('input')?.focus();
};
HTMLDialogElement.prototype.close ??= function close(this: HTMLDialogElement): void {
  this.open = false;
};
