import { render, screen } from '@testing-library/svelte';
import { expect, it, vi } from 'vitest';

import MentionChips from '../../../src/features/composer/MentionChips.svelte';
import PrivateNameDialog from '../../../src/features/composer/PrivateNameDialog.svelte';
import ExternalLinkDialog from '../../../src/views/dialogs/ExternalLinkDialog.svelte';

/** Turns the direction of the text behind it. */
const unseen = '\u202e';
const path = `Plan${unseen}B.md`;

/** Whether a character that nobody sees is marked in place of being drawn. */
function expectMark(part: HTMLElement): void {
  expect(part.querySelector('.unseen')).not.toBeNull();
  expect(part.textContent).not.toContain(unseen);
}

it('are marked on the chips of a message', () => {
  const openNote = { path, selected: false, private: null };
  render(MentionChips, {
    ...{
      mentions: [{ type: 'note', path: `Letter${unseen}.md`, link: 'Letter' } as const],
      openNote,
    },
    ...{ ruleOf: () => null, ondrop: vi.fn(), onexclude: vi.fn() },
  });
  const chips = screen.getAllByRole('listitem');
  expect(chips).toHaveLength(2);
  chips.forEach(expectMark);
});

it.each([
  ['note', { type: 'note', path, link: 'Plan' }],
  ['folder', { type: 'folder', path: `Diary${unseen}` }],
  ['tag', { type: 'tag', tag: `plan${unseen}` }],
] as const)('are marked in the question about a private %s', (_, mention) => {
  render(PrivateNameDialog, {
    ...{ mention, rule: 'never', model: 'Haiku', action: 'Send' },
    ...{ onconfirm: vi.fn(), oncancel: vi.fn() },
  } as const);
  expectMark(screen.getByRole('dialog'));
});

it('are marked in the address that a link leads to', () => {
  render(ExternalLinkDialog, { url: `https://example.org/${unseen}gpj.exe`, onclose: vi.fn() });
  expectMark(screen.getByRole('dialog'));
});
