/** Conflicts by the listed change that they belong to. */
import type { EffectId, UndoConflict } from '../../ipc/bindings';

export function groupConflicts(
  conflicts: Iterable<UndoConflict>,
): ReadonlyMap<EffectId, readonly UndoConflict[]> {
  const byListed = new Map<EffectId, UndoConflict[]>();
  for (const conflict of conflicts) {
    const others = byListed.get(conflict.listed);
    if (others) others.push(conflict);
    else byListed.set(conflict.listed, [conflict]);
  }
  return byListed;
}
