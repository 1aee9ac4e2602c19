/** Searches all notes by text, tags, properties, tasks or broken links. */
import type {
  CountedValues,
  LineMatch,
  LineMatches,
  NoteContent,
  NoteCriterion,
  NoteList,
  NotePath,
  PatternKind,
  UserError,
} from '../../ipc/bindings';
import type { Host } from '../../ipc/host';
import { LatestOnly } from '../../shared/async/latest-only';
import type { AppState } from '../app.svelte';
import type { Undo } from '../changes/undo.svelte';
import type { ConversationActions } from '../conversations/conversation-actions.svelte';
import { LinkRepair } from '../notes/link-repair.svelte';
import { lineOfLink } from '../notes/note-anchor';
import { brokenNames } from '../notes/note-links.svelte';
import { noteLabel } from '../notes/note-path';
import { userError } from '../user-error';

/** The list that is searched. */
export const searchKinds = ['text', 'tags', 'tasks', 'properties', 'broken'] as const;
export type SearchKind = (typeof searchKinds)[number];

/** The entry of a list that was opened. */
export type WordSearch = NoteCriterion | { readonly type: 'property'; readonly property: string };

/** The results; `building` when only the index would know and it does not stand yet. */
export type SearchFound =
  | { readonly type: 'lines'; readonly lines: LineMatches }
  | { readonly type: 'entries'; readonly entries: CountedValues }
  | { readonly type: 'notes'; readonly notes: NoteList }
  | { readonly type: 'building' };

/** One thing that can be chosen. */
export type SearchRow =
  | { readonly type: 'line'; readonly path: NotePath; readonly line: LineMatch }
  | { readonly type: 'note'; readonly path: NotePath }
  | { readonly type: 'word'; readonly word: string; readonly notes: number };

/** A note as it is looked at beside what was found. */
export interface Preview {
  readonly note: NoteContent;
  /** The line it is about, 1-based. */
  readonly at: { readonly line: number } | null;
  /** The names in its links that lead to no note. */
  readonly broken: readonly string[];
  /** The matches in it, as they stand there. */
  readonly terms: readonly string[];
}

export class Search {
  kind = $state<SearchKind>('text');
  query = $state('');
  meaning = $state<PatternKind>('literal');
  caseSensitive = $state(false);
  into = $state.raw<WordSearch | null>(null);
  /** `null` when nothing was asked. */
  found = $state.raw<SearchFound | null>(null);
  /** Why nothing was found out. */
  problem = $state.raw<UserError | null>(null);
  /** Which row is chosen. */
  at = $state(0);
  preview = $state.raw<Preview | null>(null);
  /** The repairs of the broken link on display. */
  readonly repairing: LinkRepair;
  readonly rows: readonly SearchRow[] = $derived(rowsOf(this.found, this.query));

  readonly #host: Host;
  readonly #app: AppState;
  readonly #latest = new LatestOnly();
  readonly #newestPreview = new LatestOnly();
  /** The last query that was typed into the text search. */
  #lastText = '';

  constructor(host: Host, app: AppState, conversationActions: ConversationActions, undo: Undo) {
    this.#host = host;
    this.#app = app;
    this.repairing = new LinkRepair(host, app, conversationActions, undo);
  }

  get chosen(): SearchRow | null {
    return this.rows[this.at] ?? null;
  }

  /** The broken link that was gone into, or the chosen one in the list of them. */
  get brokenLink(): string | null {
    if (this.into) return this.into.type === 'broken_link' ? this.into.link : null;
    return this.kind === 'broken' && this.chosen?.type === 'word' ? this.chosen.word : null;
  }

  async type(query: string): Promise<void> {
    this.query = query;
    if (this.kind === 'text') this.#lastText = query;
    this.at = 0;
    // Notes that are all loaded are only filtered.
    if (this.found?.type === 'notes') await this.#look();
    else await this.again();
  }

  async show(kind: SearchKind): Promise<void> {
    this.kind = kind;
    await this.#go(null, kind === 'text' ? this.#lastText : '');
  }

  /** Looks through the text of all notes for what was typed to filter a list. */
  async lookInNotes(): Promise<void> {
    this.#lastText = this.query;
    await this.show('text');
  }

  async mean(meaning: PatternKind): Promise<void> {
    this.meaning = meaning;
    await this.again();
  }

  async tellCase(caseSensitive: boolean): Promise<void> {
    this.caseSensitive = caseSensitive;
    await this.again();
  }

  /** Goes into a tag, a property, a value or a broken link. */
  async enter(word: string): Promise<void> {
    const into = intoOf(this.kind, this.into, word);
    if (into) await this.#go(into, '');
  }

  /** Goes back to the list that was gone into; whether there was one. */
  async back(): Promise<boolean> {
    const { into } = this;
    if (into === null) return false;
    const list =
      into.type === 'value' ? ({ type: 'property', property: into.property } as const) : null;
    await this.#go(list, '');
    return true;
  }

  /** Chooses another row, as far as there are any. */
  async move(by: number): Promise<void> {
    await this.choose(Math.max(0, Math.min(this.rows.length - 1, this.at + by)));
  }

  async choose(at: number): Promise<void> {
    this.at = at;
    await this.#look();
  }

