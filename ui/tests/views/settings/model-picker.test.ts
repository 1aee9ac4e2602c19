import { render, screen, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';

import type { ModelInfo } from '../../../src/ipc/bindings';
import { Session } from '../../../src/state/session.svelte';
import App from '../../../src/views/App.svelte';
import { FakeHost } from '../../fake/host';
import { stories } from '../../fake/stories';

const unknown: ModelInfo = {
  id: 'llama3.2',
  name: null,
  window: null,
  maxOutput: null,
  price: null,
};

/** The section of the settings in which a model is chosen, with the models that are known. */
async function open(models?: ModelInfo[]) {
  const told = stories.chat?.();
  if (!told) throw new Error('no story');
  const { snapshot } = told;
  const provider = { ...snapshot.provider, models: models ?? snapshot.provider.models };
  const host = new FakeHost({ ...told, snapshot: { ...snapshot, provider } });
  const session = new Session(host);
  render(App, { session });
  await session.start();
  session.openSettings('answering');
  const field = await screen.findByRole('combobox', { name: 'Model' });
  const list = screen.getByRole('listbox', { name: 'Model' });
  return { host, session, field, list: within(list), keys: userEvent.setup() };
}

describe('the model picker', () => {
  it('shows names, context windows and prices, and chooses with the keyboard', async () => {
    const { session, field, list, keys } = await open();
    field.focus();
    expect(field).toHaveAttribute('aria-expanded', 'false');
    await keys.keyboard('{ArrowDown}');
    expect(field).toHaveAttribute('aria-expanded', 'true');
    expect(list.getAllByRole('option')).toHaveLength(3);
    const haiku = list.getByRole('option', { name: /claude-haiku-4-5/ });
    expect(haiku).toHaveTextContent('Claude Haiku 4.5 claude-haiku-4-5');
    expect(haiku).toHaveTextContent('Context window: 200,000 tokens');
    expect(haiku).toHaveTextContent('Per million tokens: $1 sent, $5 received');
    await keys.keyboard('{ArrowUp}');
    const opus = list.getByRole('option', { selected: true });
    expect(opus).toHaveTextContent('claude-opus-4-5');
    expect(field).toHaveAttribute('aria-activedescendant', opus.id);
    await keys.keyboard('{Enter}');
    expect(session.app.settings.model).toBe('claude-opus-4-5');
    expect(field).toHaveValue('claude-opus-4-5');
    expect(field).toHaveFocus();
    expect(field).toHaveAttribute('aria-expanded', 'false');
  });

  it('narrows the list by what is typed, and goes back with Escape', async () => {
    const { session, field, list, keys } = await open();
    await keys.clear(field);
    await keys.type(field, 'SONN');
    expect(list.getAllByRole('option')).toHaveLength(1);
    await keys.clear(field);
    await keys.type(field, 'opus 4.5');
    expect(list.getByRole('option')).toHaveTextContent('claude-opus-4-5');
    await keys.keyboard('{Escape}');
    expect(field).toHaveValue('haiku');
    expect(list.queryAllByRole('option')).toEqual([]);
    expect(session.place.name).toBe('settings');
    expect(session.app.settings.model).toBe('haiku');
  });

  it('takes an ID that is not in the list', async () => {
    const { session, field, keys } = await open();
    await keys.clear(field);
    await keys.type(field, 'my-own-model{Enter}');
    expect(session.app.settings.model).toBe('my-own-model');
    await keys.clear(field);
    await keys.type(field, ' another ');
    await keys.tab();
    expect(session.app.settings.model).toBe('another');
  });

  it('is used with the pointer, and says what is not known of a model', async () => {
    const { session, list, keys } = await open([unknown]);
    const [show] = screen.getAllByRole('button', { name: 'Show models' });
    if (!show) throw new Error('no button');
    await keys.click(show);
    const option = list.getByRole('option', { name: /llama3.2/ });
    expect(option).toHaveTextContent('Context window unknown');
    expect(option).toHaveTextContent('Price unknown');
    await keys.click(option);
    expect(session.app.settings.model).toBe('llama3.2');
  });

  it('says why its list is empty: not asked, loading, not listed or failed', async () => {
    const { host, field, list, keys } = await open([]);
    const news = () => document.getElementById(field.getAttribute('aria-describedby') ?? '');
    const test = screen.getByRole('button', { name: 'Test' });
    await keys.click(field);
    expect(news()).toHaveTextContent(/^No models yet/);

    const { tested } = host;
    let answer = (): void => undefined;
    const answered = new Promise<void>((resolve) => (answer = resolve));
    host.tested = () => answered.then(tested);
    await keys.click(test);
    await keys.click(field);
    expect(news()).toHaveTextContent('Loading models…');
    answer();
    await screen.findByText('Connected.');
    expect(news()).toHaveTextContent(/^This server doesn’t list/);

    const message = 'The connection was lost during the answer. Try again.';
    host.tested = () =>
      Promise.resolve({ listed: [], result: { ok: false, message, unlisted: message } });
    await keys.click(test);
    await keys.click(field);
    expect(news()).toHaveTextContent(`Couldn’t load the models. ${message}`);

    host.tested = () =>
      Promise.resolve({
        listed: [],
        result: { ok: true, message: 'Connected.', unlisted: 'The list broke off.' },
      });
    await keys.click(test);
    await keys.click(field);
    expect(news()).toHaveTextContent('Couldn’t load the models. The list broke off.');

    host.tested = () =>
      Promise.resolve({
        listed: [unknown],
        result: { ok: true, message: 'Connected.', unlisted: null },
      });
    await keys.click(test);
    await keys.click(field);
    expect(list.getAllByRole('option')).toHaveLength(1);
    expect(news()).toHaveTextContent(/^$/);
  });
});
