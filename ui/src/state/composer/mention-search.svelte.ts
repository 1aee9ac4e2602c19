/** Finds notes, folders, tags and past conversations for a mention, by some letters of their names. */
import type { PrivateNote } from '../../ipc/bindings';
import type { Host } from '../../ipc/host';
import { LatestOnly } from '../../shared/async/latest-only';
import { fuzzy, type Mark } from '../../shared/text/fuzzy';
import type { AppState } from '../app.svelte';
import { noteFolder } from '../notes/note-path';
import { userError } from '../user-error';
import { type Mention, mentionKey, mentionName, mentionTarget } from './mentions';

export interface MentionRow {
  readonly key: string;
  readonly mention: Mention;
  readonly marks: readonly Mark[];
  /** Where it lies, or how much it holds. */
  readonly about: string;
  /** The rule that keeps it, or the notes it is about, from the model that answers. */
  readonly private: PrivateNote | null;
}

/** The number of rows of each kind that are shown at most. */
const shown = { note: 6, folder: 3, tag: 4, conversation: 4 } as const;

export class MentionSearch {
  /** The matches; empty while there is no query. */
  rows = $state.raw<readonly MentionRow[]>([]);
  /** Which of them is chosen. */
  at = $state(0);

  #query: string | null = null;
  readonly #host: Host;
  readonly #app: AppState;
  readonly #latest = new LatestOnly();

  constructor(host: Host, app: AppState) {
    this.#host = host;
    this.#app = app;
  }

  get chosen(): MentionRow | null {
    return this.rows[this.at] ?? null;
  }

  /** Looks for what is being typed; `null` for nothing any more. */
  async look(query: string | null): Promise<void> {
    if (query === this.#query) return;
    this.#query = query;
    if (query === null) {
      this.rows = [];
      return;
    }
    await this.#latest.ask(async () => {
      try {
        const rows = await this.#judge(await this.#find(query));
        return () => {
          // It may have been left, or gone on with, while it was looked for.
          if (this.#query !== query) return;
          this.rows = rows;
          this.at = 0;
        };
      } catch (thrown) {
        return () => this.#app.report(userError(thrown));
      }
    });
  }

  /** Nothing is offered until something else is typed. */
  leave(): void {
    this.rows = [];
  }

  /** Chooses another one; after the last comes the first. */
  move(by: number): void {
    const count = this.rows.length;
    if (count > 0) this.at = (this.at + by + count) % count;
  }

  async #find(query: string): Promise<MentionRow[]> {
    if (query.startsWith('#')) return await this.#tags(query.slice(1));
    const groups = await Promise.all([
      this.#notes(query),
      this.#folders(query),
      query === '' ? [] : this.#tags(query),
    ]);
    return [...groups.flat(), ...this.#conversations(query)];
  }

  /** With the rules for what is no note; a note came with its own. */
  async #judge(rows: readonly MentionRow[]): Promise<MentionRow[]> {
    const asked = rows.flatMap((found) => {
      const target = mentionTarget(found.mention);
      return target ? [{ found, target }] : [];
    });
    if (asked.length === 0) return [...rows];
    const rules = await this.#host.privateMentions(asked.map(({ target }) => target));
    const byKey = Object.fromEntries(asked.map(({ found }, at) => [found.key, rules[at] ?? null]));
    return rows.map((found) => ({ ...found, private: byKey[found.key] ?? found.private }));
  }

  /** Those shown lately come first. */
  async #notes(query: string): Promise<MentionRow[]> {
    const { names } = await this.#host.findNames(query);
    return names
      .filter(({ path }, at) => names.findIndex((other) => other.path === path) === at)
      .slice(0, shown.note)
      .map(({ path, name, alias, marks, link, private: rule }) => ({
        ...row({ type: 'note', path, link }, alias ? [] : marks),
        private: rule,
        about: [alias ? name : '', noteFolder(path)].filter(Boolean).join(' · '),
      }));
  }

  /** The folders that the names of notes in them lead to. */
  async #folders(query: string): Promise<MentionRow[]> {
    const wanted = query.replace(/\/+$/, '');
    if (wanted === '') return [];
    const { names } = await this.#host.findNames(`${wanted}/`);
    const each = names.flatMap(({ path }) => foldersOf(noteFolder(path)));
    const all = each.filter((folder, at) => each.indexOf(folder) === at);
    return best(all, wanted, (path) => ({ type: 'folder', path }))
      .slice(0, shown.folder)
      .map((found) => ({
        ...found,
        about: found.mention.type === 'folder' ? noteFolder(found.mention.path) : '',
      }));
  }

  /** None while the index does not stand. */
  async #tags(query: string): Promise<MentionRow[]> {
    const found = await this.#host.listTags(query);
    return (found?.words ?? []).slice(0, shown.tag).map(({ word, notes }) => {
      const tag = word.replace(/^#/, '');
      return { ...row({ type: 'tag', tag }, fuzzy(query, tag)?.marks ?? []), about: `${notes}` };
    });
  }

  /** Those that have ended: the others cannot be looked up by a model. */
  #conversations(query: string): MentionRow[] {
    const ended = this.#app.conversations.filter(
      ({ id, state }) => state === 'ended' && id !== this.#app.chat?.id,
    );
    return best(ended, query, ({ id, title }) => ({ type: 'conversation', id, title })).slice(
      0,
      shown.conversation,
    );
  }
}

function row(mention: Mention, marks: readonly Mark[]): MentionRow {
  return { key: mentionKey(mention), mention, marks, about: '', private: null };
}

/** Those whose names fit, the best first, else as they stood. */
function best<T>(all: readonly T[], query: string, made: (one: T) => Mention): MentionRow[] {
  const fitting = all.flatMap((one) => {
    const mention = made(one);
    const fit = fuzzy(query, mentionName(mention));
    return fit ? [{ mention, fit }] : [];
  });
  const sorted = fitting.toSorted((one, other) => other.fit.score - one.fit.score);
  return sorted.map(({ mention, fit }) => row(mention, fit.marks));
}

/** A folder and those it lies in. */
function foldersOf(folder: string): string[] {
  return folder === '' ? [] : [folder, ...foldersOf(noteFolder(folder))];
}
