import { describe, expect, it } from 'vitest';

import cases from '../../../../crates/app/src/changes/hunk_decisions/cases.json';
import { editedLines, newText } from '../../../src/features/review/hunks/hunk-text';
import type { DiffLine, DiffLineKind, NoteHunk } from '../../../src/ipc/bindings';
import { line } from '../../fake/stories/changes/diff';

function linesOf(note: string): string[] {
  const text = note.replaceAll('\r\n', '\n');
  return text === '' ? [] : text.replace(/\n$/, '').split('\n');
}

/** The one hunk of a change, as far down as it means the same. */
function hunkOf(before: string, after: string): NoteHunk {
  const [old, now] = [linesOf(before), linesOf(after)];
  const most = Math.min(old.length, now.length);
  let above = 0;
  while (above < most && old[above] === now[above]) above += 1;
  let below = 0;
  while (below < most - above && old.at(-1 - below) === now.at(-1 - below)) below += 1;
  const signed = (sign: DiffLineKind, lines: string[]): DiffLine[] =>
    lines.map((text) => line(sign, text));
  const lines = [
    ...signed('same', old.slice(0, above)),
    ...signed('removed', old.slice(above, old.length - below)),
    ...signed('added', now.slice(above, now.length - below)),
    ...signed('same', old.slice(old.length - below)),
  ];
  return { heading: null, properties: false, oldStart: 1, newStart: 1, lines };
}

/** The lines that stay or come. */
function shown(lines: readonly DiffLine[]): string[] {
  return lines
    .filter(({ sign }) => sign !== 'removed')
    .map(({ words }) => words.map(({ text }) => text).join(''));
}

describe('the lines that the user wrote for a hunk', () => {
  it.each(cases)('are shown as the program writes them: $name', (one) => {
    const hunk = hunkOf(one.before, one.after);
    expect(shown(hunk.lines), 'the control').toEqual(linesOf(one.after));
    expect(shown(editedLines(hunk, one.text))).toEqual(one.shown);
    // In a note that ends without a line break, a blank last line is only the break before it.
    const seen =
      one.shown.at(-1) === '' && !/\n$/.test(one.after) ? one.shown.slice(0, -1) : one.shown;
    expect(linesOf(one.written)).toEqual(seen);
  });

  it('begin with the new ones, the blank last line too', () => {
    expect(newText(hunkOf('intro\n\nnext\n', 'intro\n\nnew\n\nnext\n'))).toBe('new\n');
  });
});
