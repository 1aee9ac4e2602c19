/** The one port between the window and the application. */
import type {
  HistoryAge, AutostartMode, AppliedHunks, AppliedPage, RegenerateRequest, RegenerateOutcome, ChangedSince, ConversationId, ConversationPage, ConversationView, CountedValues, DecideReview,
  DesktopState, EffectId, DeletedHistory, Exported, ExportFormat, ConversationHits, LineMatches, NameMatch, NameMatches, NoteCriterion, UndoTarget, ConversationCounts, HistoryStats, KeyStorage, KeyTrial, ListApplied, ListConversations, MessageId, ApprovalDecision, MonthCost, NoteLinks, NoteList, NoteAttribution, NoteOpener, NotePath, NoteContent, NumberedEvent, OnClose, PrivateNote, ProviderTestResult, SavedAnswer, TextSearch, SendMessageRequest, Settings, LinkRepairs, MentionTarget, RepairedLink,
  SettingsChoice, ArchiveState,
  AppSnapshot, TokenStatus, TurnId, TurnCost, UndoResult, UndoConflict, UndoScope, Unlocking, VaultId,
} from './bindings';

/** Each call may be refused with a `UserError`, thrown as it is. */
export interface Host {
  /** From here on what is asked about notes and conversations is asked about this vault, and refused
   * while another one is open. */
  shows(vault: VaultId | null): void;
  /** Opens the feed. Events with a number up to `snapshot.seq` are in the snapshot already. */
  subscribe(onEvents: (events: NumberedEvent[]) => void): Promise<AppSnapshot>;
  /** Everything the chat shows of one conversation. */
  /** Of a long one its end alone, unless the whole of it is asked for: `earlier` tells. */
  openConversation(conversation: ConversationId, whole: boolean): Promise<ConversationView>;
  /** The same, in the version of it that contains a turn. */
  openConversationAt(conversation: ConversationId, turn: TurnId): Promise<ConversationView>;
  /** A page of the list, newest first. */
  listConversations(request: ListConversations): Promise<ConversationPage>;
  /** Searches titles, messages and changes, newest first. */
  searchConversations(query: string): Promise<ConversationHits>;
  renameConversation(conversation: ConversationId, name: string): Promise<void>;
  /** Archives or unarchives it. */
  setArchiveState(conversation: ConversationId, state: ArchiveState): Promise<void>;
  /** Ends it; writing in it reopens it. */
  endConversation(conversation: ConversationId): Promise<void>;
  /** Deletes it; for a while it can be restored. */
  deleteConversation(conversation: ConversationId): Promise<void>;
  restoreConversation(conversation: ConversationId): Promise<void>;
  /** How many there are, and how many deleted ones can be restored. */
  conversationCounts(): Promise<ConversationCounts>;
  /** Deletes all but those that are worked on, and says what is left; for a while they can be
   * restored. */
  deleteConversations(): Promise<ConversationCounts>;
  /** Restores all that can be restored; returns the first page of the list. */
  restoreConversations(): Promise<ConversationPage>;
  /** Exports one conversation, or all, to a file that the user chooses; `name` is proposed;
   * `null` when they changed their mind. */
  exportConversations(
    conversation: ConversationId | null,
    format: ExportFormat,
    name: string,
  ): Promise<Exported | null>;
  /** Stores the message durably, then resolves with the conversation it went to. It is refused while
   * another vault is open than the one it was written in. */
  sendMessage(request: SendMessageRequest, vault: VaultId | null): Promise<ConversationId>;
  /** Stops the running turn. */
  stop(conversation: ConversationId): Promise<void>;
  /** Goes on after a limit, a failure or an interruption. */
  continueTurn(conversation: ConversationId): Promise<void>;
  /** Replaces the text of a queued message. */
  editQueued(message: MessageId, text: string): Promise<void>;
  /** Removes a queued message: no model gets it. */
  removeQueued(message: MessageId): Promise<void>;
  /** Regenerates the answer to a message, in a branch of its own; asks first about the changes of the old answer. */
  regenerate(request: RegenerateRequest): Promise<RegenerateOutcome>;
  /** Shows the conversation as it continued from another version of a message, counted from 1. */
  showVariant(message: MessageId, number: number): Promise<void>;
  /** Leaves an interrupted turn as it is. */
  dismissInterruptedTurn(turn: TurnId): Promise<void>;
  /** Puts the earlier messages of a conversation together: the model hears less from now on. */
  compactConversation(conversation: ConversationId): Promise<void>;
  /** The cost of each turn of a conversation; turns without a model are omitted. */
  conversationCosts(conversation: ConversationId): Promise<TurnCost[]>;
  /** The cost of the latest months, newest first. */
  monthlyCosts(): Promise<MonthCost[]>;
  /** Applies and rejects pending changes; resolves when the files are written. */
  decideReview(request: DecideReview): Promise<void>;
  /** A page of applied changes, newest first. */
  listApplied(request: ListApplied): Promise<AppliedPage>;
  /** The effect of an applied change inside its note. */
  appliedHunks(effect: EffectId): Promise<AppliedHunks>;
  /** The changes in the note since an applied change of it, wherever the note is now. */
  diffSince(effect: EffectId): Promise<ChangedSince>;
  /** The lines of a note that stand as the assistant left them, and the text that they are of. */
  assistantLines(path: NotePath): Promise<NoteAttribution>;
  /** Undoes changes, as far as that needs no guess; resolves when the files are written. */
  undo(scope: UndoScope): Promise<UndoResult>;
  /** Redoes these changes, as far as they were undone. */
  redo(scope: UndoScope): Promise<UndoResult>;
  /** Reapplies a change that another program has overwritten. */
  reapply(effect: EffectId): Promise<UndoResult>;
  /** Undoes, redoes or reapplies a change in the note that the user says it is about. */
  undoInNote(identified: UndoTarget): Promise<UndoResult>;
  /** Writes `back` in each place of the conflict where `now` still stands, and so completes its request. */
  resolveConflict(conflict: UndoConflict): Promise<UndoResult>;
  /** The size of the stored history, and how much would be lost by age. */
  history(): Promise<HistoryStats>;
  /** Deletes the history of an age; resolves when nothing of it is left. */
  stopJob(work: number): Promise<void>;
  deleteHistory(age: HistoryAge): Promise<DeletedHistory>;
  /** Shows a note beside the chat; it is then the active note that a model may be told of. Only a note that the user
   * chose counts as named by the messages that it is sent with. */
  showNote(path: NotePath, by: NoteOpener): Promise<NoteContent>;
  /** No note is shown any more. */
  closeNote(): Promise<void>;
  /** Writes an answer as a new note with this name; what has the name already is told. */
  saveAnswer(answer: MessageId, name: string): Promise<SavedAnswer>;
  /** Reports the text that is selected in the shown note, and the heading above it. */
  selectInNote(path: NotePath, selected: string, heading: string | null): Promise<void>;
  /** Opens a note of the vault with the program that the user has for such files. */
  openInEditor(path: NotePath): Promise<void>;
  openInObsidian(path: NotePath): Promise<void>;
  /** Where the page finds the image that `link` means in a note, or in an answer. Nothing is there
   * where the vault has no image that is shown. */
  imageUrl(link: string, note: NotePath | null): string;
  /** Opens that image with the program that the user has for such files. */
  openImage(link: string, note: NotePath | null): Promise<void>;
  /** Notes by some letters of their names; without any, those shown lately first. */
  findNames(query: string): Promise<NameMatches>;
  /** All notes whose file has this name, in whichever Unicode form. */
  notesNamed(fileName: string): Promise<NameMatch[]>;
  /** Lines that match. Refused with code `pattern` when it is no regular expression. */
  searchText(request: TextSearch): Promise<LineMatches>;
  /** The links of a note, both ways. This and the lists below are `null` until the index stands. */
  noteLinks(path: NotePath): Promise<NoteLinks | null>;
  /** Which rule keeps a note from the model that answers now; `null` where it may see the note, and where
   * no model answers. */
  privateNote(path: NotePath): Promise<PrivateNote | null>;
  /** The same for folders, tags and conversations, in their order. */
  privateMentions(mentions: readonly MentionTarget[]): Promise<(PrivateNote | null)[]>;
  /** Targets of broken links that contain `query`. */
  unresolvedLinks(query: string): Promise<CountedValues | null>;
  /** The repairs on offer for links to this name, which does not exist. */
  linkRepairs(link: string): Promise<LinkRepairs | null>;
  /** Creates the note that a broken link names. */
  createLinkedNote(link: string): Promise<RepairedLink>;
  /** Has every link with this name, which is not there, lead to a note. */
  replaceBrokenLink(link: string, note: NotePath): Promise<RepairedLink>;
  /** The broken ones of these links, which are paths as an answer names them. */
  brokenLinks(links: string[]): Promise<string[] | null>;
  listTags(query: string): Promise<CountedValues | null>;
  listProperties(query: string): Promise<CountedValues | null>;
  propertyValues(property: string, query: string): Promise<CountedValues | null>;
  /** Notes that have something in common. */
  notesMatching(having: NoteCriterion): Promise<NoteList | null>;
  /** Open tasks that contain a text. */
  listTasks(query: string): Promise<LineMatches | null>;
  /** A note's text, to look at; the shown note stays what it is. */
  readNote(path: NotePath): Promise<NoteContent>;
  /** Saves what differs between the two: whatever else was changed elsewhere stays. Each takes effect at
   * once. Gives back the settings that hold then. */
  saveSettings(settings: Settings, before: Settings): Promise<Settings>;
  /** Decides which settings count while their file does not. */
  recoverSettings(choice: SettingsChoice): Promise<void>;
  /** Has the provider try a key, which is not stored. */
  tryKey(key: string): Promise<KeyTrial>;
  /** Stores a key; an empty one removes it. Refused with code `key` where there is no keyring:
   * then the user may choose the file. */
  setKey(key: string, place: KeyStorage): Promise<void>;
  /** Asks the provider for one word. */
  testProvider(): Promise<ProviderTestResult>;
  /** Tries the hub again after a refusal. */
  retryHub(): Promise<void>;
  /** Has the system ask the user to unlock the keyring, and looks into it again; what was found comes with
   * the feed. Resolves when the user has answered, or after `stopUnlocking`. */
  unlockKeyring(): Promise<Unlocking>;
  /** Withdraws that question. */
  stopUnlocking(): Promise<void>;
  /** Where the token comes from that the hub is shown. */
  hubTokenSource(): Promise<TokenStatus>;
  /** Stores that token and connects again; an empty one removes it. Refused as `setKey`. */
  setHubToken(token: string, place: KeyStorage): Promise<void>;
  /** Has a model write a description for the hub from how the notes are organized. It is not saved;
   * `null` when it was stopped. */
  writeDescription(organisation: string): Promise<string | null>;
  stopDescription(): Promise<void>;
  /** Sends an answer that needs approval to the hub, or discards it. */
  decideApproval(number: number, decision: ApprovalDecision): Promise<void>;
  /** Lets the user choose a folder in a dialog of the system and opens it as the vault; `false` when they
   * changed their mind. The feed brings `vault_changed`, and the window subscribes again. */
  chooseVault(): Promise<boolean>;
  /** The same for an additional folder; the feed then brings `settings_changed`. */
  addExtraRoot(): Promise<boolean>;
  /** Opens a writable copy of the sample vault. */
  openSample(): Promise<void>;
  /** Says which conversation the user has before them: the desktop is not told what is in sight. */
  setWindowFocus(conversation: ConversationId | null): Promise<void>;
  /** How the desktop around the window stands now. */
  desktopState(): Promise<DesktopState>;
  /** Has the program started at login, or not; says how the desktop stands then. */
  setAutostart(atLogin: AutostartMode): Promise<DesktopState>;
  /** Says what closing the window means, once and for later; `ask` leaves it open this time. */
  answerCloseRequest(answer: OnClose): Promise<void>;
}
