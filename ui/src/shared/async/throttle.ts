const pause = 1000;

/** Does something when it is rung: at once, but at most once a second. */
export class Throttle {
  readonly #work: () => void;
  #resting = false;
  #rung = false;

  constructor(work: () => void) {
    this.#work = work;
  }

  ring(): void {
    if (this.#resting) {
      this.#rung = true;
      return;
    }
    this.#resting = true;
    this.#work();
    setTimeout(() => {
      this.#resting = false;
      if (!this.#rung) return;
      this.#rung = false;
      this.ring();
    }, pause);
  }
}
