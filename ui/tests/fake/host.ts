/** An application in memory: plays a story to the window, for tests and images. */
import type {
  AppEvent,
  ApprovalDecision,
  AppSnapshot,
  ArchiveState,
  ChatItem,
  Conversation,
  ConversationHits,
  ConversationId,
  ConversationView,
  DecideReview,
  Exported,
  ExportFormat,
  MessageId,
  NoteContent,
  NoteOpener,
  NotePath,
  NumberedEvent,
  RegenerateOutcome,
  RegenerateRequest,
  SavedAnswer,
  SendMessageRequest,
  Settings,
  TurnId,
  VaultId,
} from '../../src/ipc/bindings';
import type { Host } from '../../src/ipc/host';
import { FakeChangeCalls } from './change-calls';
import { nothingApplied } from './changes';
import { FakeConversations } from './conversations';
import { noteText } from './note-text';
import { FakeQueries, nothingKnown } from './queries';
import { noAnswer, noConversation, noNote, nothingToSummarize } from './refusals';
import { outcomeOf, remainingOf } from './review';
import type { Story } from './story';
import { afterSummary, answerOf, chosenFolder, isUserMessage, newView, vaultAt } from './view';

/** Of a longer conversation only so much of its end comes first. */
const ending = 200;

export class FakeHost extends FakeChangeCalls implements Host {
  #story: Story;
  #views: Map<ConversationId, ConversationView>;
  #onEvents: (events: NumberedEvent[]) => void = () => undefined;
  #count = 0;
  readonly #decided: DecideReview[] = [];
  readonly #branches = new Map<MessageId, { first: ChatItem[]; second: ChatItem[] }>();

  constructor(story: Story) {
    super(
      new FakeQueries(story.notes, story.queries ?? nothingKnown),
      new FakeConversations(story.snapshot.conversations),
      story.snapshot,
      story.applied ?? nothingApplied,
    );
    this.#story = story;
    for (const [name, refusal] of Object.entries(story.refusals ?? {})) {
      this.refusals.set(name, refusal);
    }
    if (story.spent) this.spent = story.spent;
    if (story.described !== undefined) this.described = story.described;
    const { tried } = story;
    if (tried) this.tried = () => Promise.resolve(tried);
    this.#views = new Map(story.views.map((view) => [view.conversation.id, view]));
  }

