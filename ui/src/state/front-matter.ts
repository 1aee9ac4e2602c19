/** A note's properties and its text. Read for show only: values stay as they are written. */
interface NoteParts {
  readonly properties: readonly (readonly [name: string, value: string])[];
  readonly body: string;
}

export function frontMatter(text: string): NoteParts {
  const match = /^\uFEFF?---\r?\n([\s\S]*?)(?:\r?\n)?---[ \t]*(?:\r?\n|$)/.exec(text);
  if (!match) return { properties: [], body: text };
  return { properties: properties(match[1] ?? ''), body: text.slice(match[0].length) };
}

/** Lines that begin at the margin name a property; what is indented below belongs to it. */
function properties(yaml: string): [string, string][] {
  const found: [string, string][] = [];
  for (const line of yaml.split(/\r?\n/)) {
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
