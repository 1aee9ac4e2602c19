/** What models have cost: by month, and by turn of the conversation that was asked about. */
import type { ConversationId, MonthSpent, TurnSpent } from '../ipc/bindings';
import type { Host } from '../ipc/host';
import type { AppState } from './app.svelte';
import { userError } from './user-error';

export class Spending {
  /** By month, newest first; `null` until it was looked at. */
  months = $state.raw<readonly MonthSpent[] | null>(null);

  readonly #host: Host;
  readonly #app: AppState;

  constructor(host: Host, app: AppState) {
    this.#host = host;
    this.#app = app;
  }

  /** Looks anew at the months. */
  async look(): Promise<void> {
    this.months = null;
    if (!this.#app.vault) return;
    this.months = await this.#ask(() => this.#host.spentByMonth());
  }

  /** What the turns of a conversation cost; `null` when that cannot be told. */
  async of(conversation: ConversationId): Promise<readonly TurnSpent[] | null> {
    return this.#ask(() => this.#host.spentIn(conversation));
  }

  async #ask<T>(request: () => Promise<T>): Promise<T | null> {
    try {
      return await request();
    } catch (thrown) {
      this.#app.report(userError(thrown));
      return null;
    }
  }
}
