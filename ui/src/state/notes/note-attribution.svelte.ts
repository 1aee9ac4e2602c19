/** The lines of the open note that the assistant wrote. */
import type { AssistantLines, NoteAttribution, NotePath } from '../../ipc/bindings';
import type { Host } from '../../ipc/host';
import { LatestOnly } from '../../shared/async/latest-only';
import type { AppState } from '../app.svelte';
import { userError } from '../user-error';

type Known = NoteAttribution & { readonly path: NotePath };

const none: readonly AssistantLines[] = [];

export class OpenNoteAttribution {
  readonly #host: Host;
  readonly #app: AppState;
  readonly #latest = new LatestOnly();
  #known = $state.raw<Known | null>(null);

  constructor(host: Host, app: AppState) {
    this.#host = host;
    this.#app = app;
  }

  /** Those of the text that is shown; none where they are known of another one. */
  get lines(): readonly AssistantLines[] {
    const [note, known] = [this.#app.note, this.#known];
    const isSameText = known?.text === note?.content.text;
    const fits = known?.path === note?.path && isSameText && !note?.removed;
    return known && fits ? known.marks : none;
  }

  /** The origin of a mark: the conversation by its title, else the message. */
  titleOf({ conversation, request }: AssistantLines): string {
    return this.#app.conversations.find(({ id }) => id === conversation)?.title ?? request;
  }

  /** Another note is shown, or notes changed: asks again. */
  async look(): Promise<void> {
    const path = this.#app.note?.path ?? null;
    await this.#latest.ask(async () => {
      if (path === null) return () => this.#know(null);
      try {
        const known = await this.#host.assistantLines(path);
        return () => this.#know({ ...known, path });
      } catch (thrown) {
        // A note that is gone is said to be gone already.
        return () => this.#app.note?.removed || this.#app.report(userError(thrown));
      }
    });
  }

  /** Known marks stay the same objects: they are not drawn again. */
  #know(known: Known | null): void {
    if (JSON.stringify(known) !== JSON.stringify(this.#known)) this.#known = known;
  }
}
