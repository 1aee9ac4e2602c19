/** What the user does with the window: asks the host, shows what comes back, says what failed. */
import type {
  ChangeSetId,
  ConversationId,
  ConversationHit,
  ApprovalDecision,
  NotePath,
  NumberedEvent,
  SendMessageRequest,
  Settings,
  TurnId,
} from '../ipc/bindings';
import type { Host } from '../ipc/host';
import { AnswerLinks } from './chat/answer-links.svelte';
import { Answering } from './settings/provider.svelte';
import { AppState } from './app.svelte';
import { Clearing } from './conversations/delete-all.svelte';
import { Describing } from './hub/hub-description.svelte';
import { Desktop } from './settings/desktop.svelte';
import { chosenOption, Drafts, type Sending } from './composer/drafts.svelte';
import { HubToken } from './hub/hub-token.svelte';
import {
  hasChanged,
  hasEnded,
  hasForgotten,
  hasOtherReader,
  isAnother,
  knowsMore,
  sameVault,
} from './event-predicates';
import { History } from './changes/stored-history.svelte';
import { Keeping } from './conversations/conversation-actions.svelte';
import { Mentioning } from './composer/mention-search.svelte';
import { linkedConversation } from './composer/mentions';
import { OpenNote } from './notes/open-note.svelte';
import { Opening } from './chat/tool-views';
import type { Place } from './route';
import { Pace } from '../shared/async/throttle';
import { Palette } from './search/palette.svelte';
import { VaultPictures } from './notes/pictures.svelte';
import { Said } from './conversations/conversation-search.svelte';
import { Saving } from './chat/save-answer.svelte';
import { type Row, Search, type SearchKind } from './search/search.svelte';
import { soon } from '../shared/async/with-timeout';
import { Spending } from './settings/spending.svelte';
import { Switcher } from './search/switcher.svelte';
import { TrashedNotes } from './review/trashed-notes.svelte';
import { Turns } from './chat/turn-actions.svelte';
import { Undoing } from './changes/undo.svelte';
import { Works } from './jobs.svelte';
import { SettingsSaving } from './settings/settings-queue';
import type { SettingsPlace, SettingsSection } from './settings/settings-route';
import { userError } from './user-error';

export class Session {
  readonly app = new AppState();
  place = $state.raw<Place>({ name: 'chat' });
  /** The section of the settings that is shown, or was shown last. */
  settingsRead = $state<SettingsSection>('vault');
  /** Whether the first-run page leads the way: from the start without a vault to the first use. */
  firstRun = $state(false);
  /** Whether the next message is kept apart from the open question. */
  notAnAnswer = $state(false);
  /** Whether a message is on its way to the store. */
  sending = $state(false);

