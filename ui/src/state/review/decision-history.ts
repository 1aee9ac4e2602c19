/** The steps in which the user decided about a review: each can be undone and redone until its notes change. */
import type { NotePath } from '../../ipc/bindings';

/** The decisions about each note of a step as they were on its other side; `undefined` where there were none. */
export type DecisionStep<Choices> = ReadonlyMap<NotePath, Choices | undefined>;

type DecisionsNow<Choices> = (path: NotePath) => Choices | undefined;

/** The number of steps that can be undone. */
const limit = 200;

export class DecisionHistory<Choices> {
  /** The decisions before the step under way. */
  #begun = new Map<NotePath, Choices | undefined>();
  #done: readonly DecisionStep<Choices>[] = [];
  #undone: readonly DecisionStep<Choices>[] = [];

  /** To be called before the decisions about a note change. */
  record(path: NotePath, before: Choices | undefined): void {
    if (!this.#begun.has(path)) this.#begun.set(path, before);
  }

  /** Ends the step under way. One that changed nothing counts for none; after another one nothing can be redone. */
  end(now: DecisionsNow<Choices>): void {
    const changed = [...this.#begun].filter(([path, before]) => !isSame(before, now(path)));
    this.#begun = new Map();
    if (changed.length === 0) return;
    this.#done = [...this.#done, new Map(changed)].slice(-limit);
    this.#undone = [];
  }

  /** The decisions to go back to, which the caller makes now; `null` when there are none. */
  undo(now: DecisionsNow<Choices>): DecisionStep<Choices> | null {
    const step = this.#done.at(-1);
    if (!step) return null;
    this.#done = this.#done.slice(0, -1);
    this.#undone = [...this.#undone, otherSide(step, now)];
    return step;
  }

  /** As `undo`, for the step that was undone last. */
  redo(now: DecisionsNow<Choices>): DecisionStep<Choices> | null {
    const step = this.#undone.at(-1);
    if (!step) return null;
    this.#undone = this.#undone.slice(0, -1);
    this.#done = [...this.#done, otherSide(step, now)];
    return step;
  }

  /** Forgets all but the decisions about these notes. */
  retain(paths: ReadonlySet<NotePath>): void {
    const retained = (steps: readonly DecisionStep<Choices>[]): DecisionStep<Choices>[] =>
      steps
        .map((step) => new Map([...step].filter(([path]) => paths.has(path))))
        .filter((step) => step.size > 0);
    this.#done = retained(this.#done);
    this.#undone = retained(this.#undone);
  }

  clear(): void {
    this.#done = [];
    this.#undone = [];
  }
}

function otherSide<Choices>(
  step: DecisionStep<Choices>,
  now: DecisionsNow<Choices>,
): DecisionStep<Choices> {
  return new Map([...step.keys()].map((path) => [path, now(path)] as const));
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
