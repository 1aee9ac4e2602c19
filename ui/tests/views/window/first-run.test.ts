import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { render, screen, waitFor } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { afterEach, describe, expect, it } from 'vitest';

import { withoutSettings } from '../../../src/features/firstrun/without-settings';
import { setLanguage } from '../../../src/shared/i18n/language.svelte';
import { translateSentence } from '../../../src/shared/i18n/translate-sentence';
import { Session } from '../../../src/state/session.svelte';
import App from '../../../src/views/App.svelte';
import { FakeHost } from '../../fake/host';
import { stories } from '../../fake/stories';
import { templatesIn } from '../../sentences/sources';

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
    await keys.click(await screen.findByRole('radio', { name: /Use an API key/ }));
    host.refusals.set('setKey', { code: 'key', message: 'There is no keyring.' });
    await keys.type(screen.getByLabelText('API key'), 'sk-test{Enter}');
    await keys.click(await screen.findByRole('button', { name: 'Store in file' }));
    await screen.findByText('The API key works.');
    expect(host.asked('setKey')).toEqual([
      { key: 'sk-test', place: 'keyring' },
      { key: 'sk-test', place: 'file' },
    ]);
  });

  it('puts the keyboard into the field for the key, but not on the way past it', async () => {
    const { session, keys } = await open('first-run');
    await session.openSample();
    await keys.click(await screen.findByRole('radio', { name: /Use an API key/ }));
    await waitFor(() => expect(screen.getByLabelText('API key')).toHaveFocus());
    await keys.click(screen.getByRole('radio', { name: /Continue without a model/ }));
    await keys.keyboard('{ArrowUp}');
    expect(screen.getByRole('radio', { name: /Use an API key/ })).toHaveFocus();
  });

  it('offers the way on as soon as there is a folder', async () => {
    const { session } = await open('first-run');
    const go = await screen.findByRole('button', { name: 'Start' });
    expect(go).toBeDisabled();
    expect(go.closest('section')).toBeNull();
    await session.openSample();
    await waitFor(() => expect(go).toBeEnabled());
    expect(go).toHaveClass('primary');
  });

  it('tries a key, tells a failure beside the field, and takes another key there', async () => {
    const { host, session, keys } = await open('first-run');
    await session.openSample();
    await keys.click(await screen.findByRole('radio', { name: /Use an API key/ }));
    const message = 'Anthropic does not accept the key.';
    host.tried = (key) =>
      Promise.resolve(key === 'sk-right' ? { type: 'works' } : { type: 'refused', message });
    const field = screen.getByLabelText('API key');
    await keys.type(field, 'sk-wrong{Enter}');
    expect(screen.getByText('2')).toBeVisible();
    await waitFor(() =>
      expect(field).toHaveAccessibleDescription(`${message} The API key wasn’t saved.`),
    );
    expect(field).toHaveFocus();
    expect(document.body.innerHTML).not.toContain('sk-wrong');
    expect(session.app.problems).toEqual([]);
    expect(host.asked('setKey')).toEqual([]);

    // The refused one is selected: what is typed takes its place.
    await keys.keyboard('sk-right');
    const save = screen.getByRole('button', { name: 'Save' });
    await keys.click(save);
    expect(await screen.findByText('The API key works.')).toBeVisible();
    expect(screen.queryByText('2'), 'a check mark is in its place').toBeNull();
    expect(field).toHaveAccessibleDescription('');
    expect(field).toHaveValue('');
    expect(save).toHaveFocus();
    expect(host.asked('tryKey')).toEqual(['sk-wrong', 'sk-right']);
    expect(host.asked('setKey')).toEqual([{ key: 'sk-right', place: 'keyring' }]);
  });

  it('saves a key that could not be tried only where the user says so', async () => {
    const { host, session, keys } = await open('first-run');
    await session.openSample();
    await keys.click(await screen.findByRole('radio', { name: /Use an API key/ }));
    const message = 'Anthropic cannot be reached.';
    host.tried = () => Promise.resolve({ type: 'untried', message });
    await keys.type(screen.getByLabelText('API key'), 'sk-offline{Enter}');
    const anyway = await screen.findByRole('button', { name: 'Save anyway' });
    expect(screen.getByTestId('secret-failure')).toHaveTextContent(
      `Couldn’t test the API key. ${message}`,
    );
    expect(host.asked('setKey')).toEqual([]);
    await keys.click(anyway);
    expect(await screen.findByText('API key found')).toBeVisible();
    expect(screen.queryByText('The API key works.')).toBeNull();
    expect(host.asked('setKey')).toEqual([{ key: 'sk-offline', place: 'keyring' }]);
  });

  it('keeps the focus while the folder is opened and a server is found', async () => {
    const { host, session, keys } = await open('first-run');
    const sample = await screen.findByRole('button', { name: 'Try sample notes' });
    expect(screen.getByRole('radio', { name: /Use an API key/ })).toBeDisabled();
    await keys.click(sample);
    await waitFor(() =>
      expect(screen.getByRole('radio', { name: /Use an API key/ })).toBeEnabled(),
    );
    expect(sample).toHaveFocus();
    const none = screen.getByRole('radio', { name: /Continue without a model/ });
    await keys.click(none);
    const offer = { name: 'Ollama', provider: 'ollama', address: '', model: 'llama3.2' } as const;
    host.tell({ type: 'provider_changed', provider: { ...session.app.provider, offer } });
    await screen.findByRole('radio', { name: /Use Ollama on this computer/ });
    expect(none).toHaveFocus();
  });
});

