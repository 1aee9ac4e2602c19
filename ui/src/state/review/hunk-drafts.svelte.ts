/** Lines of hunks while the user edits them: a review that changes, or that is left, loses none of them. */
import { SvelteMap } from 'svelte/reactivity';

import type { NoteDiff, NotePath } from '../../ipc/bindings';
import { hunkId } from './hunk-id';
import type { ReviewNotes } from './review-notes';

/** The lines that are being written for one hunk. */
export interface HunkDraft {
  readonly path: NotePath;
  /** Names the hunk. */
  readonly id: string;
  /** The line of the note where the hunk begins. */
  readonly line: number;
  readonly text: string;
}

export class HunkDrafts {
  /** By the id of the hunk. What is typed is put into a draft, which nobody who reads the map hears of. */
  readonly #open = new SvelteMap<string, { path: NotePath; line: number; text: string }>();
  readonly #onchange: () => void;

  /** `onchange` hears of each draft that begins, changes or ends. */
  constructor(onchange: () => void) {
    this.#onchange = onchange;
  }

  /** The lines as they were typed so far; `null` while the hunk is not being edited. */
  of(note: NoteDiff, index: number): string | null {
    return this.#open.get(hunkId(note, index))?.text ?? null;
  }

  /** Whether any hunk is being edited. */
  get any(): boolean {
    return this.#open.size > 0;
  }

  /** All that are open. */
  get all(): HunkDraft[] {
    return [...this.#open].map(([id, draft]) => ({ id, ...draft }));
  }

  /** Begins to edit a hunk, with these lines; one that is being edited already keeps its own. */
  begin(note: NoteDiff, index: number, text: string): void {
    if (this.resume(note, index, text)) this.#onchange();
  }

  /** As `begin`, for lines that lost their hunk; `follow` is next. Returns whether the draft is a new one. */
  resume(note: NoteDiff, index: number, text: string): boolean {
    const id = hunkId(note, index);
    if (this.#open.has(id)) return false;
    this.#open.set(id, { path: note.path, line: note.hunks[index]?.oldStart ?? 0, text });
    return true;
  }

  write(note: NoteDiff, index: number, text: string): void {
    const draft = this.#open.get(hunkId(note, index));
    if (!draft) return;
    draft.text = text;
    this.#onchange();
  }

  end(note: NoteDiff, index: number): void {
    if (this.#open.delete(hunkId(note, index))) this.#onchange();
  }

  /** Restores drafts that were kept; `follow` is next. */
  restore(drafts: readonly HunkDraft[]): void {
    for (const { id, path, line, text } of drafts) this.#open.set(id, { path, line, text });
  }

  /** Other changes are pending: where the lines of a hunk are others now, its draft goes on at the nearest hunk
   * of its note. It ends with the pending changes of the note. */
  follow(notes: ReviewNotes): void {
    for (const [id, draft] of [...this.#open]) {
      const note = notes.get(draft.path);
      const hunks = note ? hunksOf(note) : [];
      if (hunks.some((hunk) => hunk.id === id)) continue;
      this.#open.delete(id);
      const free = hunks.filter((hunk) => !this.#open.has(hunk.id));
      const far = ({ line }: { line: number }): number => Math.abs(line - draft.line);
      const [nearest] = free.toSorted((one, other) => far(one) - far(other));
      if (nearest) this.#open.set(nearest.id, { ...draft, line: nearest.line });
    }
  }
}

/** Where each hunk of a note begins. */
function hunksOf(note: NoteDiff): { readonly id: string; readonly line: number }[] {
  return note.hunks.map(({ oldStart }, index) => ({ id: hunkId(note, index), line: oldStart }));
}
