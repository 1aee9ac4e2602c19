/**
 * The user's decisions about a review that are not submitted yet, kept in the window's own storage: a restart loses
 * none of it. One entry a conversation, which names its vault and its change set; each note is kept with the name of exactly the
 * changes that the user looked at. They contain lines of notes, so they go with a deleted conversation.
 */
import type { ChangeSetId, ConversationId, NotePath, VaultId } from '../../ipc/bindings';
import type { HunkChoice } from './review-decisions.svelte';

/** The decisions about one note. */
interface KeptNote {
  readonly path: NotePath;
  /** Names the changes that were decided about. */
  readonly seen: string;
  readonly choices: readonly (HunkChoice | null)[];
}

/** The decisions of one conversation. */
interface Entry {
  readonly vault: VaultId | null;
  readonly changeSet: ChangeSetId;
  readonly notes: readonly KeptNote[];
  /** When the window learned that the conversation was deleted, in ms since 1970. */
  readonly deletedAt?: number;
}

const prefix = 'vaultmate.decisions.';

export class StoredDecisions {
  readonly #vault: VaultId | null;
  readonly #place: string;

  constructor(vault: VaultId | null, conversation: ConversationId) {
    this.#vault = vault;
    this.#place = prefix + conversation;
  }

  /** The conversations of a vault for which decisions are kept;
   * unreadable entries are cleared. */
  static conversations(vault: VaultId | null): ConversationId[] {
    return storedKeys().flatMap((key) => {
      const id = key.slice(prefix.length);
      const stored = new StoredDecisions(vault, id);
      const entry = stored.#read();
      if (entry === null) stored.clear();
      return entry?.vault === vault ? [id] : [];
    });
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
    else this.#write({ vault: this.#vault, changeSet, notes });
  }

  /** When its conversation was deleted, as far as the window knows; `null` while it is not. */
  get deletedAt(): number | null {
    return this.#read()?.deletedAt ?? null;
  }

  /** Notes that the conversation was deleted, or that it is back. */
  set deletedAt(at: number | null) {
    const entry = this.#read();
    if (!entry) return;
    const { vault, changeSet, notes } = entry;
    this.#write({ vault, changeSet, notes, ...(at !== null && { deletedAt: at }) });
  }

  clear(): void {
    try {
      localStorage.removeItem(this.#place);
    } catch {
      // A window that must not keep anything has nothing to clear.
    }
  }

  #write(entry: Entry): void {
    try {
      localStorage.setItem(this.#place, JSON.stringify(entry));
    } catch {
      // Then the decisions last as long as the window.
    }
  }

  /** An entry in a form that this version does not write counts as none. */
  #read(): Entry | null {
    try {
      const kept: unknown = JSON.parse(localStorage.getItem(this.#place) ?? 'null');
      return isEntry(kept) ? { ...kept, notes: kept.notes.filter(isKeptNote) } : null;
    } catch {
      return null;
    }
  }
}

function storedKeys(): string[] {
  try {
    const keys = Array.from({ length: localStorage.length }, (_, at) => localStorage.key(at) ?? '');
    return keys.filter((key) => key.startsWith(prefix));
  } catch {
    return [];
  }
}

function isEntry(value: unknown): value is Entry {
  if (!isRecord(value)) return false;
  const { vault, changeSet, notes, deletedAt } = value;
  return (
    (vault === null || typeof vault === 'string') &&
    typeof changeSet === 'string' &&
    Array.isArray(notes) &&
    (deletedAt === undefined || typeof deletedAt === 'number')
  );
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
