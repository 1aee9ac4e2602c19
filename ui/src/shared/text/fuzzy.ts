/** Scores how well a name matches a query: each word of the query, somewhere in the name. */

/** UTF-16 offsets in the name. */
export type Mark = readonly [start: number, end: number];

export interface Fit {
  /** Higher is better. */
  readonly score: number;
  /** The indexes that fit, ascending. */
  readonly marks: readonly Mark[];
}

/** `null` when the name does not contain a word of the query. Without words everything fits alike. */
export function fuzzy(query: string, name: string): Fit | null {
  const words = folded(query)
    .split(/\s+/)
    .filter((word) => word !== '');
  const letters = folded(name);
  let score = 0;
  const marks: Mark[] = [];
  for (const word of words) {
    const fit = whole(word, letters) ?? scattered(word, letters);
    if (!fit) return null;
    score += fit.score;
    marks.push(...fit.marks);
  }
  return { score, marks: joined(marks) };
}

/** Lower case without accents, each letter at its offset. */
function folded(text: string): string {
  return Array.from({ length: text.length }, (_, at) => {
    const letter = text.charAt(at);
    const [bare = letter] = letter.normalize('NFD').toLowerCase();
    return bare;
  }).join('');
}

/** The letters in one piece: best where the name begins, then where a word of it does. */
function whole(word: string, letters: string): Fit | null {
  const places = [...letters.matchAll(new RegExp(escaped(word), 'g'))].map(({ index }) => index);
  const at = places.find((place) => beginsWord(letters, place)) ?? places[0];
  if (at === undefined) return null;
  const score = at === 0 ? 4 : beginsWord(letters, at) ? 3 : 2;
  return { score, marks: [[at, at + word.length]] };
}

/** The letters in their order, from where a word begins. */
function scattered(word: string, letters: string): Fit | null {
  const marks: Mark[] = [];
  let from = 0;
  for (const letter of word) {
    let at = letters.indexOf(letter, from);
    while (at >= 0 && marks.length === 0 && !beginsWord(letters, at)) {
      at = letters.indexOf(letter, at + 1);
    }
    if (at < 0) return null;
    marks.push([at, at + letter.length]);
    from = at + letter.length;
  }
  return { score: 1, marks };
}

function beginsWord(letters: string, at: number): boolean {
  return at === 0 || !/[\p{L}\p{N}]/u.test(letters.charAt(at - 1));
}

/** Ascending; those that touch are one. */
function joined(marks: readonly Mark[]): Mark[] {
  const all: Mark[] = [];
  for (const [start, end] of marks.toSorted(([one], [other]) => one - other)) {
    const last = all.at(-1);
    if (last && start <= last[1]) all[all.length - 1] = [last[0], Math.max(last[1], end)];
    else all.push([start, end]);
  }
  return all;
}

function escaped(word: string): string {
  return word.replace(/[$()*+./?[\\\]^{|}-]/g, '\\$&');
}
