/** Scrolls an element to the middle of its scroller; nothing around the scroller moves. */
export function scrollIntoView(part: HTMLElement): void {
  const scroller = part.closest<HTMLElement>('.scroll');
  if (!scroller) return;
  const [own, frame] = [part.getBoundingClientRect(), scroller.getBoundingClientRect()];
  const room = Math.max(0, (frame.height - own.height) / 2);
  scroller.scrollTop += own.top - frame.top - room;
}

/** Any action of the user ends it. */
const acts = ['wheel', 'pointerdown', 'keydown'];
/** Images come after the text, and report their size only where they are. */
const arrivals = ['load', 'error'];

/** The same, and again when images in `root` have moved it meanwhile. Returns what ends that. */
export function keepInView(part: HTMLElement, root: HTMLElement): () => void {
  const again = (): void => scrollIntoView(part);
  const end = (): void => {
    for (const arrival of arrivals) root.removeEventListener(arrival, again, true);
    for (const act of acts) document.removeEventListener(act, end, true);
  };
  for (const arrival of arrivals) root.addEventListener(arrival, again, true);
  for (const act of acts) document.addEventListener(act, end, { capture: true, passive: true });
  scrollIntoView(part);
  return end;
}
