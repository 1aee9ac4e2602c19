/** Finds the broken links in the answers on display. */
import { SvelteSet } from 'svelte/reactivity';

import type { ConversationId } from '../../ipc/bindings';
import type { Host } from '../../ipc/host';
import { LatestOnly } from '../../shared/async/latest-only';
import type { AppState } from '../app.svelte';
import { linkedConversation } from '../composer/mentions';
import { linkedName } from '../notes/note-path';
import { userError } from '../user-error';

export class AnswerLinks {
  /** The targets; links that were not asked about yet are not among them. */
  broken = $state.raw<readonly string[]>([]);

  readonly #host: Host;
  readonly #app: AppState;
  readonly #latest = new LatestOnly();
  /** The conversation that they stand in. */
  #of: ConversationId | null = null;
  readonly #met = new SvelteSet<string>();
  readonly #asked = new SvelteSet<string>();

  constructor(host: Host, app: AppState) {
    this.#host = host;
    this.#app = app;
  }

  /** Links are shown; those that are new are asked about. */
  meet(targets: readonly string[]): void {
    const chat = this.#app.chat?.id ?? null;
    if (chat !== this.#of) this.#begin(chat);
    const before = this.#met.size;
    for (const target of targets) {
      const name = linkedName(target);
      if (name !== '' && linkedConversation(target) === null) this.#met.add(name);
    }
    if (this.#met.size > before) void this.#ask();
  }

  /** Notes changed: asks about all links again. */
  async look(): Promise<void> {
    this.#asked.clear();
    if (this.#met.size > 0) await this.#ask();
  }

  #begin(conversation: ConversationId | null): void {
    this.#of = conversation;
    this.#met.clear();
    this.#asked.clear();
    this.broken = [];
  }

  async #ask(): Promise<void> {
    await this.#latest.ask(async () => {
      // Links that are drawn together are asked about together.
      await Promise.resolve();
      const links = [...this.#met].filter((name) => !this.#asked.has(name));
      try {
        const broken = await this.#host.brokenLinks(links);
        return () => this.#know(links, broken);
      } catch (thrown) {
        return () => this.#app.report(userError(thrown));
      }
    });
  }

  /** `null`: it is not known yet. */
  #know(links: readonly string[], broken: readonly string[] | null): void {
    if (broken === null) return;
    for (const link of links) this.#asked.add(link);
    this.broken = [...this.broken.filter((name) => !links.includes(name)), ...broken];
  }
}
