/** The open note as it is sent with the next message: the chip of the composer shows exactly this. */
import type { NotePath, PrivateNote } from '../../ipc/bindings';
import type { Host } from '../../ipc/host';
import { LatestOnly } from '../../shared/async/latest-only';
import type { AppState } from '../app.svelte';
import { userError } from '../user-error';

/** The content of the chip. */
export interface OpenNoteChip {
  readonly path: NotePath;
  /** Whether text is selected in it, which is sent too. */
  readonly selected: boolean;
  /** The rule that keeps it from the model: then it is not sent. */
  readonly private: PrivateNote | null;
}

export class SentNote {
  readonly #host: Host;
  readonly #app: AppState;
  readonly #latest = new LatestOnly();
  #selected = $state.raw<NotePath | null>(null);
  #excluded = $state.raw<NotePath | null>(null);
  #private = $state.raw<{ readonly path: NotePath; readonly rule: PrivateNote | null } | null>(
    null,
  );

  constructor(host: Host, app: AppState) {
    this.#host = host;
    this.#app = app;
  }

  /** `null` where no note is open, the user excluded it, or no model answers: then none is sent. */
  get chip(): OpenNoteChip | null {
    const { note, provider } = this.#app;
    if (!note || note.removed || !provider.hasModel || note.path === this.#excluded) return null;
    const { path } = note;
    const rule = this.#private?.path === path ? this.#private.rule : null;
    return { path, selected: path === this.#selected, private: rule };
  }

  /** The open note that is sent with a message if it is sent now. */
  get path(): NotePath | null {
    const { chip } = this;
    return chip?.private === null ? chip.path : null;
  }

  /** The next message is sent without it. */
  exclude(): void {
    this.#excluded = this.#app.note?.path ?? null;
  }

  /** A message was sent: the one after it is a choice of its own. */
  includeAgain(): void {
    this.#excluded = null;
  }

  /** Another note was opened, or the same one again. */
  opened(): void {
    this.#selected = null;
    this.#excluded = null;
  }

  select(path: NotePath, text: string): void {
    if (path === this.#app.note?.path) this.#selected = text === '' ? null : path;
  }

  /** The note, the rules or the model may have changed: asks again whether the model may see the note. */
  async look(): Promise<void> {
    const path = this.#app.note?.path ?? null;
    await this.#latest.ask(async () => {
      if (path === null) return () => (this.#private = null);
      try {
        const rule = await this.#host.privateNote(path);
        return () => (this.#private = { path, rule });
      } catch (thrown) {
        return () => this.#app.report(userError(thrown));
      }
    });
  }
}
