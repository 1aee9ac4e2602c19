/**
 * What the user decides about turns: those that wait, and those that were cut. Where a model is asked, what was set
 * before counts, like a private note.
 */
import type { ConversationId, MessageId, RegenerateRequest, TurnId } from '../../ipc/bindings';
import type { Host } from '../../ipc/host';
import type { AppState } from '../app.svelte';
import type { Undo } from '../changes/undo.svelte';
import type { SettingsQueue } from '../settings/settings-queue';
import { userError } from '../user-error';

/** A message that is to be answered anew, while the user is asked about the old answer. */
interface Old {
  readonly request: RegenerateRequest;
  readonly conversation: ConversationId | null;
  readonly changed: number;
  readonly waiting: number;
}

export class TurnActions {
  old = $state.raw<Old | null>(null);
  /** The message whose words are being changed. */
  editing = $state<MessageId | null>(null);

  readonly #host: Host;
  readonly #app: AppState;
  readonly #settingsQueue: SettingsQueue;
  readonly #undo: Undo;

  constructor(host: Host, app: AppState, settingsQueue: SettingsQueue, undo: Undo) {
    this.#host = host;
    this.#app = app;
    this.#settingsQueue = settingsQueue;
    this.#undo = undo;
  }

  /** Whether the last message can be put in other words now: it waits, or it was answered. */
  get canEditLast(): boolean {
    const last = this.#app.chat?.lastWords;
    return Boolean(last && (last.queued || !this.#app.current?.working));
  }

  /** Begins to put the last message in other words. */
  editLast(): void {
    if (this.canEditLast) this.editing = this.#app.chat?.lastWords?.id ?? null;
  }

  /** Gives a message that waits for its turn other words. */
  async editQueued(message: MessageId, text: string): Promise<void> {
    await this.#ask(() => this.#host.editQueued(message, text));
  }

  async removeQueued(message: MessageId): Promise<void> {
    await this.#ask(() => this.#host.removeQueued(message));
  }

  /** Tries a message again, or with other words; asks first what becomes of what was changed. */
  async askAnew(message: MessageId, text: string | null): Promise<void> {
    await this.#anew({ message, text, old: null });
  }

  /** Goes on with what waits for the user's word. */
  async decideOld(old: 'keep' | 'take_back' | null): Promise<void> {
    const asked = this.old;
    this.old = null;
    if (asked && old !== null) await this.#anew({ ...asked.request, old });
  }

  async showVariant(message: MessageId, number: number): Promise<void> {
    await this.#ask(() => this.#host.showVariant(message, number));
  }

  async #anew(request: RegenerateRequest): Promise<void> {
    await this.#ask(async () => {
      await this.#settingsQueue.done;
      const asked = await this.#host.askAnew(request);
      if (asked.type === 'begun') return;
      const conversation = this.#app.chat?.id ?? null;
      this.old = { request, conversation, changed: asked.changed, waiting: asked.waiting };
    });
  }

  /** Puts the earlier messages together, so that the model hears less. */
  async sumUp(conversation: ConversationId): Promise<void> {
    await this.#ask(async () => {
      await this.#settingsQueue.done;
      await this.#host.sumUp(conversation);
    });
  }

  /** Goes on with a turn that was cut. */
  async goOn(): Promise<void> {
    const chat = this.#app.chat;
    if (!chat) return;
    await this.#ask(async () => {
      await this.#settingsQueue.done;
      await this.#host.continueTurn(chat.id);
    });
  }

  /** Leaves a turn that was cut as it is. */
  async leave(turn: TurnId): Promise<void> {
    await this.#ask(() => this.#host.leaveTurn(turn));
  }

  /** Takes back what a cut turn changed, and leaves the rest of it. */
  async undoCut(turn: TurnId): Promise<void> {
    if (await this.#undo.undo({ type: 'turn', turn })) await this.leave(turn);
  }

  async #ask(request: () => Promise<void>): Promise<void> {
    try {
      await request();
    } catch (thrown) {
      this.#app.report(userError(thrown));
    }
  }
}
