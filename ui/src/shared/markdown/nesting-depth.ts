/** Checks how deep quotes and lists are nested. */

/** Sixty signs of a quote or a list at the beginning of one line; a line of dashes is none. */
const deep = /^[ \t]*(?:>[ \t]*|(?:[-*+]|\d{1,9}[.)])[ \t]+){60}/m;

/** Whether it is beyond any sense: parsing takes time that grows with the square of the depth. */
export function isTooDeep(markdown: string): boolean {
  return deep.test(markdown);
}
