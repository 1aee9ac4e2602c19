/** Keeps a scroller at its end for as long as the user stays there. */
import type { Attachment } from 'svelte/attachments';

/** How far from the end still counts as being there. */
const near = 48;

/** An element that begins above the frame although it is to be read from its beginning. */
const lead = '[data-lead]';

/** Scrolls to the end, or to the beginning of the last thing that is read from there. */
export function scrollToBottom(scroller: HTMLElement): void {
  scroller.scrollTop = scroller.scrollHeight;
  const first = [...scroller.querySelectorAll(lead)].at(-1);
  const above = first
    ? scroller.getBoundingClientRect().top - first.getBoundingClientRect().top
    : 0;
  if (above > 0) scroller.scrollTop -= above + near;
}

export const stickToBottom: Attachment<HTMLElement> = (scroller) => {
  let atEnd = true;
  let top = 0;
  const toEnd = (): void => {
    if (!atEnd) return;
    scrollToBottom(scroller);
    ({ scrollTop: top } = scroller);
  };
  // Content that grew since the last scroll leaves the end below; only the user goes up.
  const look = (): void => {
    const { scrollTop, scrollHeight, clientHeight } = scroller;
    atEnd = scrollHeight - scrollTop - clientHeight <= near || (atEnd && scrollTop >= top);
    top = scrollTop;
  };
  const sizes = new ResizeObserver(toEnd);
  sizes.observe(scroller);
  for (const child of scroller.children) sizes.observe(child);
  scroller.addEventListener('scroll', look, { passive: true });
  toEnd();
  return () => {
    sizes.disconnect();
    scroller.removeEventListener('scroll', look);
  };
};
