/** Brings a part of what scrolls into its middle; nothing around it moves. */
export function reveal(part: HTMLElement): void {
  const scroller = part.closest<HTMLElement>('.scroll');
  if (!scroller) return;
  const [own, frame] = [part.getBoundingClientRect(), scroller.getBoundingClientRect()];
  const room = Math.max(0, (frame.height - own.height) / 2);
  scroller.scrollTop += own.top - frame.top - room;
}
