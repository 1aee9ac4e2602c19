/**
 * Says sentences in another language: finds the template that one was made from, and fills its translation
 * with what stands in the holes. What no template fits stays as it is.
 */

interface Template {
  /** The text before, between and behind the holes. */
  readonly parts: readonly string[];
  /** Their names, in order. */
  readonly holes: readonly string[];
}

interface Phrase {
  readonly from: Template;
  readonly to: Template;
  /** How much of it is text, so that the most specific one is taken. */
  readonly letters: number;
}

/** Longer texts are no sentences of ours. */
const longest = 20_000;
/** How deep sentences stand in each other's holes. */
const deepest = 5;
/** The number of ends of a sentence after which nothing is looked for any more. */
const mostEnds = 8;
/** A template that begins with it stands behind another sentence, for which it gets a hole of this name. */
const behind = /^\s/;
const before = 'before';
/** The holes for what somebody wrote and for names of notes; like what stands in quotes, they are never translated. */
const written = new Set(['text', 'note', 'place', 'inbox', 'title']);

/**
 * Sentences of one language in another. `templates` has holes such as `{path}`, which its translation has as
 * well. A template of small letters, or without an end, is also found where it begins or ends a sentence.
 */
export function phrasebook(
  templates: Readonly<Record<string, string>>,
): (sentence: string) => string {
  const all = Object.entries(templates)
    .map(([from, to]) => entry(from, to))
    .toSorted((a, b) => b.letters - a.letters);
  const telling = all.filter(({ letters }) => letters > 0);
  /** Templates without a text, which only hold others together. */
  const joining = all.filter(({ letters }) => letters === 0);

  const say = (text: string, depth: number): string => {
    if (depth === 0 || text.length > longest || !/\p{L}{2}/u.test(text)) return text;
    return (
      whole(telling, text, depth) ?? bySentences(text, depth) ?? whole(joining, text, depth) ?? text
    );
  };

  const whole = (entries: readonly Phrase[], text: string, depth: number): string | null => {
    for (const { from, to } of entries) {
      for (const [asked, shape] of shapes(text, from)) {
        const filling = match(from, asked);
        if (filling) return shape(fill(to, from, filling, (inner) => say(inner, depth - 1)));
      }
    }
    return null;
  };

  /** The first sentence that is known, and then what follows. */
  const bySentences = (text: string, depth: number): string | null => {
    let end = sentenceEnd(text, 0);
    for (let ends = 0; end > 0 && ends < mostEnds; ends += 1) {
      const first = whole(telling, text.slice(0, end), depth);
      const rest = text.slice(end);
      const space = rest.length - rest.trimStart().length;
      if (first !== null) return first + rest.slice(0, space) + say(rest.slice(space), depth - 1);
      end = sentenceEnd(text, end);
    }
    return null;
  };

  return (sentence) => say(sentence, deepest);
}

function entry(from: string, to: string): Phrase {
  const hole = behind.test(from) ? `{${before}}` : '';
  const known = template(hole + from);
  const letters = known.parts.join('').replaceAll(/[^\p{L}]/gu, '').length;
  return { from: known, to: template(hole + to), letters };
}

function template(text: string): Template {
  const pieces = text.split(/\{(\w+)\}/);
  return {
    parts: pieces.filter((_, index) => index % 2 === 0),
    holes: pieces.filter((_, index) => index % 2 === 1),
  };
}

type Shape = [text: string, back: (sentence: string) => string];

/** The text, and as it was before it became a sentence: with a small letter, without a full stop. */
function shapes(text: string, { parts }: Template): Shape[] {
  const [first = ''] = parts;
  const last = parts.at(-1) ?? '';
  const isSmall = /^\p{Ll}/u.test(first) && /^\p{Lu}/u.test(text);
  const isOpen = last !== '' && !/[.?!]$/.test(last) && text.endsWith('.');
  const small = isSmall ? text.charAt(0).toLowerCase() + text.slice(1) : text;
  const raise = (sentence: string): string =>
    isSmall ? sentence.charAt(0).toUpperCase() + sentence.slice(1) : sentence;
  const shaped: Shape = [small, raise];
  return isOpen ? [shaped, [small.slice(0, -1), (sentence) => `${raise(sentence)}.`]] : [shaped];
}

/**
 * The content of the holes, if the text was made from the template. Each part is looked for once: a template that is
 * put behind another sentence from the end, as that one may hold the same signs.
 */
function match({ parts, holes }: Template, text: string): string[] | null {
  const [first = '', ...others] = parts;
  const last = others.pop();
  if (last === undefined) return text === first ? [] : null;
  const [start, end] = [first.length, text.length - last.length];
  if (start > end || !text.startsWith(first) || !text.endsWith(last)) return null;
  const between = text.slice(start, end);
  return holes[0] === before ? fromEnd(others, between) : fromStart(others, between);
}

function fromStart(parts: readonly string[], text: string): string[] | null {
  const filling: string[] = [];
  let from = 0;
  for (const part of parts) {
    const at = text.indexOf(part, from);
    if (at < 0) return null;
    filling.push(text.slice(from, at));
    from = at + part.length;
  }
  return [...filling, text.slice(from)];
}

function fromEnd(parts: readonly string[], text: string): string[] | null {
  const filling: string[] = [];
  let to = text.length;
  for (const part of parts.toReversed()) {
    const at = to < part.length ? -1 : text.lastIndexOf(part, to - part.length);
    if (at < 0) return null;
    filling.unshift(text.slice(at + part.length, to));
    to = at;
  }
  return [text.slice(0, to), ...filling];
}

/** The translation with what stood in the holes. */
function fill(
  to: Template,
  from: Template,
  filling: readonly string[],
  say: (text: string) => string,
): string {
  const isQuoted = (hole: string): boolean =>
    written.has(hole) || /[`“]$/.test(from.parts[from.holes.indexOf(hole)] ?? '');
  return to.parts
    .map((part, index) => {
      const hole = to.holes[index];
      if (hole === undefined) return part;
      const text = filling[from.holes.indexOf(hole)] ?? '';
      return part + (isQuoted(hole) ? text : inside(text, say));
    })
    .join('');
}

/** The translation of a hole's content, as it is, or else without the spaces around it; line by line. */
function inside(text: string, say: (text: string) => string): string {
  const lines = text.split('\n');
  if (lines.length > 1) return lines.map((line) => inside(line, say)).join('\n');
  const whole = say(text);
  if (whole !== text) return whole;
  const trimmed = text.trim();
  return trimmed && text.replace(trimmed, () => say(trimmed));
}

/** Behind the next full stop, question mark or exclamation mark that a space follows; 0 when there is none. */
function sentenceEnd(text: string, from: number): number {
  const found = /[.?!]\s/g;
  found.lastIndex = from;
  const at = found.exec(text);
  return at ? at.index + 1 : 0;
}
