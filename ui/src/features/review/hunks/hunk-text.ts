/** The texts of a hunk: its position and its lines. */
import type { DiffLine, NoteHunk } from '../../../ipc/bindings';
import { m } from '../../../messages/messages';
import type { IconName } from '../../../shared/components/icons';

interface HunkText {
  readonly where: string;
  readonly icon: IconName;
}

/** The heading it stands under, else its line; what kind of lines they are shows as a sign. */
export function hunkText(hunk: NoteHunk): HunkText {
  if (hunk.properties) return { where: m.review_properties(), icon: 'list' };
  const where = hunk.heading ?? m.review_line({ line: hunk.newStart });
  const changed = hunk.lines.filter(({ sign }) => sign !== 'same').map(text);
  const are = (like: RegExp): boolean =>
    changed.some((line) => like.test(line)) &&
    changed.every((line) => like.test(line) || line.trim() === '');
  if (are(/^\s*\|/)) return { where: m.review_table({ where }), icon: 'list' };
  if (are(/^\s*([-*+]|\d+[.)])\s/)) return { where, icon: 'list' };
  if (are(/^#{1,6}\s/)) return { where: m.review_heading(), icon: 'hash' };
  return { where, icon: 'hash' };
}

/** The lines as they shall be. */
export function newText({ lines }: NoteHunk): string {
  return lines
    .filter(({ sign }) => sign === 'added')
    .map(text)
    .join('\n');
}

/** The lines with the user's own in the place of the new ones. */
export function editedLines({ lines }: NoteHunk, own: string): DiffLine[] {
  const last = lines.findLastIndex(({ sign }) => sign !== 'same');
  const written = own === '' ? [] : own.split('\n');
  const added = written.map((line): DiffLine => {
    return { sign: 'added', words: [{ text: line, marked: false }] };
  });
  const before = lines.slice(0, last + 1).filter(({ sign }) => sign !== 'added');
  return [...before, ...added, ...lines.slice(last + 1)];
}

function text({ words }: DiffLine): string {
  return words.map((word) => word.text).join('');
}
