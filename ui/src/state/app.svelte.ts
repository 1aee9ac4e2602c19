/** The state that the application has sent to the window, and the one place that applies its events. */
import { SvelteMap } from 'svelte/reactivity';

import type {
  AppEvent,
  AppSnapshot,
  ChatItem,
  Conversation,
  ConversationId,
  ConversationView,
  HubStatus,
  JobProgress,
  MessageId,
  ModelWait,
  NoteContent,
  NotePath,
  NoteText,
  NumberedEvent,
  ProviderStatus,
  Settings,
  SettingsProblem,
  UserError,
  VaultId,
  VaultInfo,
} from '../ipc/bindings';
import { defaultSettings } from '../ipc/bindings';
import { m } from '../messages/messages';
import { plainText } from '../shared/text/plain-text';
import { announcementText } from './announcement-text';
import { Changes } from './changes/changes.svelte';
import { type ChatEvent, OpenConversation } from './chat/open-conversation.svelte';
import { inboxTitle } from './conversations/inbox-title';
import { errorText } from './error-text';
import { DecisionCleanup } from './review/decision-cleanup';
import { unknownProvider } from './initial-state';
import { userError } from './user-error';

/** Something that went wrong outside any conversation, until the user has seen it. */
export interface Problem {
  readonly id: number;
  readonly error: UserError;
  /** Whether it goes when the user leaves the view: what a call was refused with does. */
  readonly passes: boolean;
}

/** A view of a conversation that was asked for, and what has happened to it since. */
interface Expected {
  readonly conversation: ConversationId;
  readonly events: [ChatEvent, number][];
}

/** A text that a screen reader reads once. */
interface Announcement {
  readonly id: number;
  readonly text: string;
}

/** Announcements before these were heard by now. */
const announced = 4;

/** The note beside the chat. */
export interface ShownNote {
  readonly path: NotePath;
  readonly content: NoteText;
  /** Whether it is no longer there; then the content is its last one. */
  readonly removed: boolean;
}

export class AppState {
  /** Whether the first snapshot is here. */
  ready = $state(false);
  vault = $state.raw<VaultInfo | null>(null);
  /** The vault of the latest snapshot: what is in front of the user is about it. */
  shown: VaultId | null = null;
  /** With the changes that are on their way. */
  settings = $state.raw<Settings>(defaultSettings);
  /** Why the settings file does not count, while it does not. */
  settingsTrouble = $state.raw<SettingsProblem | null>(null);
  provider = $state.raw<ProviderStatus>(unknownProvider);
  hub = $state.raw<HubStatus>({ state: 'off', trouble: null, retryAt: null, ignored: 0 });
  /** Newest first; archived ones are among them as far as they are known. */
  conversations = $state.raw<readonly Conversation[]>([]);
  /** The list goes on behind this one; `null` when all of it is known. */
  behind = $state.raw<ConversationId | null>(null);
  problems = $state.raw<readonly Problem[]>([]);
  /** The conversation in front of the user; `null` is a new one. */
  chat = $state.raw<OpenConversation | null>(null);
  /** The note beside the chat. */
  note = $state.raw<ShownNote | null>(null);
  readonly changes = new Changes();
  /** Whether the user is asked what closing the window means. */
  closing = $state(false);
  /** Jobs that are under way and may take long, the oldest first. */
  jobs = $state.raw<readonly JobProgress[]>([]);
  /** Announcements for a screen reader, at boundaries only; the newest last. */
  announcements = $state.raw<readonly Announcement[]>([]);

  /** The settings as the application has them, as far as it is known. */
  saved: Settings = defaultSettings;
  /** How often the settings were told. */
  settingsTold = 0;
  /** How many changes of them are on their way. */
  #unsaved = 0;
  #seq = 0;
  #problemCount = 0;
  #announcementCount = 0;
  /** Whether the answer in front of the user has grown since an end was told. */
  #unheard = false;
  /** The last change of a note, and its number: it may come before the note itself. */
  #lastChange: { path: NotePath; content: NoteText | null; seq: number } | null = null;
  readonly #decisionCleanup = new DecisionCleanup();
  /** The work of models on this computer before they answer: no view of a conversation tells of it. */
  readonly #waits = new SvelteMap<ConversationId, ModelWait>();
  /** The views that are on their way. */
  #expected: readonly Expected[] = [];

