/** Waiting changes as what the user decides about: one note, or a move with all that follows it. */
import type { ChangeKind, NoteDiff, NotePath } from '../ipc/bindings';

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
  const units = new Map<string, NoteDiff[]>();
  for (const note of notes) {
    const key = note.unit === null ? `note:${note.path}` : `unit:${note.unit}`;
    units.set(key, [...(units.get(key) ?? []), note]);
  }
  const all = [...units.values()].flatMap(decision);
  return order.flatMap((group) => all.filter((one) => one.group === group));
}

function decision(together: readonly NoteDiff[]): Decision[] {
  const lead = together.find((note) => groupOf(note.kind) === 'moved') ?? together[0];
  if (!lead) return [];
  const others = together.filter((note) => note !== lead);
  return [{ group: groupOf(lead.kind), lead, others }];
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
