/** The desktop integration: the tray, the start at login, and the meaning of closing the window. */
import type { AutostartMode, ConversationId, DesktopState, OnClose } from '../../ipc/bindings';
import type { Host } from '../../ipc/host';
import type { AppState } from '../app.svelte';

export class Desktop {
  /** `null` until it was looked at; with a change that is on its way. */
  state = $state.raw<DesktopState | null>(null);
  /** As the application told it last. */
  #told: DesktopState | null = null;
  readonly #host: Host;
  readonly #app: AppState;

  constructor(host: Host, app: AppState) {
    this.#host = host;
    this.#app = app;
  }

  /** Looks how the desktop stands now. */
  async look(): Promise<void> {
    await this.#app.attempt(async () => {
      this.#told = await this.#host.desktopState();
    });
    this.state = this.#told;
  }

  /** Shown as set at once, and as it was where that is refused. */
  async setAtLogin(atLogin: AutostartMode): Promise<void> {
    if (this.state) this.state = { ...this.state, atLogin };
    await this.#app.attempt(async () => {
      this.#told = await this.#host.setAutostart(atLogin);
    });
    this.state = this.#told;
  }

  /** Says what closing the window means; `ask` leaves it open. */
  async answerClosing(answer: OnClose): Promise<void> {
    this.#app.closing = false;
    await this.#app.attempt(() => this.#host.answerCloseRequest(answer));
  }

  /** Says which conversation the user has before them. */
  async lookAt(conversation: ConversationId | null): Promise<void> {
    await this.#app.attempt(() => this.#host.setWindowFocus(conversation));
  }
}
