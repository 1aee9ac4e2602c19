/** Keeps the keyboard focus on the page: if the focused element is removed, another element takes the focus. */

const focusable =
  'a[href], a[tabindex], button:not(:disabled), input:not(:disabled), textarea:not(:disabled), ' +
  'select:not(:disabled), summary, [tabindex]:not([tabindex="-1"])';

/** Of these the next part takes it; elsewhere it goes back to where one goes on. */
const lists = 'ul, ol, form, [role=list], [role=listbox], [role=group], [role=tablist]';

/** A part of the page, and where it stands. */
interface TrailStep {
  readonly element: Element;
  readonly parent: Element;
  readonly at: number;
}

/** From an element to the top of the page. */
type Trail = readonly TrailStep[];

/**
 * Watches a page. What goes out of a list is followed by what stands in its place then, what goes out of
 * a text by the text, a dialog by what had the keyboard before it; everything else by `goOn`.
 */
export function keepFocus(goOn: () => void): (page: Document) => () => void {
  return (page) => {
    let trail: Trail = [];
    /** That of before the dialog that it is in. */
    let outside: Trail = [];

    const remember = (event: FocusEvent): void => {
      if (!(event.target instanceof Element) || event.target === page.body) return;
      if (event.target.closest('dialog') && !trail[0]?.element.closest('dialog')) outside = trail;
      trail = trailOf(event.target);
    };
    const look = (): void => {
      const [last] = trail;
      const { activeElement } = page;
      if (!last || last.element.isConnected) return;
      if (activeElement && activeElement !== page.body && activeElement.isConnected) return;
      const fromDialog = trail.some(({ element }) => element.matches('dialog'));
      const way = fromDialog ? outside : trail;
      trail = [];
      const next = follower(way);
      if (next) next.focus({ preventScroll: true });
      else goOn();
    };

    page.addEventListener('focusin', remember);
    const watch = new MutationObserver(look);
    watch.observe(page.body, { childList: true, subtree: true });
    return () => {
      page.removeEventListener('focusin', remember);
      watch.disconnect();
    };
  };
}

function trailOf(element: Element): Trail {
  const trail: TrailStep[] = [];
  let here: Element = element;
  while (here.parentElement) {
    const parent = here.parentElement;
    trail.push({ element: here, parent, at: [...parent.children].indexOf(here) });
    here = parent;
  }
  return trail;
}

/** The element that takes the keyboard after the beginning of a trail is gone; `null` where nothing is near. */
function follower(trail: Trail): HTMLElement | null {
  const [first] = trail;
  if (first?.element.isConnected) return asFocusable(first.element);
  const gap = trail.findIndex(({ parent }) => parent.isConnected);
  const step = trail[gap];
  if (!step) return null;
  return (step.parent.closest(lists) && beside(step)) ?? around(step.parent);
}

function beside({ parent, at }: TrailStep): HTMLElement | null {
  const parts = [...parent.children];
  const after = parts.slice(at).flatMap(inside);
  const before = parts.slice(0, at).flatMap(inside);
  return after[0] ?? before.at(-1) ?? null;
}

/** The nearest part that can have it around what is gone: a text that is read with the keys. */
function around(part: Element): HTMLElement | null {
  const all = part.closest<HTMLElement>('[tabindex="0"]');
  return all?.isConnected ? all : null;
}

function inside(part: Element): HTMLElement[] {
  const all = [part, ...part.querySelectorAll(focusable)];
  return all.map(asFocusable).filter((element) => element !== null);
}

function asFocusable(element: Element): HTMLElement | null {
  return element instanceof HTMLElement && element.matches(focusable) ? element : null;
}
