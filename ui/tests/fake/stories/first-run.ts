/** Before there is anything: no vault, a vault that is gone, a vault without conversations. */
import type { Story } from '../story';
import { healthy } from './base';

export function firstRun(): Story {
  const provider = {
    hasModel: false,
    label: 'Commands',
    model: '',
    models: [],
    keySource: null,
    envServer: null,
    keys: 0,
    trouble: null,
    keyring: null,
    offer: null,
  };
  const snapshot = { ...healthy([]), vault: null, conversations: [], provider };
  return { snapshot, views: [], notes: {} };
}

/** A server on this computer is found, and no key is accepted. */
export function refusedKey(): Story {
  const { snapshot } = firstRun();
  const address = 'http://127.0.0.1:11434';
  const offer = { name: 'Ollama', provider: 'ollama', address, model: 'llama3.2' } as const;
  const message = 'Anthropic didn’t accept the API key. Check it, or use another one.';
  return {
    snapshot: { ...snapshot, provider: { ...snapshot.provider, offer } },
    views: [],
    notes: {},
    tried: { type: 'refused', message },
  };
}

/** The keyring is locked, and the API key is in it. */
export function lockedKeyring(): Story {
  const { snapshot } = firstRun();
  const message = 'The keyring is locked. Unlock it to use your API key, or set ANTHROPIC_API_KEY.';
  const trouble = { code: 'key', message } as const;
  const keyring = 'locked' as const;
  const provider = { ...snapshot.provider, hasModel: true, label: 'Anthropic', trouble, keyring };
  return { snapshot: { ...snapshot, provider }, views: [], notes: {} };
}

/** The keyring is locked, and nobody knows whether a key is in it. */
export function unknownKeyring(): Story {
  const { snapshot } = firstRun();
  const provider = { ...snapshot.provider, keyring: 'unknown' } as const;
  return { snapshot: { ...snapshot, provider }, views: [], notes: {} };
}

export function lostVault(): Story {
  const { snapshot } = firstRun();
  const message =
    'There is no folder at /media/anna/Backup/Notebook. Choose another folder, or restore this one.';
  return {
    snapshot: { ...snapshot, problems: [{ code: 'vault', message }] },
    views: [],
    notes: {},
  };
}

export function emptyVault(): Story {
  return { snapshot: { ...healthy([]), conversations: [] }, views: [], notes: {} };
}
