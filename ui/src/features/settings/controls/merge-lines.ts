// A list that is typed one item a line.

function splitLines(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

/** The saved list with the changes of lines that lead from `base` to `text`: lines that were saved since stay. If none
 * were, the result has the order of `text`. */
export function mergeLines(saved: readonly string[], base: string, text: string): string[] {
  const current = splitLines(saved.join('\n'));
  const before = splitLines(base);
  const typed = splitLines(text);
  if (current.join('\n') === before.join('\n')) return typed;
  const kept = current.filter((line) => typed.includes(line) || !before.includes(line));
  return [...kept, ...typed.filter((line) => !before.includes(line) && !kept.includes(line))];
}
