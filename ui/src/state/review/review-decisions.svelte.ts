/** The decisions of the user about pending changes, before they are applied. */
import { SvelteMap, SvelteSet } from 'svelte/reactivity';

import type {
  ChangeSetId,
  HunkDecision,
  NoteDecision,
  NoteDiff,
  NotePath,
  Review,
  ReviewDecision as WireDecision,
} from '../../ipc/bindings';
import { DecisionHistory, type DecisionStep } from './decision-history';
import { type HunkKey, type HunkPosition, hunksByNote, isByHunk } from './decisions';
import { HunkDrafts } from './hunk-drafts.svelte';
import { hunkId } from './hunk-id';
import { ReviewNotes } from './review-notes';
import type { StoredDecisions } from './stored-decisions';

export type Acceptance = 'accept' | 'reject';

/** The decision about one hunk; lines that the user edited are accepted with it. */
export type HunkChoice = Acceptance | { readonly edit: string };

/** A decision with the lines that the user wrote for the hunk: they stay while it is rejected or undecided, and are
 * accepted with it later. */
export type KeptChoice =
  HunkChoice | { readonly rejected: string } | { readonly undecided: string } | null;

/** One for each hunk; of what is decided whole, one. */
type Choices = readonly (HunkChoice | null)[];
type KeptChoices = readonly KeptChoice[];

