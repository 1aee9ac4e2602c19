/** The applied changes of a story, and undoing them, in the fake application. */
import type {
  AppliedNote,
  AppliedPage,
  AppliedSet,
  ChangedSince,
  ChangeSetId,
  ChangeStatus,
  ConversationId,
  DeletedHistory,
  DiffLineKind,
  EffectId,
  HistoryAge,
  HistoryStats,
  ListApplied,
  NoteHunk,
  NotePath,
  UndoAction,
  UndoConflict,
  UndoResult,
  UndoScope,
  UndoTarget,
} from '../../src/ipc/bindings';
import { nothingToRedo, nothingToUndo } from './refusals';

/** A story's applied changes. */
export interface AppliedStory {
  /** Newest first. */
  readonly sets: readonly AppliedSet[];
  readonly hunks: Readonly<Record<EffectId, readonly NoteHunk[]>>;
  /** The conflicts of undoing, redoing or reapplying a listed change. */
  readonly conflicts: Readonly<Record<EffectId, UndoConflict>>;
  /** The changes in notes since; notes that are not named have none. */
  readonly since?: Readonly<Record<EffectId, Omit<ChangedSince, 'effect'>>>;
}

/** How much of a change stands, and which of its hunks were undone. */
interface ChangeState {
  readonly standing: ChangeStatus;
  readonly gone: readonly number[];
}

const whole: ChangeState = { standing: 'stands', gone: [] };

type LineCounts = Pick<AppliedNote, 'added' | 'removed'>;

export const nothingApplied: AppliedStory = { sets: [], hunks: {}, conflicts: {} };

const pageLength = 20;

/** Each change of a story takes as much. */
const bytesEach = 20_500;

const days: Readonly<Record<HistoryAge, number>> = { ninety_days: 90, thirty_days: 30, any: 0 };

export class FakeChanges {
  #sets: readonly AppliedSet[];
  readonly #story: AppliedStory;
  readonly #settled = new Set<EffectId>();
  readonly #gone = new Map<EffectId, readonly number[]>();
  /** How the changes stood that each undo or redo was about. */
  readonly #before = new Map<ChangeSetId, ReadonlyMap<EffectId, ChangeState>>();
  readonly #tell: (set: AppliedSet) => void;

  constructor(story: AppliedStory, tell: (set: AppliedSet) => void) {
    this.#story = story;
    this.#sets = story.sets;
    this.#tell = tell;
  }