  /** The row of the open conversation. */
  get current(): Conversation | null {
    return this.conversations.find((row) => row.id === this.chat?.id) ?? null;
  }

  /** The conversation whose view is on its way, if any. */
  get awaited(): ConversationId | null {
    return this.#expected.at(-1)?.conversation ?? null;
  }

  restore(snapshot: AppSnapshot): void {
    this.#seq = snapshot.seq;
    this.#leaveVaultFor(snapshot.vault);
    this.vault = snapshot.vault;
    this.#hearSettings(snapshot.settings, snapshot.settingsTrouble);
    this.provider = snapshot.provider;
    this.hub = snapshot.hub;
    this.conversations = snapshot.conversations.map(titled);
    this.behind = snapshot.behind;
    // Those that wait for decisions are all in it, also behind the first page.
    const known = snapshot.conversations.map(({ id }) => id);
    this.#decisionCleanup.start(this.shown, known);
    this.changes.clear();
    this.#waits.clear();
    if (this.chat) this.chat.wait = null;
    this.jobs = snapshot.jobs;
    this.problems = [];
    for (const error of snapshot.problems) this.#addProblem(error, false);
    this.ready = true;
  }

  /** Applies events in order; those that the snapshot holds already are dropped. `false` where one is missing:
   * then only a new snapshot shows how things stand. */
  receive(events: readonly NumberedEvent[]): boolean {
    let isWhole = true;
    for (const { seq, event } of events) {
      if (seq <= this.#seq) continue;
      isWhole &&= seq === this.#seq + 1;
      this.#seq = seq;
      this.#apply(event, seq);
    }
    return isWhole;
  }

  #apply(event: AppEvent, seq: number): void {
    switch (event.type) {
      case 'conversation_changed':
        this.#tellEnd(event.conversation);
        if (!event.conversation.working) this.#waits.delete(event.conversation.id);
        this.#putRow(event.conversation);
        return;
      case 'conversation_gone':
        this.#dropRow(event.conversation);
        return;
      case 'item_changed':
      case 'items_replaced':
      case 'queue_changed':
      case 'text_added':
      case 'wait_changed':
      case 'context_changed':
      case 'question_changed':
      case 'review_changed':
      case 'held_changed':
        this.#applyToChat(event, seq);
        return;
      case 'close_asked':
        this.closing = true;
        return;
      case 'called':
      case 'chat_changed':
        // Whoever asks the host fetches it.
        return;
      case 'provider_changed':
        this.provider = event.provider;
        return;
      case 'history_changed':
        this.changes.forget();
        return;
      case 'jobs_changed':
        this.jobs = event.jobs;
        return;
      case 'hub_changed':
        this.hub = event.hub;
        return;
      case 'settings_changed':
        this.#hearSettings(event.settings, event.trouble);
        return;
      case 'vault_changed':
        this.#putVault(event.vault);
        return;
      case 'note_changed':
        this.#lastChange = { path: event.path, content: event.content, seq };
        if (this.note?.path === event.path) this.#changeNote(this.note, event.content);
        return;
      case 'applied_changed':
        this.changes.tell(event.set, seq);
        return;
      case 'problem':
        this.#addProblem(event.error, false);
        return;
      default:
        event satisfies never;
    }
  }

  /** Takes in rows of a page; those that are known came with the feed, and may be newer. */
  addRows(rows: readonly Conversation[]): void {
    const known = this.conversations.map(({ id }) => id);
    for (const row of rows) if (!known.includes(row.id)) this.#putRow(row);
  }

  /** From here on the events of this conversation are kept for `show`; a view of another one is dropped. */
  expect(conversation: ConversationId): Expected {
    const expected = { conversation, events: [] };
    const others = this.#expected.filter((other) => other.conversation === conversation);
    this.#expected = [...others, expected];
    return expected;
  }

  /** The view does not come. */
  forgo(expected: Expected): void {
    this.#expected = this.#expected.filter((other) => other !== expected);
  }

