/** Drafts and their attachments, kept for each conversation until they are sent. */
import { SvelteMap, SvelteSet } from 'svelte/reactivity';

import type {
  ConversationId,
  NotePath,
  PrivateNote,
  Question,
  SendMessageRequest,
} from '../../ipc/bindings';
import type { Host } from '../../ipc/host';
import { LatestOnly } from '../../shared/async/latest-only';
import type { AppState } from '../app.svelte';
import { userError } from '../user-error';
import { mentionFile } from './attachments';
import { MentionRules, type PrivateMention } from './mention-rules.svelte';
import { findMentionText, type Mention, mentionKey, mentionText, withMentions } from './mentions';

/** The conversation; `null` is a new one. */
type Where = ConversationId | null;

/** A message as it is sent, and the parts of the draft that it was made of. */
export interface Sending {
  readonly request: SendMessageRequest;
  readonly written: string;
  /** All that it mentions by name. */
  readonly named: readonly Mention[];
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
  readonly #rules: MentionRules;
  readonly #latest = new LatestOnly();
  /** The private names that the user sends all the same, each with its rule and the model that it is sent to. */
  readonly #confirmed = new SvelteMap<Where, readonly string[]>();
  /** The drafts that files which are being read belong to. */
  readonly #reading = new SvelteSet<{ where: Where }>();
  #asked = $state.raw<(PrivateMention & { readonly where: Where }) | null>(null);

  constructor(host: Host, app: AppState) {
    this.#host = host;
    this.#app = app;
    this.#rules = new MentionRules(host);
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

  /** Something was chosen from the list, and its text put where it was typed; the user agreed to send the name of what
   * is private. */
  mention(mention: Mention, rule: PrivateNote | null = null): void {
    const here = this.#here;
    this.#chosen.set(here, [...without(this.#chosen.get(here), mention), mention]);
    this.#rules.know(mention, rule);
    if (rule !== null) this.#confirm(here, { mention, rule });
  }

  /** The rule that keeps a mention from the model that answers. */
  ruleOf(mention: Mention): PrivateNote | null {
    return this.#rules.of(mention);
  }

  /** The rules or the model may have changed: looks again at all that is mentioned. */
  async judge(): Promise<void> {
    const all = [...this.#chosen.values(), ...this.#attached.values()].flat();
    if (all.length === 0) return;
    const vault = this.#app.shown;
    await this.#latest.ask(async () => {
      try {
        const found = await this.#rules.findPrivate(all);
        return () => vault === this.#app.shown && this.#know(all, found);
      } catch (thrown) {
        return () => this.#app.report(userError(thrown));
      }
    });
  }

  /** The private name that the user is asked about before the open draft is sent. */
  get asked(): PrivateMention | null {
    return this.#asked?.where === this.#here ? this.#asked : null;
  }

  /** Whether a message names nothing that is private by now, or only what the user agreed to send; else the user is
   * asked about the first such name. Throws what the application refuses. */
  async mayBeSent({ request, named }: Sending): Promise<boolean> {
    const vault = this.#app.shown;
    const found = await this.#rules.findPrivate(named);
    if (vault !== this.#app.shown) return false;
    this.#know(named, found);
    const where = request.conversation;
    const confirmed = this.#confirmed.get(where) ?? [];
    const first = found.find((one) => !confirmed.includes(this.#confirmation(one)));
    this.#asked = first ? { ...first, where } : null;
    return !first;
  }

  /** The user sends the name that was asked about. */
  confirmAsked(): void {
    if (this.#asked) this.#confirm(this.#asked.where, this.#asked);
    this.#asked = null;
  }

  /** The user goes on writing. */
  leaveAsked(): void {
    this.#asked = null;
  }

  /** The same thing twice is attached once; two texts are two files, also under one name. */
  attach(mention: Mention, where = this.#here): void {
    this.#attached.set(where, [...without(this.#attached.get(where), mention), mention]);
  }

  /** It is no longer attached. */
  drop(mention: Mention): void {
    this.#attached.set(this.#here, without(this.#attached.get(this.#here), mention));
  }

  /** Attaches files to the open draft, wherever it is by the time they are read: a note of the vault by its name,
   * another text whole. */
  async attachFiles(files: readonly File[]): Promise<void> {
    const draft = { where: this.#here };
    this.#reading.add(draft);
    for (const file of files) {
      await this.#app.attempt(async () => {
        const mention = await mentionFile(file, this.#host);
        // Of another vault it would be another note.
        if (this.#reading.has(draft)) this.attach(mention, draft.where);
      });
    }
    this.#reading.delete(draft);
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
    const named = [...inText, ...attached].filter(({ type }) => type !== 'file');
    return { request, written, named, attached };
  }

  /** The user may have gone on while it was being stored: only what was sent goes. */
  sent({ request, written, attached }: Sending): void {
    const where = request.conversation;
    const draft = this.#texts.get(where) ?? '';
    if (draft.trim() === written.trim()) this.#texts.delete(where);
    else if (written !== '' && draft.startsWith(written)) {
      this.#texts.set(where, draft.slice(written.length).trimStart());
    }
    if (!this.#texts.has(where)) {
      this.#chosen.delete(where);
      this.#confirmed.delete(where);
    }
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
    for (const draft of this.#reading) draft.where ??= conversation;
    moveNew(this.#confirmed, conversation, (begun, there) => [...there, ...begun]);
  }

  /** The mentions are of another vault. */
  dropMentions(): void {
    this.#attached.clear();
    this.#chosen.clear();
    this.#reading.clear();
    this.#confirmed.clear();
    this.#asked = null;
    this.#rules.clear();
  }

  #know(all: readonly Mention[], found: readonly PrivateMention[]): void {
    for (const mention of all) this.#rules.know(mention, null);
    for (const { mention, rule } of found) this.#rules.know(mention, rule);
  }

  #confirm(where: Where, asked: PrivateMention): void {
    const before = this.#confirmed.get(where) ?? [];
    this.#confirmed.set(where, [...before, this.#confirmation(asked)]);
  }

  /** Names what the user agrees to: another rule, server or model is another question. */
  #confirmation({ mention, rule }: PrivateMention): string {
    const { settings, provider } = this.#app;
    const server = [settings.provider, settings.baseUrl, provider.envServer?.url ?? null];
    return JSON.stringify([mentionKey(mention), rule, ...server, settings.model, provider.model]);
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
