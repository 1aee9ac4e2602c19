import { beforeEach, describe, expect, it } from 'vitest';

import type { KeyTrial } from '../../../src/ipc/bindings';
import { Session } from '../../../src/state/session.svelte';
import { FakeHost } from '../../fake/host';
import { chat } from '../../fake/stories/chat/chat';

let host: FakeHost;
let session: Session;

beforeEach(async () => {
  host = new FakeHost(chat());
  session = new Session(host);
  await session.start();
});

/** Changes of settings are on their way until this is called. */
function holdSettings(): () => void {
  let arrive = (): void => undefined;
  const gate = new Promise<void>((resolve) => (arrive = resolve));
  const save = host.saveSettings.bind(host);
  host.saveSettings = async (settings) => {
    await gate;
    return await save(settings);
  };
  return arrive;
}

/** The calls about the provider so far, in order. */
function calls(): string[] {
  const about = ['saveSettings', 'tryKey', 'setKey', 'testProvider'];
  return host.calls.map(([name]) => name).filter((name) => about.includes(name));
}

const settled = () => new Promise((resolve) => setTimeout(resolve));

describe('an API key', () => {
  it.each([
    ['is tried', () => session.provider.keepKey('sk-1', 'keyring'), ['tryKey', 'setKey']],
    ['is stored', () => session.provider.setKey('sk-1', 'keyring'), ['setKey']],
    ['is removed', () => session.provider.keepKey('', 'keyring'), ['setKey']],
    ['is tested', () => session.provider.test(), ['testProvider']],
  ])('%s at the provider that was chosen before', async (_, act, after) => {
    const arrive = holdSettings();
    const chosen = session.provider.by('openai');
    const acted = act();
    await settled();
    expect(calls()).toEqual([]);
    arrive();
    await Promise.all([chosen, acted]);
    expect(calls()).toEqual(['saveSettings', ...after]);
  });

  it('goes nowhere where the provider that it is for was refused', async () => {
    host.refusals.set('saveSettings', { code: 'write', message: 'The disk is full.' });
    const chosen = session.provider.by('openai');
    const kept = await session.provider.keepKey('sk-1', 'keyring');
    await chosen;
    expect(kept).toMatchObject({ state: 'failed' });
    expect(calls()).toEqual(['saveSettings']);
  });

  it('is not stored for a provider that was chosen while it was tried', async () => {
    const trials: ((trial: KeyTrial) => void)[] = [];
    host.tried = () => new Promise((resolve) => trials.push(resolve));
    const trial = async (meanwhile: () => Promise<unknown>) => {
      const kept = session.provider.keepKey('sk-1', 'keyring');
      await expect.poll(() => trials.length).toBe(1);
      await meanwhile();
      trials.pop()?.({ type: 'works' });
      return await kept;
    };
    expect(await trial(() => session.provider.by('openai'))).toEqual({
      state: 'failed',
      message: 'The provider was changed meanwhile. Try again.',
    });
    expect(host.asked('setKey')).toEqual([]);
    // The control: the theme has nothing to do with it.
    expect(await trial(() => session.save({ theme: 'dark' }))).toEqual({ state: 'kept' });
    expect(host.asked('setKey')).toEqual([{ key: 'sk-1', place: 'keyring' }]);
  });
});

describe('the list of models', () => {
  it('is that of one server, whatever other settings change', async () => {
    const states: string[] = [];
    const look = () => states.push(session.provider.listing.state);
    look();
    await session.provider.test();
    look();
    await session.save({ theme: 'dark' });
    look();
    await session.save({ baseUrl: 'http://127.0.0.1:1234' });
    look();
    expect(states).toEqual(['unasked', 'answered', 'answered', 'unasked']);
  });
});
