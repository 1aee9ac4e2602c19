/** Notes that a review moves to the trash: their text, and the links that lead to them. */
import { SvelteMap } from 'svelte/reactivity';

import type { NoteLinks, NotePath } from '../../ipc/bindings';
import type { Host } from '../../ipc/host';
import { userError } from '../user-error';

export interface TrashedNote {
  readonly text: string;
  /** `null` until the notes are indexed. */
  readonly links: NoteLinks | null;
  /** Why it cannot be shown; else `null`. */
  readonly trouble: string | null;
}

export class TrashedNotes {
  /** Those that were looked at. */
  readonly known = new SvelteMap<NotePath, TrashedNote>();
  readonly #host: Host;
  /** How often all was forgotten: an answer from before is about another vault. */
  #cleared = 0;

  constructor(host: Host) {
    this.#host = host;
  }

  /** Reads a note as it is now. */
  async look(path: NotePath): Promise<void> {
    const cleared = this.#cleared;
    const note = await this.#read(path);
    if (cleared === this.#cleared) this.known.set(path, note);
  }

  /** Another vault was opened. */
  clear(): void {
    this.#cleared += 1;
    this.known.clear();
  }

  async #read(path: NotePath): Promise<TrashedNote> {
    try {
      const [{ content }, links] = await Promise.all([
        this.#host.readNote(path),
        this.#host.noteLinks(path),
      ]);
      return { text: content.text, links, trouble: null };
    } catch (thrown) {
      return { text: '', links: null, trouble: userError(thrown).message };
    }
  }
}