export class ReviewDecisions {
  /** Hunks that are being edited. */
  readonly drafts = new HunkDrafts(() => this.#keep());
  readonly #byNote = new SvelteMap<NotePath, KeptChoices>();
  readonly #history = new DecisionHistory<KeptChoices>();
  #notes = new ReviewNotes([]);
  #review: ChangeSetId | null = null;
  /** The hunks that were decided with the last submission. */
  readonly #submitted = new SvelteSet<string>();
  readonly #kept: StoredDecisions | null;

  /** Decisions are kept there, and those that were kept there stand again. */
  constructor(kept: StoredDecisions | null = null) {
    this.#kept = kept;
  }

  /** `null` while undecided, which is how every note begins; `part` when some hunks are not. A hunk that is being
   * edited is undecided until its editor is closed. */
  of(path: NotePath): Acceptance | 'part' | null {
    const choices = this.#choices(path);
    const given = choices.filter((choice) => choice !== null);
    if (given.length === 0) return null;
    if (given.length < choices.length) return 'part';
    if (given.every((choice) => choice === 'reject')) return 'reject';
    return given.every((choice) => choice !== 'reject') ? 'accept' : 'part';
  }

  /** The decision about one hunk of a note. */
  hunk(path: NotePath, index: number): HunkChoice | null {
    const note = this.#editedNote(path);
    if (note && this.drafts.of(note, index) !== null) return null;
    return choiceOf(this.#byNote.get(path)?.[index] ?? null);
  }

  /** The lines that the user wrote for a hunk, whatever is decided about it; `null` where there are none. */
  own(path: NotePath, index: number): string | null {
    return ownLines(this.#byNote.get(path)?.[index] ?? null);
  }

  /** The decision on these: accepted with some excluded is accepted; `null` when some are undecided. */
  ofAll(places: readonly HunkPosition[]): Acceptance | null {
    const given = places.map((place) => this.#acceptance(place));
    if (given.includes(null)) return null;
    return given.includes('accept') ? 'accept' : 'reject';
  }

  /** The notes of which all has this decision. */
  with(acceptance: Acceptance): NotePath[] {
    return [...this.#byNote.keys()].filter((path) => this.of(path) === acceptance);
  }

  /** The notes in which something is accepted. */
  get changing(): NotePath[] {
    const changes = (choice: HunkChoice | null): boolean => acceptanceOf(choice) === 'accept';
    return [...this.#byNote.keys()].filter((path) => this.#choices(path).some(changes));
  }

  /** How many notes have one, or have one in part. */
  get count(): number {
    return [...this.#byNote.keys()].filter((path) => this.of(path) !== null).length;
  }

  /** Gives a decision, to all that belong together; giving the same one again clears it. Lines that the user
   * edited are accepted as they are, also after they were rejected. */
  decide(path: NotePath, acceptance: Acceptance): void {
    const choice = this.of(path) === acceptance ? null : acceptance;
    for (const one of this.#notes.unit(path)) {
      this.#give(one, (before) => decided(before, choice));
    }
    this.#endStep();
  }

  /** The same for single hunks, wherever they are. */
  decideHunks(places: readonly HunkKey[], acceptance: Acceptance): void {
    const has = places.every((place) => this.#acceptance(place) === acceptance);
    this.#decideEach(places, has ? null : acceptance);
  }

  /** The same for places of one change: those that were excluded one by one stay excluded when the others are accepted,
   * and when that is cleared. */
  decideRepeated(places: readonly HunkPosition[], acceptance: Acceptance): void {
    const included = this.#included(places);
    const are = acceptance === 'accept' && included.length > 0 ? included : places;
    this.decideHunks(are, acceptance);
  }

  /** Excludes one of these places, or includes it again: then it is decided as the others are. */
  toggle(place: HunkPosition, places: readonly HunkPosition[]): void {
    const others = this.#included(places);
    const undecided = others.some((one) => this.#acceptance(one) === null);
    const included = undecided ? null : 'accept';
    this.#decideEach([place], this.#acceptance(place) === 'reject' ? included : 'reject');
  }

  #included(places: readonly HunkPosition[]): readonly HunkPosition[] {
    return places.filter((place) => this.#acceptance(place) !== 'reject');
  }

  #acceptance({ path, index }: HunkKey): Acceptance | null {
    return acceptanceOf(this.hunk(path, index));
  }

  #decideEach(places: readonly HunkKey[], choice: Acceptance | null): void {
    for (const [path, indexes] of hunksByNote(places)) {
      this.#give(path, (before, at) => (indexes.has(at) ? decided(before, choice) : before));
    }
    this.#endStep();
  }

  /** Decides one hunk of a note. */
  choose(path: NotePath, index: number, choice: HunkChoice | null): void {
    this.#give(path, (before, at) => (at === index ? choice : before));
    this.#endStep();
  }

  /** Accepts everything that is not rejected, except what takes something away: that is decided on its own. */
  acceptAll(): void {
    for (const { path } of this.#notes.withoutRemovals()) {
      this.#give(path, (before) =>
        choiceOf(before) === 'reject' ? before : decided(before, 'accept'),
      );
    }
    this.#endStep();
  }

  /** How much of what `acceptAll` is about it leaves out, because it is rejected. */
  get rejectedExtent(): 'none' | 'some' | 'all' {
    const notes = this.#notes.withoutRemovals();
    const isRejected = (choice: HunkChoice | null): boolean => choice === 'reject';
    if (!notes.some(({ path }) => this.#choices(path).some(isRejected))) return 'none';
    return notes.every(({ path }) => this.of(path) === 'reject') ? 'all' : 'some';
  }

  rejectAll(): void {
    for (const { path } of this.#notes.all) {
      this.#give(path, (before) => decided(before, 'reject'));
    }
    this.#endStep();
  }

  /** Undoes the last decision, all that it was about. Returns its first place; `null` when none is left that can be
   * undone. Lines that the user wrote stay with their hunk, unless the hunk was accepted without them before. */
  undo(): HunkKey | null {
    return this.#restoreStep(this.#history.undo((path) => this.#byNote.get(path)));
  }

  /** Makes the decision again that was undone last. */
  redo(): HunkKey | null {
    return this.#restoreStep(this.#history.redo((path) => this.#byNote.get(path)));
  }

  /** All of it, as it is told to the application. */
  told(): NoteDecision[] {
    return [...this.#byNote.keys()].flatMap((path) => {
      const note = this.#notes.get(path);
      const choices = this.#choices(path);
      if (!note || choices.every((choice) => choice === null)) return [];
      return [{ path, seen: note.seen, decision: toldOf(choices) }];
    });
  }

  /** As `told`, to be carried out now: lines of a hunk that goes then went with it. */
  submit(): NoteDecision[] {
    this.#submitted.clear();
    for (const note of this.#notes.all) {
      this.#choices(note.path).forEach((choice, at) => {
        if (choice !== null) this.#submitted.add(hunkId(note, at));
      });
    }
    return this.told();
  }

  /** Another review is before the user: a decision stays only where nothing of it did change, and the lines that the
   * user wrote stay without it. */
  follow(review: Review | null): void {
    const notes = new ReviewNotes(review?.notes ?? []);
    const unchanged = notes.unchangedSince(this.#notes);
    if (review?.id === this.#review) this.#history.retain(unchanged);
    else this.#history.clear();
    for (const [path, choices] of [...this.#byNote]) {
      if (unchanged.has(path)) continue;
      this.#byNote.delete(path);
      const [old, note] = [this.#notes.get(path), notes.get(path)];
      if (review?.id === this.#review && old && note) this.#keepLines(old, note, choices);
    }
    this.#notes = notes;
    const before = this.#review;
    this.#review = review?.id ?? null;
    if (review && review.id !== before) this.#restore(review.id);
    this.drafts.follow(notes);
    this.#keep();
  }

  /** Lines that the user wrote stay with their hunk, undecided; where it is gone they are being edited again, at the
   * nearest one. */
  #keepLines(old: NoteDiff, note: NoteDiff, choices: KeptChoices): void {
    const ids = [...note.hunks.keys()].map((at) => hunkId(note, at));
    const kept = Array.from<unknown, KeptChoice>({ length: placesIn(note) }, () => null);
    choices.forEach((choice, index) => {
      const own = ownLines(choice);
      if (own === null) return;
      const id = hunkId(old, index);
      const at = ids.indexOf(id);
      if (at >= 0 && at < kept.length) kept[at] = { undecided: own };
      else if (!this.#submitted.delete(id)) this.drafts.resume(old, index, own);
    });
    if (kept.some((one) => one !== null)) this.#byNote.set(note.path, kept);
  }

  /** The decisions about a note, without those about hunks that are being edited. */
  #choices(path: NotePath): Choices {
    const choices = (this.#byNote.get(path) ?? []).map(choiceOf);
    const note = this.#editedNote(path);
    return note
      ? choices.map((choice, at) => (this.drafts.of(note, at) === null ? choice : null))
      : choices;
  }

  /** The note, where any hunk of the review is being edited. */
  #editedNote(path: NotePath): NoteDiff | undefined {
    return this.drafts.any ? this.#notes.get(path) : undefined;
  }

  /** Whoever gives decisions ends their step once, after the last of them. */
  #give(path: NotePath, choice: (before: KeptChoice, at: number) => KeptChoice): void {
    this.#history.record(path, this.#byNote.get(path));
    this.#set(path, choice);
  }

  #endStep(): void {
    this.#history.end((path) => this.#byNote.get(path));
    this.#keep();
  }

  #restoreStep(step: DecisionStep<KeptChoices> | null): HunkKey | null {
    let first: HunkKey | null = null;
    for (const [path, choices] of step ?? []) {
      const now = this.#byNote.get(path);
      this.#set(path, (one, at) => restored(choices?.[at] ?? null, one));
      first ??= { path, index: firstDifference(choices ?? [], now ?? []) };
    }
    this.#keep();
    return first;
  }

  /** Whoever changes decisions keeps them once, after the last of them. */
  #set(path: NotePath, choice: (before: KeptChoice, at: number) => KeptChoice): void {
    const note = this.#notes.get(path);
    const places = note ? placesIn(note) : 1;
    const before = this.#byNote.get(path);
    const now = Array.from({ length: places }, (_, at) => choice(before?.[at] ?? null, at));
    if (now.every((one) => one === null)) this.#byNote.delete(path);
    else this.#byNote.set(path, now);
  }

  /** Restores the decisions about exactly these changes, where all that belongs together was kept. */
  #restore(changeSet: ChangeSetId): void {
    this.drafts.restore(this.#kept?.draftsOf(changeSet) ?? []);
    const kept = (this.#kept?.of(changeSet) ?? []).filter(({ path, seen, choices }) => {
      const note = this.#notes.get(path);
      const same = note?.seen === seen && placesIn(note) === choices.length;
      if (note && !same) this.#editAgain(note, choices);
      return same;
    });
    const whole = this.#notes.inWholeUnitsOf(kept.map(({ path }) => path));
    for (const { path, choices } of kept) {
      if (whole.has(path)) this.#byNote.set(path, choices);
    }
  }

  /** Lines that were written for other changes of a note: nobody can tell for which of its hunks. */
  #editAgain(note: NoteDiff, choices: KeptChoices): void {
    choices.forEach((choice, index) => {
      const own = ownLines(choice);
      const at = Math.min(index, note.hunks.length - 1);
      if (own !== null && at >= 0) this.drafts.resume(note, at, own);
    });
  }

  #keep(): void {
    if (this.#review === null) {
      this.#kept?.clear();
      return;
    }
    const notes = this.#notes.all.flatMap(({ path, seen }) => {
      const choices = this.#byNote.get(path);
      return choices ? [{ path, seen, choices }] : [];
    });
    this.#kept?.keep(this.#review, notes, this.drafts.all);
  }
}

