/** The conversation in front of the user, kept true by events. */
import type {
  AppEvent,
  ConversationId,
  ConversationView,
  Item,
  MessageId,
  Question,
  Review,
} from '../ipc/bindings';
import { Verdicts } from './verdicts.svelte';

/** The events that belong to one conversation's chat. */
export type ChatEvent = Extract<
  AppEvent,
  { type: 'item_changed' | 'text_added' | 'question_changed' | 'review_changed' }
>;

/** Stable for as long as the thing is in the chat; a later item with the same key replaces it. */
export function itemKey(item: Item): string {
  switch (item.type) {
    case 'tool':
      return `tool:${item.turn}:${item.call}`;
    case 'ended':
      return `ended:${item.turn}`;
    default:
      return `${item.type}:${item.id}`;
  }
}

export class OpenConversation {
  readonly id: ConversationId;
  /** Oldest first; replaced, never changed in place. */
  items = $state.raw<readonly Item[]>([]);
  question = $state.raw<Question | null>(null);
  review = $state.raw<Review | null>(null);
  readonly verdicts = new Verdicts();

  /** `missed` are this conversation's events that arrived while the view was fetched. */
  constructor(view: ConversationView, missed: readonly ChatEvent[] = []) {
    this.id = view.conversation.id;
    this.items = view.items;
    this.question = view.question;
    this.#setReview(view.review);
    for (const event of unseen(view.items, missed)) this.apply(event);
  }

  apply(event: ChatEvent): void {
    switch (event.type) {
      case 'item_changed':
        this.#put(event.item);
        return;
      case 'text_added':
        this.#append(event.id, event.text);
        return;
      case 'question_changed':
        this.question = event.question;
        return;
      case 'review_changed':
        this.#setReview(event.review);
        return;
      default:
        event satisfies never;
    }
  }

  #put(item: Item): void {
    const key = itemKey(item);
    const at = this.items.findLastIndex((other) => itemKey(other) === key);
    this.items = at < 0 ? [...this.items, item] : this.items.with(at, item);
  }

  #append(id: MessageId, text: string): void {
    const at = this.items.findLastIndex((item) => item.type === 'assistant' && item.id === id);
    const item = this.items[at];
    if (item?.type !== 'assistant') return;
    this.items = this.items.with(at, { ...item, text: item.text + text });
  }

  #setReview(review: Review | null): void {
    this.review = review;
    this.verdicts.follow(review);
  }
}

/**
 * The missed events without the text that the view already holds.
 *
 * A view has no number, so pieces of text from before it was made are known by standing at the
 * end of it already; everything else may be applied twice without harm.
 */
function unseen(items: readonly Item[], missed: readonly ChatEvent[]): ChatEvent[] {
  const held = new Map<MessageId, number>();
  return missed.filter((event, index) => {
    if (event.type !== 'text_added') return true;
    const replaced = missed
      .slice(0, index)
      .some((other) => other.type === 'item_changed' && itemKey(other.item) === textKey(event.id));
    if (replaced) return true;
    const count = held.get(event.id) ?? heldPieces(items, missed, event.id);
    held.set(event.id, Math.max(0, count - 1));
    return count === 0;
  });
}

/** How many of the first pieces of text the view's item ends with already. */
function heldPieces(
  items: readonly Item[],
  missed: readonly ChatEvent[],
  id: MessageId,
): number {
  const item = items.find((other) => itemKey(other) === textKey(id));
  const text = item?.type === 'assistant' ? item.text : '';
  const pieces = missed.flatMap((event) =>
    event.type === 'text_added' && event.id === id ? [event.text] : [],
  );
  for (let count = pieces.length; count > 0; count -= 1) {
    if (text.endsWith(pieces.slice(0, count).join(''))) return count;
  }
  return 0;
}

function textKey(id: MessageId): string {
  return `assistant:${id}`;
}
