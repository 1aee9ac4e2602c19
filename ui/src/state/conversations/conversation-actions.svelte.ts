/** Renames, archives, exports, ends, deletes and restores conversations. */
import type {
  ArchiveState,
  Conversation,
  ConversationId,
  ExportFormat,
  Timestamp,
} from '../../ipc/bindings';
import type { Host } from '../../ipc/host';
import { m } from '../../messages/messages';
import type { AppState } from '../app.svelte';

/** The last action, and how to undo it. */
interface LastAction {
  readonly text: () => string;
  /** `null` where there is nothing to undo. */
  readonly undo: (() => Promise<boolean>) | null;
  /** Whether nothing else undoes it: then it is told until it is dismissed. */
  readonly stays: boolean;
  /** The time at which it was done. */
  readonly at: Timestamp;
}

export class ConversationActions {
  /** Which conversations the list shows. */
  archiveState = $state<ArchiveState>('open');
  /** The conversation that is being renamed. */
  renaming = $state<ConversationId | null>(null);
  /** Its name as it was typed so far; `null` while it was not touched. */
  typedName = $state<string | null>(null);
  notice = $state.raw<LastAction | null>(null);
  /** Whether a page is on its way. */
  listing = $state(false);

  readonly #host: Host;
  readonly #app: AppState;
  /** The archived conversations continue after this one; `undefined` before the first page. */
  #behind = $state.raw<ConversationId | null | undefined>(undefined);

  constructor(host: Host, app: AppState) {
    this.#host = host;
    this.#app = app;
  }

  /** Whether there are more conversations than the list shows. */
  get more(): boolean {
    return this.archiveState === 'open' ? this.#app.behind !== null : Boolean(this.#behind);
  }

  /** Another vault has other conversations. */
  clear(): void {
    this.archiveState = 'open';
    this.renaming = null;
    this.notice = null;
    this.#behind = undefined;
  }

  async show(state: ArchiveState): Promise<void> {
    this.archiveState = state;
    this.renaming = null;
    if (state === 'archived' && this.#behind === undefined) await this.listMore();
  }

  /** The next page of what the list shows. */
  async listMore(): Promise<void> {
    if (this.listing) return;
    this.listing = true;
    const { archiveState } = this;
    const before = archiveState === 'open' ? this.#app.behind : (this.#behind ?? null);
    await this.#app.attempt(async () => {
      const page = await this.#host.listConversations({ archiveState, before });
      this.#app.addRows(page.conversations);
      if (archiveState === 'open') this.#app.behind = page.behind;
      else this.#behind = page.behind;
    });
    this.listing = false;
  }

  /** Tells for a while of an action that is done by now, in place of the one before it. */
  notify(text: LastAction['text'], undo: LastAction['undo']): void {
    this.notice = { text, undo, stays: false, at: Date.now() };
  }

  /** As `notify`, until it is dismissed: only the notice leads back. */
  #offer(text: LastAction['text'], undo: () => Promise<boolean>): void {
    this.notice = { text, undo, stays: true, at: Date.now() };
  }

  /** Begins to rename a conversation. */
  rename(conversation: ConversationId): void {
    this.renaming = conversation;
    this.typedName = null;
  }

  /** Stores the written name; an empty or unchanged one has no effect. Where it is refused, the user goes on
   * with it. */
  async name({ id, title }: Conversation, written: string): Promise<void> {
    this.renaming = null;
    this.typedName = null;
    const name = written.trim();
    if (!name || name === title) return;
    if (await this.#app.attempt(() => this.#host.renameConversation(id, name))) return;
    if (this.renaming === null) [this.renaming, this.typedName] = [id, written];
  }

  async setArchiveState({ id, title }: Conversation, state: ArchiveState): Promise<void> {
    const other = state === 'open' ? 'archived' : 'open';
    const say = state === 'open' ? m.kept_unarchived : m.kept_archived;
    if (!(await this.#app.attempt(() => this.#host.setArchiveState(id, state)))) return;
    const undo = (): Promise<boolean> =>
      this.#app.attempt(() => this.#host.setArchiveState(id, other));
    this.#offer(() => say({ title }), undo);
  }

  async end({ id }: Conversation): Promise<void> {
    await this.#app.attempt(() => this.#host.endConversation(id));
  }

  async delete({ id, title }: Conversation): Promise<void> {
    if (!(await this.#app.attempt(() => this.#host.deleteConversation(id)))) return;
    const undo = (): Promise<boolean> =>
      this.#app.attempt(() => this.#host.restoreConversation(id));
    this.#offer(() => m.kept_deleted({ title }), undo);
  }

  /** Writes one conversation, or all, into a file that the user chooses. */
  async export(row: Conversation | null, format: ExportFormat): Promise<void> {
    const name = fileName(row?.title ?? m.export_all_name());
    await this.#app.attempt(async () => {
      const exported = await this.#host.exportConversations(row?.id ?? null, format, name);
      if (!exported) return;
      const { conversations: count, file } = exported;
      this.notify(() => m.kept_exported({ count, file }), null);
    });
  }

  /** Undoes the action of the notice. */
  async undoLast(): Promise<void> {
    const done = this.notice;
    this.notice = null;
    await done?.undo?.();
  }

  dismiss(): void {
    this.notice = null;
  }
}

/** A title as every system takes it for the name of a file. */
function fileName(title: string): string {
  const plain = title.replaceAll(/[^\p{L}\p{N} ,()'-]+/gu, ' ').replaceAll(/\s+/g, ' ');
  return plain.trim().slice(0, 80).trim() || m.export_all_name();
}
