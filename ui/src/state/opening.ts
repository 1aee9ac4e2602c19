/** Notes that a tool shows to the user: each call opens its note once, where the user sees the answer. */
import type { ConversationId, NotePath, Numbered, Reaction } from '../ipc/bindings';
import { itemKey } from './conversation.svelte';

type Show = (path: NotePath, line: number | null) => void;

/** A note to be shown. */
interface Shown {
  readonly conversation: ConversationId;
  readonly note: Extract<Reaction, { type: 'open_note' }>;
}

export class Opening {
  readonly #show: Show;
  /** The calls that were heard of. */
  readonly #heard = new Set<string>();
  /** The last note that is to be shown in a conversation which is not in front of the user yet. */
  #early: Shown | null = null;

  constructor(show: Show) {
    this.#show = show;
  }

  /** Events came while `open` was in front of the user. */
  hear(events: readonly Numbered[], open: ConversationId | null): void {
    for (const { event } of events) {
      if (event.type !== 'item_changed' || event.item.type !== 'tool') continue;
      const { conversation, item } = event;
      const note = item.reactions.findLast((reaction) => reaction.type === 'open_note');
      const key = `${conversation}:${itemKey(item)}`;
      if (!note || this.#heard.has(key)) continue;
      this.#heard.add(key);
      if (conversation === open) this.#show(note.path, note.line);
      else this.#early = { conversation, note };
    }
  }

  /** The user's own message brought them to a conversation, in which a tool may have been quicker. */
  arrive(conversation: ConversationId): void {
    const early = this.#early;
    this.#early = null;
    if (early?.conversation === conversation) this.#show(early.note.path, early.note.line);
  }
}
