/** Lets what only informs go by itself, unless somebody is at it. */
import type { Attachment } from 'svelte/attachments';

/** The time in which a short text is surely read, in milliseconds. */
export const readingTime = 10_000;

/** Dismisses an element after `readingTime`. While the pointer is over it, the keyboard is in it or the window is
 * hidden it stays, and then for the whole time again. */
export function dismissLater(dismiss: () => void): Attachment<HTMLElement> {
  return (element) => {
    let isHovered = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const isHeld = (): boolean =>
      isHovered || document.hidden || element.contains(document.activeElement);
    const begin = (): void => {
      clearTimeout(timer);
      timer = setTimeout(() => (isHeld() ? begin() : dismiss()), readingTime);
    };
    const onpointerenter = (): void => {
      isHovered = true;
    };
    const onpointerleave = (): void => {
      isHovered = false;
      begin();
    };
    element.addEventListener('pointerenter', onpointerenter);
    element.addEventListener('pointerleave', onpointerleave);
    element.addEventListener('focusout', begin);
    begin();
    return () => {
      clearTimeout(timer);
      element.removeEventListener('pointerenter', onpointerenter);
      element.removeEventListener('pointerleave', onpointerleave);
      element.removeEventListener('focusout', begin);
    };
  };
}
