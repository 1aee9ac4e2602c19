/** The desktop integration: the tray, the start at login, and the meaning of closing the window. */
import type { AutostartMode, ConversationId, DesktopState, OnClose } from '../../ipc/bindings';
import type { Host } from '../../ipc/host';
import type { AppState } from '../app.svelte';
import { userError } from '../user-error';

export class Desktop {
  /** `null` until it was looked at. */
  state = $state.raw<DesktopState | null>(null);
  readonly #host: Host;
  readonly #app: AppState;

  constructor(host: Host, app: AppState) {
    this.#host = host;
    this.#app = app;
  }

  /** Looks how the desktop stands now. */
  async look(): Promise<void> {
    await this.#ask(async () => {
      this.state = await this.#host.desktopState();
    });
  }

  async setAtLogin(atLogin: AutostartMode): Promise<void> {
    await this.#ask(async () => {
      this.state = await this.#host.setAtLogin(atLogin);
    });
  }

  /** Says what closing the window means; `ask` leaves it open. */
  async answerClosing(answer: OnClose): Promise<void> {
    this.#app.closing = false;
    await this.#ask(() => this.#host.answerClosing(answer));
  }

  /** Says which conversation the user has before them. */
  async lookAt(conversation: ConversationId | null): Promise<void> {
    await this.#ask(() => this.#host.lookAt(conversation));
  }

  async #ask(request: () => Promise<void>): Promise<void> {
    try {
      await request();
    } catch (thrown) {
      this.#app.report(userError(thrown));
    }
  }
}
