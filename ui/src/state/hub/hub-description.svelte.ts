/** The description for the hub that a model proposes, until the user accepts or rejects it. */
import type { Host } from '../../ipc/host';
import type { AppState } from '../app.svelte';
import type { SettingsQueue } from '../settings/settings-queue';
import { userError } from '../user-error';

export class HubDescription {
  /** The draft, as the user has changed it; `null` while there is none. */
  proposal = $state.raw<string | null>(null);
  /** Whether a model is writing it. */
  writing = $state(false);
  /** Why nothing was written, as text. */
  trouble = $state.raw<string | null>(null);

  readonly #host: Host;
  readonly #app: AppState;
  readonly #settingsQueue: SettingsQueue;

  constructor(host: Host, app: AppState, settingsQueue: SettingsQueue) {
    this.#host = host;
    this.#app = app;
    this.#settingsQueue = settingsQueue;
  }

  /** Has it written from how the notes are organized. */
  async write(organisation = this.#app.settings.organisation): Promise<void> {
    if (this.writing) return;
    this.writing = true;
    this.trouble = null;
    try {
      await this.#settingsQueue.done;
      this.proposal = (await this.#host.writeDescription(organisation)) ?? this.proposal;
    } catch (thrown) {
      this.trouble = userError(thrown).message;
    }
    this.writing = false;
  }

  async stop(): Promise<void> {
    await this.#app.attempt(() => this.#host.stopDescription());
  }

  /** Stores the draft as the description. */
  change(text: string): void {
    this.proposal = text;
  }

  /** It becomes the hub's; where that is refused, it is proposed still. */
  async keep(): Promise<void> {
    const hub = { ...this.#app.settings.hub, description: this.proposal?.trim() ?? '' };
    if (await this.#app.attempt(() => this.#settingsQueue.save({ hub }))) this.discard();
  }

  discard(): void {
    this.proposal = null;
    this.trouble = null;
  }
}
