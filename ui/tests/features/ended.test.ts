import { render, screen } from '@testing-library/svelte';
import { expect, it } from 'vitest';

import Ended from '../../src/features/chat/Ended.svelte';
import type { UserError } from '../../src/ipc/bindings';
import { FakeHost } from '../../src/ipc/fake';
import { limited as story } from '../../src/ipc/stories/ended';
import { AppState } from '../../src/state/app.svelte';
import { Keyring } from '../../src/state/keyring.svelte';

function limited(error: UserError | null): void {
  const nothing = (): void => undefined;
  render(Ended, {
    ...{ turn: 't1', status: 'limit', error, open: true, offer: null },
    keyring: { trouble: null, asking: new Keyring(new FakeHost(story()), new AppState()) },
    ...{ onundo: nothing, onleave: nothing, oncontinue: nothing, onretry: nothing },
    onsettings: nothing,
  });
}

it('says that a spending limit stopped the answer, not the number of steps', () => {
  const message = 'This answer reached your limit of $1.00.';
  limited({ code: 'spending', message });
  expect(screen.getByText(/because it reached a spending limit/)).toBeVisible();
  expect(screen.getByText(message)).toBeVisible();
  expect(screen.queryByText(/more steps/)).toBeNull();
});

it('says that the answer took too many steps where no money was the reason', () => {
  limited(null);
  expect(screen.getByText(/more steps than one answer may take/)).toBeVisible();
  expect(screen.queryByText(/spending limit/)).toBeNull();
});
