import { render, screen } from '@testing-library/svelte';
import { expect, it } from 'vitest';

import UserMessage from '../../../src/features/chat/message/UserMessage.svelte';
import type { Origin } from '../../../src/ipc/bindings';

const hint = 'The new answer is not sent to the hub.';

function show(origin: Origin, editing: boolean): void {
  const nothing = (): void => undefined;
  render(UserMessage, {
    message: { type: 'user', id: 'u1', text: 'Remember milk', origin, at: 0, queued: false },
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
