/** What the user has decided about waiting changes, before it is applied. */
import { SvelteMap } from 'svelte/reactivity';

import type { NotePath, Review } from '../ipc/bindings';
import { type Decision, decisions, isRemoval, pathsOf } from './decisions';

export type Verdict = 'accept' | 'reject';

/** A verdict holds for what the user saw, so it is tied to the diffs themselves. */
interface Seen {
  readonly decision: Decision;
  readonly print: string;
}

export class Verdicts {
  readonly #byNote = new SvelteMap<NotePath, Verdict>();
  #seen: ReadonlyMap<NotePath, Seen> = byPath(null);

  /** `null` while undecided, which is how every note begins. */
  of(path: NotePath): Verdict | null {
    return this.#byNote.get(path) ?? null;
  }

  /** The notes with this verdict, in the order they were decided. */
  with(verdict: Verdict): NotePath[] {
    return [...this.#byNote].filter(([, given]) => given === verdict).map(([path]) => path);
  }

  /** How many notes have one. */
  get count(): number {
    return this.#byNote.size;
  }

  /** Gives a verdict, to all that belong together; giving the same one again takes it back. */
  decide(path: NotePath, verdict: Verdict): void {
    const takeBack = this.of(path) === verdict;
    const seen = this.#seen.get(path);
    for (const one of seen ? pathsOf(seen.decision) : [path]) {
      if (takeBack) this.#byNote.delete(one);
      else this.#byNote.set(one, verdict);
    }
  }

  /** Accepts everything, except what takes something away: that is decided on its own. */
  acceptAll(): void {
    for (const [path, { decision }] of this.#seen) {
      if (!isRemoval(decision)) this.#byNote.set(path, 'accept');
    }
  }

  rejectAll(): void {
    for (const path of this.#seen.keys()) this.#byNote.set(path, 'reject');
  }

  /** Another review is before the user: a verdict stays only where nothing of it did change. */
  follow(review: Review | null): void {
    const now = byPath(review);
    for (const path of [...this.#byNote.keys()]) {
      if (now.get(path)?.print !== this.#seen.get(path)?.print) this.#byNote.delete(path);
    }
    this.#seen = now;
  }
}

function byPath(review: Review | null): ReadonlyMap<NotePath, Seen> {
  const all = decisions(review?.notes ?? []);
  return new Map(
    all.flatMap((decision) => {
      const seen = { decision, print: JSON.stringify(decision) };
      return pathsOf(decision).map((path) => [path, seen] as const);
    }),
  );
}
