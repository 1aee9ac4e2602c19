/** What the user decides about turns: those that wait, and those that were cut. */
import type { MessageId, TurnId } from '../ipc/bindings';
import type { Host } from '../ipc/host';
import type { AppState } from './app.svelte';
import type { Undoing } from './undoing.svelte';
import { userError } from './user-error';

export class Turns {
  readonly #host: Host;
  readonly #app: AppState;
  readonly #undoing: Undoing;

  constructor(host: Host, app: AppState, undoing: Undoing) {
    this.#host = host;
    this.#app = app;
    this.#undoing = undoing;
  }

  /** Gives a message that waits for its turn other words. */
  async editQueued(message: MessageId, text: string): Promise<void> {
    await this.#ask(() => this.#host.editQueued(message, text));
  }

  async removeQueued(message: MessageId): Promise<void> {
    await this.#ask(() => this.#host.removeQueued(message));
  }

  /** Leaves a turn that was cut as it is. */
  async leave(turn: TurnId): Promise<void> {
    await this.#ask(() => this.#host.leaveTurn(turn));
  }

  /** Takes back what a cut turn changed, and leaves the rest of it. */
  async undoCut(turn: TurnId): Promise<void> {
    if (await this.#undoing.undo({ type: 'turn', turn })) await this.leave(turn);
  }

  async #ask(request: () => Promise<void>): Promise<void> {
    try {
      await request();
    } catch (thrown) {
      this.#app.report(userError(thrown));
    }
  }
}