  /** Puts a conversation in front of the user. A view that is no longer expected, or older than the one that is
   * shown, is dropped: `false`. */
  show(view: ConversationView, expected: Expected): boolean {
    if (!this.#expected.includes(expected)) return false;
    this.forgo(expected);
    if (this.chat?.id === view.conversation.id && this.chat.isNewerThan(view)) return false;
    const known = this.conversations.some((row) => row.id === view.conversation.id);
    // A row that is here already came with the feed, and may be newer than the view.
    if (!known) this.#putRow(view.conversation);
    const before = this.chat?.answered ?? null;
    if (this.chat?.id === view.conversation.id) {
      this.chat.renew(view);
      this.#tellNext(before);
    } else {
      this.chat = new OpenConversation(view, this.shown);
      this.chat.wait = this.#waits.get(this.chat.id) ?? null;
      this.#unheard = false;
    }
    for (const [event, seq] of expected.events) this.chat.apply(event, seq);
    return true;
  }

  /** Puts a new conversation in front of the user. */
  showNew(): void {
    this.#expected = [];
    this.chat = null;
  }

  /** Puts a note beside the chat, with what happened to it since it was read. */
  showNote({ path, content, seq }: NoteContent): void {
    this.note = { path, content, removed: false };
    const last = this.#lastChange;
    if (last?.path === path && last.seq > seq) this.#changeNote(this.note, last.content);
  }

  closeNote(): void {
    this.note = null;
  }

  /** Shows a change of the settings that is on its way; `settle` follows. */
  assume(change: Partial<Settings>): void {
    this.#unsaved += 1;
    this.settings = { ...this.settings, ...change };
  }

  /** A change came to its end: the settings as they were saved, or `null` where it was refused. */
  settle(saved: Settings | null): void {
    this.#unsaved -= 1;
    this.#knowSettings(saved ?? this.saved);
  }

  /** Says what a call was refused with, until the user leaves the view. */
  report(error: UserError): void {
    this.#addProblem(error, true);
  }

  /** Whether a call was carried out; what it was refused with is reported instead. */
  async attempt(call: () => Promise<unknown>): Promise<boolean> {
    try {
      await call();
      return true;
    } catch (thrown) {
      this.report(userError(thrown));
      return false;
    }
  }

  /** The user left the view in which calls were refused. */
  leaveView(): void {
    if (this.problems.some(({ passes }) => passes)) {
      this.problems = this.problems.filter(({ passes }) => !passes);
    }
  }

  /** Has a screen reader announce a change that only the eye would notice. */
  say(text: string): void {
    this.#announce(text);
  }

  dismiss(id: number): void {
    this.problems = this.problems.filter((problem) => problem.id !== id);
  }

  /** The same text twice is one problem. */
  #addProblem(error: UserError, passes: boolean): void {
    if (this.problems.some((other) => other.error.message === error.message)) return;
    this.#problemCount += 1;
    this.problems = [...this.problems, { id: this.#problemCount, error, passes }];
    this.#announce(errorText(error));
  }

  /** Nothing of one vault is in front of the user beside another one. */
  #leaveVaultFor(vault: VaultInfo | null): void {
    const id = vault?.id ?? null;
    if (this.shown === id) return;
    this.shown = id;
    this.showNew();
    this.closeNote();
  }

  #hearSettings(settings: Settings, trouble: SettingsProblem | null): void {
    this.settingsTold += 1;
    if (trouble && trouble.message !== this.settingsTrouble?.message)
      this.#announce(errorText(trouble));
    this.settingsTrouble = trouble;
    this.#knowSettings(settings);
  }

  #knowSettings(settings: Settings): void {
    this.saved = settings;
    // An event from before a change does not revert it while it is on its way.
    if (this.#unsaved === 0) this.settings = settings;
  }

