import { render, screen, waitFor } from '@testing-library/svelte';
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
    await screen.findByText('The key works.');
    expect(host.asked('setKey')).toEqual([
      { key: 'sk-test', place: 'keyring' },
      { key: 'sk-test', place: 'file' },
    ]);
  });

  it('tries a key, tells a failure beside the field, and takes another key there', async () => {
    const { host, session, keys } = await open('first-run');
    await session.openSample();
    await keys.click(await screen.findByRole('radio', { name: /With a key/ }));
    const message = 'Anthropic does not accept the key.';
    host.tested = () => Promise.resolve({ listed: [], result: { ok: false, message } });
    const field = screen.getByLabelText('Key');
    await keys.type(field, 'sk-wrong{Enter}');
    await waitFor(() => expect(field).toHaveAccessibleDescription(message));
    expect(field).toHaveFocus();
    expect(field).toHaveValue('');
    expect(document.body.innerHTML).not.toContain('sk-wrong');
    expect(session.app.problems).toEqual([]);

    host.tested = () =>
      Promise.resolve({ listed: [], result: { ok: true, message: 'It answers.' } });
    await keys.type(field, 'sk-right');
    const replace = screen.getByRole('button', { name: 'Replace' });
    await keys.click(replace);
    expect(await screen.findByText('The key works.')).toBeVisible();
    expect(field).toHaveAccessibleDescription('');
    expect(replace).toHaveFocus();
    expect(host.asked('setKey')).toMatchObject([{ key: 'sk-wrong' }, { key: 'sk-right' }]);
  });

  it('keeps the focus while the folder is opened and a server is found', async () => {
    const { host, session, keys } = await open('first-run');
    const sample = await screen.findByRole('button', { name: 'Try it with sample notes' });
    expect(screen.getByRole('radio', { name: /With a key/ })).toBeDisabled();
    await keys.click(sample);
    await waitFor(() => expect(screen.getByRole('radio', { name: /With a key/ })).toBeEnabled());
    expect(sample).toHaveFocus();
    const none = screen.getByRole('radio', { name: /No model yet/ });
    await keys.click(none);
    const offer = { name: 'Ollama', provider: 'ollama', address: '', model: 'llama3.2' } as const;
    host.tell({ type: 'provider_changed', provider: { ...session.app.provider, offer } });
    await screen.findByRole('radio', { name: /With Ollama on this computer/ });
    expect(none).toHaveFocus();
  });
});
