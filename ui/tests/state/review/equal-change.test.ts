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

/** Whether notes with these hunks, one each, are one decision. */
function areOne(...hunks: readonly NoteHunk[]): boolean {
  const notes = hunks.map((one, at) => noteDiff(`${at}.md`, { hunks: [one] }));
  const { same, notes: own } = decisions(notes);
  return own.length === 0 && same.length === 1;
}

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

/** A tag that is added in each way that a list may be written in. */
const added: readonly NoteHunk[] = [
  property('-tags: [a]\n+tags: [a, done]'),
  property('-tags: []\n+tags: [done]'),
  property(' ---\n tags:\n   - a\n+  - done\n ---'),
  property(' tags:\n - a\n+- done\n - b\n title: Soup'),
  property(' tags: # by topic\n+  - done\n   - b\n\n   # the others\n   - c'),
  property(' tags:\n+  - done\n ---'),
  property('-tags: []\n+tags:\n+  - done\n status: open'),
  property(' title: Soup\n+tags:\n+  - done\n ---\n - done'),
  property(' aliases:\n   - Soup\n+tags: [done]\n ---'),
  property('+---\n+tags:\n+  - done\n+---\n+\n # Soup'),
];

/** The same for a tag that is removed. */
const removed: readonly NoteHunk[] = [
  property('-tags: [a, done]\n+tags: [a]'),
  property(' ---\n tags:\n   - a\n-  - done\n ---'),
  property(' tags:\n-- done\n - a\n title: Soup'),
  property('-tags:\n-  - done\n+tags: []\n ---'),
  property(' tags:\n-  - done\n ---\n'),
];

describe('a value of a list is one decision, whether the list is written on one line or below its name', () => {
  const values = { type: 'values', name: 'tags' } as const;

  it.each([
    ['added', added, { ...values, added: ['done'], removed: [] }],
    ['removed', removed, { ...values, added: [], removed: ['done'] }],
  ])('%s', (_, hunks, change) => {
    expect(hunks.map((one) => equalChange(one)?.change)).toEqual(hunks.map(() => change));
    expect(areOne(...hunks)).toBe(true);
  });

  it('put in the place of another', () => {
    const block = property(' tags:\n-  - open\n+  - done\n   - a');
    expect(areOne(property('-tags: [open]\n+tags: [done]'), block)).toBe(true);
    expect(areOne(property('-tags: [open]\n+tags: [dune]'), block)).toBe(false);
  });

  it('with quotes, a comma or a link in it', () => {
    const [quoted, links] = ['"a, b"', '"[[Soup]]"'];
    const block = (value: string) => property(` tags:\n   - x\n+  - ${value}\n ---`);
    for (const value of [quoted, links]) {
      expect(areOne(property(`-tags: [x]\n+tags: [x, ${value}]`), block(value))).toBe(true);
    }
    expect(areOne(property('-tags: [x]\n+tags: [x, a, b]'), block('a, b'))).toBe(false);
  });

  it('where the hunk before it has the name of the list', () => {
    const first = property(' ---\n-status: open\n+status: done\n tags:');
    const second = { ...property('+  - done\n ---'), oldStart: 4, newStart: 4 };
    const far = { ...second, oldStart: 5, newStart: 5 };
    const both = (hunk: NoteHunk) =>
      decisions([
        noteDiff('1.md', { hunks: [first, hunk] }),
        noteDiff('2.md', { hunks: [property('-tags: [a]\n+tags: [a, done]')] }),
      ]);
    expect(both(second).same.map(({ places }) => places.length)).toEqual([2]);
    expect(both(second).notes.map(({ hunks }) => hunks)).toEqual([[0]]);
    // The control: lines are between them that nobody sees.
    expect(both(far).same).toEqual([]);
  });
});

describe('what only looks like the same value of the same list is decided on its own', () => {
  it.each<[string, NoteHunk]>([
    ['another property', property(' aliases:\n   - a\n+  - done\n ---')],
    ['another property, below the list', property(' tags:\n   - a\n aliases:\n+  - done\n ---')],
    ['another spelling of the property', property(' Tags:\n   - a\n+  - done\n ---')],
    ['another value', property(' tags:\n   - a\n+  - dune\n ---')],
    ['a value in quotes', property(' tags:\n   - a\n+  - "done"\n ---')],
    ['a value with a comment', property(' tags:\n   - a\n+  - done # now\n ---')],
    ['a value that goes', property(' tags:\n   - a\n-  - done\n ---')],
    ['another value besides', property(' tags:\n   - a\n+  - b\n+  - done\n ---')],
    ['another property besides', property(' tags:\n   - a\n+  - done\n+status: open\n ---')],
    ['a list inside of a map', property(' meta:\n   tags:\n     - a\n+    - done\n ---')],
    ['a list inside of a list', property(' tags:\n - a:\n   - b\n+  - done\n ---')],
    ['a map in the list', property(' tags:\n   - a\n+  - done: 1\n ---')],
    ['the lines of a text', property(' tags: |\n   - a\n+  - done\n ---')],
    ['more lines of a value', property(' tags:\n   - a\n+  - done\n     and so on\n ---')],
    ['a name that takes over a value', property(' aliases:\n+tags:\n   - done\n ---')],
    ['a name that changes as well', property('-aliases: [a]\n+tags: [a, done]')],
    ['a second list of that name', property(' tags:\n-  - a\n+tags:\n+  - a\n+  - done\n ---')],
    ['a list on one line and below', property('-tags: [a]\n+tags: [a, done]\n+  - a\n ---')],
    ['a comment besides', property(' tags:\n   - a\n+  # now\n+  - done\n ---')],
    ['a list that is rewritten', property('-tags: [a]\n+tags:\n+  - a\n+  - done\n ---')],
    ['a text that becomes a list', property('-tags: a\n+tags: [a, done]\n ---')],
    ['a list out of sight', property('   - a\n   - b\n   - c\n+  - done\n ---')],
    ['a line of the body', hunk(' tags:\n   - a\n+  - done\n ---')],
    ['a line of the body, on one line', hunk('-tags: [a]\n+tags: [a, done]')],
    ['a line below the properties', property(' tags:\n ---\n - a\n+- done')],
  ])('%s', (_, other) => {
    for (const one of added) expect(areOne(one, other)).toBe(false);
    // The control: it is a change, and the same in two notes.
    expect(areOne(other, other)).toBe(true);
  });

  it('a property that goes with its value, and a list that loses it', () => {
    const gone = property('-tags:\n-  - done\n ---');
    for (const one of removed) expect(areOne(one, gone)).toBe(false);
  });

  it('a link that gives way to another: that is the same in any line', () => {
    const renamed = property(' tags:\n-  - "[[A]]"\n+  - "[[B]]"\n ---');
    expect(areOne(renamed, hunk('-See [[A]].\n+See [[B]].'))).toBe(true);
  });

  it.each([
    ['of another map', ' meta:\n   tags:\n+    - done', ' other:\n   tags:\n+    - done'],
    ['of another list of the map', ' m:\n   tags:\n+    - done', ' m:\n   links:\n+    - done'],
    ['of another text', ' tags: |\n+  - done', ' title: |\n+  - done'],
  ])('a line %s', (_, one, other) => {
    expect(areOne(property(one), property(other))).toBe(false);
    expect(areOne(property(one), property(` x: y\n${one}\n z: y`))).toBe(true);
  });
});
