/** Conversations of the application in memory: their list, and what is found in them. */
import type {
  ChatItem,
  Conversation,
  ConversationCounts,
  ConversationHit,
  ConversationHits,
  ConversationId,
  ConversationPage,
  ConversationView,
  Exported,
  HitLocation,
  HitSource,
  ListConversations,
} from '../../src/ipc/bindings';
import { noConversation } from './refusals';

/** How many rows stand on a page. */
const page = 3;

export class FakeConversations {
  readonly #rows: Map<ConversationId, Conversation>;
  readonly #deleted = new Map<ConversationId, Conversation>();
  /** Until when the deleted ones can be restored. */
  readonly #until = Date.now() + 600_000;

  constructor(rows: readonly Conversation[]) {
    this.#rows = new Map(rows.map((row) => [row.id, row]));
  }

  get(id: ConversationId): Conversation {
    const row = this.#rows.get(id);
    if (!row) throw noConversation;
    return row;
  }

  put(row: Conversation): void {
    this.#rows.set(row.id, row);
  }

  delete(id: ConversationId): void {
    this.#deleted.set(id, this.get(id));
    this.#rows.delete(id);
  }

  restore(id: ConversationId): Conversation {
    const row = this.#deleted.get(id);
    if (!row) throw noConversation;
    this.#deleted.delete(id);
    this.put(row);
    return row;
  }

  /** Those that are worked on stay. */
  deleteAll(): ConversationId[] {
    const gone = [...this.#rows.values()].filter(({ working }) => !working).map(({ id }) => id);
    for (const id of gone) this.delete(id);
    return gone;
  }

  restoreAll(): void {
    for (const id of this.#deleted.keys()) this.restore(id);
  }

  kept(): ConversationCounts {
    const { size: deleted } = this.#deleted;
    return { kept: this.#rows.size, deleted, until: deleted > 0 ? this.#until : null };
  }

  list({ archiveState, before }: ListConversations): ConversationPage {
    const rows = [...this.#rows.values()]
      .filter((row) => row.archived === (archiveState === 'archived'))
      .toSorted((a, b) => b.updatedAt - a.updatedAt);
    const from = rows.findIndex(({ id }) => id === before) + 1;
    const conversations = rows.slice(from, from + page);
    const more = rows.length > from + page;
    return { conversations, behind: more ? (conversations.at(-1)?.id ?? null) : null };
  }

  exported(id: ConversationId | null, file: string): Exported {
    return { file, conversations: id === null ? this.#rows.size : 1 };
  }

  search(query: string, views: Iterable<ConversationView>): ConversationHits {
    const words = query.trim().toLowerCase();
    const items = [...views].filter(({ conversation }) => this.#rows.has(conversation.id));
    const found = items.flatMap(({ conversation, items: all }) =>
      all.map((item) => hit(this.get(conversation.id), item, words)).filter((one) => one !== null),
    );
    const names = [...this.#rows.values()]
      .filter((row) => row.title.toLowerCase().includes(words))
      .map((row) => marked(row, 'name', { type: 'whole' }, row.title, words));
    return { found: [...found, ...names], more: false };
  }
}

function hit(row: Conversation, item: ChatItem, words: string): ConversationHit | null {
  if (item.type !== 'user' && item.type !== 'assistant') return null;
  if (!item.text.toLowerCase().includes(words)) return null;
  const place: HitLocation = { type: 'item', turn: 'turn', id: item.id };
  return marked(row, item.type, place, item.text, words);
}

function marked(
  row: Conversation,
  by: HitSource,
  place: HitLocation,
  text: string,
  words: string,
): ConversationHit {
  const at = text.toLowerCase().indexOf(words);
  return {
    conversation: row.id,
    title: row.title,
    inboxDay: row.inboxDay,
    archiveState: row.archived ? 'archived' : 'open',
    by,
    place,
    at: row.updatedAt,
    text,
    marks: [[at, at + words.length]],
  };
}
