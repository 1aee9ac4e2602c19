/** What the user has decided about waiting changes, note by note, before it is applied. */
import { SvelteMap } from 'svelte/reactivity';

import type { NotePath, Review } from '../ipc/bindings';

export type Verdict = 'accept' | 'reject';

export class Verdicts {
  readonly #byNote = new SvelteMap<NotePath, Verdict>();
  #seen: ReadonlyMap<NotePath, string> = fingerprints(null);

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

  /** Gives a verdict; giving the same one again takes it back. */
  decide(path: NotePath, verdict: Verdict): void {
    if (this.of(path) === verdict) this.#byNote.delete(path);
    else this.#byNote.set(path, verdict);
  }

  /** Gives every note the same verdict. */
  decideAll(verdict: Verdict): void {
    for (const path of this.#seen.keys()) this.#byNote.set(path, verdict);
  }

  /** Another review is before the user: a verdict stays only where its note did not change. */
  follow(review: Review | null): void {
    const now = fingerprints(review);
    for (const path of [...this.#byNote.keys()]) {
      if (now.get(path) !== this.#seen.get(path)) this.#byNote.delete(path);
    }
    this.#seen = now;
  }
}

/** A verdict holds for what the user saw, so it is tied to the diff itself. */
function fingerprints(review: Review | null): ReadonlyMap<NotePath, string> {
  const notes = review?.notes ?? [];
  return new Map(notes.map((note) => [note.path, JSON.stringify(note)]));
}
