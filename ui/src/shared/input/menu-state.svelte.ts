/** A menu and the button that opens it: its keys, and the focus that goes into it and back to the button. */

function focusItem(items: readonly HTMLElement[], index: number): void {
  items[(index + items.length) % items.length]?.focus();
}

export class MenuState {
  open = $state(false);
  button = $state<HTMLButtonElement>();
  /** It holds the items, and is there while the menu is open. */
  element = $state<HTMLElement>();

  /** Opens it with the focus on the checked item, else on the first one. */
  show(): void {
    this.open = true;
    queueMicrotask(() => {
      const items = this.#items();
      const checked = items.findIndex((item) => item.ariaChecked === 'true');
      focusItem(items, Math.max(0, checked));
    });
  }

  close(): void {
    this.open = false;
    this.button?.focus();
  }

  /** Does what the key means in a menu; other keys are left alone. */
  readonly onkeydown = (event: KeyboardEvent): void => {
    const items = this.#items();
    const at = items.findIndex((item) => item === document.activeElement);
    const moves: Record<string, () => void> = {
      ArrowDown: () => focusItem(items, at + 1),
      ArrowUp: () => focusItem(items, at - 1),
      Home: () => focusItem(items, 0),
      End: () => focusItem(items, -1),
      Escape: () => this.close(),
    };
    const move = moves[event.key];
    if (!move) return;
    event.preventDefault();
    event.stopPropagation();
    move();
  };

  /** Closes it where the focus leaves both. */
  readonly onfocusout = (event: FocusEvent): void => {
    const to = event.relatedTarget;
    const isInside = to instanceof Node && this.element?.contains(to);
    if (!isInside && to !== this.button) this.open = false;
  };

  #items(): HTMLElement[] {
    return [...(this.element?.querySelectorAll<HTMLElement>('[role^="menuitem"]') ?? [])];
  }
}
