/** Clears the stored decisions of deleted conversations once they can no longer be restored. */
import type { ConversationId, VaultId } from '../../ipc/bindings';
import { StoredDecisions } from './stored-decisions';

/** The time for which the application restores a deleted conversation, in ms. */
const restorable = 10 * 60_000;

type Timer = ReturnType<typeof setTimeout>;

export class DecisionCleanup {
  #vault: VaultId | null = null;
  /** The clearing to come, for each deleted conversation. */
  readonly #timers = new Map<ConversationId, Timer>();

  /** Begins with a vault and the conversations that it has; all that wait for decisions must be among them. */
  start(vault: VaultId | null, known: readonly ConversationId[]): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
    this.#vault = vault;
    for (const id of StoredDecisions.conversations(vault)) {
      if (known.includes(id)) this.#of(id).deletedAt = null;
      else this.gone(id);
    }
  }

  /** The conversation was deleted, here or in another window. */
  gone(id: ConversationId): void {
    const stored = this.#of(id);
    const deletedAt = stored.deletedAt ?? Date.now();
    stored.deletedAt = deletedAt;
    clearTimeout(this.#timers.get(id));
    const clear = (): void => {
      this.#timers.delete(id);
      stored.clear();
    };
    this.#timers.set(id, setTimeout(clear, Math.max(0, deletedAt + restorable - Date.now())));
  }

  /** The conversation is there, perhaps again. */
  there(id: ConversationId): void {
    const timer = this.#timers.get(id);
    if (timer === undefined) return;
    clearTimeout(timer);
    this.#timers.delete(id);
    this.#of(id).deletedAt = null;
  }

  #of(id: ConversationId): StoredDecisions {
    return new StoredDecisions(this.#vault, id);
  }
}
