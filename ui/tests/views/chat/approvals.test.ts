import { fireEvent, render, screen, waitFor, within } from '@testing-library/svelte';
import { expect, it } from 'vitest';

import { Session } from '../../../src/state/session.svelte';
import App from '../../../src/views/App.svelte';
import { FakeHost } from '../../fake/host';
import { advanceClockEachTime } from '../../fake/advancing-clock';
import { stories } from '../../fake/stories';

async function open() {
  const tell = stories['held'];
  if (!tell) throw new Error('no story');
  const host = new FakeHost(tell());
  const session = new Session(host);
  render(App, { session });
  await session.start();
  await screen.findByTestId('approval-card');
  return host;
}

function first(): HTMLElement {
  const [button] = screen.getAllByTestId('approval-send');
  if (!button) throw new Error('nothing needs approval');
  return button;
}

it('the card says once that something needs the user, and why each of it does', async () => {
  await open();
  const card = screen.getByTestId('approval-card');
  const heading = within(card).getByRole('heading', { name: '4 hub messages need attention' });
  const [first] = within(card).getAllByRole('listitem');
  // Nothing else stands above the first of them.
  expect(card.firstElementChild).toBe(heading);
  expect(heading.nextElementSibling).toBe(first?.parentElement);
  expect(card.textContent.match(/need(?:s|ed)? (?:attention|your approval)/gi)).toHaveLength(1);
  expect(card.textContent.match(/Couldn’t/g)).toHaveLength(1);
  expect(card).toHaveTextContent('The disk is full, so `inbox/Inbox.md` wasn’t changed.');
});

it.each([
  ['the second click of a double click', 2],
  ['a click right after it', 1],
])(
  '%s decides nothing about the answer that stands in the place of the first',
  async (_, detail) => {
    const host = await open();
    const decided = first();
    const all = screen.getAllByTestId('approval-send').length;
    await fireEvent.click(decided, { detail: 1 });
    await waitFor(() => expect(screen.getAllByTestId('approval-send')).toHaveLength(all - 1));
    expect(first()).not.toBe(decided);
    await fireEvent.click(first(), { detail });
    expect(host.asked('decideApproval')).toHaveLength(1);
    // The control: once one has seen the next one, it is decided.
    const clock = advanceClockEachTime();
    await fireEvent.click(first(), { detail: 1 });
    clock.mockRestore();
    await waitFor(() => expect(host.asked('decideApproval')).toHaveLength(2));
  },
);

it('an answer whose decision is on its way is not decided again', async () => {
  const host = await open();
  let goOn = (): void => undefined;
  const whole = host.decideApproval.bind(host);
  let asked = 0;
  host.decideApproval = async (number, decision) => {
    asked += 1;
    await new Promise<void>((resolve) => (goOn = resolve));
    await whole(number, decision);
  };
  const button = first();
  await fireEvent.click(button, { detail: 1 });
  expect(button).toHaveAttribute('aria-disabled', 'true');
  await fireEvent.click(button, { detail: 1 });
  goOn();
  await waitFor(() => expect(button).not.toBeInTheDocument());
  expect(asked).toBe(1);
});
