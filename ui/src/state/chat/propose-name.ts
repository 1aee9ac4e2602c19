/** Proposes a note name for an answer. */
import { m } from '../../messages/messages';

/** No longer: a list shows it whole. */
const longest = 80;
/** The number of UTF-16 units of a heading that are looked at: the text of a model may be one long line. */
const longestHeading = 400;

/** From its first heading, else from the conversation's title. No folder, no `.md`. */
export function proposeName(text: string, title: string): string {
  return fileName(firstHeading(text)) || fileName(title) || m.answer_name_default();
}

function firstHeading(text: string): string {
  let fenced = false;
  for (const line of text.split('\n')) {
    if (/^ {0,3}(```|~~~)/.test(line)) fenced = !fenced;
    const title = fenced ? '' : headingText(line.slice(0, longestHeading));
    if (title) return plain(title);
  }
  return '';
}

/** Without the signs around it; empty where the line is no heading. */
function headingText(line: string): string {
  const [signs] = /^ {0,3}#{1,6}\s+/.exec(line) ?? [];
  if (signs === undefined) return '';
  let end = line.length;
  while (end > signs.length && /[\s#]/.test(line.charAt(end - 1))) end -= 1;
  return line.slice(signs.length, end);
}

/** The text of a heading: links by their label, no signs. */
function plain(title: string): string {
  return title
    .replace(/\[\[(?:[^\]|]*\|)?([^\]]*)\]\]/g, '$1')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[*_`~=]/g, '');
}

/** As every system and every link takes it. */
function fileName(title: string): string {
  const kept = title
    .replace(/\p{C}/gu, '')
    .replace(/[\\/:*?"<>|#^[\]]/g, ' ')
    .replace(/\s+/g, ' ')
    // A part that looks like the end of a file's name would be taken for one.
    .replace(/\.(?=[a-z0-9_$-]{1,12}\s*$)/i, ' ')
    .replace(/^[\s.]+/, '');
  return shortened(kept).replace(/[\s.]+$/, '');
}

/** Cut behind a word, where there is one. */
function shortened(title: string): string {
  const letters = [...title];
  if (letters.length <= longest) return title;
  const cut = letters.slice(0, longest).join('');
  return cut.replace(/\s\S*$/, '');
}
