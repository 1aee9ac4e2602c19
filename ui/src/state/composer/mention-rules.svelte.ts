/** The rules that keep what a draft mentions from the model that answers. */
import { SvelteMap } from 'svelte/reactivity';

import type { PrivateNote } from '../../ipc/bindings';
import type { Host } from '../../ipc/host';
import { type Mention, mentionKey, mentionTarget } from './mentions';

/** A mention with the rule that keeps it, or the notes it is about, from the model that answers. */
export interface PrivateMention {
  readonly mention: Mention;
  readonly rule: PrivateNote;
}

export class MentionRules {
  readonly #host: Host;
  /** By the key of the mention, as they were looked up last. */
  readonly #known = new SvelteMap<string, PrivateNote | null>();

  constructor(host: Host) {
    this.#host = host;
  }

  /** The rule as it was looked up last; `null` where none is known. */
  of(mention: Mention): PrivateNote | null {
    return this.#known.get(mentionKey(mention)) ?? null;
  }

  know(mention: Mention, rule: PrivateNote | null): void {
    this.#known.set(mentionKey(mention), rule);
  }

  clear(): void {
    this.#known.clear();
  }

  /** Those of the mentions that are private now; throws what the application refuses. */
  async findPrivate(mentions: readonly Mention[]): Promise<PrivateMention[]> {
    const targets = mentions.flatMap((mention) => mentionTarget(mention) ?? []);
    const [notes, others] = await Promise.all([
      Promise.all(mentions.map((mention) => this.#ofNote(mention))),
      targets.length > 0 ? this.#host.privateMentions(targets) : [],
    ]);
    let asked = 0;
    const rules = mentions.map((mention, at) => {
      const other = mentionTarget(mention) ? (others[asked++] ?? null) : null;
      return notes[at] ?? other;
    });
    return mentions.flatMap((mention, at) => {
      const rule = rules[at] ?? null;
      return rule === null ? [] : [{ mention, rule }];
    });
  }

  async #ofNote(mention: Mention): Promise<PrivateNote | null> {
    return mention.type === 'note' ? await this.#host.privateNote(mention.path) : null;
  }
}
