/** Finds a note by some letters of its name. */
import type { NameMatch, NameMatches } from '../../ipc/bindings';
import type { Host } from '../../ipc/host';
import { LatestOnly } from '../../shared/async/latest-only';
import type { AppState } from '../app.svelte';
import { userError } from '../user-error';

export class Switcher {
  open = $state(false);
  query = $state('');
  /** The matches; `null` before the first answer. */
  found = $state.raw<NameMatches | null>(null);
  /** Which of them is chosen. */
  at = $state(0);

  readonly #host: Host;
  readonly #app: AppState;
  readonly #latest = new LatestOnly();

  constructor(host: Host, app: AppState) {
    this.#host = host;
    this.#app = app;
  }

  get chosen(): NameMatch | null {
    return this.found?.names[this.at] ?? null;
  }

  show(): void {
    this.open = true;
    this.found = null;
    void this.type('');
  }

  close(): void {
    this.open = false;
  }

  async type(query: string): Promise<void> {
    this.query = query;
    this.at = 0;
    await this.#ask();
  }

  /** Chooses another one; after the last comes the first. */
  move(by: number): void {
    const count = this.found?.names.length ?? 0;
    if (count > 0) this.at = (this.at + by + count) % count;
  }

  /** Notes changed: asks again. */
  again(): void {
    if (this.open) void this.#ask();
  }

  async #ask(): Promise<void> {
    await this.#latest.ask(async () => {
      try {
        const found = await this.#host.findNames(this.query);
        return () => {
          const kept = this.chosen?.path;
          const at = found.names.findIndex(({ path }) => path === kept);
          this.found = found;
          this.at = this.at > 0 && at >= 0 ? at : 0;
        };
      } catch (thrown) {
        return () => this.#app.report(userError(thrown));
      }
    });
  }
}
