/** The note that is open beside the chat, with its links and its attribution. */
import type { NotePath } from '../../ipc/bindings';
import type { Host } from '../../ipc/host';
import type { AppState } from '../app.svelte';
import { SentNote } from '../composer/sent-note.svelte';
import { userError } from '../user-error';
import { lineOfTarget } from './note-anchor';
import { OpenNoteAttribution } from './note-attribution.svelte';
import { OpenNoteLinks } from './note-links.svelte';
import { linkedNote } from './note-path';

export class OpenNote {
  readonly links: OpenNoteLinks;
  readonly marks: OpenNoteAttribution;
  /** How it is sent with the next message. */
  readonly sent: SentNote;
  /** The line that it was opened at, 1-based. */
  at = $state.raw<{ readonly line: number } | null>(null);

  readonly #host: Host;
  readonly #app: AppState;

  constructor(host: Host, app: AppState) {
    this.#host = host;
    this.#app = app;
    this.links = new OpenNoteLinks(host, app);
    this.marks = new OpenNoteAttribution(host, app);
    this.sent = new SentNote(host, app);
  }

  /** Shows the note that a link or a line names, at a line of it. */
  async show(target: string, line: number | null = null): Promise<void> {
    await this.#ask(async () => {
      // A link may lead to another place of the same note.
      const path = target.startsWith('#') ? this.#app.note?.path : linkedNote(target);
      if (path === undefined) return;
      const note = await this.#host.showNote(path);
      this.#app.showNote(note);
      this.sent.opened();
      const at = line ?? lineOfTarget(note.text, target);
      this.at = at === null ? null : { line: at };
      this.look();
    });
  }

  /** Changes of the note before a new snapshot were not told. */
  async showAgain(): Promise<void> {
    const note = this.#app.note;
    if (note) this.#app.showNote(await this.#host.showNote(note.path));
  }

  async close(): Promise<void> {
    this.#app.closeNote();
    this.look();
    await this.#ask(() => this.#host.closeNote());
  }

  /** Text was selected in the note at this path, which another one may have replaced by now. */
  async select(path: NotePath, text: string, heading: string | null): Promise<void> {
    await this.#ask(async () => {
      await this.#host.selectInNote(path, text, heading);
      this.sent.select(path, text);
    });
  }

  /** Asks for the facts about the note again. */
  look(): void {
    void this.links.look();
    void this.marks.look();
    void this.sent.look();
  }

  async #ask(request: () => Promise<void>): Promise<void> {
    try {
      await request();
    } catch (thrown) {
      this.#app.report(userError(thrown));
    }
  }
}