  /** The line of its note that a row is about, 1-based; `null` where it is about the note. */
  async lineOf(row: Exclude<SearchRow, { type: 'word' }>): Promise<number | null> {
    const { into } = this;
    if (row.type === 'line' || into?.type !== 'broken_link') return lineOf(row, into, '');
    try {
      return lineOf(row, into, (await this.#host.readNote(row.path)).content.text);
    } catch {
      // Whoever shows the note says why it cannot be read.
      return null;
    }
  }

  /** Asks again: the query or the notes changed. */
  async again(): Promise<void> {
    await this.#latest.ask(async () => {
      try {
        const found = await this.#ask();
        return () => {
          this.found = found;
          this.problem = null;
          this.at = Math.max(0, Math.min(this.rows.length - 1, this.at));
        };
      } catch (thrown) {
        return () => {
          this.found = null;
          this.problem = userError(thrown);
        };
      }
    });
    await this.#look();
  }

  /** It was another vault. */
  clear(): void {
    this.into = null;
    this.found = null;
    this.preview = null;
  }

  async #go(into: WordSearch | null, query: string): Promise<void> {
    this.into = into;
    this.query = query;
    this.found = null;
    this.at = 0;
    await this.again();
  }

  async #ask(): Promise<SearchFound | null> {
    const { kind, into, query, meaning, caseSensitive } = this;
    if (into?.type === 'property') {
      return entries(await this.#host.propertyValues(into.property, query));
    }
    if (into) return notes(await this.#host.notesMatching(into));
    switch (kind) {
      case 'text':
        if (query === '') return null;
        return lines(await this.#host.searchText({ pattern: query, meaning, caseSensitive }));
      case 'tags':
        return entries(await this.#host.listTags(query));
      case 'properties':
        return entries(await this.#host.listProperties(query));
      case 'tasks':
        return lines(await this.#host.listTasks(query));
      case 'broken':
        return entries(await this.#host.unresolvedLinks(query));
      default:
        return kind satisfies never;
    }
  }

  /** A note is shown also where nobody knows its links. */
  async #brokenIn(path: NotePath): Promise<readonly string[]> {
    try {
      return brokenNames(await this.#host.noteLinks(path));
    } catch {
      return [];
    }
  }

  /** Reads the note of the chosen row. */
  async #look(): Promise<void> {
    await this.#newestPreview.ask(async () => {
      const row = this.chosen;
      if (!row || row.type === 'word') return () => (this.preview = null);
      const { into } = this;
      try {
        const [note, broken] = await Promise.all([
          this.#host.readNote(row.path),
          this.#brokenIn(row.path),
        ]);
        const line = lineOf(row, into, note.content.text);
        const terms = termsIn(this.rows, row.path);
        return () => (this.preview = { note, at: line === null ? null : { line }, broken, terms });
      } catch (thrown) {
        return () => {
          this.preview = null;
          this.#app.report(userError(thrown));
        };
      }
    });
  }
}

function lines(found: LineMatches | null): SearchFound {
  return found ? { type: 'lines', lines: found } : { type: 'building' };
}

function entries(found: CountedValues | null): SearchFound {
  return found ? { type: 'entries', entries: found } : { type: 'building' };
}

function notes(found: NoteList | null): SearchFound {
  return found ? { type: 'notes', notes: found } : { type: 'building' };
}

function intoOf(kind: SearchKind, into: WordSearch | null, word: string): WordSearch | null {
  if (into?.type === 'property') return { type: 'value', property: into.property, value: word };
  switch (kind) {
    case 'tags':
      return { type: 'tag', tag: word };
    case 'properties':
      return { type: 'property', property: word };
    case 'broken':
      return { type: 'broken_link', link: word };
    case 'text':
    case 'tasks':
      return null;
    default:
      return kind satisfies never;
  }
}

/** The line that a row is about, 1-based: its own, or that of the broken link. */
function lineOf(row: SearchRow, into: WordSearch | null, text: string): number | null {
  if (row.type === 'line') return row.line.line;
  return into?.type === 'broken_link' ? lineOfLink(text, into.link) : null;
}

/** The marked texts in the rows of a note, each once. */
function termsIn(rows: readonly SearchRow[], path: NotePath): readonly string[] {
  const marked = rows.flatMap((row) =>
    row.type === 'line' && row.path === path
      ? row.line.marks.map(([start, end]) => row.line.text.slice(start, end))
      : [],
  );
  return [...new Set(marked)];
}

function rowsOf(found: SearchFound | null, query: string): readonly SearchRow[] {
  switch (found?.type) {
    case 'lines':
      return found.lines.notes.flatMap(({ path, lines: own }) =>
        own.map((line) => ({ type: 'line', path, line }) as const),
      );
    case 'entries':
      return found.entries.words.map(({ word, notes: count }) => ({
        type: 'word',
        word,
        notes: count,
      }));
    case 'notes': {
      const wanted = query.trim().toLowerCase();
      const matching = found.notes.notes.filter((path) =>
        noteLabel(path).toLowerCase().includes(wanted),
      );
      return matching.map((path) => ({ type: 'note', path }));
    }
    case 'building':
    case undefined:
      return [];
    default:
      return found satisfies never;
  }
}
