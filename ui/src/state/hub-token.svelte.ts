/** The token that the hub is shown: where it comes from, never what it is. */
import type { KeyPlace } from '../ipc/bindings';
import type { Host } from '../ipc/host';
import type { AppState } from './app.svelte';
import { keyFailure, type KeyResult } from './answering.svelte';
import { userError } from './user-error';

export class HubToken {
  /** `null` without one, and until it was looked at. */
  source = $state.raw<string | null>(null);
  readonly #host: Host;
  readonly #app: AppState;

  constructor(host: Host, app: AppState) {
    this.#host = host;
    this.#app = app;
  }

  /** Looks where it comes from now. */
  async look(): Promise<void> {
    try {
      this.source = await this.#host.hubTokenSource();
    } catch (thrown) {
      this.#app.report(userError(thrown));
    }
  }

  /** Keeps a token; an empty one removes it. */
  async set(token: string, place: KeyPlace): Promise<KeyResult> {
    try {
      await this.#host.setHubToken(token, place);
    } catch (thrown) {
      return keyFailure(thrown, token, place, this.#app);
    }
    await this.look();
    return { state: 'kept' };
  }
}
