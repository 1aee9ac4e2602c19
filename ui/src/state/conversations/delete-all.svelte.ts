/** Deletes all conversations at once, and restores them for as long as that is possible. */
import type { ConversationCounts } from '../../ipc/bindings';
import type { Host } from '../../ipc/host';
import type { AppState } from '../app.svelte';
import type { ConversationActions } from './conversation-actions.svelte';

export class DeleteAll {
  /** How many there are; `null` until it was looked at. */
  kept = $state.raw<ConversationCounts | null>(null);
  /** The action that is under way. */
  doing = $state<'delete' | 'restore' | null>(null);
  /** How many stayed when all were deleted last: they were being worked on. */
  stayed = $state(0);

  readonly #host: Host;
  readonly #app: AppState;
  readonly #conversationActions: ConversationActions;

  constructor(host: Host, app: AppState, conversationActions: ConversationActions) {
    this.#host = host;
    this.#app = app;
    this.#conversationActions = conversationActions;
  }

  /** Counts again. */
  async look(): Promise<void> {
    this.kept = null;
    this.stayed = 0;
    await this.again();
  }

  /** The same while what is known goes on being shown. */
  async again(): Promise<void> {
    if (!this.#app.vault) return;
    await this.#app.attempt(async () => {
      this.kept = await this.#host.conversationCounts();
    });
  }

  async delete(): Promise<void> {
    await this.#do('delete', async () => {
      this.kept = await this.#host.deleteConversations();
      this.stayed = this.kept.kept;
      // Deleting one conversation can no longer be undone alone: it is part of all now.
      this.#conversationActions.clear();
      const page = await this.#host.listConversations({ archiveState: 'open', before: null });
      this.#app.behind = page.behind;
      this.#app.addRows(page.conversations);
    });
  }

  async restore(): Promise<void> {
    await this.#do('restore', async () => {
      const page = await this.#host.restoreConversations();
      this.#conversationActions.clear();
      this.#app.behind = page.behind;
      this.#app.addRows(page.conversations);
      this.stayed = 0;
      this.kept = await this.#host.conversationCounts();
    });
  }

  async #do(what: 'delete' | 'restore', request: () => Promise<void>): Promise<void> {
    if (this.doing !== null) return;
    this.doing = what;
    await this.#app.attempt(request);
    this.doing = null;
  }
}
