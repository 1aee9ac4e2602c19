/** Saves an answer as a note. If the proposed name is taken, it proposes another one. */
import type { ChatItem, MessageId, NotePath } from '../../ipc/bindings';
import type { Host } from '../../ipc/host';
import { m } from '../../messages/messages';
import type { AppState } from '../app.svelte';
import type { Undo } from '../changes/undo.svelte';
import type { ConversationActions } from '../conversations/conversation-actions.svelte';
import { noteName } from '../notes/note-path';
import { userError } from '../user-error';
import { type AnswerItem, lastOfModel } from './builtin-replies';
import { proposeName } from './propose-name';

/** An answer whose note is being named. */
export interface Naming {
  readonly answer: MessageId;
  /** The proposed name. */
  readonly name: string;
  /** The note that has the name that was given last. */
  readonly taken: NotePath | null;
}

export class AnswerSaver {
  naming = $state.raw<Naming | null>(null);
  /** Whether a note is on its way to the vault. */
  saving = $state(false);

  readonly #host: Host;
  readonly #app: AppState;
  readonly #conversationActions: ConversationActions;
  readonly #undo: Undo;

  constructor(host: Host, app: AppState, conversationActions: ConversationActions, undo: Undo) {
    this.#host = host;
    this.#app = app;
    this.#conversationActions = conversationActions;
    this.#undo = undo;
  }

  /** The answer that the last turn ended with; `null` while one is being written, and after a command. */
  get last(): MessageId | null {
    if (this.#app.current?.working) return null;
    return lastOfModel(this.#app.chat?.items.filter(isWhole) ?? [])?.id ?? null;
  }

  /** Asks for a name of the whole answer that this is a part of, and proposes one. */
  begin(answer: MessageId): void {
    const text = wholeAnswer(this.#app.chat?.items ?? [], answer);
    if (text === null) return;
    const name = proposeName(text, this.#app.current?.title ?? '');
    this.naming = { answer, name, taken: null };
  }

  cancel(): void {
    this.naming = null;
  }

  /** Saves it under this name; the note that it became, or `null` when it did not. */
  async save(name: string): Promise<NotePath | null> {
    const { naming } = this;
    if (!naming || this.saving) return null;
    this.saving = true;
    const path = await this.#save(naming, name);
    this.saving = false;
    return path;
  }

  async #save(naming: Naming, name: string): Promise<NotePath | null> {
    try {
      const saved = await this.#host.saveAnswer(naming.answer, name);
      const still = this.naming === naming;
      if (saved.type === 'taken') {
        if (still) this.naming = { ...naming, name: saved.free, taken: saved.path };
        return null;
      }
      if (still) this.cancel();
      const { path, changeSet } = saved;
      this.#conversationActions.notify(
        () => m.answer_saved({ note: noteName(path) }),
        () => this.#undo.undo({ type: 'change_set', changeSet }),
      );
      return path;
    } catch (thrown) {
      this.#app.report(userError(thrown));
      return null;
    }
  }
}

/** The whole answer to one message, as it is saved; `null` where `answer` is no part of any. */
function wholeAnswer(items: readonly ChatItem[], answer: MessageId): string | null {
  const at = items.findIndex((item) => isAnswer(item) && item.id === answer);
  if (at < 0) return null;
  const isMessage = (item: ChatItem): boolean => item.type === 'user' && !item.queued;
  const begun = items.slice(0, at).findLastIndex(isMessage) + 1;
  const length = items.slice(begun).findIndex(isMessage);
  const parts = items.slice(begun, length < 0 ? undefined : begun + length).filter(isAnswer);
  return parts.map(({ text }) => text).join('\n\n');
}

function isWhole(item: ChatItem): boolean {
  return item.type !== 'assistant' || isAnswer(item);
}

function isAnswer(item: ChatItem): item is AnswerItem {
  return item.type === 'assistant' && !item.streaming && item.text !== '';
}
