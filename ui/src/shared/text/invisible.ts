/**
 * Characters that nobody sees in a text, so that they can be shown as marks. The same rule as the
 * crate `protocol`'s `invisible`, held together by one table of cases.
 */

/** Where they stand: UTF-16 offsets, in order, apart from each other. */
export function invisibleRanges(text: string): (readonly [start: number, end: number])[] {
  const found: [number, number][] = [];
  if (!anyUnseen.test(text)) return found;
  const signs = [...text];
  let at = 0;
  let base = '';
  let flagUntil = 0;
  signs.forEach((sign, index) => {
    const end = at + sign.length;
    const before = signs[index - 1] ?? '';
    const after = signs[index + 1] ?? '';
    if (at >= flagUntil && isIn(unseen, sign) && !isNeeded(sign, before, base, after)) {
      const last = found.at(-1);
      if (last?.[1] === at) last[1] = end;
      else found.push([at, end]);
    }
    if (sign === blackFlag) {
      flagUntil = end + (flags.find((flag) => text.startsWith(flag, end))?.length ?? 0);
    }
    if (sign !== emojiStyle && sign !== joiner && !isIn(skinTones, sign)) base = sign;
    at = end;
  });
  return found;
}

/** The text in pieces; every second one is a run of characters that nobody sees. */
export function splitInvisible(text: string): string[] {
  const cuts = [0, ...invisibleRanges(text).flat(), text.length];
  return cuts.slice(1).map((end, index) => text.slice(cuts[index], end));
}

function isNeeded(sign: string, before: string, base: string, after: string): boolean {
  if (sign === joiner && isIn(pictographs, base) && before !== joiner) {
    return isIn(pictographs, after);
  }
  if (sign === joiner || sign === nonJoiner) return isJoined(before) && isJoined(after);
  if (sign === textStyle || sign === emojiStyle) {
    return isIn(pictographs, before) || /^[0-9#*]$/.test(before);
  }
  if (isIn(mongolianStyles, sign)) return isIn(mongolian, before);
  return sign === '\u2028' || sign === '\u2029';
}

function isJoined(sign: string): boolean {
  return isIn(joined, sign) && !isIn(unseen, sign);
}

const joiner = '\u200d';
const nonJoiner = '\u200c';
const textStyle = '\ufe0e';
const emojiStyle = '\ufe0f';
const blackFlag = '\u{1f3f4}';
/** England, Scotland, Wales. */
const flags = ['gbeng', 'gbsct', 'gbwls'].map(
  (name) =>
    [...name].map((letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join('') +
    '\u{e007f}',
);
/** First and last code points of invisible characters, pictographs, and letters that are joined. */
const unseen = ranges(
  'ad 34f 61c 115f-1160 17b4-17b5 180b-180f 200b-200f 2028-202e 2060-206f 3164 fe00-fe0f feff ffa0 ' +
    'fff0-fffb 1bca0-1bca3 1d173-1d17a e0000-e0fff',
);
const pictographs = ranges(
  'a9 ae 203c 2049 2122 2139 2190-21ff 2300-23ff 24c2 25a0-27bf 2900-297f 2b00-2bff 3030 303d 3297 ' +
    '3299 1f000-1faff',
);
const joined = ranges(
  '620-8ff 900-dff f00-109f 1780-17d3 1820-18aa a840-a8ff fb50-fdff fe70-fefc 11000-11fff',
);
const skinTones = ranges('1f3fb-1f3ff');
const mongolian = ranges('1820-18aa');
const mongolianStyles = ranges('180b-180d 180f');
/** A text of nothing but ASCII holds nothing invisible. */
const anyUnseen = /[^\t-~]/;

type Ranges = readonly (readonly [first: number, last: number])[];

function ranges(written: string): Ranges {
  return written.split(' ').map((range) => {
    const [first = '', last = first] = range.split('-');
    return [parseInt(first, 16), parseInt(last, 16)];
  });
}

function isIn(all: Ranges, sign: string): boolean {
  const code = sign.codePointAt(0) ?? -1;
  return all.some(([first, last]) => first <= code && code <= last);
}
