/** Repairs the broken link on display: creates its note, or links to another note. */
import type { LinkRepairs, NotePath, RepairedLink } from '../../ipc/bindings';
import type { Host } from '../../ipc/host';
import { m } from '../../messages/messages';
import { LatestOnly } from '../../shared/async/latest-only';
import type { AppState } from '../app.svelte';
import type { Undo } from '../changes/undo.svelte';
import type { ConversationActions } from '../conversations/conversation-actions.svelte';
import { userError } from '../user-error';
import { noteName } from './note-path';

export class LinkRepair {
  /** The repairs on offer for the broken link on display; `null` without one, and until they are known. */
  known = $state.raw<{ readonly link: string; readonly repairs: LinkRepairs } | null>(null);
  /** Whether a repair is on its way to the vault. */
  repairing = $state(false);

  readonly #host: Host;
  readonly #app: AppState;
  readonly #conversationActions: ConversationActions;
  readonly #undo: Undo;
  readonly #latest = new LatestOnly();

  constructor(host: Host, app: AppState, conversationActions: ConversationActions, undo: Undo) {
    this.#host = host;
    this.#app = app;
    this.#conversationActions = conversationActions;
    this.#undo = undo;
  }

  /** Another link is shown, or none. */
  async look(link: string | null): Promise<void> {
    if (this.known?.link !== link) this.known = null;
    await this.#latest.ask(async () => {
      if (link === null) return () => undefined;
      try {
        const repairs = await this.#host.linkRepairs(link);
        return () => (this.known = repairs && { link, repairs });
      } catch (thrown) {
        return () => this.#app.report(userError(thrown));
      }
    });
  }

  /** Creates the note that the link names; whether it is there now. */
  async create(link: string): Promise<boolean> {
    return await this.#repair(
      () => this.#host.createLinkedNote(link),
      ({ note }) => m.repair_created({ note: noteName(note) }),
    );
  }

  /** Has the link lead to another note wherever it stands; whether it does now. */
  async replace(link: string, note: NotePath): Promise<boolean> {
    return await this.#repair(() => this.#host.replaceBrokenLink(link, note), replacedText);
  }

  async #repair(
    ask: () => Promise<RepairedLink>,
    toText: (repaired: RepairedLink) => string,
  ): Promise<boolean> {
    if (this.repairing) return false;
    this.repairing = true;
    const isDone = await this.#app.attempt(async () => {
      const repaired = await ask();
      const { changeSet } = repaired;
      this.#conversationActions.notify(
        () => toText(repaired),
        () => this.#undo.undo({ type: 'change_set', changeSet }),
      );
    });
    this.repairing = false;
    return isDone;
  }
}

function replacedText({ note, rewritten, left }: RepairedLink): string {
  const done = m.repair_replaced({ count: rewritten.length, note: noteName(note) });
  if (left.length === 0) return done;
  return `${done} · ${m.repair_left({ count: left.length })}`;
}
