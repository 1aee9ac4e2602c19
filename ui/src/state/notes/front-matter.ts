/** A note's properties and its text. Read for show only: values stay as they are written. */
interface NoteParts {
  readonly properties: readonly (readonly [name: string, value: string])[];
  readonly body: string;
}

/** The same lines that the crate `markdown` takes for frontmatter: both are held against one table. */
export function frontMatter(text: string): NoteParts {
  const none = { properties: [], body: text };
  const first = lineEnd(text, 0);
  if (
    text
      .slice(0, first)
      .replace(/^\uFEFF+/, '')
      .trimEnd() !== '---'
  )
    return none;
  for (let start = first; start < text.length;) {
    const end = lineEnd(text, start);
    if (['---', '...'].includes(text.slice(start, end).trimEnd())) {
      return { properties: properties(text.slice(first, start)), body: text.slice(end) };
    }
    start = end;
  }
  return none;
}

/** Behind the line end of the line that begins at `start`. */
function lineEnd(text: string, start: number): number {
  LINE_END.lastIndex = start;
  return LINE_END.test(text) ? LINE_END.lastIndex : text.length;
}

const LINE_END = /\r\n|\n|\r/g;

/** Lines that begin at the margin name a property; what is indented below belongs to it. */
function properties(yaml: string): [string, string][] {
  const found: [string, string][] = [];
  for (const line of yaml.split(/\r\n|\n|\r/)) {
    const match = /^([^\s#:-][^:]*):\s*(.*)$/.exec(line);
    const last = found.at(-1);
    if (match) found.push([match[1] ?? '', match[2] ?? '']);
    else if (last && line.trim()) last[1] = [last[1], line.trim()].filter(Boolean).join('\n');
  }
  return found;
}

/** The line of the whole text that the body begins on, 1-based. */
export function bodyLine(text: string, { body }: NoteParts): number {
  return text.slice(0, text.length - body.length).split('\n').length;
}
