/** The texts that a screen reader hears about the open conversation. */
import type { ChatItem, ToolEvent } from '../ipc/bindings';
import { m } from '../messages/messages';
import { questionText } from './chat/builtin-replies';
import { modelWaitText } from './chat/model-wait-text';
import type { ChatEvent } from './chat/open-conversation.svelte';

/** The announcement of an event for a screen reader; never for single tokens. */
export function announcementText(event: ChatEvent): string | null {
  switch (event.type) {
    case 'wait_changed':
      return event.wait && modelWaitText(event.wait);
    case 'question_changed':
      return event.question && m.announce_question({ question: questionText(event.question) });
    case 'review_changed':
      return event.review && m.announce_review({ count: event.review.notes.length });
    case 'held_changed':
      return event.held.length > 0 ? m.approval_title({ count: event.held.length }) : null;
    case 'item_changed':
      return endsConversation(event.item) ? m.end_by_assistant() : null;
    case 'text_added':
    case 'items_replaced':
    case 'queue_changed':
    case 'context_changed':
      return null;
    default:
      return event satisfies never;
  }
}

function endsConversation(item: ChatItem): boolean {
  const isEnd = ({ type }: ToolEvent): boolean => type === 'conversation_ended';
  return item.type === 'tool' && item.reactions.some(isEnd);
}
