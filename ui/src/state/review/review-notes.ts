/** The notes of a review by path and unit: one move may bring thousands of them. */
import type { NoteDiff, NotePath } from '../../ipc/bindings';
import { decisions, isRemoval, unitsOf } from './decisions';

export class ReviewNotes {
  /** As they were proposed. */
  readonly all: readonly NoteDiff[];
  readonly #byPath: ReadonlyMap<NotePath, NoteDiff>;
  readonly #units: ReadonlyMap<NotePath, readonly NotePath[]>;
  #withoutRemovals: readonly NoteDiff[] | null = null;

  constructor(notes: readonly NoteDiff[]) {
    this.all = notes;
    this.#byPath = new Map(notes.map((note) => [note.path, note]));
    this.#units = unitsOf(notes);
  }

  get(path: NotePath): NoteDiff | undefined {
    return this.#byPath.get(path);
  }

  /** The notes that are decided together with this one, itself included. */
  unit(path: NotePath): readonly NotePath[] {
    return this.#units.get(path) ?? [path];
  }

  /** The notes from which nothing is taken away. */
  withoutRemovals(): readonly NoteDiff[] {
    if (this.#withoutRemovals) return this.#withoutRemovals;
    const removals = decisions(this.all).notes.filter(isRemoval);
    const removed = new Set(removals.flatMap(({ lead, others }) => [lead, ...others]));
    this.#withoutRemovals = this.all.filter((note) => !removed.has(note));
    return this.#withoutRemovals;
  }

  /** The notes of the units of which every note is among these. */
  inWholeUnitsOf(paths: readonly NotePath[]): ReadonlySet<NotePath> {
    const wanted = new Set(paths);
    return this.#inUnits((unit) => unit.every((path) => wanted.has(path)));
  }

  /** The notes of the units that are the same in `before`, with the same changes. */
  unchangedSince(before: ReviewNotes): ReadonlySet<NotePath> {
    return this.#inUnits((unit) => {
      const [lead = ''] = unit;
      const old = before.unit(lead);
      const isSame = (path: NotePath, at: number): boolean =>
        path === old[at] && this.get(path)?.seen === before.get(path)?.seen;
      return unit.length === old.length && unit.every(isSame);
    });
  }

  /** Each unit is looked at once, not once for each of its notes. */
  #inUnits(wanted: (unit: readonly NotePath[]) => boolean): ReadonlySet<NotePath> {
    const units = [...new Set(this.#units.values())];
    return new Set(units.filter(wanted).flat());
  }
}
