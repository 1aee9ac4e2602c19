/** The source of the token for the hub, never the token itself. */
import type { KeyStorage, TokenStatus } from '../../ipc/bindings';
import type { Host } from '../../ipc/host';
import type { AppState } from '../app.svelte';
import type { Keyring } from '../settings/keyring.svelte';
import { keyFailure, type KeyResult } from '../settings/provider.svelte';

export class HubToken {
  /** Without one until it was looked at. */
  status = $state.raw<TokenStatus>({ source: null, keyring: null });
  readonly #host: Host;
  readonly #app: AppState;

  constructor(host: Host, app: AppState, keyring: Keyring) {
    this.#host = host;
    this.#app = app;
    keyring.onunlocked = () => void this.look();
  }

  /** Looks where it comes from now. */
  async look(): Promise<void> {
    await this.#app.attempt(async () => {
      this.status = await this.#host.hubTokenSource();
    });
  }

  /** Keeps a token; an empty one removes it. */
  async set(token: string, place: KeyStorage): Promise<KeyResult> {
    try {
      await this.#host.setHubToken(token, place);
    } catch (thrown) {
      return keyFailure(thrown, token, place, this.#app);
    }
    await this.look();
    return { state: 'kept' };
  }
}
