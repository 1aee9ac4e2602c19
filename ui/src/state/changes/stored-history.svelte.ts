/** The size of the stored history, and its deletion. */
import type { DeletedHistory, HistoryAge, HistoryStats } from '../../ipc/bindings';
import type { Host } from '../../ipc/host';
import type { AppState } from '../app.svelte';

export class StoredHistory {
  /** The stored history; `null` until it was looked at. */
  kept = $state.raw<HistoryStats | null>(null);
  /** The history that was deleted last, since the settings were opened. */
  deleted = $state.raw<DeletedHistory | null>(null);

  readonly #host: Host;
  readonly #app: AppState;
  /** Another look began since: what an earlier one finds is old. */
  #looks = 0;

  constructor(host: Host, app: AppState) {
    this.#host = host;
    this.#app = app;
  }

  /** Looks again. */
  async look(): Promise<void> {
    this.kept = null;
    this.deleted = null;
    if (this.#app.vault) await this.#app.attempt(() => this.#look());
  }

  /** Deletes the history of an age permanently. */
  async delete(age: HistoryAge): Promise<void> {
    this.deleted = null;
    await this.#app.attempt(async () => {
      this.deleted = await this.#host.deleteHistory(age);
    });
    await this.#app.attempt(() => this.#look());
  }

  async #look(): Promise<void> {
    this.#looks += 1;
    const look = this.#looks;
    const kept = await this.#host.history();
    if (look === this.#looks) this.kept = kept;
  }
}
