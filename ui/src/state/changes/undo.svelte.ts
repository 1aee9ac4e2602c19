/** Lists applied changes, undoes and redoes them, and reports the outcome. */
import type {
  AppliedSet,
  ChangeSetId,
  ConversationId,
  EffectId,
  Timestamp,
  UndoAction,
  UndoCandidate,
  UndoConflict,
  UndoResult,
  UndoScope,
} from '../../ipc/bindings';
import type { Host } from '../../ipc/host';
import { m } from '../../messages/messages';
import type { AppState } from '../app.svelte';
import { conflictTexts } from './conflict-texts';
import { undoCount } from './undo-counts';

/** The result of the last undo, until the user has read it. */
interface LastUndo {
  readonly text: () => string;
  /** The way back from it, if there is one. */
  readonly reverse: Reverse | null;
  /** The listed change of a conflict that needs the user, if there is one. */
  readonly conflict: EffectId | null;
  readonly at: Timestamp;
}

/** The set to undo so that all is as it was before: after an undo that is a redo. */
interface Reverse {
  readonly changeSet: ChangeSetId;
  readonly name: 'undo' | 'redo';
}

/** The way back from an answer that completed a request. */
function reverseOf(action: UndoAction): Reverse['name'] {
  return action === 'undo' ? 'redo' : 'undo';
}

export class Undo {
  notice = $state.raw<LastUndo | null>(null);
  /** Whether a page is on its way. */
  listing = $state(false);

  readonly #host: Host;
  readonly #app: AppState;
  /** The running undo, and its end. */
  #last: { readonly what: string; readonly end: Promise<void> } | null = null;
  /** The page that is on its way. */
  #page: Promise<void> | null = null;

  constructor(host: Host, app: AppState) {
    this.#host = host;
    this.#app = app;
  }

