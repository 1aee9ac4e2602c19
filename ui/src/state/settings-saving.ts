/** Changes of the settings, saved one after the other: each over what the one before it left. */
import type { Settings } from '../ipc/bindings';
import type { Host } from '../ipc/host';
import type { AppState } from './app.svelte';

export class SettingsSaving {
  readonly #host: Host;
  readonly #app: AppState;
  #last: Promise<void> = Promise.resolve();

  constructor(host: Host, app: AppState) {
    this.#host = host;
    this.#app = app;
  }

  /** Resolves once it is saved; throws what the application refuses. Until then it is taken for granted. */
  save(change: Partial<Settings>): Promise<void> {
    this.#app.assume(change);
    const saved = this.#last.then(() => this.#send(change));
    this.#last = saved.catch(() => undefined);
    return saved;
  }

  /** Resolves once all that was changed so far is saved, or refused. */
  get done(): Promise<void> {
    return this.#last;
  }

  async #send(change: Partial<Settings>): Promise<void> {
    const settings = { ...this.#app.saved, ...change };
    let saved: Settings | null = null;
    try {
      await this.#host.saveSettings(settings);
      saved = settings;
    } finally {
      this.#app.settle(saved);
    }
  }
}
