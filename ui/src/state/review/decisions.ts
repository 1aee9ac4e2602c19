/**
 * Pending changes as the decisions of a review: the same change in many notes, one note, or a move
 * with all that follows it.
 */
import type { CallId, ChangeKind, NoteDiff, NoteHunk, NotePath } from '../../ipc/bindings';
import { type EqualChange, equalChange } from './equal-change';

/** Where it stands in the review. */
export type DecisionGroup = 'edited' | 'new' | 'moved' | 'folders' | 'removed';

export interface Decision {
  readonly group: DecisionGroup;
  /** The note that the decision is about. */
  readonly lead: NoteDiff;
  /** Notes that are accepted and rejected with it. */
  readonly others: readonly NoteDiff[];
  /** Places of the hunks that are its own; those that are the same elsewhere are decided there. */
  readonly hunks: readonly number[];
}

/** One hunk of one note. */
export interface HunkPosition {
  readonly path: NotePath;
  readonly index: number;
  readonly hunk: NoteHunk;
}

/** Names a hunk among all of a review. */
export type HunkKey = Pick<HunkPosition, 'path' | 'index'>;

/** The same change in several notes. */
export interface RepeatedChange {
  readonly id: string;
  readonly change: EqualChange;
  readonly places: readonly HunkPosition[];
  /** The number of notes with the change. */
  readonly notes: number;
  /** How often it is made in them. */
  readonly times: number;
}

/** All there is to decide. */
export interface Decisions {
  readonly same: readonly RepeatedChange[];
  readonly notes: readonly Decision[];
}

/** The number of notes from which on the same change is one decision. */
const several = 2;

const order: readonly DecisionGroup[] = ['edited', 'new', 'moved', 'folders', 'removed'];

/** In the order they are shown: repeated changes, then by group, then as they were proposed. A hunk that is being
 * edited is decided in its note, also where the same change is made elsewhere. */
export function decisions(
  notes: readonly NoteDiff[],
  isEdited: (note: NoteDiff, index: number) => boolean = () => false,
): Decisions {
  const same = sameChanges(notes, isEdited);
  const elsewhere = new Set(same.flatMap(({ places }) => places.map(placeKey)));
  const all = groupByUnit(notes).map((one) => ({
    ...one,
    group: groupOf(one.lead.kind),
    hunks: [...one.lead.hunks.keys()].filter(
      (index) => !elsewhere.has(placeKey({ path: one.lead.path, index })),
    ),
  }));
  const own = all.filter(({ lead, hunks }) => hunks.length > 0 || lead.hunks.length === 0);
  return { same, notes: order.flatMap((group) => own.filter((one) => one.group === group)) };
}

/** Whether each hunk is decided on its own; else the note is decided whole. */
export function isByHunk({ kind, unit }: NoteDiff): boolean {
  return unit === null && kind === 'replace';
}

function sameChanges(
  notes: readonly NoteDiff[],
  isEdited: (note: NoteDiff, index: number) => boolean,
): RepeatedChange[] {
  const found = new Map<string, { change: EqualChange; times: number; places: HunkPosition[] }>();
  for (const note of notes.filter(isByHunk)) {
    const { hunks } = note;
    for (const [index, hunk] of hunks.entries()) {
      const equal = isEdited(note, index) ? null : equalChange(hunk, hunks[index - 1]);
      if (!equal) continue;
      const { change } = equal;
      const key = JSON.stringify(change);
      const one = found.get(key) ?? { change, times: 0, places: [] };
      one.times += equal.times;
      one.places.push({ path: note.path, index, hunk });
      found.set(key, one);
    }
  }
  return [...found]
    .map(([id, one]) => {
      const paths = new Set(one.places.map(({ path }) => path));
      return { ...one, id: `same:${id}`, notes: paths.size };
    })
    .filter((one) => one.notes >= several);
}

/** The hunks among these of each note. */
export function hunksByNote(
  places: readonly HunkKey[],
): ReadonlyMap<NotePath, ReadonlySet<number>> {
  const found = new Map<NotePath, Set<number>>();
  for (const { path, index } of places) {
    const hunks = found.get(path);
    if (hunks) hunks.add(index);
    else found.set(path, new Set([index]));
  }
  return found;
}

function placeKey({ path, index }: HunkKey): string {
  return `${index}:${path}`;
}

/** A change that may happen on its own, or only with the others of its unit. */
interface Belonging {
  readonly kind: ChangeKind;
  readonly unit: CallId | null;
}

interface Together<Change> {
  /** The move, or what stands alone. */
  readonly lead: Change;
  readonly others: readonly Change[];
}

/** Changes as they happen and are undone: alone, or a move with all that follows it. */
export function groupByUnit<Change extends Belonging>(
  changes: readonly Change[],
): Together<Change>[] {
  const units = new Map<string, Change[]>();
  changes.forEach((change, index) => {
    const key = change.unit === null ? `alone:${index}` : `unit:${change.unit}`;
    const unit = units.get(key);
    if (unit) unit.push(change);
    else units.set(key, [change]);
  });
  return [...units.values()].flatMap((unit) => {
    const lead = unit.find((change) => groupOf(change.kind) === 'moved') ?? unit[0];
    return lead ? [{ lead, others: unit.filter((change) => change !== lead) }] : [];
  });
}

/** Whether "accept all" excludes it: a deletion is accepted on its own. */
export function isRemoval({ lead, others }: Pick<Decision, 'lead' | 'others'>): boolean {
  return [lead, ...others].some((note) => groupOf(note.kind) === 'removed');
}

function pathsOf({ lead, others }: Together<NoteDiff>): NotePath[] {
  return [lead.path, ...others.map((note) => note.path)];
}

/** The notes that are decided together with each note, itself included: one array for all notes of a unit. */
export function unitsOf(notes: readonly NoteDiff[]): ReadonlyMap<NotePath, readonly NotePath[]> {
  const units = groupByUnit(notes).map(pathsOf);
  return new Map(units.flatMap((paths) => paths.map((path) => [path, paths] as const)));
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
