import { render, screen, waitFor } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { expect, it } from 'vitest';

import { FakeHost, type Story } from '../../src/ipc/fake';
import { question } from '../../src/ipc/stories/question';
import { Session } from '../../src/state/session.svelte';
import App from '../../src/views/App.svelte';

async function open(story: Story) {
  const host = new FakeHost(story);
  const session = new Session(host);
  render(App, { session });
  await session.start();
  return { host, keys: userEvent.setup() };
}

it('an option is chosen by its number while nothing is written, and never behind other words', async () => {
  const { host, keys } = await open(question());
  await waitFor(() => expect(screen.getByTestId('composer')).toHaveFocus());
  await keys.keyboard('about 2 kg');
  expect(screen.getByTestId('composer')).toHaveValue('about 2 kg');
  await keys.clear(screen.getByTestId('composer'));
  await keys.keyboard('9');
  expect(screen.getByTestId('composer')).toHaveValue('9');
  await keys.clear(screen.getByTestId('composer'));
  expect(host.asked('sendMessage')).toEqual([]);
  await keys.keyboard('2');
  await waitFor(() =>
    expect(host.asked('sendMessage')).toEqual([
      {
        conversation: 'trieste',
        text: 'Friday 17:31, direct, arrives after dinner',
        answers: 'question-1',
      },
    ]),
  );
  await waitFor(() => expect(screen.queryByTestId('question-card')).toBeNull());
  expect(screen.getByTestId('composer')).toHaveFocus();
});
