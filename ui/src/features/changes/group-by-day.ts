/** Groups applied changes by the day they were made on. */
import type { AppliedSet, Timestamp } from '../../ipc/bindings';

interface Day {
  /** A moment of it. */
  readonly at: Timestamp;
  readonly sets: readonly AppliedSet[];
}

/** In the order they come. */
export function groupByDay(sets: readonly AppliedSet[]): Day[] {
  const found = new Map<string, AppliedSet[]>();
  for (const set of sets) {
    const day = new Date(set.at).toDateString();
    const before = found.get(day);
    if (before) before.push(set);
    else found.set(day, [set]);
  }
  return [...found.values()].map((day) => ({ at: day[0]?.at ?? 0, sets: day }));
}
