/** Saves changes of the settings one after the other, each on top of the settings of that time. */
import type { Settings } from '../../ipc/bindings';
import type { Host } from '../../ipc/host';
import type { AppState } from '../app.svelte';

export class SettingsQueue {
  readonly #host: Host;
  readonly #app: AppState;
  #last: Promise<void> = Promise.resolve();
  /** How many changes are on their way. */
  #unsaved = 0;
  /** The settings that the user saw before the first of these, with those that are saved by now. */
  #base: Settings;

  constructor(host: Host, app: AppState) {
    this.#host = host;
    this.#app = app;
    this.#base = app.settings;
  }

  /** Resolves once it is saved; throws what the application refuses. Until then it is taken for granted. */
  save(change: Partial<Settings>): Promise<void> {
    // The settings that the user saw when they made the change: later changes from elsewhere are none of it.
    const seen = this.#app.settings;
    if (this.#unsaved === 0) this.#base = seen;
    this.#unsaved += 1;
    this.#app.assume(change);
    const saved = this.#last.then(() => this.#send(seen, { ...seen, ...change }));
    this.#last = saved.catch(() => undefined);
    return saved;
  }

  /** Resolves once all that was changed so far is saved, or refused. */
  get done(): Promise<void> {
    return this.#last;
  }

  async #send(seen: Settings, changed: Settings): Promise<void> {
    const told = this.#app.settingsTold;
    // A change before this one that was refused is in what the user saw, and is not saved.
    const before = this.#base;
    const after = withChanges(before, seen, changed);
    let saved: Settings | null = null;
    try {
      saved = await this.#host.saveSettings(after, before);
      this.#base = after;
    } finally {
      this.#unsaved -= 1;
      // Settings that were reported meanwhile are at least as new.
      this.#app.settle(told === this.#app.settingsTold ? saved : null);
    }
  }
}

/** `base` with the fields of `changed` that differ from those of `seen`, as they are there. A list is one field. */
function withChanges<Table extends object>(base: Table, seen: Table, changed: Table): Table {
  const fields = { ...base };
  for (const key in base) fields[key] = withChange(base[key], seen[key], changed[key]);
  return fields;
}

function withChange<Field>(base: Field, seen: Field, changed: Field): Field {
  if (isTable(base) && isTable(seen) && isTable(changed)) return withChanges(base, seen, changed);
  return JSON.stringify(seen) === JSON.stringify(changed) ? base : changed;
}

function isTable(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
