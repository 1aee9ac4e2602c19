/**
 * The actions of the user on turns: on queued ones, and on interrupted ones. An action that asks a model takes
 * effect after the settings that were changed before it, such as a rule for private notes.
 */
import { SvelteMap, SvelteSet } from 'svelte/reactivity';

import type { ConversationId, MessageId, RegenerateRequest, TurnId } from '../../ipc/bindings';
import type { Host } from '../../ipc/host';
import type { AppState } from '../app.svelte';
import type { Undo } from '../changes/undo.svelte';
import type { SettingsQueue } from '../settings/settings-queue';

/** A message to regenerate the answer to, while the user is asked about the changes of the old answer. */
interface Old {
  readonly request: RegenerateRequest;
  readonly conversation: ConversationId | null;
  readonly changed: number;
  readonly waiting: number;
  /** Whether an undo of its changes includes those of an earlier answer. */
  readonly earlier: boolean;
}

export class TurnActions {
  old = $state.raw<Old | null>(null);
  /** The message that is being edited. */
  editing = $state<MessageId | null>(null);
  /** The edited message that is on its way. */
  sending = $state<MessageId | null>(null);

  /** Edited texts that the application has not taken, by their messages. */
  readonly #edited = new SvelteMap<MessageId, string>();
  /** Conversations in which an action on a turn is on its way. */
  readonly #acting = new SvelteSet<ConversationId>();
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

  /** Whether the last message can be edited now: it is queued, or it was answered. */
  get canEditLast(): boolean {
    const last = this.#app.chat?.lastMessage;
    return Boolean(last && (last.queued || !this.#app.current?.working));
  }

  /** Begins to edit the last message. */
  editLast(): void {
    if (this.canEditLast) this.editing = this.#app.chat?.lastMessage?.id ?? null;
  }

  /** The text of a message as it was edited so far; `null` where it was not. It stays until the application
   * has taken it, or the user discards it. */
  editedText(message: MessageId): string | null {
    return this.#edited.get(message) ?? null;
  }

  /** The user goes on with the text of the message that is being edited. */
  write(message: MessageId, text: string): void {
    this.#edited.set(message, text);
  }

  /** Ends the editing of a message and leaves the message as it is. */
  discardEdit(message: MessageId): void {
    if (this.old?.request.message === message && this.old.request.text !== null) this.old = null;
    this.#endEdit(message);
  }

  /** Replaces the text of a queued message; `false` where that was refused. */
  async editQueued(message: MessageId, text: string): Promise<boolean> {
    return await this.#send(message, async () => {
      await this.#host.editQueued(message, text);
      this.#endEdit(message);
    });
  }

  async removeQueued(message: MessageId): Promise<void> {
    await this.#app.attempt(() => this.#host.removeQueued(message));
  }

  /** Regenerates the answer to a message, or to a new version of it; asks first about the changes of the old answer.
   * `false` where that was refused, or is asked about first. */
  async regenerate(message: MessageId, text: string | null): Promise<boolean> {
    return await this.#regenerate({ message, text, old: null });
  }

  /** Regenerates after the user decided about the changes of the old answer. */
  async decideOld(old: 'keep' | 'undo' | null): Promise<void> {
    const asked = this.old;
    this.old = null;
    if (!asked || old === null) return;
    const { message, text } = asked.request;
    // The user may have gone on with the text.
    const edited = text === null ? null : this.#edited.get(message)?.trim() || text;
    await this.#regenerate({ message, text: edited, old });
  }

  async showVariant(message: MessageId, number: number): Promise<void> {
    await this.#app.attempt(() => this.#host.showVariant(message, number));
  }

  async #regenerate(request: RegenerateRequest): Promise<boolean> {
    const { message, text } = request;
    // The user may go to another conversation before the answer is here.
    const conversation = this.#app.chat?.id ?? null;
    let begun = false;
    const regenerate = async (): Promise<void> => {
      await this.#settingsQueue.done;
      const asked = await this.#host.regenerate(request);
      begun = asked.type === 'begun';
      if (asked.type === 'asks') {
        const { changed, waiting, earlier } = asked;
        this.old = { request, conversation, changed, waiting, earlier };
      } else if (text !== null) this.#endEdit(message);
    };
    await (text === null
      ? this.#once(() => this.#app.attempt(regenerate))
      : this.#send(message, regenerate));
    return begun;
  }

  /** Sends an edited message, once at a time. */
  async #send(message: MessageId, request: () => Promise<void>): Promise<boolean> {
    if (this.sending !== null) return false;
    this.sending = message;
    const taken = await this.#app.attempt(request);
    this.sending = null;
    return taken;
  }

  #endEdit(message: MessageId): void {
    this.#edited.delete(message);
    if (this.editing === message) this.editing = null;
  }

  /** Summarizes the earlier messages, so that the model is sent less. */
  async summarize(conversation: ConversationId): Promise<void> {
    await this.#app.attempt(async () => {
      await this.#settingsQueue.done;
      await this.#host.compactConversation(conversation);
    });
  }

  /** Continues an interrupted turn; `false` where that was refused, or one is on its way. */
  async goOn(): Promise<boolean> {
    return await this.#once(async (conversation) => {
      return await this.#app.attempt(async () => {
        await this.#settingsQueue.done;
        await this.#host.continueTurn(conversation);
      });
    });
  }

  /** Leaves an interrupted turn as it is. */
  async leave(turn: TurnId): Promise<boolean> {
    return await this.#once(() => this.#leave(turn));
  }

  /** Undoes the changes of an interrupted turn, and leaves the rest of it. */
  async undoCut(turn: TurnId): Promise<boolean> {
    return await this.#once(async () => {
      return (await this.#undo.undo({ type: 'turn', turn })) && (await this.#leave(turn));
    });
  }

  async #leave(turn: TurnId): Promise<boolean> {
    return await this.#app.attempt(() => this.#host.dismissInterruptedTurn(turn));
  }

  /** Acts on a turn of the open conversation, unless another action on one is on its way there. */
  async #once(act: (conversation: ConversationId) => Promise<boolean>): Promise<boolean> {
    const conversation = this.#app.chat?.id;
    if (conversation === undefined || this.#acting.has(conversation)) return false;
    this.#acting.add(conversation);
    const done = await act(conversation);
    this.#acting.delete(conversation);
    return done;
  }
}