  /** Tells the window, as the application would. */
  tell(...events: AppEvent[]): void {
    this.#onEvents(
      events.map((event) => {
        this.seq += 1;
        return { seq: this.seq, event };
      }),
    );
  }

  /** Something happens, and the window is not told. */
  lose(...events: AppEvent[]): void {
    this.seq += events.length;
  }

  async subscribe(onEvents: (events: NumberedEvent[]) => void): Promise<AppSnapshot> {
    await this.called('subscribe');
    this.#onEvents = onEvents;
    const { then } = this.#story;
    if (then) queueMicrotask(() => this.tell(...then));
    return { ...this.#story.snapshot, seq: this.seq };
  }

  async openConversation(conversation: ConversationId, whole: boolean): Promise<ConversationView> {
    await this.called('openConversation', conversation);
    const view = this.#view(conversation);
    const earlier = whole ? 0 : Math.max(0, view.items.length - ending);
    return { ...view, earlier, items: view.items.slice(earlier) };
  }

  async openConversationAt(conversation: ConversationId, turn: TurnId): Promise<ConversationView> {
    await this.called('openConversationAt', { conversation, turn });
    return this.#view(conversation);
  }

  async searchConversations(query: string): Promise<ConversationHits> {
    await this.called('searchConversations', query);
    return this.conversations.search(query, this.#views.values());
  }

  async renameConversation(conversation: ConversationId, name: string): Promise<void> {
    await this.called('renameConversation', { conversation, name });
    this.#rework(conversation, { title: name });
  }

  async setArchiveState(conversation: ConversationId, state: ArchiveState): Promise<void> {
    await this.called('setArchiveState', { conversation, state });
    this.#rework(conversation, { archived: state === 'archived' });
  }

  async endConversation(conversation: ConversationId): Promise<void> {
    await this.called('endConversation', conversation);
    this.#rework(conversation, { state: 'ended' });
  }

  async exportConversations(
    conversation: ConversationId | null,
    format: ExportFormat,
    name: string,
  ): Promise<Exported | null> {
    await this.called('exportConversations', { conversation, format, name });
    return this.conversations.exported(conversation, `Documents/${name}.${format}`);
  }

  async sendMessage(request: SendMessageRequest, vault: VaultId | null): Promise<ConversationId> {
    this.sentTo.push(vault);
    await this.called('sendMessage', request);
    this.#count += 1;
    const id = request.conversation ?? `new-${this.#count}`;
    const view = this.#views.get(id) ?? newView(id, request.text);
    this.#views.set(id, {
      ...view,
      question: request.answers === null ? view.question : null,
      items: [
        ...view.items,
        {
          type: 'user',
          id: `sent-${this.#count}`,
          text: request.text,
          origin: 'window',
          at: Date.now(),
          queued: view.conversation.working,
        },
      ],
    });
    this.#retell(id);
    return id;
  }

  async stop(conversation: ConversationId): Promise<void> {
    await this.called('stop', conversation);
    this.#rework(conversation, { working: false });
  }

  async continueTurn(conversation: ConversationId): Promise<void> {
    await this.called('continueTurn', conversation);
    this.#withdrawOffers();
    this.#rework(conversation, { working: true });
  }

  async editQueued(message: MessageId, text: string): Promise<void> {
    await this.called('editQueued', { message, text });
    this.#change((item) => (isUserMessage(item, message) ? { ...item, text } : item));
  }

  async removeQueued(message: MessageId): Promise<void> {
    await this.called('removeQueued', message);
    this.#change((item) => (isUserMessage(item, message) ? null : item));
  }

  async regenerate(request: RegenerateRequest): Promise<RegenerateOutcome> {
    await this.called('regenerate', request);
    const old = this.#story.old ?? null;
    if (old && request.old === null) return { type: 'asks', earlier: false, ...old };
    for (const [id, view] of this.#views) {
      const at = view.items.findIndex((item) => isUserMessage(item, request.message));
      const message = view.items[at];
      if (message?.type !== 'user') continue;
      this.#count += 1;
      const edited = `edited-${this.#count}`;
      const text = request.text ?? message.text;
      const items: ChatItem[] = [...view.items.slice(0, at), { ...message, id: edited, text }];
      this.#branches.set(edited, { first: view.items, second: items });
      this.#branches.set(request.message, { first: view.items, second: items });
      this.#views.set(id, { ...view, items, variants: [{ message: edited, number: 2, count: 2 }] });
      this.#rework(id, { working: true });
      this.#tellItems(id);
    }
    return { type: 'begun' };
  }

  async showVariant(message: MessageId, number: number): Promise<void> {
    await this.called('showVariant', { message, number });
    const branch = this.#branches.get(message);
    for (const [id, view] of this.#views) {
      if (!branch || !view.items.some((item) => isUserMessage(item, message))) continue;
      const items = number === 1 ? branch.first : branch.second;
      const shown = items.find((item) => item.type === 'user' && this.#branches.has(item.id));
      const variants =
        shown?.type === 'user' ? [{ message: shown.id, number, count: 2 }] : view.variants;
      this.#views.set(id, { ...view, items, variants });
      this.#tellItems(id);
    }
  }

  async dismissInterruptedTurn(turn: TurnId): Promise<void> {
    await this.called('dismissInterruptedTurn', turn);
    this.#withdrawOffers();
  }

  async compactConversation(conversation: ConversationId): Promise<void> {
    await this.called('compactConversation', conversation);
    const view = this.#views.get(conversation);
    const beginnings = (view?.items ?? []).flatMap((item, at) =>
      item.type === 'user' ? [at] : [],
    );
    const at = beginnings.at(-6);
    if (!view || at === undefined || at === 0) {
      throw nothingToSummarize;
    }
    const line: ChatItem = { type: 'summary', id: 'summary-line', text: 'They talked.' };
    const items = view.items.toSpliced(at, 0, line);
    const context = afterSummary(view.context);
    this.#views.set(conversation, { ...view, items, context });
    this.#tellItems(conversation);
    this.tell({ type: 'context_changed', conversation, context });
  }

  /** Every decision on a review. */
  decided(): readonly DecideReview[] {
    return this.#decided;
  }

  async decideReview(request: DecideReview): Promise<void> {
    await this.called('decideReview', request);
    this.#decided.push(request);
    for (const view of this.#views.values()) {
      if (view.review?.id !== request.review) continue;
      const notes = view.review.notes.flatMap((note) => remainingOf(note, request.notes));
      const conversation = view.conversation.id;
      const review = notes.length > 0 ? { ...view.review, notes } : null;
      const { applied, rejected } = outcomeOf(request.notes);
      const id = `decision-${this.seq}`;
      const item = { type: 'decision', id, applied, rejected, at: Date.now() } as const;
      this.#views.set(conversation, { ...view, review, items: [...view.items, item] });
      this.tell(
        { type: 'item_changed', conversation, item },
        { type: 'review_changed', conversation, review },
      );
      this.#rework(conversation, { waitingNotes: notes.length });
    }
  }

  async showNote(path: NotePath, by: NoteOpener): Promise<NoteContent> {
    this.openedBy.push(by);
    await this.called('showNote', path);
    if (path === this.#story.removedOnceShown) {
      setTimeout(() => this.tell({ type: 'note_changed', path, content: null }));
    }
    return this.#note(path);
  }

  async saveAnswer(answer: MessageId, name: string): Promise<SavedAnswer> {
    await this.called('saveAnswer', { answer, name });
    const bare = name.trim().replace(/\.md$/i, '');
    const path = `${bare}.md`;
    if (this.queries.note(path) !== undefined) {
      return { type: 'taken', path, free: this.queries.freeLike(bare) };
    }
    for (const { conversation, items } of this.#views.values()) {
      const text = answerOf(items, answer);
      if (text === null) continue;
      this.write(path, text);
      const lines = text.split('\n').length;
      return { type: 'saved', path, changeSet: this.changes.save(path, conversation.id, lines) };
    }
    throw noAnswer;
  }

  async readNote(path: NotePath): Promise<NoteContent> {
    await this.called('readNote', path);
    return this.#note(path);
  }

  async saveSettings(settings: Settings): Promise<Settings> {
    await this.called('saveSettings', settings);
    this.tell({ type: 'settings_changed', settings, trouble: null });
    const { provider } = this.#story.snapshot;
    if (provider.offer && settings.localOfferAnswered) {
      const label = settings.provider === provider.offer.provider ? settings.model : provider.label;
      const hasModel = label === settings.model;
      this.tell({
        type: 'provider_changed',
        provider: { ...provider, label, hasModel, offer: null },
      });
    }
    return settings;
  }

  async retryHub(): Promise<void> {
    await this.called('retryHub');
    this.tell({
      type: 'hub_changed',
      hub: { state: 'connecting', trouble: null, retryAt: null, ignored: 0 },
    });
  }

  async decideApproval(number: number, decision: ApprovalDecision): Promise<void> {
    await this.called('decideApproval', { number, decision });
    for (const view of this.#views.values()) {
      if (!view.held.some((one) => one.number === number)) continue;
      const held = view.held.filter((one) => one.number !== number);
      const conversation = view.conversation.id;
      this.#views.set(conversation, { ...view, held });
      this.tell({ type: 'held_changed', conversation, held });
      this.#rework(conversation, { held: held.length });
    }
  }

  async chooseVault(): Promise<boolean> {
    await this.called('chooseVault');
    this.#openedVault(chosenFolder, false);
    return true;
  }

  async addExtraRoot(): Promise<boolean> {
    await this.called('addExtraRoot');
    const { settings } = this.#story.snapshot;
    const extraRoots = [...settings.extraRoots, { folder: chosenFolder, name: 'Notebook' }];
    const changed = { ...settings, extraRoots };
    this.tell({ type: 'settings_changed', settings: changed, trouble: null });
    return true;
  }

  async openSample(): Promise<void> {
    await this.called('openSample');
    this.#openedVault('Documents/Sample notes', true);
  }

  #view(id: ConversationId): ConversationView {
    const view = this.#views.get(id);
    if (!view) throw noConversation;
    return { ...view, seq: this.seq };
  }

  #note(path: NotePath): NoteContent {
    const text = this.queries.note(path);
    if (text === undefined) throw noNote(path);
    return { seq: this.seq, path, content: noteText(text) };
  }

  #openedVault(folder: string, sample: boolean): void {
    const vault = vaultAt(folder, sample);
    this.#story = { ...this.#story, snapshot: { ...this.#story.snapshot, vault, problems: [] } };
    this.tell({ type: 'vault_changed', vault });
  }

  /** Nothing is asked about turns that were cut any more. */
  #withdrawOffers(): void {
    this.#change((item) => (item.type === 'ended' ? { ...item, offer: null } : item));
    for (const id of this.#views.keys()) this.#rework(id, { interrupted: false });
  }

  /** Other things stand in the conversations: each item as `change` makes it, or not at all. */
  #change(change: (item: ChatItem) => ChatItem | null): void {
    for (const [id, view] of this.#views) {
      const items = view.items.map(change).filter((item) => item !== null);
      this.#views.set(id, { ...view, items });
      this.#tellItems(id);
    }
  }

  /** Other things stand in a conversation. */
  #tellItems(conversation: ConversationId): void {
    const { items = [], variants = [] } = this.#views.get(conversation) ?? {};
    this.tell({ type: 'items_replaced', conversation, after: null, items, variants });
  }

  #rework(id: ConversationId, change: Partial<Conversation>): void {
    const view = this.#views.get(id);
    const conversation = { ...(view?.conversation ?? this.conversations.get(id)), ...change };
    if (view) this.#views.set(id, { ...view, conversation });
    this.conversations.put(conversation);
    this.tell({ type: 'conversation_changed', conversation });
  }

  #retell(id: ConversationId): void {
    const view = this.#views.get(id);
    const item = view?.items.at(-1);
    if (!view || !item) return;
    this.tell(
      { type: 'item_changed', conversation: id, item },
      { type: 'question_changed', conversation: id, question: view.question },
    );
    const waitingQuestion = view.question?.text ?? null;
    this.#rework(id, { working: true, waitingQuestion, updatedAt: Date.now() });
  }
}
