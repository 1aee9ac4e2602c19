import { render, screen, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';

import type { LocalServer } from '../../../src/ipc/bindings';
import { Session } from '../../../src/state/session.svelte';
import App from '../../../src/views/App.svelte';
import { FakeHost } from '../../fake/host';
import { stories } from '../../fake/stories';

const server: LocalServer = {
  name: 'Ollama',
  provider: 'ollama',
  address: 'http://127.0.0.1:11434',
  model: 'llama3.2',
};

/** The window over a story without a model, beside a server that could answer. */
async function open(story: string) {
  const told = stories[story]?.();
  if (!told) throw new Error(`no story ${story}`);
  const { snapshot } = told;
  const host = new FakeHost({
    ...told,
    snapshot: { ...snapshot, provider: { ...snapshot.provider, offer: server } },
  });
  const session = new Session(host);
  render(App, { session });
  await session.start();
  return { host, session, keys: userEvent.setup() };
}

describe('a model server on this computer', () => {
  it('is offered and answers only when it is taken', async () => {
    const { host, keys, session } = await open('commands');
    const offer = await screen.findByTestId('local-offer');
    expect(offer).toHaveTextContent('Ollama is running on this computer. Use llama3.2 to answer?');
    expect(host.asked('saveSettings')).toEqual([]);
    await keys.click(within(offer).getByRole('button', { name: 'Use model' }));
    expect(session.app.settings).toMatchObject({
      provider: 'ollama',
      model: 'llama3.2',
      baseUrl: 'http://127.0.0.1:11434',
      localOfferAnswered: true,
    });
    expect(screen.queryByTestId('local-offer')).toBeNull();
  });

  it('is not offered again when it was declined', async () => {
    const { keys, session } = await open('commands');
    const offer = await screen.findByTestId('local-offer');
    await keys.click(within(offer).getByRole('button', { name: 'Not now' }));
    expect(session.app.settings).toMatchObject({ provider: 'automatic', localOfferAnswered: true });
    expect(screen.queryByTestId('local-offer')).toBeNull();
  });

  it('is one of the ways to answer in the first run', async () => {
    const { keys, session } = await open('first-run');
    await session.openSample();
    await keys.click(await screen.findByRole('radio', { name: /Use Ollama on this computer/ }));
    expect(session.app.settings).toMatchObject({ provider: 'ollama', model: 'llama3.2' });
    await keys.click(screen.getByRole('radio', { name: /Use an API key/ }));
    await keys.selectOptions(screen.getByLabelText('Provider'), 'openai');
    expect(session.app.settings).toMatchObject({ provider: 'openai', model: '', baseUrl: '' });
  });
});

describe('the settings', () => {
  it('of another provider begin with its own model and server URL', async () => {
    const { keys, session } = await open('chat');
    session.openSettings('answering');
    await keys.selectOptions(await screen.findByLabelText('Provider'), 'openai');
    expect(session.app.settings).toMatchObject({ provider: 'openai', model: '', baseUrl: '' });
    expect(screen.getByText(/OpenRouter, LM Studio, llama.cpp, or vLLM/)).toBeVisible();
    expect(screen.getByText('API key')).toBeVisible();
    await keys.selectOptions(screen.getByLabelText('Provider'), 'ollama');
    expect(screen.queryByText('API key')).toBeNull();
  });

  it('of several keys say how they are used', async () => {
    const { keys, session } = await open('chat');
    session.openSettings('answering');
    await screen.findByLabelText('Provider');
    expect(screen.queryByLabelText('Multiple keys')).toBeNull();
    await session.provider.setKey('one two', 'file');
    await keys.selectOptions(await screen.findByLabelText('Multiple keys'), 'round_robin');
    expect(session.app.settings.keyPolicy).toBe('round_robin');
  });

  it('say who names conversations', async () => {
    const { keys, session } = await open('chat');
    session.openSettings('answering');
    const titles = await screen.findByLabelText('Conversation titles');
    expect(titles).toHaveDisplayValue('Written by the model');
    await keys.selectOptions(titles, 'words');
    expect(session.app.settings.titles).toBe('words');
  });

  it('of a model say how it is asked', async () => {
    const { keys, session } = await open('chat');
    session.openSettings('answering');
    await screen.findByRole('combobox', { name: 'Model' });
    await keys.click(screen.getByText('Parameters for claude-haiku-4-5'));
    await keys.type(screen.getByLabelText('Temperature'), '0.5{Tab}');
    await keys.selectOptions(screen.getByLabelText('Reasoning effort'), 'high');
    expect(session.app.settings.parameters).toEqual([
      {
        model: 'claude-haiku-4-5',
        temperature: 0.5,
        topP: null,
        maxTokens: null,
        effort: 'high',
        extra: '',
      },
    ]);
  });
});

describe('the server of an environment variable', () => {
  it('is shown with the name of the variable', async () => {
    const { session } = await open('chat');
    session.openSettings('answering');
    const variable = 'ANTHROPIC_BASE_URL';
    const envServer = { variable, url: 'https://proxy.example' };
    session.app.provider = { ...session.app.provider, envServer };
    const field = await screen.findByLabelText('Server URL');
    expect(field).toHaveAttribute('placeholder', 'https://proxy.example');
    expect(
      await screen.findByText(/From the environment variable ANTHROPIC_BASE_URL/),
    ).toBeVisible();
  });
});
