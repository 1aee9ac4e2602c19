import { describe, expect, it } from 'vitest';

import type { DiffLineKind, NoteHunk } from '../../../src/ipc/bindings';
import { decisions } from '../../../src/state/review/decisions';
import { equalChange } from '../../../src/state/review/equal-change';
import { line, noteDiff } from '../../fake/stories/changes/diff';

/** A hunk as a diff is written: a sign before each line. */
function hunk(text: string, properties = false): NoteHunk {
  const signs: Readonly<Record<string, DiffLineKind>> = { '+': 'added', '-': 'removed' };
  const lines = text.split('\n').map((one) => {
    return line(signs[one.charAt(0)] ?? 'same', one.slice(1));
  });
  return { heading: null, properties, oldStart: 1, newStart: 1, lines };
}

const property = (text: string): NoteHunk => hunk(text, true);

describe('equal changes are one decision', () => {
  it.each<[string, NoteHunk[], NoteHunk]>([
    [
      'a property is added',
      [property(' ---\n+status: done'), property('+status: done\n ---')],
      property('+status: dune\n ---'),
    ],
    [
      'a property is added, also where there were none',
      [property('+status: done'), property('+---\n+status: done\n+---\n+')],
      property('+---\n+Status: done\n+---\n+'),
    ],
    [
      'a property is set, whatever it was',
      [property('-status: open\n+status: done'), property('-status: draft\n+status: done')],
      property('-status: draft\n+status: Done'),
    ],
    [
      'a property is removed',
      [property('-status: done'), property(' a: b\n-status: done')],
      property(' a: b\n-status: dune'),
    ],
    [
      'a tag is added to lists of other tags',
      [
        property('-tags: [a, b]\n+tags: [a, b, done]'),
        property('-tags: []\n+tags: [done]'),
        property('-tags: [x]\n+tags: [done, x]'),
      ],
      property('-tags: [x]\n+tags: [dune, x]'),
    ],
    [
      'a tag is removed',
      [property('-tags: [a, b]\n+tags: [a]'), property('-tags: [b]\n+tags: []')],
      property('-tags: [B]\n+tags: []'),
    ],
    ['a line is added', [hunk(' # Soup\n+- salt'), hunk('+- salt\n+')], hunk('+- malt\n+')],
    [
      'a line is added behind the last one',
      [hunk('-pears\n+pears\n+- salt'), hunk('+- salt')],
      hunk('-pears\n+pears\n+- malt'),
    ],
    ['a line is removed', [hunk('-Draft'), hunk(' a\n-Draft')], hunk(' a\n-Drift')],
    [
      'a paragraph is rewritten',
      [hunk('-one\n-two\n+three'), hunk('-one\n-two\n+three')],
      hunk('-one\n-twa\n+three'),
    ],
    [
      'a word is put in the place of another',
      [hunk('-the port\n+the harbour'), hunk('-a port\n+a harbour')],
      hunk('-a port\n+a harbours'),
    ],
    [
      'a link is renamed, in a property as well',
      [hunk('-See [[A]].\n+See [[B]].'), property('-project: "[[A]]"\n+project: "[[B]]"')],
      property('-project: "[[A]]"\n+project: "[[C]]"'),
    ],
  ])('%s, and one that differs in a letter is decided alone', (_, hunks, other) => {
    const notes = hunks.map((one, at) => noteDiff(`${at}.md`, { hunks: [one] }));
    const found = decisions(notes);
    expect(found.same.map((one) => one.notes)).toEqual([hunks.length]);
    expect(found.notes).toEqual([]);

    const mixed = decisions([...notes, noteDiff('other.md', { hunks: [other] })]);
    expect(mixed.same).toEqual(found.same);
    expect(mixed.notes.map(({ lead }) => lead.path)).toEqual(['other.md']);
  });

  it.each<[string, NoteHunk, NoteHunk]>([
    ['other values', property('+status: done'), property('+status: open')],
    ['other properties', property('-a: 1\n+a: 2'), property('-b: 1\n+b: 2')],
    ['added and removed', hunk('+Draft'), hunk('-Draft')],
    ['a property and a line of text', property('+status: done'), hunk('+status: done')],
    ['blank lines', hunk('+'), hunk('+')],
  ])('and others are not: %s', (_, one, other) => {
    const notes = [noteDiff('1.md', { hunks: [one] }), noteDiff('2.md', { hunks: [other] })];
    expect(decisions(notes).same).toEqual([]);
  });

  it('says which values come and go', () => {
    expect(equalChange(property('-tags: [a, b]\n+tags: [b, c]'))?.change).toEqual({
      ...{ type: 'values', name: 'tags' },
      ...{ added: ['c'], removed: ['a'] },
    });
  });
});
