/** Images of the vault in notes and answers. */
import type { NotePath } from '../../ipc/bindings';
import type { Host } from '../../ipc/host';
import type { Images } from '../../shared/markdown/rendered/images';
import type { AppState } from '../app.svelte';

export class VaultImages {
  /** Those of answers, which stand in no note. */
  readonly answers: Images = $derived(this.of(null));

  readonly #host: Host;
  readonly #app: AppState;
  #looked = $state(0);

  constructor(host: Host, app: AppState) {
    this.#host = host;
    this.#app = app;
  }

  /** Those of a note; others again when files changed, for what failed may be there now. */
  of(note: NotePath | null): Images {
    void this.#looked;
    return {
      urlOf: (target) => this.#host.imageUrl(target, note),
      open: (target) => void this.#open(target, note),
    };
  }

  /** Files changed. */
  look(): void {
    this.#looked += 1;
  }

  async #open(target: string, note: NotePath | null): Promise<void> {
    await this.#app.attempt(() => this.#host.openImage(target, note));
  }
}
