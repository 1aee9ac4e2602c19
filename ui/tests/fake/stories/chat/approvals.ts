/** Hub messages and answers that need approval. */
import type { Story } from '../../story';
import { answered, daysAgo, healthy, row, view } from '../base';

export function held(): Story {
  const conversation = row('inbox-today', 'Inbox, Saturday', {
    fromHub: true,
    inboxDay: 'saturday',
    held: 4,
  });
  const text = 'The ferry leaves at nine, as it says in Trieste, trains.';
  return {
    snapshot: healthy([conversation]),
    notes: {},
    views: [
      view(
        conversation,
        [
          {
            type: 'user',
            id: 'u1',
            text: 'When does the ferry leave?',
            origin: 'hub_voice',
            at: daysAgo(0),
            queued: false,
          },
          answered('a1', text),
        ],
        {
          held: [
            { number: 1, text, why: { kind: 'outside' } },
            { number: 2, text: 'And the way back is at seven.', why: { kind: 'outside' } },
            { number: 3, text: 'The beans are watered.', why: { kind: 'unheard' } },
            {
              number: 4,
              text: 'Remember milk',
              why: {
                kind: 'failed',
                error:
                  'Couldn’t save this message: Not changed: The disk is full, so `inbox/Inbox.md` wasn’t changed. Free up some space, then try again.',
              },
            },
          ],
        },
      ),
    ],
  };
}
