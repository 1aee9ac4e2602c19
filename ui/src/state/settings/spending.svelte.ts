/** The cost of models: by month, and by turn of one conversation. */
import type { ConversationId, MonthCost, TurnCost } from '../../ipc/bindings';
import type { Host } from '../../ipc/host';
import type { AppState } from '../app.svelte';

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
    if (this.#app.vault) await this.#load();
  }

  /** As what was looked at stands now; it stays in sight meanwhile. */
  async again(): Promise<void> {
    if (this.#app.vault && this.#app.provider.hasModel) await this.#load();
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
    let turns: readonly TurnCost[] | null = null;
    await this.#app.attempt(async () => {
      turns = await this.#host.conversationCosts(conversation);
    });
    return turns;
  }

  async #load(): Promise<void> {
    await this.#app.attempt(async () => {
      this.months = await this.#host.monthlyCosts();
    });
  }
}

/** As `MonthCost` names it: where the user is. */
function thisMonth(): string {
  const now = new Date();
  return `${now.getFullYear()}-${String(now.getMonth() + 1).padStart(2, '0')}`;
}
