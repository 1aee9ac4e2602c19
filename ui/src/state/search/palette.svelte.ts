/** The rows of the command palette: commands, notes and conversations. */
import type { Conversation, NameMatch } from '../../ipc/bindings';
import type { Host } from '../../ipc/host';
import { LatestOnly } from '../../shared/async/latest-only';
import type { Command } from '../../shared/input/command';
import { type Fit, fuzzy, type Mark } from '../../shared/text/fuzzy';
import type { AppState } from '../app.svelte';
import { userError } from '../user-error';

/** One row, with what of its name fits. */
export type PaletteRow =
  | { readonly type: 'do'; readonly command: Command; readonly marks: readonly Mark[] }
  | { readonly type: 'note'; readonly note: NameMatch }
  | {
      readonly type: 'conversation';
      readonly conversation: Conversation;
      readonly marks: readonly Mark[];
    };

/** Where the ids of what was done lately are kept. */
const place = 'vaultmate.palette';
/** The number of commands that are kept, the latest first. */
const remembered = 8;
/** The number of rows of each kind that are shown beside the actions. */
const shown = 5;

export class Palette {
  open = $state(false);
  query = $state('');
  /** Which row is chosen. */
  at = $state(0);

  #recent = $state.raw<readonly string[]>(kept());
  #notes = $state.raw<readonly NameMatch[]>([]);
  readonly #host: Host;
  readonly #app: AppState;
  readonly #latest = new LatestOnly();

  constructor(host: Host, app: AppState) {
    this.#host = host;
    this.#app = app;
  }

  show(): void {
    this.open = true;
    void this.type('');
  }

  close(): void {
    this.open = false;
  }

  async type(query: string): Promise<void> {
    this.query = query;
    this.at = 0;
    if (query.trim() === '') this.#notes = [];
    else await this.#lookUp(query);
  }

  /** The matching commands; without a query the latest used ones come first. */
  rows(commands: readonly Command[]): PaletteRow[] {
    const fitting = commands
      .filter((command) => command.applies())
      .flatMap((command) => fitOf(this.query, command.name(), command));
    const done = best(fitting, (command) => this.#age(command.id)).map(
      ({ of, fit }): PaletteRow => ({ type: 'do', command: of, marks: fit.marks }),
    );
    if (this.query.trim() === '') return done;
    const notes = this.#notes.map((note): PaletteRow => ({ type: 'note', note }));
    const named = this.#app.conversations.flatMap((row) => fitOf(this.query, row.title, row));
    const conversations = best(named, () => 0)
      .slice(0, shown)
      .map(({ of, fit }): PaletteRow => ({
        type: 'conversation',
        conversation: of,
        marks: fit.marks,
      }));
    return [...done, ...notes, ...conversations];
  }

  /** Chooses another of `count` rows; after the last comes the first. */
  move(by: number, count: number): void {
    if (count > 0) this.at = (this.at + by + count) % count;
  }

  /** It was done: next time it stands further up. */
  remember({ id }: Command): void {
    this.#recent = [id, ...this.#recent.filter((other) => other !== id)].slice(0, remembered);
    keep(this.#recent);
  }

  #age(id: string): number {
    const at = this.#recent.indexOf(id);
    return at < 0 ? remembered : at;
  }

  async #lookUp(query: string): Promise<void> {
    await this.#latest.ask(async () => {
      try {
        const { names } = await this.#host.findNames(query);
        return () => {
          if (this.query.trim() !== '') this.#notes = names.slice(0, shown);
        };
      } catch (thrown) {
        return () => this.#app.report(userError(thrown));
      }
    });
  }
}

interface PaletteMatch<T> {
  readonly of: T;
  readonly fit: Fit;
}

function fitOf<T>(query: string, name: string, of: T): PaletteMatch<T>[] {
  const fit = fuzzy(query, name);
  return fit ? [{ of, fit }] : [];
}

/** The best first; of those that fit alike the one with the lower age, else as they stood. */
function best<T>(all: readonly PaletteMatch<T>[], age: (of: T) => number): PaletteMatch<T>[] {
  return all.toSorted(
    (one, other) => other.fit.score - one.fit.score || age(one.of) - age(other.of),
  );
}

/** A window that must not keep anything begins empty each time. */
function kept(): readonly string[] {
  try {
    const known: unknown = JSON.parse(localStorage.getItem(place) ?? '[]');
    return Array.isArray(known) ? known.filter((id) => typeof id === 'string') : [];
  } catch {
    return [];
  }
}

function keep(ids: readonly string[]): void {
  try {
    localStorage.setItem(place, JSON.stringify(ids));
  } catch {
    // Then the order lasts as long as the window.
  }
}
