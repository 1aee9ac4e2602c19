/** The open conversation, kept up to date by events. */
import type {
  AppEvent,
  ChatItem,
  ContextUse,
  ConversationId,
  ConversationView,
  ItemKey,
  MessageId,
  MessageVariant,
  ModelWait,
  PendingApproval,
  Question,
  Review,
  VaultId,
} from '../../ipc/bindings';
import { ReviewDecisions } from '../review/review-decisions.svelte';
import { StoredDecisions } from '../review/stored-decisions';

/** The events that belong to one conversation's chat. */
export type ChatEvent = Extract<
  AppEvent,
  {
    type:
      | 'item_changed'
      | 'items_replaced'
      | 'queue_changed'
      | 'text_added'
      | 'wait_changed'
      | 'context_changed'
      | 'question_changed'
      | 'review_changed'
      | 'held_changed';
  }
>;

/** Stable for as long as the thing is in the chat; a later item with the same key replaces it. */
export function itemKey(item: ChatItem): string {
  switch (item.type) {
    case 'tool':
      return `tool:${item.turn}:${item.call}`;
    case 'ended':
      return `ended:${item.turn}`;
    default:
      return `${item.type}:${item.id}`;
  }
}

/** Whether it is the item with the key that the application names it by. */
function hasKey(item: ChatItem, key: ItemKey): boolean {
  switch (key.type) {
    case 'message':
      return 'id' in item && item.id === key.id;
    case 'call':
      return item.type === 'tool' && item.turn === key.turn && item.call === key.call;
    case 'end':
      return item.type === 'ended' && item.turn === key.turn;
    default:
      return key satisfies never;
  }
}

/** Queued messages stay last, and decisions stay below the turn that was running when they were made: an opened
 * conversation has the same order. */
function placed(items: readonly ChatItem[], item: ChatItem): readonly ChatItem[] {
  if (isQueued(item)) return [...items, item];
  const isPart = item.type !== 'user' && item.type !== 'decision';
  const isBelow = (other: ChatItem): boolean =>
    isQueued(other) || (isPart && other.type === 'decision');
  const end = items.findLastIndex((other) => !isBelow(other)) + 1;
  return [...items.slice(0, end), item, ...items.slice(end)];
}

/** With an item in place of the one with its key. A message that is queued no longer stands above those that are. */
function replaced(items: readonly ChatItem[], at: number, item: ChatItem): readonly ChatItem[] {
  const end = items.findLastIndex((other, index) => index < at && !isQueued(other)) + 1;
  if (isQueued(item) || end === at) return items.with(at, item);
  return [...items.slice(0, end), item, ...items.slice(end, at), ...items.slice(at + 1)];
}

function isQueued(item: ChatItem): boolean {
  return item.type === 'user' && item.queued;
}

export class OpenConversation {
  readonly id: ConversationId;
  /** Oldest first; replaced, never changed in place. */
  items = $state.raw<readonly ChatItem[]>([]);
  /** Messages that have several versions. */
  variants = $state.raw<readonly MessageVariant[]>([]);
  /** The work of a model on this computer before it answers. */
  wait = $state.raw<ModelWait | null>(null);
  /** How full the context window is with it; `null` without a model, and until that is known. */
  context = $state.raw<ContextUse | null>(null);
  question = $state.raw<Question | null>(null);
  review = $state.raw<Review | null>(null);
  /** Answers for the hub that need the user's approval. */
  held = $state.raw<readonly PendingApproval[]>([]);
  readonly reviewDecisions: ReviewDecisions;
  /** Whether an event was about an item that is not here: only a view shows what stands here now. */
  isOutdated = false;

  /** Events up to this number are in the view already. */
  #seq = 0;

  constructor(view: ConversationView, vault: VaultId | null) {
    this.id = view.conversation.id;
    this.reviewDecisions = new ReviewDecisions(new StoredDecisions(vault, this.id));
    this.renew(view);
  }

  /** The last message of the user, if any. */
  get lastMessage(): Extract<ChatItem, { type: 'user' }> | null {
    return this.items.findLast((item) => item.type === 'user') ?? null;
  }

  /** The message that is being answered, or was last. */
  get answered(): MessageId | null {
    const last = this.items.findLast((item) => item.type === 'user' && !item.queued);
    return last?.type === 'user' ? last.id : null;
  }

  /** Whether a view of the same conversation is from before the one that is shown. */
  isNewerThan(view: ConversationView): boolean {
    return view.seq < this.#seq;
  }

  /** Shows another state of the same conversation; what the user began to decide stays. */
  renew(view: ConversationView): void {
    this.#seq = view.seq;
    this.isOutdated = false;
    this.items = view.items;
    this.variants = view.variants;
    this.question = view.question;
    this.#setReview(view.review);
    this.held = view.held;
    this.context = view.context;
  }

  apply(event: ChatEvent, seq: number): void {
    if (event.type === 'wait_changed') {
      // No view holds the wait, so none is newer than the event.
      this.wait = event.wait;
      return;
    }
    if (seq <= this.#seq) return;
    switch (event.type) {
      case 'item_changed':
        this.#put(event.item);
        return;
      case 'items_replaced':
        this.#replaceEnd(event.after, event.items, event.variants);
        return;
      case 'queue_changed': {
        const end = this.items.findLastIndex((item) => !isQueued(item)) + 1;
        this.items = [...this.items.slice(0, end), ...event.queued];
        return;
      }
      case 'text_added':
        this.#append(event.id, event.text);
        return;
      case 'context_changed':
        this.context = event.context;
        return;
      case 'question_changed':
        this.question = event.question;
        return;
      case 'review_changed':
        this.#setReview(event.review);
        return;
      case 'held_changed':
        this.held = event.held;
        return;
      default:
        event satisfies never;
    }
  }

  #put(item: ChatItem): void {
    const key = itemKey(item);
    const at = this.items.findLastIndex((other) => itemKey(other) === key);
    this.items = at < 0 ? placed(this.items, item) : replaced(this.items, at, item);
  }

  /** All items behind `after` give way to others. Only one summary is shown, and no item twice: one that stands above
   * `after` here may stand below it by now. */
  #replaceEnd(
    after: ItemKey | null,
    items: readonly ChatItem[],
    variants: readonly MessageVariant[],
  ): void {
    const last = after ? this.items.findLastIndex((item) => hasKey(item, after)) : -1;
    if (after && last < 0) {
      this.isOutdated = true;
      return;
    }
    const own = items.map(itemKey);
    const stays = (item: ChatItem): boolean =>
      item.type !== 'summary' && !own.includes(itemKey(item));
    this.items = [...this.items.slice(0, last + 1).filter(stays), ...items];
    this.variants = variants;
  }

  #append(id: MessageId, text: string): void {
    const at = this.items.findLastIndex((item) => item.type === 'assistant' && item.id === id);
    const item = this.items[at];
    if (item?.type !== 'assistant') return;
    this.items = this.items.with(at, { ...item, text: item.text + text });
  }

  #setReview(review: Review | null): void {
    this.review = review;
    this.reviewDecisions.follow(review);
  }
}
