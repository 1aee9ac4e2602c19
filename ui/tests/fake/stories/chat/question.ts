/** An open question, with ready answers. */
import type { Story } from '../../story';
import { answered, daysAgo, healthy, row, userMessage, view } from '../base';
import { read } from './chat';

export function question(): Story {
  const text = 'Which train should the plan use?';
  const conversation = row('trieste', 'Trieste weekend', { waitingQuestion: text });
  return {
    snapshot: healthy([conversation]),
    notes: {},
    views: [
      view(
        conversation,
        [
          userMessage(
            'u1',
            'Plan the weekend in Trieste from my notes: trains, where we sleep, and the things Nonna wanted us to bring home.',
            daysAgo(1),
          ),
          {
            type: 'tool',
            at: daysAgo(0),
            turn: 't1',
            call: 'c1',
            tool: 'search_files',
            arguments: '{\n  "query": "Trieste"\n}',
            output: '9 matches',
            isError: false,
            reactions: [{ type: 'searched', query: 'Trieste', hits: 9 }],
          },
          read('c2', 'Trieste, trains.md'),
          read('c3', 'Trieste, where to stay.md'),
          answered(
            'a1',
            'The room is booked from Friday to Sunday ([[Trieste, where to stay]]), and Nonna’s list has four things on it. Only the way there is open: your notes hold two trains.',
          ),
          { type: 'asked', id: 'q1', text, answer: null, withdrawn: false },
          { type: 'ended', turn: 't1', status: 'asked', error: null, offer: null },
        ],
        {
          question: {
            id: 'question-1',
            conversation: 'trieste',
            turn: 't1',
            call: 'c4',
            originalMessage: 'u1',
            text,
            options: [
              'Friday 14:25, one change in Udine',
              'Friday 17:31, direct, arrives after dinner',
              'Leave the way there open for now',
            ],
            toolCallsCompleted: 3,
            askedAt: daysAgo(1),
          },
        },
      ),
    ],
  };
}
