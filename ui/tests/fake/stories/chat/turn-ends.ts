/** Turns that did not end well. */
import type { ChatItem, Interruption, TurnStatus, UserError } from '../../../../src/ipc/bindings';
import type { Story } from '../../story';
import { answered, daysAgo, healthy, row, userMessage, view } from '../base';
import { read } from './chat';

export function interrupted(): Story {
  return ended('interrupted', null, { changed: 3, waiting: 4 });
}

export function limited(): Story {
  return ended('limit', null);
}

export function failed(): Story {
  return ended('failed', {
    code: 'key',
    message: 'Anthropic didn’t accept the API key. Check it, or use another one.',
  });
}

/** The model that answered so far is gone. */
export function retired(): Story {
  return ended('failed', {
    code: 'model',
    message: 'Anthropic doesn’t know the model `claude-3-haiku`. Choose another one in Settings.',
  });
}

/** The model ended the conversation. */
export function over(): Story {
  const conversation = row('books-2', 'Books lent, and to whom', { state: 'ended' });
  const reason = 'You said that nothing is left to do.';
  const items: ChatItem[] = [
    userMessage('u1', 'That is all, thank you.'),
    answered('a1', 'You are welcome. Seven books are out, and each note says who has it.'),
    {
      ...{ type: 'tool', turn: 't1', call: 'c1', tool: 'end_conversation', at: daysAgo(0) },
      arguments: JSON.stringify({ reason }),
      output: 'The conversation has ended.',
      isError: false,
      reactions: [{ type: 'conversation_ended', reason }],
    },
  ];
  return { snapshot: healthy([conversation]), views: [view(conversation, items)], notes: {} };
}

function ended(
  status: TurnStatus,
  error: UserError | null,
  offer: Interruption | null = null,
): Story {
  const conversation = row('books-2', 'Books lent, and to whom', { interrupted: offer !== null });
  const items: ChatItem[] = [
    userMessage(
      'u1',
      'Go through the diary since June and write into each book’s note who has it now.',
    ),
    read('c1', 'Books/The Leopard.md'),
    read('c2', 'Books/Austerlitz.md'),
    answered(
      'a1',
      'Seven books are out. I write the name and the day into the property `lent_to` of each note, starting with the oldest loan.',
    ),
    { type: 'ended', turn: 't1', status, error, offer },
  ];
  return { snapshot: healthy([conversation]), views: [view(conversation, items)], notes: {} };
}
