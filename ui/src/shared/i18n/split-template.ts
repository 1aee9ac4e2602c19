/** Splits a message around the place of one argument, so that the argument can be set apart. */
const here = '\u0000';

/** The words before and after the argument, in the order of the language. */
export function splitTemplate(message: (place: string) => string): readonly [string, string] {
  const [before = '', after = ''] = message(here).split(here);
  return [before, after];
}
