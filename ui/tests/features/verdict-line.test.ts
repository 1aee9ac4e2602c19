import { render, screen } from '@testing-library/svelte';
import { expect, it } from 'vitest';

import VerdictLine from '../../src/features/chat/VerdictLine.svelte';

it('names a note that was changed in part once, neither as changed nor as left', () => {
  render(VerdictLine, {
    applied: ['Soup.md', 'Pears.md'],
    rejected: ['Pears.md', 'Tasks.md'],
    onnote: () => undefined,
  });
  const lines = screen
    .getAllByRole('paragraph')
    .map(({ textContent }) => textContent.replace(/\s+/g, ' ').trim());
  expect(lines).toEqual([
    'Changed 1 note: Soup',
    'Changed 1 note in part: Pears',
    'Left 1 note as it was: Tasks',
  ]);
});
