/** Finds the line for the `#` part of a link: a heading, or a block by its `^id`. */

/** Its line, 1-based; `null` where the link names none, or it is not there. */
export function lineOfTarget(text: string, target: string): number | null {
  const [named = ''] = target.split('|', 1);
  const at = named.indexOf('#');
  // Of a way through several headings the last one is meant.
  const place =
    at < 0
      ? ''
      : (
          named
            .slice(at + 1)
            .split('#')
            .at(-1) ?? ''
        ).trim();
  if (place === '') return null;
  const index = place.startsWith('^') ? blockLine(text, place) : headingLine(text, place);
  return index < 0 ? null : index + 1;
}

function blockLine(text: string, id: string): number {
  return text.split('\n').findIndex((line) => line === id || line.trimEnd().endsWith(` ${id}`));
}

function headingLine(text: string, heading: string): number {
  const wanted = letters(heading);
  let fence: string | null = null;
  return text.split('\n').findIndex((line) => {
    const mark = /^ {0,3}(```|~~~)/.exec(line)?.[1] ?? null;
    if (mark !== null && (fence === null || fence === mark)) fence = fence === null ? mark : null;
    const title = fence === null ? /^ {0,3}#{1,6}\s+(.*)$/s.exec(line)?.[1] : undefined;
    return title !== undefined && letters(title) === wanted;
  });
}

/** Links omit the signs that mean something in them. */
function letters(title: string): string {
  return title.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
}

/** The first line with a link that is written with this name, 1-based; `null` where none is found. */
export function lineOfLink(text: string, name: string): number | null {
  const written = [name, encodeURI(name), `${name}.md`, encodeURI(`${name}.md`)];
  const opened = written.flatMap((one) => [`[[${one}`, `](${one}`, `](<${one}`, `]: ${one}`]);
  const found = text.split('\n').findIndex((line) => {
    const lower = line.toLowerCase();
    return opened.some((start) => isLinkIn(lower, start.toLowerCase()));
  });
  return found < 0 ? null : found + 1;
}

/** Whether a link begins so and its name ends there. */
function isLinkIn(line: string, start: string): boolean {
  for (let at = line.indexOf(start); at >= 0; at = line.indexOf(start, at + 1)) {
    if (/^(?:[\]#|)>]|\s*$|\s+["'])/.test(line.slice(at + start.length))) return true;
  }
  return false;
}
