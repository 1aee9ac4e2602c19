/** The current state of the changes that tool calls made: applied, rejected or undone. */
import type { AppliedSet, ChatItem, NotePath, TurnId } from '../../../ipc/bindings';
import { itemKey } from '../../../state/chat/open-conversation.svelte';
import type { ToolItem } from '../rows';
import type { Places } from './partly-applied';

export type DecisionItem = Extract<ChatItem, { type: 'decision' }>;

/** `null` where the call itself told the state. */
export type Outcome =
  'pending' | 'applied' | 'part' | 'rejected' | 'undone' | 'partly_undone' | null;

/** The user's decisions, and the calls whose proposals they are about. */
export interface DecidedCalls {
  /** By the key of the call. */
  readonly decisions: ReadonlyMap<string, readonly DecisionItem[]>;
  /** Those about one note in the order of the conversation; a call about several may be named more than once. */
  readonly calls: ReadonlyMap<DecisionItem, readonly ToolItem[]>;
}

/** Facts outside of the call. */
export interface Outside {
  readonly decided: DecidedCalls;
  /** Notes with pending changes. */
  readonly pending: readonly NotePath[];
  readonly applied: readonly AppliedSet[];
  /** The outcome of single calls whose note was accepted in part, as far as it is certain. */
  readonly places?: Places;
}

/** The state of the changes that these calls made in these notes. */
export function outcomeOf(
  calls: readonly ToolItem[],
  paths: readonly NotePath[],
  { decided, pending, applied, places }: Outside,
): Outcome {
  const proposed = calls.some(isProposed);
  if (proposed && paths.some((path) => pending.includes(path))) return 'pending';
  const single = new Set(calls.map((call) => places?.get(itemKey(call)) ?? null));
  const certain = single.size === 1 ? ([...single][0] ?? null) : null;
  if (certain === 'rejected') return certain;
  const given = calls.flatMap((call) => decided.decisions.get(itemKey(call)) ?? []);
  const turns = [...calls, ...callsIn(paths, given, decided)].map(({ turn }) => turn);
  const undone = undoneIn(turns, paths, applied);
  if (undone !== null) return undone;
  if (!proposed || certain !== null) return certain;
  const accepted = given.some((one) => one.applied.some((path) => paths.includes(path)));
  const rejected = given.some((one) => one.rejected.some((path) => paths.includes(path)));
  if (accepted) return rejected ? 'part' : 'applied';
  return rejected ? 'rejected' : null;
}

/** The notes of a decision in which it was undone since. */
export interface UndoneSince {
  readonly undone: readonly NotePath[];
  readonly partly: readonly NotePath[];
}

/** The notes of a decision in which the accepted changes were undone since, wholly or in part. */
export function undoneSince(
  decision: DecisionItem,
  { decided, applied }: Pick<Outside, 'decided' | 'applied'>,
): UndoneSince {
  const undone = (path: NotePath): ReturnType<typeof undoneIn> => {
    const turns = callsIn([path], [decision], decided).map(({ turn }) => turn);
    return undoneIn(turns, [path], applied);
  };
  const those = (wanted: 'undone' | 'partly_undone'): NotePath[] =>
    decision.applied.filter((path) => undone(path) === wanted);
  return { undone: those('undone'), partly: those('partly_undone') };
}

/** The calls that these decisions are about in one of these notes. What was accepted of several calls in a note is one
 * change, of the turn that proposed it last. */
function callsIn(
  paths: readonly NotePath[],
  given: readonly DecisionItem[],
  { calls }: DecidedCalls,
): ToolItem[] {
  const about = given.flatMap((decision) => calls.get(decision) ?? []);
  return about.filter((call) => proposedPaths(call).some((path) => paths.includes(path)));
}

/** Whether what these turns changed in these notes was undone since; `null` where all of it stands. */
function undoneIn(
  turns: readonly TurnId[],
  paths: readonly NotePath[],
  applied: readonly AppliedSet[],
): 'undone' | 'partly_undone' | null {
  const standing = applied
    .flatMap(({ notes }) => notes)
    .filter(({ turn, path }) => turns.includes(turn) && paths.includes(path))
    .map((note) => note.standing);
  if (standing.length > 0 && standing.every((one) => one === 'undone')) return 'undone';
  const some = standing.some((one) => one === 'undone' || one === 'partly_undone');
  return some ? 'partly_undone' : null;
}

/** Finds the decisions on each call; for the same calls and decisions the result is the same object. */
export class CallDecisions {
  #items: readonly ChatItem[] = [];
  #decided: DecidedCalls = { decisions: new Map(), calls: new Map() };

  read(items: readonly ChatItem[]): DecidedCalls {
    const told = items.filter((item) => item.type === 'decision' || isProposed(item));
    const same =
      told.length === this.#items.length && told.every((one, at) => one === this.#items[at]);
    if (!same) {
      this.#items = told;
      this.#decided = decisionsIn(told);
    }
    return this.#decided;
  }
}

/** A decision on a note is about the calls before it that proposed changes there and were not decided when
 * a later turn proposed others. */
function decisionsIn(items: readonly ChatItem[]): DecidedCalls {
  const decisions = new Map<string, DecisionItem[]>();
  const calls = new Map<DecisionItem, ToolItem[]>();
  const open = new Map<NotePath, ToolItem[]>();
  for (const item of items) {
    if (item.type === 'tool') {
      for (const path of proposedPaths(item)) {
        const before = open.get(path) ?? [];
        const undecided = before.filter((call) => !decisions.has(itemKey(call)));
        open.set(path, [...undecided, item]);
      }
    } else if (item.type === 'decision') {
      const about = [...item.applied, ...item.rejected].flatMap((path) => open.get(path) ?? []);
      calls.set(item, about);
      for (const key of new Set(about.map(itemKey))) {
        decisions.set(key, [...(decisions.get(key) ?? []), item]);
      }
    }
  }
  return { decisions, calls };
}

function isProposed(item: ChatItem): item is ToolItem {
  return item.type === 'tool' && proposedPaths(item).length > 0;
}

/** The notes in which a call proposed changes for review. */
export function proposedPaths({ reactions }: ToolItem): NotePath[] {
  return reactions.flatMap((one) => ('waiting' in one && one.waiting ? [one.path] : []));
}
