/** Long-running jobs: their progress, and a way to stop them. */
import type { JobProgress } from '../ipc/bindings';
import type { Host } from '../ipc/host';
import { m } from '../messages/messages';
import type { AppState } from './app.svelte';
import type { ConversationActions } from './conversations/conversation-actions.svelte';

export class Jobs {
  readonly #host: Host;
  readonly #app: AppState;
  readonly #conversationActions: ConversationActions;

  constructor(host: Host, app: AppState, conversationActions: ConversationActions) {
    this.#host = host;
    this.#app = app;
    this.#conversationActions = conversationActions;
  }

  /** Jobs that are shown below everything else; a review shows the progress of its own changes. */
  get told(): readonly JobProgress[] {
    return this.#app.jobs.filter(({ kind }) => kind !== 'applying');
  }

  /** How far the changes of a review are, while they are made. */
  get applying(): JobProgress | null {
    return this.#app.jobs.find(({ kind }) => kind === 'applying') ?? null;
  }

  /** Ends it after the step that is under way; what came of it tells whoever began it. */
  async stop({ id, kind }: JobProgress): Promise<void> {
    await this.#app.attempt(async () => {
      await this.#host.stopJob(id);
      // Of an export that was stopped nothing is left that could tell.
      if (kind === 'exporting') this.#conversationActions.notify(m.kept_export_stopped, null);
    });
  }
}
