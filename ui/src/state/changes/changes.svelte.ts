/** Applied changes that the window knows, newest first, and the conflicts of undo. */
import { SvelteMap, SvelteSet } from 'svelte/reactivity';

import type {
  AppliedHunks,
  AppliedPage,
  AppliedSet,
  ChangedSince,
  ChangeSetId,
  ConversationId,
  EffectId,
  UndoConflict,
} from '../../ipc/bindings';

export class Changes {
  /** Conflicts that the user has not settled yet, by their change. */
  readonly conflicts = new SvelteMap<EffectId, UndoConflict>();
  /** The effect of each opened change. */
  readonly hunks = new SvelteMap<EffectId, AppliedHunks>();
  /** The changes in notes since a change, where that was asked. */
  readonly since = new SvelteMap<EffectId, ChangedSince>();
  /** Conversations whose sets are all known. */
  readonly whole = new SvelteSet<ConversationId>();
  /** How often all was forgotten: a page that was asked for before would leave a gap. */
  cleared = 0;
  /** Whether there are sets older than those that are listed. */
  more = $state(true);

  #sets = $state.raw<readonly AppliedSet[]>([]);
  /** The oldest set that was listed: of those before it some may be unknown. */
  #listedTo = $state.raw<Moment | null>(null);
  /** The number of the event that told a set last; a page may be older. */
  readonly #told = new SvelteMap<ChangeSetId, number>();

  /** Without gaps, as far as they were listed: what the assistant did and still can be undone. */
  get listed(): readonly AppliedSet[] {
    const to = this.#listedTo;
    const within = (set: AppliedSet): boolean => !this.more || (to !== null && !isOlder(set, to));
    return this.#sets.filter((set) => isShown(set) && within(set));
  }

  /** With gaps: sets that were not listed are here as far as events or pages of a conversation told them. */
  get known(): readonly AppliedSet[] {
    return this.#sets.filter(isShown);
  }

  /** All that a conversation led to, as far as it is known. */
  of(conversation: ConversationId): readonly AppliedSet[] {
    return this.known.filter((set) => set.conversation === conversation);
  }

  /** The lines that the assistant wrote in it. */
  byAssistant(conversation: ConversationId): readonly AppliedSet[] {
    return this.of(conversation).filter(({ by }) => by === 'assistant');
  }

  /** The set that a change belongs to, if it is known. */
  setOf(effect: EffectId): AppliedSet | null {
    return this.#sets.find(({ notes }) => notes.some((note) => note.effect === effect)) ?? null;
  }

  /** Where the next page begins. */
  get oldest(): ChangeSetId | null {
    return this.#listedTo?.id ?? null;
  }

  /** Another vault was opened, or the feed began again. */
  clear(): void {
    this.forget();
    this.conflicts.clear();
  }

  /** Known changes may have another state now, and are listed again. A conflict stays open until its change turns out
   * to be too old. */
  forget(): void {
    this.cleared += 1;
    this.#sets = [];
    this.#listedTo = null;
    this.#told.clear();
    this.more = true;
    this.hunks.clear();
    this.since.clear();
    this.whole.clear();
  }

  /** An event told of a set. */
  tell(set: AppliedSet, seq: number): void {
    this.#told.set(set.id, seq);
    this.#put([set]);
  }

  /** The next page of all sets. */
  addPage(page: AppliedPage): void {
    this.#take(page);
    this.#listedTo = page.sets.at(-1) ?? this.#listedTo;
    this.more = page.more;
  }

  /** A page of one conversation's sets. */
  addOf(conversation: ConversationId, page: AppliedPage): void {
    this.#take(page);
    if (!page.more) this.whole.add(conversation);
  }

  #take({ seq, sets }: AppliedPage): void {
    this.#put(sets.filter((set) => (this.#told.get(set.id) ?? 0) <= seq));
  }

  #put(sets: readonly AppliedSet[]): void {
    const tooOld = sets.flatMap(({ notes }) => notes).filter((note) => note.tooOld);
    for (const [effect, { listed }] of [...this.conflicts]) {
      const isTooOld = tooOld.some((note) => note.effect === effect || note.effect === listed);
      if (isTooOld) this.conflicts.delete(effect);
    }
    // The loaded details of a change go with its text.
    for (const loaded of [this.hunks, this.since]) {
      for (const effect of [...loaded.keys()]) {
        if (tooOld.some((note) => note.effect === effect)) loaded.delete(effect);
      }
    }
    const others = this.#sets.filter(({ id }) => !sets.some((set) => set.id === id));
    this.#sets = [...others, ...sets].sort((one, other) => (isOlder(one, other) ? 1 : -1));
  }
}

type Moment = Pick<AppliedSet, 'id' | 'at'>;

/** An undone or reapplied change shows in the set that it belongs to. */
function isShown(set: AppliedSet): boolean {
  return ['assistant', 'save', 'repair'].includes(set.by) && set.notes.length > 0;
}

function isOlder(one: Moment, other: Moment): boolean {
  return one.at === other.at ? one.id < other.id : one.at < other.at;
}
