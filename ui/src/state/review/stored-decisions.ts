/**
 * The user's decisions about a review that are not submitted yet, kept in the window's own storage: a restart loses
 * none of it. One entry a conversation, which names its change set; each note is kept with the name of exactly the
 * changes that the user looked at.
 */
import type { ChangeSetId, ConversationId, NotePath } from '../../ipc/bindings';
import type { HunkChoice } from './review-decisions.svelte';

/** The decisions about one note. */
interface KeptNote {
  readonly path: NotePath;
  /** Names the changes that were decided about. */
  readonly seen: string;
  readonly choices: readonly (HunkChoice | null)[];
}

export class StoredDecisions {
  readonly #place: string;

  constructor(conversation: ConversationId) {
    this.#place = `vaultmate.decisions.${conversation}`;
  }

  /** Those about this change set; what is kept about another one is cleared. */
  of(changeSet: ChangeSetId): readonly KeptNote[] {
    const kept = this.#read();
    if (kept?.changeSet === changeSet) return kept.notes;
    this.clear();
    return [];
  }

  /** Keeps these in place of those before; without any nothing is kept. */
  keep(changeSet: ChangeSetId, notes: readonly KeptNote[]): void {
    if (notes.length === 0) this.clear();
    else this.#write(JSON.stringify({ changeSet, notes }));
  }

  clear(): void {
    try {
      localStorage.removeItem(this.#place);
    } catch {
      // A window that must not keep anything has nothing to clear.
    }
  }

  #write(text: string): void {
    try {
      localStorage.setItem(this.#place, text);
    } catch {
      // Then the decisions last as long as the window.
    }
  }

  /** An entry in a form that this version does not write counts as none. */
  #read(): { readonly changeSet: unknown; readonly notes: readonly KeptNote[] } | null {
    try {
      const kept: unknown = JSON.parse(localStorage.getItem(this.#place) ?? 'null');
      if (!isRecord(kept) || !Array.isArray(kept['notes'])) return null;
      return { changeSet: kept['changeSet'], notes: kept['notes'].filter(isKeptNote) };
    } catch {
      return null;
    }
  }
}

function isKeptNote(value: unknown): value is KeptNote {
  if (!isRecord(value)) return false;
  const { path, seen, choices } = value;
  return (
    typeof path === 'string' &&
    typeof seen === 'string' &&
    Array.isArray(choices) &&
    choices.every(isChoice)
  );
}

function isChoice(value: unknown): value is HunkChoice | null {
  if (value === null || value === 'accept' || value === 'reject') return true;
  return isRecord(value) && typeof value['edit'] === 'string';
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
