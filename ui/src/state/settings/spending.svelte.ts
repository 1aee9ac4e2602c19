/** The cost of models: by month, and by turn of one conversation. */
import type { ConversationId, MonthCost, TurnCost } from '../../ipc/bindings';
import type { Host } from '../../ipc/host';
import type { AppState } from '../app.svelte';
import { userError } from '../user-error';

/** In billionths of a dollar. */
const cent = 10_000_000;

export class Spending {
  /** By month, newest first; `null` until it was looked at. */
  months = $state.raw<readonly MonthCost[] | null>(null);

  readonly #host: Host;
  readonly #app: AppState;

  constructor(host: Host, app: AppState) {
    this.#host = host;
    this.#app = app;
  }

  /** Loads the months again. */
  async look(): Promise<void> {
    this.months = null;
    if (!this.#app.vault) return;
    this.months = await this.#ask(() => this.#host.spentByMonth());
  }

  /** As what was looked at stands now; it stays in sight meanwhile. */
  async again(): Promise<void> {
    if (!this.#app.vault || !this.#app.provider.hasModel) return;
    this.months = (await this.#ask(() => this.#host.spentByMonth())) ?? this.months;
  }

  /** How much of this month's limit is spent, in percent; `null` where there is none. */
  get ofLimit(): number | null {
    const { monthCents } = this.#app.settings.spending;
    const [newest] = this.months ?? [];
    if (monthCents === 0 || newest?.month !== thisMonth()) return null;
    return Math.floor(newest.spent.cost / (monthCents * cent * 0.01));
  }

  /** The cost of each turn of a conversation; `null` when that cannot be told. */
  async of(conversation: ConversationId): Promise<readonly TurnCost[] | null> {
    return this.#ask(() => this.#host.spentIn(conversation));
  }

  async #ask<T>(request: () => Promise<T>): Promise<T | null> {
    try {
      return await request();
    } catch (thrown) {
      this.#app.report(userError(thrown));
      return null;
    }
  }
}

/** As `MonthCost` names it: where the user is. */
function thisMonth(): string {
  const now = new Date();
  return `${now.getFullYear()}-${String(now.getMonth() + 1).padStart(2, '0')}`;
}
