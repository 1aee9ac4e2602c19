/** Renames, archives, exports, ends, deletes and restores conversations. */
import type { ArchiveState, Conversation, ConversationId, ExportFormat } from '../../ipc/bindings';
import type { Host } from '../../ipc/host';
import { m } from '../../messages/messages';
import type { AppState } from '../app.svelte';
import { userError } from '../user-error';

/** What was done last, and the way back from it. */
interface Notice {
  readonly words: () => string;
  /** `null` where nothing has to be taken back. */
  readonly undo: (() => Promise<boolean>) | null;
}

export class ConversationActions {
  /** Which conversations the list shows. */
  shelf = $state<ArchiveState>('open');
  /** The one whose name is being written. */
  renaming = $state<ConversationId | null>(null);
  notice = $state.raw<Notice | null>(null);
  /** Whether a page is on its way. */
  listing = $state(false);

  readonly #host: Host;
  readonly #app: AppState;
  /** The archived ones go on behind this one; `undefined` before the first page. */
  #behind = $state.raw<ConversationId | null | undefined>(undefined);

  constructor(host: Host, app: AppState) {
    this.#host = host;
    this.#app = app;
  }

  /** Whether the list goes on behind what it shows. */
  get more(): boolean {
    return this.shelf === 'open' ? this.#app.behind !== null : Boolean(this.#behind);
  }

  /** Another vault has other conversations. */
  clear(): void {
    this.shelf = 'open';
    this.renaming = null;
    this.notice = null;
    this.#behind = undefined;
  }

  async show(shelf: ArchiveState): Promise<void> {
    this.shelf = shelf;
    this.renaming = null;
    if (shelf === 'archived' && this.#behind === undefined) await this.listMore();
  }

  /** The next page of what the list shows. */
  async listMore(): Promise<void> {
    if (this.listing) return;
    this.listing = true;
    const { shelf } = this;
    const before = shelf === 'open' ? this.#app.behind : (this.#behind ?? null);
    await this.#ask(async () => {
      const page = await this.#host.listConversations({ shelf, before });
      this.#app.addRows(page.conversations);
      if (shelf === 'open') this.#app.behind = page.behind;
      else this.#behind = page.behind;
    });
    this.listing = false;
  }

  /** Begins to write another name. */
  rename(conversation: ConversationId): void {
    this.renaming = conversation;
  }

  /** Takes the name that was written; an empty one, or the same, changes nothing. */
  async name({ id, title }: Conversation, written: string): Promise<void> {
    this.renaming = null;
    const name = written.trim();
    if (name && name !== title) await this.#ask(() => this.#host.renameConversation(id, name));
  }

  async put({ id, title }: Conversation, shelf: ArchiveState): Promise<void> {
    const other = shelf === 'open' ? 'archived' : 'open';
    const say = shelf === 'open' ? m.kept_unarchived : m.kept_archived;
    if (!(await this.#ask(() => this.#host.putConversation(id, shelf)))) return;
    const undo = (): Promise<boolean> => this.#ask(() => this.#host.putConversation(id, other));
    this.notice = { words: () => say({ title }), undo };
  }

  async end({ id }: Conversation): Promise<void> {
    await this.#ask(() => this.#host.endConversation(id));
  }

  async delete({ id, title }: Conversation): Promise<void> {
    if (!(await this.#ask(() => this.#host.deleteConversation(id)))) return;
    const undo = (): Promise<boolean> => this.#ask(() => this.#host.restoreConversation(id));
    this.notice = { words: () => m.kept_deleted({ title }), undo };
  }

  /** Writes one conversation, or all, into a file that the user picks. */
  async export(row: Conversation | null, format: ExportFormat): Promise<void> {
    const name = fileName(row?.title ?? m.export_all_name());
    await this.#ask(async () => {
      const exported = await this.#host.exportConversations(row?.id ?? null, format, name);
      if (!exported) return;
      const { conversations: count, file } = exported;
      this.notice = { words: () => m.kept_exported({ count, file }), undo: null };
    });
  }

  /** Takes back what the notice tells of. */
  async undoLast(): Promise<void> {
    const done = this.notice;
    this.notice = null;
    await done?.undo?.();
  }

  dismiss(): void {
    this.notice = null;
  }

  async #ask(request: () => Promise<void>): Promise<boolean> {
    try {
      await request();
      return true;
    } catch (thrown) {
      this.#app.report(userError(thrown));
      return false;
    }
  }
}

/** A title as every system takes it for the name of a file. */
function fileName(title: string): string {
  const plain = title.replaceAll(/[^\p{L}\p{N} ,()'-]+/gu, ' ').replaceAll(/\s+/g, ' ');
  return plain.trim().slice(0, 80).trim() || m.export_all_name();
}
