import { render, screen, waitFor } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { expect, it } from 'vitest';

import { Session } from '../../../src/state/session.svelte';
import App from '../../../src/views/App.svelte';
import { FakeHost } from '../../fake/host';
import { stories } from '../../fake/stories';

/** The window over a story. Each way on from a turn takes until it is let go on. */
async function open(story: string) {
  const tell = stories[story];
  if (!tell) throw new Error(`no story ${story}`);
  const host = new FakeHost(tell());
  let goOn = (): void => undefined;
  let asked = 0;
  function late<Given, Result>(
    act: (given: Given) => Promise<Result>,
  ): (given: Given) => Promise<Result> {
    return async (given) => {
      asked += 1;
      await new Promise<void>((resolve) => (goOn = resolve));
      return await act(given);
    };
  }
  host.continueTurn = late(host.continueTurn.bind(host));
  host.dismissInterruptedTurn = late(host.dismissInterruptedTurn.bind(host));
  host.regenerate = late(host.regenerate.bind(host));
  const session = new Session(host);
  render(App, { session });
  await session.start();
  return { host, keys: userEvent.setup(), asked: () => asked, goOn: () => goOn() };
}

it.each([
  ['interrupted', 'Continue'],
  ['limited', 'Continue'],
  ['interrupted', 'Leave as is'],
  ['failed', 'Try again'],
])('of a turn that was %s, “%s” is done once, however often it is pressed', async (story, name) => {
  const { keys, asked, goOn } = await open(story);
  const button = await screen.findByRole('button', { name });
  await keys.dblClick(button);
  await keys.keyboard('{Enter}');
  expect(button).toHaveAttribute('aria-disabled', 'true');
  expect(button).toHaveFocus();
  goOn();
  await waitFor(() => expect(screen.getByTestId('composer')).toHaveFocus());
  expect(asked()).toBe(1);
});

it('an interrupted turn can be continued once more where that was refused', async () => {
  const { host, keys, asked, goOn } = await open('interrupted');
  host.refusals.set('continueTurn', { code: 'other', message: 'The disk is full.' });
  const button = await screen.findByRole('button', { name: 'Continue' });
  await keys.click(button);
  await waitFor(() => expect(asked()).toBe(1));
  goOn();
  await screen.findAllByText('The disk is full.');
  await waitFor(() => expect(button).toHaveAttribute('aria-disabled', 'false'));
  expect(button).toHaveFocus();
  await keys.keyboard('{Enter}');
  await waitFor(() => expect(asked()).toBe(2));
});
