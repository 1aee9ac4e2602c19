/** Before there is anything: no vault, a vault that is gone, a vault without conversations. */
import type { Story } from '../fake';
import { healthy } from './base';

export function firstRun(): Story {
  const provider = {
    hasModel: false,
    label: 'Commands',
    model: '',
    models: [],
    keySource: null,
    keys: 0,
    trouble: null,
    offer: null,
  };
  const snapshot = { ...healthy([]), vault: null, conversations: [], provider };
  return { snapshot, views: [], notes: {} };
}

/** The keyring waits to be unlocked. */
export function lockedKeyring(): Story {
  const { snapshot } = firstRun();
  const trouble = 'The keyring has not answered yet: unlock it, or wait a moment.';
  const provider = { ...snapshot.provider, hasModel: true, label: 'Anthropic', trouble };
  return { snapshot: { ...snapshot, provider }, views: [], notes: {} };
}

export function lostVault(): Story {
  const { snapshot } = firstRun();
  const message =
    'There is no folder at /media/anna/Backup/Notebook. Choose another folder, or bring this one back.';
  return {
    snapshot: { ...snapshot, problems: [{ code: 'vault', message }] },
    views: [],
    notes: {},
  };
}

export function emptyVault(): Story {
  return { snapshot: { ...healthy([]), conversations: [] }, views: [], notes: {} };
}
