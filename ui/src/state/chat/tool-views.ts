/** A note or the list of changes that a tool shows to the user: each call shows it once, where the user sees
 * the answer. */
import type { ConversationId, NumberedEvent, ToolEvent } from '../../ipc/bindings';
import { itemKey } from './open-conversation.svelte';

/** The view to show. */
type ToShow = Extract<ToolEvent, { type: 'open_note' | 'show_changes' }>;

export class ToolViews {
  readonly #show: (what: ToShow) => void;
  /** The calls that were heard of. */
  readonly #heard = new Set<string>();
  /** Whether a message of the user is on its way, which may bring them to another conversation. */
  #sending = false;
  /** The last view to show in a conversation that is not in front of the user yet. */
  #early: { readonly conversation: ConversationId; readonly what: ToShow } | null = null;

  constructor(show: (what: ToShow) => void) {
    this.#show = show;
  }

  /** Events came while `open` was in front of the user. */
  hear(events: readonly NumberedEvent[], open: ConversationId | null): void {
    for (const { event } of events) {
      if (event.type !== 'item_changed' || event.item.type !== 'tool') continue;
      const { conversation, item } = event;
      const what = item.reactions.findLast(isToShow);
      const key = `${conversation}:${itemKey(item)}`;
      if (!what || this.#heard.has(key)) continue;
      this.#heard.add(key);
      if (conversation === open) this.#show(what);
      else if (this.#sending) this.#early = { conversation, what };
    }
  }

  /** The user sends a message. */
  begin(): void {
    this.#sending = true;
  }

  /** The message is stored or refused: a later view in another conversation is not shown. */
  end(): void {
    this.#sending = false;
    this.#early = null;
  }

  /** The user's own message brought them to a conversation, in which a tool may have been quicker. */
  arrive(conversation: ConversationId): void {
    const early = this.#early;
    this.#early = null;
    if (early?.conversation === conversation) this.#show(early.what);
  }
}

function isToShow(reaction: ToolEvent): reaction is ToShow {
  return reaction.type === 'open_note' || reaction.type === 'show_changes';
}
