/** The note that is open beside the chat, with its links and its attribution. */
import type { NoteOpener, NotePath } from '../../ipc/bindings';
import type { Host } from '../../ipc/host';
import type { AppState } from '../app.svelte';
import { SentNote } from '../composer/sent-note.svelte';
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
  /** The one who chose the note that is shown. */
  #openedBy: NoteOpener = 'unknown';
  /** How often a note was asked for or closed. */
  #round = 0;
  /** The last of these that had an effect: a note that was asked for before is no longer wanted. */
  #settled = 0;

  constructor(host: Host, app: AppState) {
    this.#host = host;
    this.#app = app;
    this.links = new OpenNoteLinks(host, app);
    this.marks = new OpenNoteAttribution(host, app);
    this.sent = new SentNote(host, app);
  }

  /** Shows the note that a link or a line names, at a line of it, unless it is closed or another one is opened before
   * it comes. A note that only a tool chose stays the choice of the tool in every conversation. */
  async show(target: string, line: number | null, by: NoteOpener): Promise<void> {
    await this.#app.attempt(async () => {
      // A link may lead to another place of the same note.
      const path = target.startsWith('#') ? this.#app.note?.path : linkedNote(target);
      if (path === undefined) return;
      this.#round += 1;
      const [round, vault, openedBy] = [this.#round, this.#app.shown, this.#openerOf(path, by)];
      const note = await this.#host.showNote(path, openedBy);
      if (round < this.#settled || vault !== this.#app.shown) return;
      this.#settled = round;
      this.#openedBy = openedBy;
      this.#app.showNote(note);
      this.sent.opened();
      const at = line ?? lineOfTarget(note.content.text, target);
      this.at = at === null ? null : { line: at };
      this.look();
    });
  }

  /** Changes of the note before a new snapshot were not told. */
  async showAgain(): Promise<void> {
    const { note } = this.#app;
    if (!note) return;
    const isWanted = this.#since();
    const again = await this.#host.showNote(note.path, this.#openedBy);
    if (isWanted()) this.#app.showNote(again);
  }

  async close(): Promise<void> {
    this.#round += 1;
    this.#settled = this.#round;
    this.#app.closeNote();
    this.look();
    await this.#app.attempt(() => this.#host.closeNote());
  }

  /** Text was selected in the note at this path, which another one may have replaced by now. */
  async select(path: NotePath, text: string, heading: string | null): Promise<void> {
    await this.#app.attempt(async () => {
      await this.#host.selectInNote(path, text, heading);
      this.sent.select(path, text);
    });
  }

  /** Asks for the facts about the note again. */
  look(): void {
    this.lookAround();
    void this.marks.look();
  }

  /** Asks for the facts again that other notes decide too. */
  lookAround(): void {
    void this.links.look();
    void this.sent.look();
  }

  /** A note that the user opened stays the user's choice when a tool shows a place in it. */
  #openerOf(path: NotePath, by: NoteOpener): NoteOpener {
    const { note } = this.#app;
    const isShown = note?.path === path && !note.removed;
    return isShown && this.#openedBy === 'user' ? 'user' : by;
  }

  /** Tells later whether nothing was opened or closed since, and the vault is the same. */
  #since(): () => boolean {
    const [round, vault] = [this.#round, this.#app.shown];
    return () => round === this.#round && vault === this.#app.shown;
  }
}
