import { render, screen } from '@testing-library/svelte';
import { expect, it } from 'vitest';

import DecisionLine from '../../../src/features/chat/tool-calls/DecisionLine.svelte';

function lines(): string[] {
  return screen
    .getAllByRole('paragraph')
    .map(({ textContent }) => textContent.replace(/\s+/g, ' ').trim());
}

it('names a note that was changed in part once, neither as changed nor as left', () => {
  render(DecisionLine, {
    applied: ['Soup.md', 'Pears.md'],
    rejected: ['Pears.md', 'Tasks.md'],
    since: { undone: [], partly: [] },
    onnote: () => undefined,
  });
  expect(lines()).toEqual([
    'Changed 1 note: Soup',
    'Partly changed 1 note: Pears',
    'Rejected changes to 1 note: Tasks',
  ]);
});

it('says of no note that it was changed once that was undone', () => {
  render(DecisionLine, {
    applied: ['Soup.md', 'Pears.md', 'Bread.md'],
    rejected: ['Pears.md', 'Tasks.md'],
    since: { undone: ['Pears.md'], partly: ['Bread.md'] },
    onnote: () => undefined,
  });
  expect(lines()).toEqual([
    'Changed 1 note: Soup',
    'Undid the changes to 1 note: Pears',
    'Undid some of the changes to 1 note: Bread',
    'Rejected changes to 1 note: Tasks',
  ]);
});

it('names a note once that a decision lists twice', () => {
  render(DecisionLine, {
    applied: ['Soup.md', 'Soup.md', 'Bread.md', 'Bread.md', 'Cake.md', 'Cake.md'],
    rejected: ['Tasks.md', 'Tasks.md'],
    since: { undone: ['Bread.md', 'Bread.md'], partly: ['Cake.md', 'Cake.md'] },
    onnote: () => undefined,
  });
  expect(lines()).toEqual([
    'Changed 1 note: Soup',
    'Undid the changes to 1 note: Bread',
    'Undid some of the changes to 1 note: Cake',
    'Rejected changes to 1 note: Tasks',
  ]);
});
