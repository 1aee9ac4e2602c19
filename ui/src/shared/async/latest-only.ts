/** Asks one thing at a time: while an answer is awaited, only the newest query is kept. */
export class LatestOnly {
  #asking = false;
  #next: Query | null = null;

  /** Resolves when nothing is left to ask. An answer that a newer query overtook is dropped. */
  async ask(query: Query): Promise<void> {
    this.#next = query;
    if (this.#asking) return;
    this.#asking = true;
    while (this.#next) {
      const now = this.#next;
      this.#next = null;
      const take = await now();
      if (!this.#next) take();
    }
    this.#asking = false;
  }
}

/** Never fails; what it comes to is taken in by the returned function. */
type Query = () => Promise<() => void>;
