/** The steps in a window before it is looked at, as data: a test's page and a browser's take the same. */

interface Place {
  /** A selector. */
  readonly css: string;
  /** A pattern of its name: the label, else the text. */
  readonly words?: string;
  /** Which of several, the first if nothing is said; -1 is the last. */
  readonly at?: number;
}

export type Step =
  | { readonly do: 'click' | 'menu' | 'see' | 'show'; readonly place: Place }
  /** Keys together, the first held longest: `Control+p`. */
  | { readonly do: 'press'; readonly keys: string }
  /** Into what has the focus. */
  | { readonly do: 'write'; readonly text: string }
  /** The list is in a drawer where the window is narrow: it is opened there. */
  | { readonly do: 'drawer' };

const byName = (name: string): string => `[data-testid=${name}]`;
const control = 'button, summary, a, [role=option], [role=checkbox], label';

/** Presses what is called so. */
export const click = (words: string, at = 0): Step => ({
  do: 'click',
  place: { css: control, words, at },
});
export const clickOn = (name: string, at = 0): Step => ({
  do: 'click',
  place: { css: byName(name), at },
});
export const clickAt = (css: string, at = 0): Step => ({ do: 'click', place: { css, at } });
export const menuAt = (css: string): Step => ({ do: 'menu', place: { css } });
/** Waits for it. */
export const see = (name: string, words = ''): Step => ({
  do: 'see',
  place: { css: byName(name), words },
});
export const seeAt = (css: string, words = ''): Step => ({ do: 'see', place: { css, words } });
/** Brings it into view. */
export const show = (css: string): Step => ({ do: 'show', place: { css } });
export const press = (...keys: readonly string[]): Step[] =>
  keys.map((chord) => ({ do: 'press', keys: chord }));
export const write = (text: string): Step => ({ do: 'write', text });
export const drawer: Step = { do: 'drawer' };

/** The element that is there when a window has begun. */
export const begun: Place = {
  css: `${byName('composer')}, ${byName('firstrun')}, .starting .btn`,
};

/** The element, if it is there. It runs in pages of a browser too, so it names nothing outside. */
export function find({ css, words = '', at = 0 }: Place): Element | undefined {
  const pattern = new RegExp(words);
  return [...document.querySelectorAll(css)]
    .filter((element) =>
      pattern.test(element.getAttribute('aria-label') ?? element.textContent.trim()),
    )
    .at(at);
}