  readonly answering: Answering;
  readonly trashed: TrashedNotes;
  readonly undoing: Undoing;
  readonly turns: Turns;
  readonly history: History;
  readonly clearing: Clearing;
  readonly describing: Describing;
  readonly desktop: Desktop;
  readonly hubToken: HubToken;
  readonly spending: Spending;
  readonly switcher: Switcher;
  readonly palette: Palette;
  readonly mentioning: Mentioning;
  readonly drafts: Drafts;
  readonly search: Search;
  readonly keeping: Keeping;
  readonly said: Said;
  readonly works: Works;
  readonly saving: Saving;
  readonly note: OpenNote;
  readonly answerLinks: AnswerLinks;
  readonly pictures: VaultPictures;
  /** What was found and is in front of the user. */
  found = $state.raw<ConversationHit | null>(null);
  /** Notes changed: what is looked up is asked anew. */
  readonly #lookups = new Pace(() => this.#lookAgain());
  readonly #opening = new Opening((what) => {
    if (what.type === 'show_changes') this.openChanges(what.conversation);
    else void this.showNote(what.path, what.line);
  });
  readonly #host: Host;
  readonly #saving: SettingsSaving;
  #feed = 0;

  constructor(host: Host) {
    this.#host = host;
    this.#saving = new SettingsSaving(host, this.app);
    this.answering = new Answering(host, this.app, this.#saving);
    this.trashed = new TrashedNotes(host);
    this.undoing = new Undoing(host, this.app);
    this.turns = new Turns(host, this.app, this.#saving, this.undoing);
    this.history = new History(host, this.app);
    this.describing = new Describing(host, this.app, this.#saving);
    this.desktop = new Desktop(host, this.app);
    this.hubToken = new HubToken(host, this.app, this.answering.keyring);
    this.spending = new Spending(host, this.app);
    this.switcher = new Switcher(host, this.app);
    this.palette = new Palette(host, this.app);
    this.mentioning = new Mentioning(host, this.app);
    this.drafts = new Drafts(host, this.app);
    this.keeping = new Keeping(host, this.app);
    this.search = new Search(host, this.app, this.keeping, this.undoing);
    this.clearing = new Clearing(host, this.app, this.keeping);
    this.said = new Said(host, this.app);
    this.works = new Works(host, this.app, this.keeping);
    this.saving = new Saving(host, this.app, this.keeping, this.undoing);
    this.note = new OpenNote(host, this.app);
    this.answerLinks = new AnswerLinks(host, this.app);
    this.pictures = new VaultPictures(host, this.app);
  }

  /** Opens the feed and brings the window to where things stand; also after a vault was opened. */
  async start(): Promise<void> {
    this.#feed += 1;
    const feed = this.#feed;
    let early: NumberedEvent[] | null = [];
    await this.#ask(async () => {
      const snapshot = await this.#host.subscribe((events) => {
        if (feed !== this.#feed) return;
        if (early) early.push(...events);
        else this.#receive(events);
      });
      if (feed !== this.#feed) return;
      this.app.restore(snapshot);
      this.#host.shows(this.app.shown);
      this.undoing.dismiss();
      if (!snapshot.vault) this.firstRun = true;
      void this.spending.again();
      const waiting = early ?? [];
      early = null;
      this.#receive(waiting);
      await this.#reopen();
      await this.note.showAgain();
      if (this.place.name === 'changes') this.openChanges(this.place.conversation);
      if (this.place.name === 'settings') this.#lookAtSettings();
      this.#lookAgain();
    });
  }

  /** What is in the composer, kept for each conversation. */
  get draft(): string {
    return this.drafts.text;
  }

  set draft(text: string) {
    this.drafts.text = text;
  }

  /** Puts a conversation in front of the user; the old one stays until the new one is here. */
  async open(conversation: ConversationId, turn: TurnId | null = null): Promise<void> {
    this.#go({ name: 'chat' });
    if (conversation !== this.app.chat?.id) this.app.leaveView();
    this.found = null;
    this.undoing.dismiss();
    this.saving.cancel();
    await this.#fetch(conversation, turn);
  }

  /** Puts what was found in front of the user, in the variant of the conversation where it stands. */
  async openFound(found: ConversationHit): Promise<void> {
    const { conversation, place } = found;
    await this.open(conversation, place.type === 'whole' ? null : place.turn);
    if (this.app.chat?.id === conversation) this.found = found;
  }

  openNew(): void {
    this.#go({ name: 'chat' });
    this.app.leaveView();
    this.notAnAnswer = false;
    this.found = null;
    this.undoing.dismiss();
    this.saving.cancel();
    this.app.showNew();
  }

  openSettings(section: SettingsSection | null = null, field?: SettingsPlace['field']): void {
    if (this.place.name !== 'settings') {
      this.#lookAtSettings();
      this.settingsRead = 'vault';
    }
    this.#go({ name: 'settings', section, ...(field && { field }) });
    if (section) this.settingsRead = section;
  }

  /** Shows what is looked for; what was looked for before is still there. */
  openSearch(kind: SearchKind | null = null): void {
    this.#go({ name: 'search' });
    this.switcher.close();
    this.undoing.dismiss();
    if (kind === null || kind === this.search.kind) void this.search.again();
    else void this.search.show(kind);
  }

  /** Shows the note of a row beside the chat, or goes into the word. */
  async openRow(row: Row): Promise<void> {
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

  openReview(): void {
    if (this.app.chat?.review) this.#go({ name: 'review' });
  }

  /** Shows what was applied: all of it, or what one conversation led to. */
  openChanges(conversation: ConversationId | null = null, at: ChangeSetId | null = null): void {
    this.#go({ name: 'changes', conversation, at });
    this.undoing.dismiss();
    if (conversation !== null) void this.undoing.listOf(conversation);
    else if (this.app.changes.oldest === null) void this.undoing.listMore();
  }

  /** Shows the change that a notice says needs the user. */
  openConflict(): void {
    const effect = this.undoing.notice?.conflict ?? null;
    const set = effect === null ? null : this.app.changes.setOf(effect);
    this.openChanges(set?.conversation ?? null, set?.id ?? null);
  }

  backToChat(): void {
    this.#go({ name: 'chat' });
  }

  /** What went wrong in one view is not told in the next. */
  #go(place: Place): void {
    if (place.name !== this.place.name) this.app.leaveView();
    this.place = place;
  }

  /** Sends what is in the composer. It leaves it once it is stored. */
  async send(): Promise<void> {
    const question = this.notAnAnswer ? null : (this.app.chat?.question ?? null);
    const sending = this.drafts.ready(question, this.note.sent.path);
    if (sending && !this.sending) await this.#send(sending);
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
    if (chat) await this.#ask(() => this.#host.stop(chat.id));
  }

  /** Applies the verdicts, and goes back to the chat once the files are written. */
  async decide(): Promise<void> {
    const review = this.app.chat?.review;
    const verdicts = this.app.chat?.verdicts;
    if (!review || !verdicts?.count) return;
    await this.#ask(async () => {
      await this.#host.decideReview({ review: review.id, notes: verdicts.told() });
      if (this.place.name === 'review') this.backToChat();
    });
  }

  /** Shows what a link in the chat names: a conversation, or a note. */
  async follow(target: string): Promise<void> {
    const conversation = linkedConversation(target);
    await (conversation === null ? this.showNote(target) : this.open(conversation));
  }

  /** Shows the note that a link or a line names, at a line of it. */
  async showNote(target: string, line: number | null = null): Promise<void> {
    await this.note.show(target, line);
  }

  /** Saves the answer that is being named as a note, and shows it. */
  async saveAnswer(name: string): Promise<void> {
    const path = await this.saving.save(name);
    if (path !== null) await this.showNote(path);
  }

  /** Shows the changes that a mark beside the note tells of. */
  openMarked(index: number): void {
    const lines = this.note.marks.lines[index];
    if (lines) this.openChanges(lines.conversation, lines.changeSet);
  }

  async save(change: Partial<Settings>): Promise<void> {
    await this.#ask(() => this.#saving.save(change));
  }

  async retryHub(): Promise<void> {
    await this.#ask(() => this.#host.retryHub());
  }

  /** Sends an answer that waits to the hub, or discards it. */
  async decideHeld(number: number, verdict: ApprovalDecision): Promise<void> {
    await this.#ask(() => this.#host.decideHeld(number, verdict));
  }

  /** Lets the user pick a folder and opens it as the vault. */
  async pickVault(): Promise<void> {
    await this.#ask(async () => {
      if (await this.#host.chooseVault()) await this.start();
    });
  }

  /** Lets the user pick a folder beside the vault, to be read as if it were in it. */
  async addExtraRoot(): Promise<void> {
    await this.#ask(async () => {
      await this.#host.addExtraRoot();
    });
  }

  async openSample(): Promise<void> {
    await this.#ask(async () => {
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
    this.undoing.dismiss();
    this.keeping.dismiss();
    const from = this.app.chat?.id ?? null;
    const vault = this.app.shown;
    await this.#ask(async () => {
      // What was set before, like a private note, counts for what is said after it.
      await this.#saving.done;
      const conversation = await this.#host.sendMessage(sending.request, vault);
      this.drafts.sent(sending);
      this.note.sent.beginAnew();
      this.notAnAnswer = false;
      const still = (this.app.chat?.id ?? null) === from;
      if (still && conversation !== from) await this.#fetch(conversation);
      if (this.app.chat?.id === conversation) this.#opening.arrive(conversation);
    });
    this.sending = false;
  }

  /** Sends words that did not stand in the composer. */
  async #say(request: SendMessageRequest): Promise<void> {
    await this.#send({ request, written: request.text, attached: [] });
  }

  #receive(events: readonly NumberedEvent[]): void {
    const before = this.app.vault;
    this.app.receive(events);
    if (sameVault(before, this.app.vault)) {
      const open = this.app.chat?.id ?? null;
      this.#opening.hear(events, open);
      if (open !== null && events.some(({ event }) => isAnother(event, open))) {
        void this.#fetch(open);
      }
      const called = events.map(({ event }) => event).findLast((event) => event.type === 'called');
      if (called) void this.open(called.conversation);
      if (events.some(({ event }) => hasForgotten(event))) this.#listAgain();
      if (events.some(({ event }) => hasEnded(event))) void this.spending.again();
      const touched = events.some(({ event }) => event.type === 'note_changed');
      if (touched || knowsMore(before, this.app.vault)) this.#lookups.ring();
      if (events.some(({ event }) => hasOtherReader(event))) void this.note.sent.look();
      return;
    }
    // It was a note of the vault before.
    this.app.closeNote();
    this.search.clear();
    this.said.clear();
    this.keeping.clear();
    this.switcher.close();
    this.palette.close();
    this.drafts.forgetMentions();
    void this.start();
  }

  #lookAtSettings(): void {
    void this.clearing.look();
    void this.history.look();
    void this.spending.look();
    void this.desktop.look();
    void this.hubToken.look();
  }

  /** Changes stand differently now: those in front of the user are fetched again. */
  #listAgain(): void {
    if (this.place.name === 'changes') this.openChanges(this.place.conversation, this.place.at);
    const chat = this.app.chat?.id ?? null;
    if (chat !== null) void this.undoing.listOf(chat);
  }

  #lookAgain(): void {
    this.switcher.again();
    void this.answerLinks.look();
    this.pictures.look();
    if (this.place.name === 'search') void this.search.again();
    if (this.app.note) this.note.look();
  }

  /** After a new snapshot the chat is fetched again; at the start it is the newest one. */
  async #reopen(): Promise<void> {
    const rows = this.app.conversations;
    const wanted = rows.find((row) => row.id === this.app.chat?.id) ?? rows[0];
    if (wanted) await this.#fetch(wanted.id);
    else this.app.showNew();
  }

  async #fetch(conversation: ConversationId, turn: TurnId | null = null): Promise<void> {
    const expected = this.app.expect(conversation);
    await this.#ask(async () => {
      // What is shown already is not cut down to its end.
      const whole = this.app.chat?.id === conversation;
      const view =
        turn === null
          ? await this.#host.openConversation(conversation, whole)
          : await this.#host.openConversationAt(conversation, turn);
      // What it changed stands below its answers: later it would move what is read by then.
      if (hasChanged(view)) await soon(this.undoing.listOf(conversation));
      if (!this.app.show(view, expected)) return;
      this.notAnAnswer = false;
      // The rest of a long one comes behind its end.
      if (view.earlier > 0) await this.#fetch(conversation);
    });
    this.app.forgo(expected);
  }

  /** Whether it was done; what the host refused is said in words instead. */
  async #ask(request: () => Promise<void>): Promise<boolean> {
    try {
      await request();
      return true;
    } catch (thrown) {
      this.app.report(userError(thrown));
      return false;
    }
  }
}
