/** What is being written and goes along, kept for each conversation until it was sent. */
import { SvelteMap } from 'svelte/reactivity';

import type { ConversationId, NotePath, Question, SendMessage } from '../ipc/bindings';
import type { Host } from '../ipc/host';
import type { AppState } from './app.svelte';
import { mentionOf } from './attaching';
import { type Mention, mentionKey, withMentions } from './mentions';
import { userError } from './user-error';

/** The conversation; `null` is a new one. */
type Where = ConversationId | null;

/** What is sent, and what of the draft it is. */
export interface Sending {
  readonly request: SendMessage;
  readonly written: string;
  readonly mentions: readonly Mention[];
}

export class Drafts {
  readonly #host: Host;
  readonly #app: AppState;
  readonly #texts = new SvelteMap<Where, string>();
  readonly #mentions = new SvelteMap<Where, readonly Mention[]>();

  constructor(host: Host, app: AppState) {
    this.#host = host;
    this.#app = app;
  }

  /** The words of the open conversation. */
  get text(): string {
    return this.#texts.get(this.#here) ?? '';
  }

  set text(text: string) {
    this.#texts.set(this.#here, text);
  }

  /** What goes along with them, in the order in which it was mentioned. */
  get mentions(): readonly Mention[] {
    return this.#mentions.get(this.#here) ?? [];
  }

  /** The same thing twice goes along once. */
  mention(mention: Mention, where = this.#here): void {
    this.#mentions.set(where, [...this.#without(mention, where), mention]);
  }

  /** It no longer goes along. */
  drop(mention: Mention, where = this.#here): void {
    this.#mentions.set(where, this.#without(mention, where));
  }

  /** Takes files along: a note of the vault as a mention, another text whole. */
  async attach(files: readonly File[]): Promise<void> {
    const here = this.#here;
    for (const file of files) {
      try {
        this.mention(await mentionOf(file, this.#host), here);
      } catch (thrown) {
        this.#app.report(userError(thrown));
      }
    }
  }

  /** All of it as a message, which answers `question` if there is one and is sent with the open note;
   * `null` where nothing was written. */
  ready(question: Question | null, openNote: NotePath | null): Sending | null {
    const { text: written, mentions } = this;
    if (!written.trim() && mentions.length === 0) return null;
    const words = (question && chosenOption(question, written)) ?? written.trim();
    const request = {
      conversation: this.#here,
      text: withMentions(words, mentions),
      answers: question?.id ?? null,
      openNote,
    };
    return { request, written, mentions };
  }

  /** The user may have gone on while it was being stored: only what was sent goes. */
  sent({ request, written, mentions }: Sending): void {
    const where = request.conversation;
    const draft = this.#texts.get(where) ?? '';
    if (draft.trim() === written.trim()) this.#texts.delete(where);
    else if (draft.startsWith(written)) {
      this.#texts.set(where, draft.slice(written.length).trimStart());
    }
    for (const mention of mentions) this.drop(mention, where);
  }

  /** What was mentioned is of another vault. */
  forgetMentions(): void {
    this.#mentions.clear();
  }

  get #here(): Where {
    return this.#app.chat?.id ?? null;
  }

  #without(mention: Mention, where: Where): Mention[] {
    const all = this.#mentions.get(where) ?? [];
    return all.filter((one) => mentionKey(one) !== mentionKey(mention));
  }
}

/** The option that a text chooses, as it does by the option's number alone; `null` for any other text. */
export function chosenOption({ options }: Question, text: string): string | null {
  const number = /^\s*([1-9])\s*$/.exec(text)?.[1];
  return number === undefined ? null : (options[Number(number) - 1] ?? null);
}