  page({ conversation, before }: ListApplied, seq: number): AppliedPage {
    const wanted = this.#sets.filter(
      (set) => conversation === null || set.conversation === conversation,
    );
    const from = wanted.findIndex(({ id }) => id === before) + 1;
    const sets = wanted.slice(from, from + pageLength);
    return { seq, sets, more: from + pageLength < wanted.length };
  }

  since(effect: EffectId): ChangedSince {
    const note = this.#notes().find((one) => one.effect === effect);
    const path = note?.target ?? note?.path ?? null;
    return { effect, path, hunks: [], ...this.#story.since?.[effect] };
  }

  /** The places of the hunks that were undone, one by one or together. */
  undoneHunks(effect: EffectId): number[] {
    return [...(this.#gone.get(effect) ?? [])];
  }

  hunks(effect: EffectId): NoteHunk[] {
    return [...(this.#story.hunks[effect] ?? [])];
  }

  /** The user saved an answer as this note. */
  save(path: NotePath, conversation: ConversationId, lines: number): ChangeSetId {
    return this.#own({ by: 'save', conversation }, [path], 'create', lines);
  }

  /** The user repaired a broken link. */
  repair(paths: readonly NotePath[], kind: 'create' | 'replace'): ChangeSetId {
    return this.#own({ by: 'repair', conversation: null }, paths, kind, kind === 'create' ? 0 : 1);
  }

  #own(
    of: Pick<AppliedSet, 'by' | 'conversation'>,
    paths: readonly NotePath[],
    kind: 'create' | 'replace',
    lines: number,
  ): ChangeSetId {
    const id = `${of.by}-${this.#sets.length}`;
    const turn = `turn-${id}`;
    const notes = paths.map((path): AppliedNote => ({
      effect: `effect-${id}-${path}`,
      turn,
      path,
      target: null,
      kind,
      unit: null,
      added: lines,
      removed: kind === 'create' ? 0 : lines,
      standing: 'stands',
      tooOld: false,
    }));
    const set: AppliedSet = { id, at: Date.now(), notes, turn, request: '', ...of };
    this.#sets = [set, ...this.#sets];
    this.#tell(set);
    return id;
  }

  /** What is undone already is refused, as in the real application. */
  undo(scope: UndoScope): UndoResult {
    const before = scope.type === 'change_set' ? this.#before.get(scope.changeSet) : undefined;
    if (before) {
      return this.#settle(
        ({ effect }) => before.has(effect),
        (note) => before.get(note.effect) ?? this.#stateOf(note),
      );
    }
    const asked = scope.type === 'effect' ? scope.hunks : [];
    const wanted = this.#inScope(scope);
    const stands = (note: AppliedNote): boolean => wanted(note) && this.#stands(note, asked);
    const left = this.#notes().filter(stands);
    // A story may leave out the changes of a turn.
    if (left.length === 0 && this.#notes().some(wanted)) throw nothingToUndo;
    const conflicts = this.#conflicts('undo', left);
    const free = (note: AppliedNote): boolean => stands(note) && !isStopped(note, conflicts);
    return {
      ...this.#settle(free, (note) => this.#without(note, asked)),
      conflicts: conflicts.map((conflict) => ({ ...conflict, hunks: [...asked] })),
    };
  }

  redo(scope: UndoScope): UndoResult {
    const inScope = this.#inScope(scope);
    const wanted = (note: AppliedNote): boolean =>
      inScope(note) && (note.standing === 'undone' || note.standing === 'partly_undone');
    const undone = this.#notes().filter(wanted);
    if (undone.length === 0) throw nothingToRedo;
    const conflicts = this.#conflicts('redo', undone);
    const free = (note: AppliedNote): boolean => wanted(note) && !isStopped(note, conflicts);
    return { ...this.#settle(free, () => whole), conflicts };
  }

  reapply(effect: EffectId): UndoResult {
    const conflict = this.#story.conflicts[effect];
    if (conflict?.action === 'reapply' && !this.#settled.has(effect)) {
      return { changeSet: null, changed: [], conflicts: [conflict], left: 0 };
    }
    return this.#settle(
      (note) => note.effect === effect,
      () => whole,
    );
  }

  complete({ action, effect, hunks }: UndoTarget | UndoConflict): UndoResult {
    this.#settled.add(effect);
    const asked = Object.values(this.#story.conflicts).find((one) => one.effect === effect);
    const listed = asked?.listed ?? effect;
    return this.#settle(
      (note) => note.effect === listed,
      (note) => (action === 'undo' ? this.#without(note, hunks) : whole),
    );
  }

  /** The conflicts of a request about these changes that were not answered yet. */
  #conflicts(action: UndoAction, notes: readonly AppliedNote[]): UndoConflict[] {
    return notes
      .flatMap(({ effect }) => this.#story.conflicts[effect] ?? [])
      .filter((one) => one.action === action && !this.#settled.has(one.effect));
  }

  #stateOf({ effect, standing }: AppliedNote): ChangeState {
    return { standing, gone: this.#gone.get(effect) ?? [] };
  }

  /** Whether one of these hunks still stands; without any it is about the whole change. */
  #stands({ effect, standing }: AppliedNote, asked: readonly number[]): boolean {
    if (standing === 'undone') return false;
    const gone = this.#gone.get(effect) ?? [];
    return asked.length === 0 || asked.some((hunk) => !gone.includes(hunk));
  }

  /** A change without these hunks as well, or without any. The last hunk takes the change with it. */
  #without(note: AppliedNote, hunks: readonly number[]): ChangeState {
    const all = [...(this.#story.hunks[note.effect] ?? []).keys()];
    if (hunks.length === 0) return { standing: 'undone', gone: all };
    const gone = [...new Set([...this.#stateOf(note).gone, ...hunks])].sort((a, b) => a - b);
    const isLeft = all.length === 0 || all.some((hunk) => !gone.includes(hunk));
    return { standing: isLeft ? 'partly_undone' : 'undone', gone };
  }

  /** The lines of the hunks that are left; of a change that was undone all, so that its size shows. */
  #counts({ effect, added, removed }: AppliedNote, gone: readonly number[]): LineCounts {
    const all = this.#story.hunks[effect];
    if (!all) return { added, removed };
    const left = all.filter((_, hunk) => !gone.includes(hunk));
    const lines = (left.length > 0 ? left : all).flatMap((hunk) => hunk.lines);
    const count = (wanted: DiffLineKind): number =>
      lines.filter(({ sign }) => sign === wanted).length;
    return { added: count('added'), removed: count('removed') };
  }

  kept(): HistoryStats {
    const kept = this.#older('any');
    const older = (['ninety_days', 'thirty_days', 'any'] as const).map((age) => {
      return { age, changes: this.#older(age).length };
    });
    const since = kept.length > 0 ? Math.min(...kept.map(({ at }) => at)) : null;
    return { bytes: kept.length * bytesEach, since, older };
  }

  deleteHistory(age: HistoryAge): DeletedHistory {
    const changes = this.#older(age).length;
    const from = Date.now() - days[age] * 86_400_000;
    this.#sets = this.#sets.map((set) => {
      if (set.at >= from) return set;
      return { ...set, notes: set.notes.map((note) => ({ ...note, tooOld: true })) };
    });
    return { changes, bytes: changes * bytesEach };
  }

  #older(age: HistoryAge): { at: number }[] {
    const from = Date.now() - days[age] * 86_400_000;
    const sets = this.#sets.filter(({ at }) => at < from);
    return sets.flatMap(({ at, notes }) =>
      notes.filter(({ tooOld }) => !tooOld).map(() => ({ at })),
    );
  }

  #notes(): AppliedNote[] {
    return this.#sets.flatMap((set) => set.notes);
  }

  #inScope(scope: UndoScope): (note: AppliedNote) => boolean {
    const effects = new Set(
      this.#sets.flatMap((set) => set.notes.filter((note) => isMeant(scope, set, note))).map(idOf),
    );
    return (note) => effects.has(note.effect);
  }

  #settle(
    wanted: (note: AppliedNote) => boolean,
    toState: (note: AppliedNote) => ChangeState,
  ): UndoResult {
    const changed = this.#notes().filter(wanted);
    const before = changed.map((note) => [note.effect, this.#stateOf(note)] as const);
    const settled = (note: AppliedNote): AppliedNote => {
      const { standing, gone } = toState(note);
      this.#gone.set(note.effect, gone);
      return { ...note, standing, ...this.#counts(note, gone) };
    };
    this.#sets = this.#sets.map((set) => {
      if (!set.notes.some(wanted)) return set;
      const now = { ...set, notes: set.notes.map((note) => (wanted(note) ? settled(note) : note)) };
      this.#tell(now);
      return now;
    });
    const changeSet = changed.length > 0 ? `undo-${this.#before.size + 1}` : null;
    if (changeSet !== null) this.#before.set(changeSet, new Map(before));
    const paths = [...new Set(changed.map(({ path }) => path))];
    return { changeSet, changed: paths, conflicts: [], left: 0 };
  }
}

function idOf({ effect }: AppliedNote): EffectId {
  return effect;
}

function isStopped({ effect }: AppliedNote, conflicts: readonly UndoConflict[]): boolean {
  return conflicts.some(({ listed }) => listed === effect);
}

function isMeant(scope: UndoScope, set: AppliedSet, note: AppliedNote): boolean {
  switch (scope.type) {
    case 'effect': {
      const named = set.notes.find(({ effect }) => effect === scope.effect);
      if (!named || scope.hunks.length > 0) return note === named;
      return note === named || (named.unit ?? note.effect) === note.unit;
    }
    case 'change_set':
      return set.id === scope.changeSet;
    case 'turn':
      return note.turn === scope.turn;
    case 'conversation':
      return set.conversation === scope.conversation;
    default:
      return scope satisfies never;
  }
}
