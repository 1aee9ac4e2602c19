/**
 * The user's decisions about a review that are not submitted yet, and the lines that are being edited, kept in the
 * window's own storage: a restart loses none of it. One entry a conversation, which names its vault and its change set; each note is kept with the name of exactly the
 * changes that the user looked at. They contain lines of notes, so they go with a deleted conversation.
 */
import type { ChangeSetId, ConversationId, NotePath, VaultId } from '../../ipc/bindings';
import type { HunkDraft } from './hunk-drafts.svelte';
import type { KeptChoice } from './review-decisions.svelte';

/** The decisions about one note. */
interface KeptNote {
  readonly path: NotePath;
  /** Names the changes that were decided about. */
  readonly seen: string;
  readonly choices: readonly KeptChoice[];
}

/** Decided places of one conversation, kept until they are applied. */
interface ConversationDecisions {
  readonly vault: VaultId | null;
  readonly changeSet: ChangeSetId;
  readonly notes: readonly KeptNote[];
  readonly drafts: readonly HunkDraft[];
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

  /** The lines that were being edited in this change set. */
  draftsOf(changeSet: ChangeSetId): readonly HunkDraft[] {
    const kept = this.#read();
    return kept?.changeSet === changeSet ? kept.drafts : [];
  }

  /** Keeps these in place of those before; without any nothing is kept. */
  keep(changeSet: ChangeSetId, notes: readonly KeptNote[], drafts: readonly HunkDraft[]): void {
    if (notes.length + drafts.length === 0) this.clear();
    else this.#write({ vault: this.#vault, changeSet, notes, drafts });
  }

  /** When its conversation was deleted, as far as the window knows; `null` while it is not. */
  get deletedAt(): number | null {
    return this.#read()?.deletedAt ?? null;
  }

  /** Notes that the conversation was deleted, or that it is back. */
  set deletedAt(at: number | null) {
    const entry = this.#read();
    if (!entry) return;
    const { vault, changeSet, notes, drafts } = entry;
    this.#write({ vault, changeSet, notes, drafts, ...(at !== null && { deletedAt: at }) });
  }

  clear(): void {
    try {
      localStorage.removeItem(this.#place);
    } catch {
      // A window that must not keep anything has nothing to clear.
    }
  }

  #write(entry: ConversationDecisions): void {
    try {
      localStorage.setItem(this.#place, JSON.stringify(entry));
    } catch {
      // Then the decisions last as long as the window.
    }
  }

  /** An entry in a form that this version does not write counts as none. */
  #read(): ConversationDecisions | null {
    try {
      const kept: unknown = JSON.parse(localStorage.getItem(this.#place) ?? 'null');
      if (!isEntry(kept)) return null;
      const { notes, drafts = [] } = kept;
      return { ...kept, notes: notes.filter(isKeptNote), drafts: drafts.filter(isDraft) };
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

/** An entry of a version that kept no drafts has none. */
type StoredRecord = Omit<ConversationDecisions, 'drafts'> &
  Partial<Pick<ConversationDecisions, 'drafts'>>;

function isEntry(value: unknown): value is StoredRecord {
  if (!isRecord(value)) return false;
  const { vault, changeSet, notes, drafts, deletedAt } = value;
  return (
    (vault === null || typeof vault === 'string') &&
    typeof changeSet === 'string' &&
    Array.isArray(notes) &&
    (drafts === undefined || Array.isArray(drafts)) &&
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

function isDraft(value: unknown): value is HunkDraft {
  if (!isRecord(value)) return false;
  const { id, path, line, text } = value;
  const texts = [id, path, text].every((one) => typeof one === 'string');
  return texts && typeof line === 'number';
}

function isChoice(value: unknown): value is KeptChoice {
  if (value === null || value === 'accept' || value === 'reject') return true;
  const lines = isRecord(value) ? [value['edit'], value['rejected'], value['undecided']] : [];
  return lines.some((text) => typeof text === 'string');
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
