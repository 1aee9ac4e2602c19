/** The actions of the user: each asks the host, shows the result, and reports errors. */
import { SvelteSet } from 'svelte/reactivity';

import type {
  ApprovalDecision,
  ConversationHit,
  ConversationId,
  ConversationView,
  NotePath,
  NumberedEvent,
  QuestionId,
  SendMessageRequest,
  Settings,
  TurnId,
} from '../ipc/bindings';
import type { Host } from '../ipc/host';
import { Throttle } from '../shared/async/throttle';
import { withTimeout } from '../shared/async/with-timeout';
import type { OpenConversation } from './chat/open-conversation.svelte';
import { ToolViews } from './chat/tool-views';
import { chosenOption, type Sending } from './composer/drafts.svelte';
import { linkedConversation } from './composer/mentions';
import {
  bringsChanges,
  changesAttribution,
  changesModel,
  hasChanged,
  hasNewIndex,
  isConversationReplaced,
  isHistoryDeleted,
  isTurnEnd,
  sameVault,
} from './event-predicates';
import { Navigation } from './navigation.svelte';
import type { SearchRow } from './search/search.svelte';
import { userError } from './user-error';

/** The time until the feed is opened again that could not be, in ms: it doubles each time. */
const firstRetry = 1_000;
const longestRetry = 30_000;

