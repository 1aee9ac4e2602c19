/** Searches messages, answers and changes of all conversations. */
import type { ConversationHits } from '../../ipc/bindings';
import type { Host } from '../../ipc/host';
import { LatestOnly } from '../../shared/async/latest-only';
import { plainText } from '../../shared/text/plain-text';
import type { AppState } from '../app.svelte';
import { userError } from '../user-error';

export class ConversationSearch {
  query = $state('');
  /** The results; `null` while there is no query, or before the first answer. */
  found = $state.raw<ConversationHits | null>(null);

  readonly #host: Host;
  readonly #app: AppState;
  readonly #latest = new LatestOnly();

  constructor(host: Host, app: AppState) {
    this.#host = host;
    this.#app = app;
  }

  /** Whether something is looked for. */
  get looking(): boolean {
    return this.query.trim() !== '';
  }

  clear(): void {
    this.query = '';
    this.found = null;
  }

  async type(query: string): Promise<void> {
    this.query = query;
    if (!this.looking) {
      this.found = null;
      return;
    }
    await this.#latest.ask(async () => {
      try {
        const { found, more } = await this.#host.searchConversations(this.query);
        const titled = found.map((one) => ({ ...one, title: plainText(one.title) }));
        return () => {
          if (this.looking) this.found = { found: titled, more };
        };
      } catch (thrown) {
        return () => this.#app.report(userError(thrown));
      }
    });
  }
}
