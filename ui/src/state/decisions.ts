/** Waiting changes as what the user decides about: one note, or a move with all that follows it. */
import type { CallId, ChangeKind, NoteDiff, NotePath } from '../ipc/bindings';

/** Where it stands in the review. */
export type DecisionGroup = 'edited' | 'new' | 'moved' | 'folders' | 'removed';

export interface Decision {
  readonly group: DecisionGroup;
  /** What the decision is about. */
  readonly lead: NoteDiff;
  /** What is accepted and rejected with it. */
  readonly others: readonly NoteDiff[];
}

const order: readonly DecisionGroup[] = ['edited', 'new', 'moved', 'folders', 'removed'];

/** In the order they are shown: by group, then as they were planned. */
export function decisions(notes: readonly NoteDiff[]): Decision[] {
  const all = together(notes).map((one) => ({ ...one, group: groupOf(one.lead.kind) }));
  return order.flatMap((group) => all.filter((one) => one.group === group));
}

/** What may happen on its own, or only with the others of its unit. */
interface Belonging {
  readonly kind: ChangeKind;
  readonly unit: CallId | null;
}

interface Together<Change> {
  /** The move, or what stands alone. */
  readonly lead: Change;
  readonly others: readonly Change[];
}

/** Changes as they happen and are taken back: alone, or a move with all that follows it. */
export function together<Change extends Belonging>(changes: readonly Change[]): Together<Change>[] {
  const units = new Map<string, Change[]>();
  changes.forEach((change, index) => {
    const key = change.unit === null ? `alone:${index}` : `unit:${change.unit}`;
    units.set(key, [...(units.get(key) ?? []), change]);
  });
  return [...units.values()].flatMap((unit) => {
    const lead = unit.find((change) => groupOf(change.kind) === 'moved') ?? unit[0];
    return lead ? [{ lead, others: unit.filter((change) => change !== lead) }] : [];
  });
}

/** Whether "accept all" leaves it out: what takes something away is accepted on its own. */
export function isRemoval({ lead, others }: Decision): boolean {
  return [lead, ...others].some((note) => groupOf(note.kind) === 'removed');
}

export function pathsOf({ lead, others }: Decision): NotePath[] {
  return [lead.path, ...others.map((note) => note.path)];
}

function groupOf(kind: ChangeKind): DecisionGroup {
  switch (kind) {
    case 'replace':
      return 'edited';
    case 'create':
      return 'new';
    case 'rename':
    case 'rename_folder':
      return 'moved';
    case 'make_folder':
    case 'restore_folder':
      return 'folders';
    case 'trash':
    case 'trash_folder':
      return 'removed';
    default:
      return kind satisfies never;
  }
}