export class Session extends Navigation {
  /** Whether the first-run page leads the way: from the start without a vault to the first use. */
  firstRun = $state(false);
  /** Whether a message is on its way to the store. */
  sending = $state(false);
  /** The search result in front of the user. */
  found = $state.raw<ConversationHit | null>(null);
  /** The questions that the next message does not answer. */
  readonly #unanswered = new SvelteSet<QuestionId>();
  /** Notes changed: lookups are made again. */
  readonly #lookups = new Throttle(() => this.#lookAgain());
  /** The open note or the changes of the assistant are other ones. */
  readonly #attribution = new Throttle(() => void this.note.marks.look());
  readonly #toolViews = new ToolViews((what) => {
    if (what.type === 'open_note') void this.note.show(what.path, what.line, 'tool');
    // A review or a settings page with half a sentence in it does not give way to the list.
    else if (this.place.name === 'chat') this.openChanges(what.conversation);
  });
  readonly #host: Host;
  #feed = 0;

  constructor(host: Host) {
    super(host);
    this.#host = host;
  }

  /** Opens the feed and brings the window to where things stand; also after a vault was opened. A window that showed
   * something before tries until it can be opened. */
  async start(): Promise<void> {
    await this.#begin(firstRetry);
  }

  async #begin(retry: number): Promise<void> {
    this.#feed += 1;
    const feed = this.#feed;
    const early: { events: NumberedEvent[] | null } = { events: [] };
    await this.app.attempt(async () => {
      const snapshot = await this.#host.subscribe((events) => {
        if (feed !== this.#feed) return;
        if (early.events) early.events.push(...events);
        else this.#receive(events);
      });
      if (feed !== this.#feed) return;
      const before = this.app.shown;
      const wasReady = this.app.ready;
      this.app.restore(snapshot);
      const isRestart = wasReady && before === this.app.shown;
      if (before !== null && before !== this.app.shown) this.leaveVault();
      this.leaveMissingReview();
      this.#host.shows(this.app.shown);
      this.undo.dismiss();
      if (!snapshot.vault) this.firstRun = true;
      void this.spending.again();
      const missed = early.events ?? [];
      early.events = null;
      this.#receive(missed);
      await (isRestart ? this.#reopen() : this.#openNewest());
      await this.note.showAgain();
      if (this.place.name === 'changes') this.openChanges(this.place.conversation);
      if (this.place.name === 'settings') this.lookAtSettings();
      this.#lookAgain();
      if (this.app.note) void this.note.marks.look();
    });
    // Before the first snapshot the user has a button for it.
    if (early.events && feed === this.#feed && this.app.ready) this.#beginLater(retry);
  }

  #beginLater(retry: number): void {
    // The next snapshot holds what is heard until then.
    this.#feed += 1;
    const feed = this.#feed;
    setTimeout(() => {
      if (feed === this.#feed) void this.#begin(Math.min(2 * retry, longestRetry));
    }, retry);
  }

  /** The content of the composer, kept for each conversation. */
  get draft(): string {
    return this.drafts.text;
  }

  set draft(text: string) {
    this.drafts.text = text;
  }

  /** Whether the next message is kept apart from the open question: until it is sent or another question is open, also
   * while the conversation is left or shown again. */
  get notAnAnswer(): boolean {
    const question = this.app.chat?.question;
    return question ? this.#unanswered.has(question.id) : false;
  }

  set notAnAnswer(set: boolean) {
    const question = this.app.chat?.question;
    if (!question) return;
    if (set) this.#unanswered.add(question.id);
    else this.#unanswered.delete(question.id);
  }

  /** Puts a conversation in front of the user; the old one stays until the new one is here. */
  async open(conversation: ConversationId, turn: TurnId | null = null): Promise<void> {
    this.go({ name: 'chat' });
    if (conversation !== this.app.chat?.id) this.app.leaveView();
    this.found = null;
    this.undo.dismiss();
    this.answerSaver.cancel();
    await this.#fetch(conversation, turn);
  }

  /** Shows a search result, in the version of the conversation that contains it. */
  async openFound(found: ConversationHit): Promise<void> {
    const { conversation, place } = found;
    await this.open(conversation, place.type === 'whole' ? null : place.turn);
    if (this.app.chat?.id === conversation) this.found = found;
  }

  openNew(): void {
    this.go({ name: 'chat' });
    this.app.leaveView();
    this.found = null;
    this.undo.dismiss();
    this.answerSaver.cancel();
    this.app.showNew();
  }

  /** Shows the note of a row beside the chat, or goes into the word. */
  async openRow(row: SearchRow): Promise<void> {
    if (row.type === 'word') {
      await this.search.enter(row.word);
      return;
    }
    const line = await this.search.lineOf(row);
    this.backToChat();
    await this.showNote(row.path, line);
  }

  /** Shows the note that is chosen by its name. */
  async openNamed(): Promise<void> {
    const { chosen } = this.switcher;
    if (!chosen) return;
    this.switcher.close();
    await this.openNote(chosen.path);
  }

  /** Shows a note from anywhere. */
  async openNote(path: NotePath): Promise<void> {
    // Where the note has no place beside it, the chat comes back.
    if (this.place.name !== 'changes') this.backToChat();
    await this.showNote(path);
  }

  /** Sends what is in the composer. It leaves it once it is stored. A name that is private by now is asked about
   * first. */
  async send(): Promise<void> {
    const question = this.notAnAnswer ? null : (this.app.chat?.question ?? null);
    const sending = this.drafts.ready(question, this.note.sent.path);
    if (!sending || this.sending) return;
    const vault = this.app.shown;
    let clear = sending.named.length === 0;
    if (!clear) {
      this.sending = true;
      await this.app.attempt(async () => {
        // Rules and a model that change before it is sent apply to what this message names.
        let settings;
        do {
          settings = this.app.settings;
          await this.settingsQueue.done;
          clear = await this.drafts.mayBeSent(sending);
        } while (settings !== this.app.settings);
      });
      this.sending = false;
    }
    if (clear && this.app.shown === vault) await this.#send(sending);
  }

  /** The option of the open question that the number in the composer chooses: it is what is sent. */
  get chosen(): string | null {
    const question = this.app.chat?.question;
    return question && !this.notAnAnswer ? chosenOption(question, this.draft) : null;
  }

  /** Answers the open question with one of its options. */
  async choose(option: string): Promise<void> {
    const question = this.app.chat?.question;
    if (!question || this.sending) return;
    const { conversation, id: answers } = question;
    await this.#say({ conversation, text: option, answers, openNote: this.note.sent.path });
  }

  async stop(): Promise<void> {
    const chat = this.app.chat;
    if (chat) await this.app.attempt(() => this.#host.stop(chat.id));
  }

  /** Applies the decisions, and returns to the conversation once the files are written. */
  async decide(): Promise<void> {
    const { id, review, reviewDecisions } = this.app.chat ?? {};
    if (!review || !reviewDecisions?.count) return;
    await this.app.attempt(async () => {
      await this.#host.decideReview({ review: review.id, notes: reviewDecisions.submit() });
      // The review of another conversation may be in front of the user by now.
      if (this.place.name === 'review' && this.app.chat?.id === id) this.backToChat();
    });
  }

  /** Shows what a link in the chat names: a conversation, or a note. */
  async follow(target: string): Promise<void> {
    const conversation = linkedConversation(target);
    await (conversation === null ? this.showNote(target) : this.open(conversation));
  }

  /** Shows the note that a link or a line names, at a line of it: the user chose it. */
  async showNote(target: string, line: number | null = null): Promise<void> {
    await this.note.show(target, line, 'user');
  }

  /** Saves the answer that is being named as a note, and shows it. */
  async saveAnswer(name: string): Promise<void> {
    const path = await this.answerSaver.save(name);
    if (path !== null) await this.showNote(path);
  }

  /** Shows the changes that a mark beside the note tells of. */
  openMarked(index: number): void {
    const lines = this.note.marks.lines[index];
    if (lines) this.openChanges(lines.conversation, lines.changeSet);
  }

  /** Saves a change of the settings; the sentence it is refused with, which is reported too, else `null`. */
  async save(change: Partial<Settings>): Promise<string | null> {
    try {
      await this.settingsQueue.save(change);
      return null;
    } catch (thrown) {
      const error = userError(thrown);
      this.app.report(error);
      return error.message;
    }
  }

  async retryHub(): Promise<void> {
    await this.app.attempt(() => this.#host.retryHub());
  }

  /** Sends an answer that needs approval to the hub, or discards it. */
  async decideHeld(number: number, decision: ApprovalDecision): Promise<void> {
    await this.app.attempt(() => this.#host.decideApproval(number, decision));
  }

  /** Lets the user choose a folder and opens it as the vault. */
  async chooseVault(): Promise<void> {
    await this.app.attempt(async () => {
      if (await this.#host.chooseVault()) await this.start();
    });
  }

  /** Lets the user choose an additional folder, to be read as if it were in the vault. */
  async addExtraRoot(): Promise<void> {
    await this.app.attempt(() => this.#host.addExtraRoot());
  }

  async openSample(): Promise<void> {
    await this.app.attempt(async () => {
      await this.#host.openSample();
      await this.start();
    });
  }

  /** Leaves the first-run page, with a first message if there is one. */
  async begin(example: string | null): Promise<void> {
    this.firstRun = false;
    this.openNew();
    if (example === null) return;
    await this.#say({ conversation: null, text: example, answers: null, openNote: null });
  }

  async #send(sending: Sending): Promise<void> {
    this.sending = true;
    this.found = null;
    this.undo.dismiss();
    this.conversationActions.dismiss();
    this.#toolViews.begin();
    const from = sending.request.conversation;
    const question = this.app.chat?.id === from ? this.app.chat?.question : null;
    const vault = this.app.shown;
    await this.app.attempt(async () => {
      // Settings that were changed before, such as a rule for private notes, apply to this message.
      await this.settingsQueue.done;
      const conversation = await this.#host.sendMessage(sending.request, vault);
      this.drafts.sent(sending);
      this.note.sent.includeAgain();
      if (question) this.#unanswered.delete(question.id);
      const here = this.app.chat?.id ?? null;
      const begun = from === null ? (): void => this.drafts.moveTo(conversation) : undefined;
      if (here === conversation) begun?.();
      else if (here === from) await this.#fetch(conversation, null, begun);
      if (this.app.chat?.id === conversation) this.#toolViews.arrive(conversation);
    });
    this.#toolViews.end();
    this.sending = false;
  }

  /** Sends a message that did not stand in the composer; the draft in it stays. */
  async #say(request: SendMessageRequest): Promise<void> {
    await this.#send({ request, written: '', named: [], attached: [] });
  }

  #receive(events: readonly NumberedEvent[]): void {
    const before = this.app.vault;
    const isWhole = this.app.receive(events);
    this.leaveMissingReview();
    if (sameVault(before, this.app.vault)) {
      const open = this.app.chat?.id ?? null;
      this.#toolViews.hear(events, open);
      if (isWhole && open !== null) this.#fetchMissing(open, events);
      const called = events.map(({ event }) => event).findLast((event) => event.type === 'called');
      if (called) void this.open(called.conversation);
      if (!isWhole) {
        void this.start();
        return;
      }
      if (events.some(({ event }) => isHistoryDeleted(event))) this.#listAgain();
      if (events.some(({ event }) => isTurnEnd(event))) void this.spending.again();
      const touched = events.some(({ event }) => event.type === 'note_changed');
      if (touched || hasNewIndex(before, this.app.vault)) this.#lookups.ring();
      if (events.some(({ event }) => changesAttribution(event))) this.#attribution.ring();
      if (events.some(({ event }) => changesModel(event))) {
        void this.note.sent.look();
        void this.drafts.judge();
      }
      return;
    }
    // It was a note of the vault before.
    this.app.closeNote();
    this.leaveVault();
    void this.start();
  }

  /** Fetches what events about the open conversation do not hold. */
  #fetchMissing(open: ConversationId, events: readonly NumberedEvent[]): void {
    const { chat } = this.app;
    const isReplaced = events.some(({ event }) => isConversationReplaced(event, open));
    if (chat && (isReplaced || chat.isOutdated)) {
      void this.#fetchOutdated(chat);
    } else if (events.some(({ event }) => bringsChanges(event, open))) {
      void this.undo.listOf(open);
    }
  }

  /** It stays outdated where no view comes: the next event has it fetched again. */
  async #fetchOutdated(chat: OpenConversation): Promise<void> {
    // The events until then lead to no other view.
    chat.isOutdated = false;
    if (!(await this.#fetch(chat.id))) chat.isOutdated = true;
  }

  /** Changes stand differently now: those in front of the user are fetched again. */
  #listAgain(): void {
    if (this.place.name === 'changes') this.openChanges(this.place.conversation, this.place.at);
    const chat = this.app.chat?.id ?? null;
    if (chat !== null) void this.undo.listOf(chat);
  }

  #lookAgain(): void {
    this.switcher.again();
    void this.answerLinks.look();
    this.images.look();
    if (this.place.name === 'search') void this.search.again();
    if (this.app.note) this.note.lookAround();
  }

  /** After another snapshot of the same vault the chat is fetched again. A new conversation stays. */
  async #reopen(): Promise<void> {
    const wanted = this.app.awaited ?? this.app.chat?.id;
    if (wanted !== undefined) await this.#fetch(wanted);
  }

  /** A vault begins with its newest conversation, unless one was called already. */
  async #openNewest(): Promise<void> {
    const wanted = this.app.awaited ?? this.app.conversations[0]?.id;
    if (wanted === undefined) this.app.showNew();
    else await this.#fetch(wanted);
  }

  /** Whether a view of the conversation is shown now. `onshown` runs when it is in front of the user, before anything
   * else is typed. */
  async #fetch(
    conversation: ConversationId,
    turn: TurnId | null = null,
    onshown?: () => void,
  ): Promise<boolean> {
    let isShown = false;
    const expected = this.app.expect(conversation);
    await this.app.attempt(async () => {
      const view = await this.#view(conversation, turn);
      // Its changes stand below its answers: loaded later they would move the text that is read by then.
      if (hasChanged(view)) await withTimeout(this.undo.listOf(conversation));
      isShown = this.app.show(view, expected);
      if (!isShown) return;
      this.leaveMissingReview();
      onshown?.();
      // The rest of a long one comes behind its end.
      if (view.earlier > 0 || this.app.chat?.isOutdated) await this.#fetch(conversation);
    });
    this.app.forgo(expected);
    return isShown;
  }

  /** The conversation in the version that contains the turn; as it is where that one cannot be shown now. */
  async #view(conversation: ConversationId, turn: TurnId | null): Promise<ConversationView> {
    if (turn !== null) {
      try {
        return await this.#host.openConversationAt(conversation, turn);
      } catch (thrown) {
        this.app.report(userError(thrown));
      }
    }
    // A conversation that is shown already is not cut down to its end.
    return this.#host.openConversation(conversation, this.app.chat?.id === conversation);
  }
}
