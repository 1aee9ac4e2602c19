/** Saves changes of the settings one after the other, each on top of the settings of that time. */
import type { Settings } from '../../ipc/bindings';
import type { Host } from '../../ipc/host';
import type { AppState } from '../app.svelte';

export class SettingsQueue {
  readonly #host: Host;
  readonly #app: AppState;
  #last: Promise<void> = Promise.resolve();

  constructor(host: Host, app: AppState) {
    this.#host = host;
    this.#app = app;
  }

  /** Resolves once it is saved; throws what the application refuses. Until then it is taken for granted. */
  save(change: Partial<Settings>): Promise<void> {
    // The settings that the user saw when they made the change: later changes from elsewhere are none of it.
    const before = this.#app.settings;
    this.#app.assume(change);
    const saved = this.#last.then(() => this.#send(before, change));
    this.#last = saved.catch(() => undefined);
    return saved;
  }

  /** Resolves once all that was changed so far is saved, or refused. */
  get done(): Promise<void> {
    return this.#last;
  }

  async #send(before: Settings, change: Partial<Settings>): Promise<void> {
    const told = this.#app.settingsTold;
    let saved: Settings | null = null;
    try {
      saved = await this.#host.saveSettings({ ...before, ...change }, before);
    } finally {
      // Settings that were reported meanwhile are at least as new.
      this.#app.settle(told === this.#app.settingsTold ? saved : null);
    }
  }
}
