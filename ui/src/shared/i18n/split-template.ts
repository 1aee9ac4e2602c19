/** Splits a message at the place of one argument, so that the argument can have its own style. */
const here = '\u0000';

/** The text before and after the argument, in the order of the language. */
export function splitTemplate(message: (place: string) => string): readonly [string, string] {
  const [before = '', after = ''] = message(here).split(here);
  return [before, after];
}
