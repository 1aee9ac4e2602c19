/** Pictures of the vault in notes and answers. */
import type { NotePath } from '../../ipc/bindings';
import type { Host } from '../../ipc/host';
import type { Pictures } from '../../shared/markdown/rendered/pictures';
import type { AppState } from '../app.svelte';
import { userError } from '../user-error';

export class VaultPictures {
  /** Those of answers, which stand in no note. */
  readonly answers: Pictures = $derived(this.of(null));

  readonly #host: Host;
  readonly #app: AppState;
  #looked = $state(0);

  constructor(host: Host, app: AppState) {
    this.#host = host;
    this.#app = app;
  }

  /** Those of a note; others again when files changed, for what failed may be there now. */
  of(note: NotePath | null): Pictures {
    void this.#looked;
    return {
      addressOf: (target) => this.#host.pictureAddress(target, note),
      open: (target) => void this.#open(target, note),
    };
  }

  /** Files changed. */
  look(): void {
    this.#looked += 1;
  }

  async #open(target: string, note: NotePath | null): Promise<void> {
    try {
      await this.#host.openPicture(target, note);
    } catch (thrown) {
      this.#app.report(userError(thrown));
    }
  }
}
