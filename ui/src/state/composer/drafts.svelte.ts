/** Drafts and their attachments, kept for each conversation until they are sent. */
import { SvelteMap } from 'svelte/reactivity';

import type { ConversationId, NotePath, Question, SendMessageRequest } from '../../ipc/bindings';
import type { Host } from '../../ipc/host';
import type { AppState } from '../app.svelte';
import { userError } from '../user-error';
import { mentionFile } from './attachments';
import { findMentionText, type Mention, mentionKey, mentionText, withMentions } from './mentions';

/** The conversation; `null` is a new one. */
type Where = ConversationId | null;

/** A message as it is sent, and the parts of the draft that it was made of. */
export interface Sending {
  readonly request: SendMessageRequest;
  readonly written: string;
  readonly attached: readonly Mention[];
}

export class Drafts {
  readonly #host: Host;
  readonly #app: AppState;
  readonly #texts = new SvelteMap<Where, string>();
  readonly #attached = new SvelteMap<Where, readonly Mention[]>();
  /** All that was chosen from the list for the sentence, also if it no longer stands in it: undo in the box
   * brings its text back. */
  readonly #chosen = new SvelteMap<Where, readonly Mention[]>();

  constructor(host: Host, app: AppState) {
    this.#host = host;
    this.#app = app;
  }

  /** The text of the open conversation's draft. */
  get text(): string {
    return this.#texts.get(this.#here) ?? '';
  }

  set text(text: string) {
    this.#texts.set(this.#here, text);
  }

  /** All that is sent with the text: its mentions, then the attachments. */
  get mentions(): readonly Mention[] {
    return [...this.#inText, ...this.#behind];
  }

  /** Something was chosen from the list, and its text put where it was typed. */
  mention(mention: Mention): void {
    const here = this.#here;
    this.#chosen.set(here, [...without(this.#chosen.get(here), mention), mention]);
  }

  /** The same thing twice is attached once. */
  attach(mention: Mention, where = this.#here): void {
    this.#attached.set(where, [...without(this.#attached.get(where), mention), mention]);
  }

  /** It is no longer attached. */
  drop(mention: Mention): void {
    this.#attached.set(this.#here, without(this.#attached.get(this.#here), mention));
  }

  /** Attaches files: a note of the vault by its name, another text whole. */
  async attachFiles(files: readonly File[]): Promise<void> {
    const here = this.#here;
    for (const file of files) {
      try {
        this.attach(await mentionFile(file, this.#host), here);
      } catch (thrown) {
        this.#app.report(userError(thrown));
      }
    }
  }

  /** All of it as a message, which answers `question` if there is one and is sent with the open note;
   * `null` where nothing was written. */
  ready(question: Question | null, openNote: NotePath | null): Sending | null {
    const written = this.text;
    const [inText, attached] = [this.#inText, this.#behind];
    if (!written.trim() && attached.length === 0) return null;
    const body = (question && chosenOption(question, written)) ?? written.trim();
    const request = {
      conversation: this.#here,
      text: withMentions(body, inText, attached),
      answers: question?.id ?? null,
      openNote,
    };
    return { request, written, attached };
  }

  /** The user may have gone on while it was being stored: only what was sent goes. */
  sent({ request, written, attached }: Sending): void {
    const where = request.conversation;
    const draft = this.#texts.get(where) ?? '';
    if (draft.trim() === written.trim()) this.#texts.delete(where);
    else if (draft.startsWith(written)) {
      this.#texts.set(where, draft.slice(written.length).trimStart());
    }
    if (!this.#texts.has(where)) this.#chosen.delete(where);
    for (const mention of attached) {
      this.#attached.set(where, without(this.#attached.get(where), mention));
    }
  }

  /** The draft that was begun before a message made its conversation goes on in that conversation, above a draft that
   * is there already. */
  moveTo(conversation: ConversationId): void {
    const all = (one: readonly Mention[], other: readonly Mention[]): Mention[] =>
      other.reduce((joined, mention) => [...without(joined, mention), mention], [...one]);
    moveNew(this.#texts, conversation, (begun, there) => {
      if (there.trim() === '') return begun;
      return begun.trim() === '' ? there : `${begun.trimEnd()}\n${there}`;
    });
    moveNew(this.#chosen, conversation, all);
    moveNew(this.#attached, conversation, all);
  }

  /** The mentions are of another vault. */
  dropMentions(): void {
    this.#attached.clear();
    this.#chosen.clear();
  }

  get #here(): Where {
    return this.#app.chat?.id ?? null;
  }

  get #inText(): readonly Mention[] {
    const { text } = this;
    const chosen = this.#chosen.get(this.#here) ?? [];
    return chosen.filter((one) => findMentionText(text, mentionText(one)) >= 0);
  }

  /** Attachments that the sentence does not mention as well. */
  get #behind(): readonly Mention[] {
    const named = this.#inText.map(mentionKey);
    const attached = this.#attached.get(this.#here) ?? [];
    return attached.filter((one) => !named.includes(mentionKey(one)));
  }
}

/** Keeps the draft of a new conversation for this one, joined with its own draft. */
function moveNew<T>(
  kept: Map<Where, T>,
  conversation: ConversationId,
  join: (begun: T, there: T) => T,
): void {
  const begun = kept.get(null);
  kept.delete(null);
  if (begun === undefined) return;
  const there = kept.get(conversation);
  kept.set(conversation, there === undefined ? begun : join(begun, there));
}

function without(all: readonly Mention[] | undefined, mention: Mention): Mention[] {
  return (all ?? []).filter((one) => mentionKey(one) !== mentionKey(mention));
}

/** The option that a text chooses, as it does by the option's number alone; `null` for any other text. */
export function chosenOption({ options }: Question, text: string): string | null {
  const number = /^\s*([1-9])\s*$/.exec(text)?.[1];
  return number === undefined ? null : (options[Number(number) - 1] ?? null);
}
