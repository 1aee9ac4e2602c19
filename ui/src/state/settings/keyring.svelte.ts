/** The system's keyring, which the user is asked to unlock. */
import { SvelteSet } from 'svelte/reactivity';

import type { KeyringTrouble, TurnId, Unlocking } from '../../ipc/bindings';
import type { Host } from '../../ipc/host';
import { m } from '../../messages/messages';
import type { AppState } from '../app.svelte';

/** Why a secret of this kind is not at hand. */
export function keyringText(trouble: KeyringTrouble, secret: 'key' | 'token'): string {
  switch (trouble) {
    case 'locked':
      return secret === 'key' ? m.keyring_locked() : m.keyring_locked_token();
    case 'unknown':
      return secret === 'key' ? m.keyring_unknown() : m.keyring_locked_token();
    case 'unavailable':
      return secret === 'key' ? m.keyring_unavailable() : m.keyring_unavailable_token();
    default:
      return trouble satisfies never;
  }
}

/** The action that can help. */
export function keyringAction(trouble: KeyringTrouble): string {
  return trouble === 'unavailable' ? m.try_again() : m.keyring_unlock();
}

export class Keyring {
  /** Whether the system asks the user for its password. */
  waits = $state(false);
  /** The outcome of the last try. */
  #outcome = $state.raw<Unlocking | null>(null);
  /** Turns that failed while the keyring was locked, as far as the window showed them then. */
  readonly #failed = new SvelteSet<TurnId>();
  readonly #host: Host;
  readonly #app: AppState;
  /** Called once the keyring can be read; its owner sets what then happens. */
  onunlocked = (): void => undefined;

  constructor(host: Host, app: AppState) {
    this.#host = host;
    this.#app = app;
  }

  /** The outcome of the last try, if the keyring is still locked. */
  get news(): string {
    if (this.#outcome === 'dismissed') return m.keyring_not_unlocked();
    return this.#outcome === 'unavailable' ? m.keyring_silent() : '';
  }

  /** A turn that failed for want of a key is shown while the keyring is locked. */
  meetFailed(turn: TurnId): void {
    this.#failed.add(turn);
  }

  /** Whether this turn failed while the keyring was locked. */
  hasFailed(turn: TurnId): boolean {
    return this.#failed.has(turn);
  }

  /** Has the system ask the user; calls that wait for the keyring then go on. */
  async unlock(): Promise<void> {
    if (this.waits) return;
    this.waits = true;
    this.#outcome = null;
    await this.#app.attempt(async () => {
      this.#outcome = await this.#host.unlockKeyring();
      if (this.#outcome === 'unlocked') {
        this.#app.say(m.keyring_unlocked());
        this.onunlocked();
      }
    });
    this.waits = false;
  }

  /** Withdraws the question. */
  async stop(): Promise<void> {
    await this.#app.attempt(() => this.#host.stopUnlocking());
  }
}