  #changeNote(note: ShownNote, content: NoteText | null): void {
    this.note = { path: note.path, content: content ?? note.content, removed: content === null };
    if (content === null && !note.removed) this.#announce(m.note_removed());
  }

  #putVault(vault: VaultInfo | null): void {
    if (vault?.trouble && vault.trouble.message !== this.vault?.trouble?.message)
      this.#announce(errorText(vault.trouble));
    this.vault = vault;
  }

  #putRow(row: Conversation): void {
    this.#decisionCleanup.there(row.id);
    const others = this.conversations.filter((other) => other.id !== row.id);
    const at = others.findIndex((other) => other.updatedAt <= row.updatedAt);
    this.conversations = others.toSpliced(at < 0 ? others.length : at, 0, titled(row));
  }

  /** The open conversation gives way to a new one. */
  #dropRow(id: ConversationId): void {
    this.conversations = this.conversations.filter((row) => row.id !== id);
    this.#expected = this.#expected.filter(({ conversation }) => conversation !== id);
    if (this.chat?.id === id) this.showNew();
    this.#decisionCleanup.gone(id);
  }

  #applyToChat(event: ChatEvent, seq: number): void {
    if (event.type === 'wait_changed') this.#hearWait(event.conversation, event.wait);
    for (const { conversation, events } of this.#expected) {
      if (conversation === event.conversation) events.push([event, seq]);
    }
    if (this.chat?.id !== event.conversation) return;
    const before = this.chat.answered;
    this.chat.apply(event, seq);
    this.#unheard ||= isAnswer(event);
    this.#tellNext(before);
    const text = announcementText(event);
    if (text) this.#announce(text);
  }

  #hearWait(conversation: ConversationId, wait: ModelWait | null): void {
    if (wait) this.#waits.set(conversation, wait);
    else this.#waits.delete(conversation);
  }

  /** An answer is finished when its turn has ended, not with each of its parts. */
  #tellEnd(row: Conversation): void {
    const worked = this.current?.id === row.id && this.current.working;
    if (worked && !row.working) this.#tellEndWith(this.chat?.items.findLast(isNoTool));
  }

  /** The queued message is answered now, so the answer before it has ended. */
  #tellNext(before: MessageId | null): void {
    const now = this.chat?.answered ?? null;
    if (!this.#unheard || now === null || now === before) return;
    const at = this.chat?.items.findIndex((item) => 'id' in item && item.id === now) ?? 0;
    this.#tellEndWith(this.chat?.items.slice(0, Math.max(at, 0)).findLast(isNoTool));
  }

  #tellEndWith(last: ChatItem | undefined): void {
    this.#unheard = false;
    const text = endOf(last);
    if (text) this.#announce(text);
  }

  #announce(text: string): void {
    this.#announcementCount += 1;
    const next = { id: this.#announcementCount, text };
    this.announcements = [...this.announcements.slice(1 - announced), next];
  }
}

/** A conversation with its title as plain text: it may come from a message or a model, in Markdown. That of a day of
 * the hub follows the language. */
function titled(row: Conversation): Conversation {
  const { inboxDay } = row;
  if (!inboxDay) return { ...row, title: plainText(row.title) };
  return {
    ...row,
    get title(): string {
      return inboxTitle(inboxDay);
    },
  };
}

/** Calls may stand behind the question that ends their turn. */
function isNoTool(item: ChatItem): boolean {
  return item.type !== 'tool';
}

/** The announcement for the end of a turn, by its last item that is no tool line; a question has its own. */
function endOf(last: ChatItem | undefined): string | null {
  if (last?.type !== 'ended') return last?.type === 'asked' ? null : m.announce_answered();
  switch (last.status) {
    case 'cancelled':
      return m.ended_cancelled();
    case 'failed':
      return `${m.ended_failed()}: ${last.error ? errorText(last.error) : m.ended_failed_unknown()}`;
    case 'interrupted':
      return m.ended_interrupted();
    case 'limit':
      return m.ended_limit();
    case 'done':
    case 'asked':
    case 'queued':
    case 'running':
      return null;
    default:
      return last.status satisfies never;
  }
}

/** Whether it is a part of an answer, or its end. */
function isAnswer(event: ChatEvent): boolean {
  if (event.type !== 'item_changed') return event.type === 'text_added';
  return ['assistant', 'tool', 'ended'].includes(event.item.type);
}
