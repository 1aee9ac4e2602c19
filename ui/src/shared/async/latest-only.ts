/** Asks one thing at a time: while an answer is awaited, only the newest question is kept. */
export class LatestOnly {
  #asking = false;
  #next: Question | null = null;

  /** Resolves when nothing is left to ask. An answer that a newer question overtook is dropped. */
  async ask(question: Question): Promise<void> {
    this.#next = question;
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
type Question = () => Promise<() => void>;