/** How many decisions a note takes. */
function placesIn(note: NoteDiff): number {
  return isByHunk(note) ? note.hunks.length : 1;
}

function acceptanceOf(choice: HunkChoice | null): Acceptance | null {
  return choice === null || choice === 'reject' ? choice : 'accept';
}

/** The decision as it stands. */
function choiceOf(kept: KeptChoice): HunkChoice | null {
  if (kept === null || typeof kept === 'string' || 'edit' in kept) return kept;
  return 'rejected' in kept ? 'reject' : null;
}

function ownLines(kept: KeptChoice): string | null {
  if (kept === null || typeof kept === 'string') return null;
  if ('edit' in kept) return kept.edit;
  return 'rejected' in kept ? kept.rejected : kept.undecided;
}

/** A hunk with this decision and with the user's own lines, if any. */
function decided(before: KeptChoice, acceptance: Acceptance | null): KeptChoice {
  const own = ownLines(before);
  if (own === null) return acceptance;
  if (acceptance === null) return { undecided: own };
  return acceptance === 'accept' ? { edit: own } : { rejected: own };
}

/** The decision of before, with the user's own lines, if any. */
function restored(before: KeptChoice, now: KeptChoice): KeptChoice {
  return before === null || before === 'reject' ? decided(now, before) : before;
}

/** The first hunk about which they are not the same; 0 where there is none. */
function firstDifference(one: KeptChoices, other: KeptChoices): number {
  const longer = one.length > other.length ? one : other;
  const at = longer.findIndex((_, index) => {
    return JSON.stringify(one[index] ?? null) !== JSON.stringify(other[index] ?? null);
  });
  return Math.max(0, at);
}

function toldOf(choices: Choices): WireDecision {
  if (choices.every((choice) => choice === 'accept')) return { type: 'accept' };
  if (choices.every((choice) => choice === 'reject')) return { type: 'reject' };
  const hunks = choices.map((choice): HunkDecision => {
    if (choice === null) return { type: 'wait' };
    return typeof choice === 'string' ? { type: choice } : { type: 'edit', text: choice.edit };
  });
  return { type: 'hunks', hunks };
}
