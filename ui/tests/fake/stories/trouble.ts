/** Everything around the conversation is unwell, or takes long. */
import type { MonthCost } from '../../../src/ipc/bindings';
import type { Story } from '../story';
import { answered, healthy, row, userMessage, view } from './base';

export function trouble(): Story {
  const conversation = row('calm', 'Water the beans');
  const snapshot = healthy([conversation]);
  const { settings } = snapshot;
  return {
    notes: {},
    described: null,
    spent: { turns: [], months: [nearlySpent()] },
    views: [
      view(conversation, [
        userMessage('u1', 'When did I sow the beans?'),
        answered('a1', 'On 3 May.'),
      ]),
    ],
    snapshot: {
      ...snapshot,
      settings: {
        ...settings,
        organisation: 'Beds are in Garden/, one note each. What I sowed is in Garden/Diary.md.',
        hub: { ...settings.hub, enabled: true },
      },
      hub: {
        state: 'waiting',
        trouble: {
          code: 'other',
          message:
            'The hub at 127.0.0.1:9473 isn’t responding. Check that it’s running. Retrying automatically.',
        },
        retryAt: Date.now() + 40_000,
        ignored: 3,
      },
      provider: {
        ...snapshot.provider,
        trouble: { code: 'key', message: 'The keyring hasn’t answered yet. Wait a moment.' },
      },
      problems: [
        { code: 'other', message: 'The settings can’t be written: no space left' },
        {
          code: 'key',
          message:
            'The API key couldn’t be saved in the system keyring (no storage access). Unlock the keyring and try again, set ANTHROPIC_API_KEY, or keep the API key in a file that only you can read.',
        },
      ],
    },
  };
}

/** This month's cost, of a limit of twenty dollars. */
function nearlySpent(): MonthCost {
  const now = new Date();
  const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  return {
    month: `${now.getFullYear()}-${String(now.getMonth() + 1).padStart(2, '0')}`,
    spent: { requests: 1, usage, cost: 17_100_000_000, unpriced: 0 },
  };
}

/** Two things that take long are under way, and one of them was stopped. */
export function working(): Story {
  const story = trouble();
  return {
    ...story,
    snapshot: {
      ...healthy([row('calm', 'Water the beans')]),
      jobs: [
        { id: 1, kind: 'undoing', done: 312, all: 1_240, stopping: false },
        { id: 2, kind: 'exporting', done: 40, all: 10_000, stopping: true },
      ],
    },
  };
}

/** The settings file may be cut off: no model is asked until the user has decided. */
export function settingsCutOff(): Story {
  const story = trouble();
  return {
    ...story,
    snapshot: {
      ...healthy([row('calm', 'Water the beans')]),
      settingsTrouble: {
        message:
          'The settings file /home/anna/.local/share/vaultmate/config.toml may be cut off: it no longer has all it had, and its last line isn’t “# End of the settings. Keep this line last: without it they may count as cut off.”. No model is asked until it is corrected, or until you choose which settings count.',
        choices: ['file', 'last_good', 'defaults'],
      },
    },
  };
}
