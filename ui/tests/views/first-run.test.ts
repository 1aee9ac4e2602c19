import { render, screen } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';

import { FakeHost } from '../../src/ipc/fake';
import { stories } from '../../src/ipc/stories';
import { Session } from '../../src/state/session.svelte';
import App from '../../src/views/App.svelte';

/** The window over a story. */
async function open(story: string) {
  const told = stories[story]?.();
  if (!told) throw new Error(`no story ${story}`);
  const host = new FakeHost(told);
  const session = new Session(host);
  render(App, { session });
  await session.start();
  return { host, session, keys: userEvent.setup() };
}

describe('the first run', () => {
  it('offers the file for a key where there is no keyring, and only then', async () => {
    const { host, session, keys } = await open('first-run');
    await session.openSample();
    await keys.click(await screen.findByRole('radio', { name: /With a key/ }));
    host.refusals.set('setKey', { code: 'key', message: 'There is no keyring.' });
    await keys.type(screen.getByLabelText('Key'), 'sk-test{Enter}');
    await keys.click(await screen.findByRole('button', { name: 'Keep it in the file' }));
    await screen.findByText('A key is in place');
    expect(host.asked('setKey')).toEqual([
      { key: 'sk-test', place: 'keyring' },
      { key: 'sk-test', place: 'file' },
    ]);
  });
});
