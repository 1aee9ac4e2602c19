import { render, screen } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { expect, it } from 'vitest';

import UserMessage from '../../../src/features/chat/message/UserMessage.svelte';
import type { Origin } from '../../../src/ipc/bindings';

const hint = 'The new answer is not sent to the hub.';

function show(origin: Origin, editing: boolean, text = 'Remember milk'): void {
  const nothing = (): void => undefined;
  render(UserMessage, {
    message: { type: 'user', id: 'u1', text, origin, at: 0, queued: false },
    ...{ last: true, atRest: true, variant: null, editing, edited: null, sending: false },
    ...{ onnote: nothing, oneditqueued: nothing, onremove: nothing, onregenerate: nothing },
    ...{ onvariant: nothing, onediting: nothing, onwrite: nothing },
  });
}

it.each<Origin>(['hub_text', 'hub_voice'])(
  'says that a new answer to a message of origin %s is not sent to the hub',
  (origin) => {
    show(origin, false);
    const button = screen.getByRole('button', { name: 'Regenerate' });
    expect(button).toHaveAccessibleDescription(hint);
  },
);

it('says the same while the message is edited', () => {
  show('hub_text', true);
  expect(screen.getByText(hint)).toBeVisible();
});

it('says nothing about the hub at a message from the window', () => {
  show('window', false);
  const button = screen.getByRole('button', { name: 'Regenerate' });
  expect(button).not.toHaveAccessibleDescription();
});

it('says nothing about the hub while a message from the window is edited', () => {
  show('window', true);
  expect(screen.queryByText(hint)).toBeNull();
});

const attached = 'Look\n\nAttached file: a.txt\n```\none\n```';
const bubble = (): string | null | undefined => document.querySelector('.me')?.textContent;

it.each<Origin>(['hub_text', 'hub_voice'])(
  'shows the text of origin %s whole, without files',
  (origin) => {
    show(origin, false, attached);
    expect(bubble()).toBe(attached);
    expect(screen.queryByTestId('attached')).toBeNull();
  },
);

it('shows the files of a message from the window', () => {
  show('window', false, attached);
  expect(bubble()).toBe('Look');
  expect(screen.getByTestId('attached')).toHaveTextContent('a.txt');
});

it('shows the beginning of a very long message, and more of it when asked', async () => {
  const text = `${'word '.repeat(4_000)}the end`;
  show('hub_text', false, text);
  expect(bubble()).toBe(`${text.slice(0, 16_000)}Show more`);
  await userEvent.setup().click(screen.getByRole('button', { name: 'Show more' }));
  expect(bubble()).toBe(text);
  expect(screen.queryByRole('button', { name: 'Show more' })).toBeNull();
});

it('does not cut a character in half', () => {
  show('window', false, `${'a'.repeat(15_999)}\u{1f600}b`);
  expect(bubble()).toBe(`${'a'.repeat(15_999)}Show more`);
});

it('shows a message of sixteen thousand characters whole', () => {
  show('window', false, 'a'.repeat(16_000));
  expect(bubble()).toBe('a'.repeat(16_000));
});
