/** The links of the open note. */
import type { NoteLinks, NotePath } from '../../ipc/bindings';
import type { Host } from '../../ipc/host';
import { LatestOnly } from '../../shared/async/latest-only';
import type { AppState } from '../app.svelte';
import { userError } from '../user-error';

/** The names in the links of a note that lead to no note, as far as they are known. */
export function brokenNames(links: NoteLinks | null): readonly string[] {
  return (links?.out ?? []).filter(({ to }) => to === null).map(({ name }) => name);
}

export class OpenNoteLinks {
  /** Those of `path`; `null` for as long as they are not known. */
  known = $state.raw<{ readonly path: NotePath; readonly links: NoteLinks | null } | null>(null);

  readonly #host: Host;
  readonly #app: AppState;
  readonly #latest = new LatestOnly();

  constructor(host: Host, app: AppState) {
    this.#host = host;
    this.#app = app;
  }

  /** Opens the shown note in another program. */
  async openIn(program: 'obsidian' | 'editor'): Promise<void> {
    const path = this.#app.note?.path;
    if (path === undefined) return;
    await this.#app.attempt(() =>
      program === 'obsidian' ? this.#host.openInObsidian(path) : this.#host.openInEditor(path),
    );
  }

  /** Another note is shown, or notes changed: asks again. */
  async look(): Promise<void> {
    const path = this.#app.note?.path ?? null;
    if (this.known?.path !== path) this.known = null;
    await this.#latest.ask(async () => {
      if (path === null) return () => undefined;
      try {
        const links = await this.#host.noteLinks(path);
        return () => {
          if (this.#app.note?.path === path) this.known = { path, links };
        };
      } catch (thrown) {
        return () => this.#app.report(userError(thrown));
      }
    });
  }
}