describe('the first run, which shows no settings,', () => {
  const root = join(fileURLToPath(import.meta.url), '../../../../..');
  /** The answers that a provider may give to a key that is tried. */
  const sentences = templatesIn(root, ['crates/llm/src/model']).map(({ text }) => text);
  const naming = sentences.filter((text) => text.includes('Settings'));
  const credit =
    'The account at api.openai.com has no credit left. Add credit there, or use another API key in Settings.';

  afterEach(() => setLanguage('system'));

  it.each(['en', 'de'] as const)('names them in no sentence about a key (%s)', (language) => {
    setLanguage(language);
    const translated = naming.map((text) => translateSentence(text));
    expect(naming).not.toEqual([]);
    expect(translated.filter((text) => !/Settings|Einstellungen/.test(text))).toEqual([]);
    const shown = translated.map((text) => withoutSettings(text));
    expect(shown.filter((text) => /Settings|Einstellungen|\s[,.]/.test(text))).toEqual([]);
  });

  it('names them only where the user may connect a model later', async () => {
    const { host, session, keys } = await open('first-run');
    const page = screen.getByTestId('firstrun');
    await session.openSample();
    await keys.click(await screen.findByRole('radio', { name: /Continue without a model/ }));
    expect(page).toHaveTextContent('You can connect another model later in Settings > Model.');

    await keys.click(screen.getByRole('radio', { name: /Use an API key/ }));
    const message = 'There is no API key for OpenAI. Paste one in Settings, or set OPENAI_API_KEY.';
    const trouble = { code: 'key', message } as const;
    const provider = { ...session.app.provider, hasModel: true, label: 'OpenAI', trouble };
    host.tell({ type: 'provider_changed', provider });
    await waitFor(() => expect(session.app.provider.trouble).toEqual(trouble));
    expect(screen.getByTestId('key-news')).toHaveTextContent(/^$/);

    host.tried = () => Promise.resolve({ type: 'refused', message: credit });
    await keys.type(screen.getByLabelText('API key'), 'sk-poor{Enter}');
    expect(await screen.findByTestId('secret-failure')).toHaveTextContent(
      'Add credit there, or use another API key. The API key wasn’t saved.',
    );
    expect(page).not.toHaveTextContent('Settings');
  });

  it('names them in no problem of the folder', async () => {
    const { session } = await open('first-run');
    const message =
      'The folder with your notes no longer exists: /notes. Restore it, or open another one in Settings.';
    session.app.report({ code: 'vault', message });
    expect(await screen.findByTestId('problem')).toHaveTextContent(/open another one\.$/);
  });
});