  /** The next page of everything that was applied. */
  listMore(): Promise<void> {
    this.#page ??= this.#listPage().finally(() => {
      this.#page = null;
    });
    return this.#page;
  }

  async #listPage(): Promise<void> {
    this.listing = true;
    const { changes } = this.#app;
    await this.#app.attempt(async () => {
      for (;;) {
        const { cleared, oldest: before } = changes;
        const page = await this.#host.listApplied({ conversation: null, before });
        if (cleared !== changes.cleared) continue;
        changes.addPage(page);
        return;
      }
    });
    this.listing = false;
  }

  /** Everything that one conversation led to. */
  async listOf(conversation: ConversationId): Promise<void> {
    const { changes } = this.#app;
    let { cleared } = changes;
    let before: ChangeSetId | null = null;
    await this.#app.attempt(async () => {
      while (!changes.whole.has(conversation)) {
        const page = await this.#host.listApplied({ conversation, before });
        if (cleared !== changes.cleared) {
          ({ cleared } = changes);
          before = null;
          continue;
        }
        changes.addOf(conversation, page);
        before = page.sets.at(-1)?.id ?? null;
        if (before === null) return;
      }
    });
  }

  /** Fetches what a change did inside its note, once. */
  async open(effect: EffectId): Promise<void> {
    if (!this.#app.changes.hunks.has(effect)) await this.#fetchHunks(effect);
  }

  async #fetchHunks(effect: EffectId): Promise<void> {
    await this.#app.attempt(async () => {
      this.#app.changes.hunks.set(effect, await this.#host.appliedHunks(effect));
    });
  }

  /** Looks again each time which changes were made in the note since; says whether that could be told. */
  async lookSince(effect: EffectId): Promise<boolean> {
    const { since } = this.#app.changes;
    since.delete(effect);
    await this.#app.attempt(async () => {
      since.set(effect, await this.#host.diffSince(effect));
    });
    return since.has(effect);
  }

  /** Says whether it was done, as far as that needs no guess. */
  async undo(scope: UndoScope): Promise<boolean> {
    const undone = await this.#take(
      `undo ${JSON.stringify(scope)}`,
      () => this.#host.undo(scope),
      (count) => (count > 0 ? m.notice_undone({ count }) : m.notice_nothing_to_undo()),
    );
    return undone !== null;
  }

  async redo(scope: UndoScope): Promise<void> {
    await this.#take(
      `redo ${JSON.stringify(scope)}`,
      () => this.#host.redo(scope),
      (count) => (count > 0 ? m.notice_redone({ count }) : m.notice_nothing_to_redo()),
      'undo',
    );
  }

  /** Reapplies a change that another program has overwritten. */
  async reapply(effect: EffectId): Promise<void> {
    await this.#take(
      `reapply ${effect}`,
      () => this.#host.reapply(effect),
      (count) => (count > 0 ? m.notice_reapplied({ count }) : m.notice_nothing_to_redo()),
      'undo',
    );
  }

  /** Leaves the note as it is. */
  keep(effect: EffectId): void {
    this.#app.changes.conflicts.delete(effect);
  }

  /** Takes the text that the request of a conflict wants in its places, and so completes the request. */
  async settle(conflict: UndoConflict): Promise<void> {
    const { action } = conflict;
    const settled = await this.#take(
      `settle ${conflict.effect}`,
      () => this.#host.resolveConflict(conflict),
      conflictTexts[action].settled,
      reverseOf(action),
    );
    this.#close(conflict.effect, settled);
  }

  /** Completes the request of a conflict in the note that the user says it is about. */
  async undoIn(conflict: UndoConflict, note: UndoCandidate): Promise<void> {
    const { action, effect, hunks } = conflict;
    const undone = await this.#take(
      `undo in ${effect}`,
      () => this.#host.undoInNote({ action, effect, hunks, note }),
      conflictTexts[action].completed,
      reverseOf(action),
    );
    this.#close(effect, undone);
  }

  /** An answered question goes, unless it is asked again; others that belong to it may still be asked. */
  #close(effect: EffectId, answered: UndoResult | null): void {
    if (answered && !answered.conflicts.some((left) => left.effect === effect)) this.keep(effect);
  }

  /** The time of the change that `undoLast` undoes, as far as it is known; 0 without one. */
  get lastAt(): Timestamp {
    return Math.max(this.#redoneAt, this.#standingAt);
  }

  /** Undoes the redo that the notice tells of, or the newest set that still stands if that was applied later. */
  async undoLast(): Promise<void> {
    if (this.#redoneAt > 0 && this.#redoneAt >= this.#standingAt) {
      await this.reverseLast();
      return;
    }
    const last = await this.#latest();
    if (last) await this.undo({ type: 'change_set', changeSet: last.id });
    else this.#notify({ text: m.notice_nothing_to_undo, reverse: null, conflict: null });
  }

  /** The time of the redo that the notice tells of; 0 where it tells of something else. */
  get #redoneAt(): Timestamp {
    return this.notice?.reverse?.name === 'undo' ? this.notice.at : 0;
  }

  get #standingAt(): Timestamp {
    return this.#app.changes.known.find((set) => undoCount([set]) > 0)?.at ?? 0;
  }

  /** The newest set that still stands, as far back as it takes. */
  async #latest(): Promise<AppliedSet | null> {
    const { changes } = this.#app;
    for (;;) {
      const found = changes.listed.find((set) => undoCount([set]) > 0);
      if (found || !changes.more) return found ?? null;
      const before = changes.oldest;
      await this.listMore();
      // A page that could not be had was reported.
      if (changes.more && changes.oldest === before) return null;
    }
  }

  /** Whether the notice tells of an undo that can be redone. */
  get canRedoLast(): boolean {
    return this.notice?.reverse?.name === 'redo';
  }

  /** Redoes the undo that the notice tells of. */
  async redoLast(): Promise<void> {
    if (this.canRedoLast) await this.reverseLast();
  }

  /** Reverses the undo or redo that the notice tells of. */
  async reverseLast(): Promise<void> {
    const reverse = this.notice?.reverse ?? null;
    if (reverse === null) return;
    const { changeSet, name } = reverse;
    const redoes = name === 'redo';
    await this.#take(
      `reverse ${changeSet}`,
      () => this.#host.undo({ type: 'change_set', changeSet }),
      (count) => {
        if (count === 0) return redoes ? m.notice_nothing_to_redo() : m.notice_nothing_to_undo();
        return redoes ? m.notice_redone({ count }) : m.notice_undone({ count });
      },
      redoes ? 'undo' : 'redo',
    );
  }

  dismiss(): void {
    this.notice = null;
  }

  /** One after the other; what is under way already is not begun a second time. */
  async #take(
    what: string,
    request: () => Promise<UndoResult>,
    toText: (count: number) => string,
    reverse: Reverse['name'] = 'redo',
  ): Promise<UndoResult | null> {
    if (this.#last?.what === what) return null;
    const before = this.#last?.end;
    let undone: UndoResult | null = null;
    const took = async (): Promise<void> => {
      await before;
      await this.#app.attempt(async () => {
        undone = await request();
        this.#say(undone, toText, reverse);
        // An opened change shows which of its hunks still stand.
        const open = [...this.#app.changes.hunks.keys()];
        await Promise.all(open.map((effect) => this.#fetchHunks(effect)));
      });
    };
    const last = { what, end: took() };
    this.#last = last;
    await last.end;
    if (this.#last === last) this.#last = null;
    return undone;
  }

  #say(undone: UndoResult, toText: (count: number) => string, name: Reverse['name']): void {
    const { changeSet, changed, conflicts, left } = undone;
    for (const conflict of conflicts) this.#app.changes.conflicts.set(conflict.effect, conflict);
    const count = conflicts.length;
    this.#notify({
      text: () => {
        const stopped = count > 0 ? m.notice_conflicts({ count }) : '';
        const rest = left > 0 ? m.notice_left({ count: left }) : '';
        const done = changed.length > 0 || count + left === 0 ? toText(changed.length) : '';
        return [done, stopped, rest].filter((part) => part !== '').join('. ');
      },
      reverse: changeSet === null ? null : { changeSet, name },
      conflict: conflicts[0]?.listed ?? null,
    });
  }

  #notify(done: Omit<LastUndo, 'at'>): void {
    this.notice = { ...done, at: Date.now() };
  }
}
