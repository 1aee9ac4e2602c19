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

  constructor(host: Host) {
    this.#host = host;
  }

  /** Reads a note as it is now. */
  async look(path: NotePath): Promise<void> {
    try {
      const [{ text }, links] = await Promise.all([
        this.#host.readNote(path),
        this.#host.noteLinks(path),
      ]);
      this.known.set(path, { text, links, trouble: null });
    } catch (thrown) {
      this.known.set(path, { text: '', links: null, trouble: userError(thrown).message });
    }
  }
}
