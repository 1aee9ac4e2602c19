import { describe, expect, it } from 'vitest';

import { groups } from '../../src/features/conversations/groups';
import { bodyLine, noteBody } from '../../src/state/notes/note-body';
import { linkedNote, noteFolder, noteLabel, noteName } from '../../src/state/notes/note-path';
import { row } from '../fake/stories/base';

describe('a note’s path', () => {
  it('is read as name, folder and both', () => {
    expect(noteName('Recipes/Soup.md')).toBe('Soup');
    expect(noteFolder('Recipes/Winter/Soup.md')).toBe('Recipes/Winter');
    expect(noteFolder('Soup.md')).toBe('');
    expect(noteLabel('Recipes/Soup.MD')).toBe('Recipes/Soup');
    expect(noteName('v1.2 plan.md')).toBe('v1.2 plan');
  });

  it.each([
    ['Luca Ferri', 'Luca Ferri.md'],
    ['Groceries#Sunday', 'Groceries.md'],
    ['Groceries#^block', 'Groceries.md'],
    ['Pantry|the pantry', 'Pantry.md'],
    ['./Recipes/Soup.md', 'Recipes/Soup.md'],
    ['Photos/harbour.png', 'Photos/harbour.png'],
  ])('is found behind the link %s', (target, path) => {
    expect(linkedNote(target)).toBe(path);
  });
});

describe('the text behind the properties of a note', () => {
  it.each([
    ['---\na: 🌱\n---\n# Note\n', 14, '# Note\n', 4],
    ['---\r\na: 1\r\n...\r\nText', 16, 'Text', 4],
    ['Text\n---\na: 1\n---\n', 0, 'Text\n---\na: 1\n---\n', 1],
  ])('of %j begins where the application says', (text, bodyStart, body, line) => {
    const note = { text, properties: [], bodyStart };
    expect(noteBody(note)).toBe(body);
    expect(bodyLine(note)).toBe(line);
  });
});

describe('the conversation list', () => {
  const now = new Date(2026, 10, 21, 12);
  const at = (day: number, hour: number) => new Date(2026, 10, day, hour).getTime();

  it('puts conversations that need attention on top and the rest by the day', () => {
    const rows = [
      row('late', 'now', { updatedAt: at(21, 1) }),
      row('asks', 'asks', { updatedAt: at(1, 1), waitingQuestion: 'Which?' }),
      row('before', 'yesterday', { updatedAt: at(20, 23) }),
      row('week', 'week', { updatedAt: at(16, 12) }),
      row('old', 'old', { updatedAt: at(1, 12) }),
      row('waits', 'waits', { updatedAt: at(21, 2), waitingNotes: 2 }),
    ];
    expect(
      groups(rows, now).map(({ name, conversations }) => [name, ...conversations.map((c) => c.id)]),
    ).toEqual([
      ['needs', 'asks', 'waits'],
      ['today', 'late'],
      ['yesterday', 'before'],
      ['week', 'week'],
      ['older', 'old'],
    ]);
  });

  it('has no group without a conversation', () => {
    expect(groups([], now)).toEqual([]);
  });
});
