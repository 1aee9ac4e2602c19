/** Everything around the conversation is unwell. */
import type { Story } from '../fake';
import { answered, healthy, row, said, view } from './base';

export function trouble(): Story {
  const conversation = row('calm', 'Water the beans');
  const snapshot = healthy([conversation]);
  const { settings } = snapshot;
  return {
    notes: {},
    views: [
      view(conversation, [said('u1', 'When did I sow the beans?'), answered('a1', 'On 3 May.')]),
    ],
    snapshot: {
      ...snapshot,
      settings: { ...settings, hub: { ...settings.hub, enabled: true } },
      hub: {
        state: 'waiting',
        trouble:
          'The hub at 127.0.0.1:9473 does not answer: is it running? Trying again by itself.',
        retryAt: Date.now() + 40_000,
        ignored: 3,
      },
      provider: {
        ...snapshot.provider,
        trouble: 'The last answer was refused: too many requests. Wait a minute.',
      },
      problems: [
        {
          code: 'other',
          message:
            'config.toml could not be read (line 3: a value is missing). The defaults are used until it is put right.',
        },
        { code: 'key', message: 'The keyring is locked. Unlock it, or paste the key again.' },
      ],
    },
  };
}
