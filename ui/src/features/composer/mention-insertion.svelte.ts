/** The mentions in a box: the name that is typed is replaced by what is chosen, and what is dropped is taken out. */
import { tick } from 'svelte';

import type { ConversationId, PrivateNote, VaultId } from '../../ipc/bindings';
import type { PrivateMention } from '../../state/composer/mention-rules.svelte';
import type { MentionRow, MentionSearch } from '../../state/composer/mention-search.svelte';
import {
  findMentionText,
  type Mention,
  mentionInline,
  type MentionQuery,
  mentionQueryAt,
  mentionText,
} from '../../state/composer/mentions';
import { replaceText } from './replace-text';

/** The draft that the mentions are in. */
interface DraftContext {
  readonly conversation: ConversationId | null;
  readonly vault: VaultId | null;
  readonly mentioning: MentionSearch;
  readonly hasModel: boolean;
  readonly onmention: (mention: Mention, rule: PrivateNote | null) => void;
  readonly ondropmention: (mention: Mention) => void;
}

export class MentionInsertion {
  /** Something private that was chosen, and what its name would stand in the place of. */
  question = $state.raw<(PrivateMention & { from: number; to: number }) | null>(null);
  readonly #box: () => HTMLTextAreaElement | undefined;
  readonly #draft: () => DraftContext;

  constructor(box: () => HTMLTextAreaElement | undefined, draft: () => DraftContext) {
    this.#box = box;
    this.#draft = draft;
  }

  /** Looks for what the letters at the caret may mention. */
  look(): void {
    const box = this.#box();
    const asked = box && box.selectionStart === box.selectionEnd ? this.#askedHere() : null;
    void this.#draft().mentioning.look(asked?.query ?? null);
  }

  /** Replaces the text that was typed to find a note by a mention. The name of something private is asked about
   * first: it would be sent. */
  insert(row: MentionRow | null): void {
    const asked = this.#askedHere();
    const box = this.#box();
    if (!box || !asked || !row) return;
    const end = box.selectionStart;
    const to = box.value.startsWith(']]', end) ? end + 2 : end;
    void this.#draft().mentioning.look(null);
    const { mention, private: rule } = row;
    const { from } = asked;
    if (this.#draft().hasModel && rule !== null) this.question = { mention, rule, from, to };
    else this.#put(mention, rule, from, to);
  }

  /** The user decided whether the private name is inserted. */
  async decide(inserts: boolean): Promise<void> {
    const asked = this.question;
    const { conversation, vault } = this.#draft();
    this.question = null;
    // The dialog gives the focus back first.
    await tick();
    this.#box()?.focus();
    const isHere = this.#draft().conversation === conversation && this.#draft().vault === vault;
    if (asked && inserts && isHere) this.#put(asked.mention, asked.rule, asked.from, asked.to);
  }

  /** The mention is no longer sent, and its text is taken out of the sentence; one goes on writing. */
  drop(mention: Mention): void {
    const text = mentionText(mention);
    const box = this.#box();
    if (!box) return;
    let at = findMentionText(box.value, text);
    if (at < 0) this.#draft().ondropmention(mention);
    while (at >= 0) {
      const end = at + text.length;
      const isApart = box.value[at - 1] === ' ' && /^(?: |$)/.test(box.value.slice(end));
      replaceText(box, isApart ? at - 1 : at, end, '');
      at = findMentionText(box.value, text);
    }
    box.focus();
  }

  #askedHere(): MentionQuery | null {
    const box = this.#box();
    return box ? mentionQueryAt(box.value, box.selectionStart) : null;
  }

  #put(mention: Mention, rule: PrivateNote | null, from: number, to: number): void {
    const box = this.#box();
    if (!box) return;
    const { hasModel, onmention } = this.#draft();
    if (hasModel) onmention(mention, rule);
    replaceText(box, from, to, hasModel ? mentionText(mention) : mentionInline(mention));
  }
}
