/** The keys of a menu: up, down, first, last, and out of it. */

export function focusItem(items: readonly HTMLElement[], index: number): void {
  items[(index + items.length) % items.length]?.focus();
}

/** Does what the key means in a menu of these items; others are left alone. */
export function menuKey(
  event: KeyboardEvent,
  items: readonly HTMLElement[],
  close: () => void,
): void {
  const at = items.findIndex((item) => item === document.activeElement);
  const moves: Record<string, () => void> = {
    ArrowDown: () => focusItem(items, at + 1),
    ArrowUp: () => focusItem(items, at - 1),
    Home: () => focusItem(items, 0),
    End: () => focusItem(items, -1),
    Escape: close,
  };
  const move = moves[event.key];
  if (!move) return;
  event.preventDefault();
  event.stopPropagation();
  move();
}
