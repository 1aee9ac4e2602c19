// Written by `./dev bindings` from crates/protocol. Do not edit.

/**
 * An event. The window applies it; `docs/contributing.md` names the few after which it fetches something.
 */
export type AppEvent = { "type": "conversation_changed", 
/**
 * Its new row, whole.
 */
conversation: Conversation, } | { "type": "conversation_gone", 
/**
 * The deleted conversation.
 */
conversation: ConversationId, } | { "type": "item_changed", 
/**
 * The conversation that the item belongs to.
 */
conversation: ConversationId, 
/**
 * The item, whole: it replaces the one with its id.
 */
item: ChatItem, } | { "type": "items_replaced", 
/**
 * The conversation that the items belong to.
 */
conversation: ConversationId, 
/**
 * The last item that stays; `None` if none stays.
 */
after: ItemKey | null, 
/**
 * All items behind it, oldest first. The summary is among them if one is shown: one among
 * the items that stay goes.
 */
items: Array<ChatItem>, 
/**
 * The messages of the whole chat that have several versions.
 */
variants: Array<MessageVariant>, } | { "type": "queue_changed", 
/**
 * The conversation that the messages belong to.
 */
conversation: ConversationId, 
/**
 * All queued messages, in order: they are the last items of the chat.
 */
queued: Array<ChatItem>, } | { "type": "chat_changed", 
/**
 * The conversation to open again.
 */
conversation: ConversationId, } | { "type": "text_added", 
/**
 * The conversation with the item.
 */
conversation: ConversationId, 
/**
 * The item whose text grows.
 */
id: MessageId, 
/**
 * The text to append.
 */
text: string, } | { "type": "wait_changed", 
/**
 * The conversation whose turn waits.
 */
conversation: ConversationId, 
/**
 * For what; `None` once the answer goes on, or the turn is over.
 */
wait: ModelWait | null, } | { "type": "context_changed", 
/**
 * The conversation that is sent.
 */
conversation: ConversationId, 
/**
 * How full it is; `None` when no model answers any more.
 */
context: ContextUse | null, } | { "type": "question_changed", 
/**
 * The conversation that asks.
 */
conversation: ConversationId, 
/**
 * The open one, if there is one.
 */
question: Question | null, } | { "type": "review_changed", 
/**
 * The conversation that led to the changes.
 */
conversation: ConversationId, 
/**
 * The pending changes, if any.
 */
review: Review | null, } | { "type": "held_changed", 
/**
 * The conversation with the messages.
 */
conversation: ConversationId, 
/**
 * All approvals there, oldest first.
 */
held: Array<PendingApproval>, } | { "type": "applied_changed", 
/**
 * The set as it is now, whole.
 */
set: AppliedSet, } | { "type": "history_changed" } | { "type": "jobs_changed", 
/**
 * All that is under way, the oldest first.
 */
jobs: Array<JobProgress>, } | { "type": "provider_changed", 
/**
 * Its present state.
 */
provider: ProviderStatus, } | { "type": "hub_changed", 
/**
 * The present state of the link.
 */
hub: HubStatus, } | { "type": "settings_changed", 
/**
 * All settings in effect, whichever changed.
 */
settings: Settings, 
/**
 * Why the settings file does not count, while it does not.
 */
trouble: SettingsProblem | null, } | { "type": "vault_changed", 
/**
 * The open vault, or `None` when none is open.
 */
vault: VaultInfo | null, } | { "type": "note_changed", 
/**
 * Which, as [`crate::request::NoteContent`] named it.
 */
path: NotePath, 
/**
 * Its text and properties now, or `None` when it was removed or renamed.
 */
content: NoteText | null, } | { "type": "called", 
/**
 * The conversation to show.
 */
conversation: ConversationId, } | { "type": "close_asked" } | { "type": "problem", 
/**
 * The error, to be shown to the user.
 */
error: UserError, };

/**
 * All that the window shows before anything happens.
 */
export type AppSnapshot = { 
/**
 * Events with a higher number are not in it.
 */
seq: number, 
/**
 * The vault, or `None` on the first run.
 */
vault: VaultInfo | null, 
/**
 * The settings in effect.
 */
settings: Settings, 
/**
 * Why the settings file does not count, while it does not.
 */
settingsTrouble: SettingsProblem | null, 
/**
 * The provider that answers.
 */
provider: ProviderStatus, 
/**
 * The state of the link to the hub.
 */
hub: HubStatus, 
/**
 * The first page of the list, newest first, and all that need attention.
 */
conversations: Array<Conversation>, 
/**
 * The list goes on behind this one; `None` when all of it is here.
 */
behind: ConversationId | null, 
/**
 * Long work in progress, the oldest first.
 */
jobs: Array<JobProgress>, 
/**
 * The problems at start (such as a vault that is gone).
 */
problems: Array<UserError>, };

/**
 * Why changes were applied.
 */
export type AppliedBy = "assistant" | "undo" | "reapply" | "save" | "repair";

/**
 * The effect of a change in the ledger on a note, hunk by hunk.
 */
export type AppliedHunks = { 
/**
 * The change.
 */
effect: EffectId, 
/**
 * Its hunks from top to bottom; [`UndoScope::Effect`] names them by their place here. None
 * for a rename or a folder, and none that are too old.
 */
hunks: Array<NoteHunk>, 
/**
 * The places of the undone hunks, in order.
 */
undone: Array<number>, };

/**
 * One applied change of one note or folder.
 */
export type AppliedNote = { 
/**
 * The change in the ledger.
 */
effect: EffectId, 
/**
 * The turn that led to it. Changes of several turns may have been accepted together.
 */
turn: TurnId, 
/**
 * Where it was when it was changed.
 */
path: NotePath, 
/**
 * Where it went, for a rename.
 */
target: NotePath | null, 
/**
 * The operation that was applied.
 */
kind: ChangeKind, 
/**
 * Entries of a set with the same unit are undone together: a move and the links to it.
 */
unit: CallId | null, 
/**
 * Lines added, without those of hunks that were undone while others remain.
 */
added: number, 
/**
 * Lines removed, in the same way.
 */
removed: number, 
/**
 * Whether it still stands.
 */
standing: ChangeStatus, 
/**
 * Whether the text of that time was deleted: the change cannot be undone, or its undo cannot
 * be redone.
 */
tooOld: boolean, };

/**
 * Applied changes, newest first.
 */
export type AppliedPage = { 
/**
 * Events up to this number are in it.
 */
seq: number, 
/**
 * One entry for each set, newest first.
 */
sets: Array<AppliedSet>, 
/**
 * Whether older ones are omitted.
 */
more: boolean, };

/**
 * Changes that were applied together.
 */
export type AppliedSet = { 
/**
 * The id by which it is undone as a whole.
 */
id: ChangeSetId, 
/**
 * The conversation that led to it, if one did and it is still known.
 */
conversation: ConversationId | null, 
/**
 * The turn that led to it first.
 */
turn: TurnId, 
/**
 * The one who applied it: the assistant, the user or Vaultmate.
 */
by: AppliedBy, 
/**
 * The user's message that led to it, or to the answer that was saved; empty for an undo, a
 * reapplied change and a repaired link.
 */
request: string, 
/**
 * The time of its last change, by which sets are ordered; 0 where the first version stored
 * none.
 */
at: Timestamp, 
/**
 * One entry a change, in the order they were applied.
 */
notes: Array<AppliedNote>, };

/**
 * The user's decision about it.
 */
export type ApprovalDecision = "send" | "discard";

/**
 * The reason why it needs approval.
 */
export type ApprovalReason = { "kind": "outside" } | { "kind": "unheard" } | { "kind": "failed", 
/**
 * The last error.
 */
error: string, };

/**
 * Where a conversation lies.
 */
export type ArchiveState = "open" | "archived";

/**
 * Lines of a note that stand as a change of the assistant left them.
 */
export type AssistantLines = { 
/**
 * The first of them, 1-based.
 */
first: number, 
/**
 * The last of them, 1-based and included.
 */
last: number, 
/**
 * The set that the change belongs to.
 */
changeSet: ChangeSetId, 
/**
 * The conversation that led to it, if it is still known.
 */
conversation: ConversationId | null, 
/**
 * The first line of the user's message that led to it, cut to 200 characters; empty where it is
 * not kept.
 */
request: string, 
/**
 * The time of the change; 0 where the first version stored none.
 */
at: Timestamp, };

/**
 * The action when the user logs in.
 */
export type AutostartMode = "starts" | "stays_off";

/**
 * A tool call, spelled as the model spelled it; unique within its turn only.
 */
export type CallId = string;

/**
 * The key of an entry with the arguments of one error.
 */
export type CatalogText = { 
/**
 * The key of the entry. A stored one may be of an earlier version, and have no entry any more.
 */
key: string, 
/**
 * The values of its placeholders, by their names.
 */
args: Array<[string, TextArg]>, };

/**
 * The kind of an [`ChangeAction`], in a word.
 */
export type ChangeKind = "create" | "replace" | "trash" | "rename" | "rename_folder" | "make_folder" | "trash_folder" | "restore_folder";

/**
 * A set of planned or applied changes.
 */
export type ChangeSetId = string;

/**
 * The present state of an applied change.
 */
export type ChangeStatus = "stands" | "partly_undone" | "undone" | "overwritten";

/**
 * The changes of a note since a change in the ledger.
 */
export type ChangedSince = { 
/**
 * The change.
 */
effect: EffectId, 
/**
 * Where the note is now; `None` when it is gone.
 */
path: NotePath | null, 
/**
 * From what the change left to what stands there now, from top to bottom; none where that is
 * the same.
 */
hunks: Array<NoteHunk>, };

/**
 * One thing in the chat. Ids are stable: the same id later replaces the item.
 */
export type ChatItem = { "type": "user", 
/**
 * Stable id.
 */
id: MessageId, 
/**
 * The words as sent, Markdown, without the context block.
 */
text: string, 
/**
 * The channel they came through.
 */
origin: Origin, 
/**
 * The time the message was stored.
 */
at: Timestamp, 
/**
 * Whether they wait for a running turn to end.
 */
queued: boolean, } | { "type": "assistant", 
/**
 * Stable id.
 */
id: MessageId, 
/**
 * So far, or all of it.
 */
text: string, 
/**
 * Whether more is to come.
 */
streaming: boolean, 
/**
 * Whether it was cut off.
 */
cut: boolean, } | { "type": "tool", 
/**
 * The turn that called.
 */
turn: TurnId, 
/**
 * The model's id for the call; unique within the turn.
 */
call: CallId, 
/**
 * The tool's name.
 */
tool: string, 
/**
 * When the model called it.
 */
at: Timestamp, 
/**
 * The arguments, pretty-printed JSON.
 */
arguments: string, 
/**
 * The text the model got; `None` while it runs.
 */
output: string | null, 
/**
 * Whether it failed.
 */
isError: boolean, 
/**
 * The events of the tool, for the line.
 */
reactions: Array<ToolEvent>, } | { "type": "asked", 
/**
 * Stable id.
 */
id: MessageId, 
/**
 * The question.
 */
text: string, 
/**
 * The text of the answer, when it has one.
 */
answer: string | null, 
/**
 * Whether it was withdrawn.
 */
withdrawn: boolean, } | { "type": "ended", 
/**
 * The turn that ended.
 */
turn: TurnId, 
/**
 * Its terminal status.
 */
status: TurnStatus, 
/**
 * The error of a failed turn.
 */
error: UserError | null, 
/**
 * The work of the interrupted turn, for as long as the user may decide about it.
 */
offer: Interruption | null, } | { "type": "summary", 
/**
 * Stable id.
 */
id: MessageId, 
/**
 * The text for the model.
 */
text: string, } | { "type": "decision", 
/**
 * Stable id.
 */
id: MessageId, 
/**
 * Notes that were changed.
 */
applied: Array<NotePath>, 
/**
 * Notes whose changes were turned down.
 */
rejected: Array<NotePath>, 
/**
 * The time of the decision.
 */
at: Timestamp, };

/**
 * How earlier messages are summarized when a conversation grows too long for its model.
 */
export type CompactionSettings = { 
/**
 * The model that summarizes, of the same provider; empty means the one that answers.
 */
model: string, 
/**
 * Its additional instructions.
 */
prompt: string, };

/**
 * Lines that were changed by both.
 */
export type ConflictingLines = { 
/**
 * 1-based line of the note as it is now.
 */
line: number, 
/**
 * The present text.
 */
now: string, 
/**
 * The text after the undo, the redo or the reapplied change.
 */
back: string, };

/**
 * Two contents with the same hash are the same bytes.
 */
export type ContentHash = string;

/**
 * A kind of content that a model is sent.
 */
export type ContextKind = "instructions" | "summary" | "messages" | "tool_results" | "open_turn";

/**
 * Tokens of one kind.
 */
export type ContextPart = { 
/**
 * The content that they hold.
 */
kind: ContextKind, 
/**
 * An estimate, corrected by what the provider last counted.
 */
tokens: number, };

/**
 * How much of the context window a conversation takes: the estimate by which requests are kept within it,
 * corrected by what the model reported for its last request.
 */
export type ContextUse = { 
/**
 * Tokens of a request that holds all of it, the sum of `parts`. More than `window` when it no
 * longer fits: then the oldest messages are omitted.
 */
used: number, 
/**
 * Tokens that a request may hold: the model's context window without the room that is kept free for
 * the answer, so less than the model's maker tells. Never 0.
 */
window: number, 
/**
 * Tokens by kind, in the order in which they are sent; kinds without tokens are omitted.
 */
parts: Array<ContextPart>, 
/**
 * Whether there are earlier messages to summarize: the last six exchanges always stay as they are.
 */
canSummarize: boolean, };

/**
 * A row of the conversation list.
 */
export type Conversation = { 
/**
 * Its id; ids sort by the time their conversations began.
 */
id: ConversationId, 
/**
 * Its name: from the first words until it has a better one.
 */
title: string, 
/**
 * Whether a model worded the title: it may say what a note says.
 */
titledByModel: boolean, 
/**
 * The day whose hub messages it holds, if its title is the application's own: the reader's language words that title.
 */
inboxDay: Weekday | null, 
/**
 * Its summary, in a few sentences of a model; one that goes on may have none yet.
 */
summary: string | null, 
/**
 * Whether it goes on.
 */
state: ConversationState, 
/**
 * Whether it came over the hub.
 */
fromHub: boolean, 
/**
 * Whether the user has archived it.
 */
archived: boolean, 
/**
 * When something last happened in it.
 */
updatedAt: Timestamp, 
/**
 * The text of its open question.
 */
waitingQuestion: string | null, 
/**
 * How many notes have pending changes in it.
 */
waitingNotes: number, 
/**
 * How many answers in it the hub is not told before the user has said so.
 */
held: number, 
/**
 * Whether a turn was cut in it, and the user shall say what becomes of it.
 */
interrupted: boolean, 
/**
 * Whether a turn runs or is queued in it.
 */
working: boolean, };

/**
 * How many conversations there are, and how many deleted ones can be restored.
 */
export type ConversationCounts = { 
/**
 * In the list, or archived.
 */
kept: number, 
/**
 * Deleted, and still there.
 */
deleted: number, 
/**
 * Until when all of those are; `None` where there are none.
 */
until: Timestamp | null, };

/**
 * A match in a conversation.
 */
export type ConversationHit = { 
/**
 * The conversation to open.
 */
conversation: ConversationId, 
/**
 * Its name.
 */
title: string, 
/**
 * The day that words its name, as in [`Conversation`].
 */
inboxDay: Weekday | null, 
/**
 * Where it lies.
 */
archiveState: ArchiveState, 
/**
 * The author of the text.
 */
by: HitSource, 
/**
 * The item or call to scroll to.
 */
place: HitLocation, 
/**
 * The time the text was stored.
 */
at: Timestamp, 
/**
 * The text around the match.
 */
text: string, 
/**
 * The matches in `text`, as UTF-16 offsets `[start, end)`, ascending.
 */
marks: Array<[number, number]>, };

/**
 * Matches in conversations, newest first.
 */
export type ConversationHits = { 
/**
 * The first of it.
 */
found: Array<ConversationHit>, 
/**
 * Whether there is more.
 */
more: boolean, };

/**
 * A conversation. UUID v7: sorts by the time it began.
 */
export type ConversationId = string;

/**
 * A page of the list, newest first.
 */
export type ConversationPage = { 
/**
 * The rows.
 */
conversations: Array<Conversation>, 
/**
 * Others stand behind this one; `None` when these are the last.
 */
behind: ConversationId | null, };

/**
 * Whether it goes on.
 */
export type ConversationState = "active" | "ended";

/**
 * Everything the chat shows of one conversation.
 */
export type ConversationView = { 
/**
 * Events up to this number are in it. The window keeps the events of this conversation that
 * arrive meanwhile and applies those with a higher number.
 */
seq: number, 
/**
 * The row.
 */
conversation: Conversation, 
/**
 * How many items before these are omitted; none unless only the end was requested.
 */
earlier: number, 
/**
 * Its items, oldest first.
 */
items: Array<ChatItem>, 
/**
 * The messages that have several versions.
 */
variants: Array<MessageVariant>, 
/**
 * The open question.
 */
question: Question | null, 
/**
 * The pending changes.
 */
review: Review | null, 
/**
 * Messages to the hub that need approval, oldest first.
 */
held: Array<PendingApproval>, 
/**
 * How full the context window is with it; `None` without a model, and until it was found out: then
 * [`ContextChanged`](crate::AppEvent::ContextChanged) follows.
 */
context: ContextUse | null, };

/**
 * A word of the notes and how many notes have it: a tag, a property, a value, a broken link.
 */
export type CountedValue = { 
/**
 * As most notes spell it.
 */
word: string, 
/**
 * The number of notes that have it.
 */
notes: number, };

/**
 * Words, those of most notes first.
 */
export type CountedValues = { 
/**
 * The first of them.
 */
words: Array<CountedValue>, 
/**
 * How many there are.
 */
total: number, };

/**
 * A decision on pending changes. Notes that are not named stay pending.
 */
export type DecideReview = { 
/**
 * The open change set. An answer for another one is refused.
 */
review: ChangeSetId, 
/**
 * One entry for each decided note.
 */
notes: Array<NoteDecision>, };

/**
 * The loss from deleting history. The notes themselves are untouched.
 */
export type DeletedHistory = { 
/**
 * How many changes cannot be undone any more.
 */
changes: number, 
/**
 * How much room it took, packed.
 */
bytes: number, };

/**
 * How the program behaves on the desktop.
 */
export type DesktopSettings = { 
/**
 * Whether the desktop shows notifications about pending or ended work while nobody looks.
 */
notifications: boolean, 
/**
 * The effect of closing the window.
 */
onClose: OnClose, };

/**
 * How the desktop stands, as it was found a moment ago.
 */
export type DesktopState = { 
/**
 * Whether the program stands in a tray that somebody shows.
 */
inTray: boolean, 
/**
 * The action when the user logs in.
 */
atLogin: AutostartMode, };

/**
 * One line of a hunk, without its line ending.
 */
export type DiffLine = { 
/**
 * Kept, added or removed.
 */
sign: DiffLineKind, 
/**
 * The line in pieces; `marked` pieces are the words that differ.
 */
words: Array<DiffSpan>, };

/**
 * The change of a line.
 */
export type DiffLineKind = "same" | "added" | "removed";

/**
 * A run of words.
 */
export type DiffSpan = { 
/**
 * A part of the line, whitespace included.
 */
text: string, 
/**
 * Whether it differs from the line it replaces.
 */
marked: boolean, };

/**
 * One change of one path, in the ledger.
 */
export type EffectId = string;

/**
 * How much a model thinks before it answers.
 */
export type Effort = "low" | "medium" | "high";

/**
 * A server that an environment variable names.
 */
export type EnvServer = { 
/**
 * The name of the variable, such as `ANTHROPIC_BASE_URL`.
 */
variable: string, 
/**
 * The server URL, without a user name or password.
 */
url: string, };

/**
 * The action that can resolve an error.
 */
export type ErrorCode = "other" | "key" | "model" | "network" | "vault" | "write" | "busy" | "spending" | "settings" | "too_large" | "answered" | "pattern";

/**
 * How they are written.
 */
export type ExportFormat = "markdown" | "json";

/**
 * The result of an export.
 */
export type Exported = { 
/**
 * The whole path of the written file, for display.
 */
file: string, 
/**
 * The number of exported conversations.
 */
conversations: number, };

/**
 * A folder outside the vault that is seen as a top-level folder of it, and only read.
 */
export type ExtraRoot = { 
/**
 * Its path from the top of the file system.
 */
folder: string, 
/**
 * Its name in the vault; empty means the last part of `folder`.
 */
name: string, };

/**
 * A file as its file system knows it: the same after a rename, a move inside the file system or a
 * save in place, another one for a copy or for a file that was created again under an old name.
 *
 * An inode number alone is given again as soon as its file is gone. Together with the birth time it
 * names one file, where the file system keeps birth times.
 *
 * Its text form is `inode:born`, or `inode` without a birth time: JavaScript would round the numbers.
 */
export type FileId = string;

/**
 * The history to delete: changes that are older than this.
 */
export type HistoryAge = "ninety_days" | "thirty_days" | "any";

/**
 * The loss if changes of an age were deleted from the history.
 */
export type HistoryAgeStats = { 
/**
 * The age that the count is for.
 */
age: HistoryAge, 
/**
 * How many changes could not be undone any more.
 */
changes: number, };

/**
 * The amount of stored history of the notes.
 */
export type HistoryStats = { 
/**
 * How much room it takes, packed.
 */
bytes: number, 
/**
 * The time of the oldest change that can be undone; `None` if there is none.
 */
since: Timestamp | null, 
/**
 * The loss by age, the longest first.
 */
older: Array<HistoryAgeStats>, };

/**
 * The place of words in a conversation.
 */
export type HitLocation = { "type": "whole" } | { "type": "item", 
/**
 * The turn that it belongs to.
 */
turn: TurnId, 
/**
 * The item, as [`ChatItem`](crate::chat::conversation::ChatItem) names it.
 */
id: MessageId, } | { "type": "call", 
/**
 * The turn that called.
 */
turn: TurnId, 
/**
 * The call, unique within its turn.
 */
call: CallId, };

/**
 * The author of a match, or the name of the conversation.
 */
export type HitSource = "name" | "user" | "assistant" | "change";

/**
 * The hub link's settings.
 */
export type HubSettings = { 
/**
 * Off until the user turns it on.
 */
enabled: boolean, 
/**
 * `ws://127.0.0.1:9473` unless changed.
 */
address: string, 
/**
 * The name we register; `^[a-zA-Z][a-zA-Z0-9_-]*$`, at most 64.
 */
name: string, 
/**
 * The description for the hub's router; not blank, at most 1024 UTF-16 units.
 */
description: string, 
/**
 * Notes, by path, that messages may add to at once, besides the inbox and the daily note.
 */
notes: Array<string>, 
/**
 * The note, by path, to which text is added that no model could process or that is to be
 * remembered. Empty means [`HubSettings::INBOX`].
 */
inboxNote: string, };

/**
 * Where the link stands.
 */
export type HubState = "off" | "connecting" | "registering" | "online" | "waiting" | "refused";

/**
 * The link, for the window.
 */
export type HubStatus = { 
/**
 * Where it stands.
 */
state: HubState, 
/**
 * The last problem and the remedy; empty when all is well.
 */
trouble: UserError | null, 
/**
 * When it tries again automatically, while it is offline.
 */
retryAt: Timestamp | null, 
/**
 * How many frames of the hub were ignored since the vault was opened: they were not what a hub
 * sends.
 */
ignored: number, };

/**
 * The decision on one hunk, whatever is decided on the others of its note.
 */
export type HunkDecision = { "type": "accept" } | { "type": "reject" } | { "type": "wait" } | { "type": "edit", 
/**
 * The lines, with `\n` between them; no line at all when empty.
 */
text: string, };

/**
 * How far building the index is.
 */
export type IndexProgress = { 
/**
 * Files that were looked at.
 */
done: number, 
/**
 * Files there are, as far as is known.
 */
all: number, };

/**
 * The work of a turn when it was interrupted: it can be continued, undone or left as it is.
 */
export type Interruption = { 
/**
 * Notes that it changed and that are still as it made them.
 */
changed: number, 
/**
 * Notes with pending changes of it.
 */
waiting: number, };

/**
 * Identifies an item within its conversation.
 */
export type ItemKey = { "type": "message", 
/**
 * The item's id.
 */
id: MessageId, } | { "type": "call", 
/**
 * The turn that called.
 */
turn: TurnId, 
/**
 * The model's id for the call.
 */
call: CallId, } | { "type": "end", 
/**
 * The turn that ended.
 */
turn: TurnId, };

/**
 * Long work that shows its progress and that the user can stop.
 */
export type JobKind = "applying" | "undoing" | "redoing" | "exporting" | "deleting_history";

/**
 * Work under way.
 */
export type JobProgress = { 
/**
 * Names it, for as long as the application runs.
 */
id: number, 
/**
 * Which work it is; several jobs of one kind may run.
 */
kind: JobKind, 
/**
 * Steps that were taken: notes, conversations, or changes whose history is deleted.
 */
done: number, 
/**
 * Steps in all; `None` while that is not known.
 */
all: number | null, 
/**
 * Whether it was stopped: then it ends with the step that is under way.
 */
stopping: boolean, };

/**
 * How several keys of one provider are used.
 */
export type KeyPolicy = "failover" | "round_robin";

/**
 * Where a key is kept.
 */
export type KeyStorage = "keyring" | "file";

/**
 * The outcome of trying a key before it is stored.
 */
export type KeyTrial = { "type": "works" } | { "type": "refused", 
/**
 * The provider's answer.
 */
message: string, } | { "type": "untried", 
/**
 * The reason.
 */
message: string, };

/**
 * Why the keyring could not be looked into for a secret.
 */
export type KeyringTrouble = "locked" | "unknown" | "unavailable";

/**
 * The language of everything that the program itself says.
 */
export type Language = "system" | "en" | "de";

/**
 * A line of a note.
 */
export type LineMatch = { 
/**
 * 1-based.
 */
line: number, 
/**
 * Its text, cut when it is endless.
 */
text: string, 
/**
 * The matches in `text`, as UTF-16 offsets `[start, end)`, ascending.
 */
marks: Array<[number, number]>, };

/**
 * Lines in the order of the notes.
 */
export type LineMatches = { 
/**
 * Notes with the first of their lines.
 */
notes: Array<NoteLineMatches>, 
/**
 * How many lines there are, shown or not, in the notes that were looked at.
 */
lines: number, 
/**
 * How many notes they are in.
 */
files: number, 
/**
 * Why not all is shown.
 */
cut: TruncationReason | null, };

/**
 * The repairs on offer for a broken link.
 */
export type LinkRepairs = { 
/**
 * The note that would be created under the name in the link; `None` where a note cannot have it.
 */
create: NotePath | null, 
/**
 * The note whose name is nearest, to which the link could lead instead; `None` where none is near.
 */
instead: NotePath | null, };

/**
 * Which applied changes to list.
 */
export type ListApplied = { 
/**
 * Those that one conversation led to; `None` for all of the vault.
 */
conversation: ConversationId | null, 
/**
 * Those before this set; `None` begins with the newest.
 */
before: ChangeSetId | null, };

/**
 * A page of the list to read.
 */
export type ListConversations = { 
/**
 * Of those that lie here.
 */
archiveState: ArchiveState, 
/**
 * The page after this one; `None` begins with the newest.
 */
before: ConversationId | null, };

/**
 * A model server on this computer.
 */
export type LocalServer = { 
/**
 * Its name ("LM Studio").
 */
name: string, 
/**
 * As whom it is asked.
 */
provider: ProviderKind, 
/**
 * Its server URL.
 */
address: string, 
/**
 * The id of the first model in its list that is not for embeddings.
 */
model: string, };

/**
 * The place of the match.
 */
export type MatchReason = "title" | "alias" | "heading" | "text" | "property";

/**
 * Something other than a note that a message can mention.
 */
export type MentionTarget = { "type": "folder", 
/**
 * The folder, as spelled on disk.
 */
path: NotePath, } | { "type": "tag", 
/**
 * Without `#`.
 */
tag: string, } | { "type": "conversation", 
/**
 * The mentioned conversation.
 */
id: ConversationId, };

/**
 * A stored message.
 */
export type MessageId = string;

/**
 * A message of the user that has several versions; the conversation is shown as it went on from
 * one of them.
 */
export type MessageVariant = { 
/**
 * The message that is shown.
 */
message: MessageId, 
/**
 * Which of them it is, counted from 1.
 */
number: number, 
/**
 * How many there are.
 */
count: number, };

/**
 * The treatment of planned changes.
 */
export type Mode = "review" | "auto" | "read_only";

/**
 * The total cost of some requests.
 */
export type ModelCost = { 
/**
 * How many requests reported what they used.
 */
requests: number, 
/**
 * The sum of the tokens they reported.
 */
usage: TokenUsage, 
/**
 * The cost of those with a known price, in billionths of a US dollar.
 */
cost: number, 
/**
 * How many have no known price.
 */
unpriced: number, };

/**
 * A model, as far as its provider's list, our own or the user's settings know it.
 */
export type ModelInfo = { 
/**
 * Its id, as it is sent.
 */
id: string, 
/**
 * The display name its provider gives it, if that differs from the id.
 */
name: string | null, 
/**
 * How many tokens a prompt and its answer may have together.
 */
window: number | null, 
/**
 * How many tokens an answer may have.
 */
maxOutput: number | null, 
/**
 * Its price; `None` is "not known", never "free".
 */
price: Price | null, };

/**
 * The user's settings for one model, where they differ from the provider's.
 */
export type ModelParameters = { 
/**
 * The model's id, as it is sent.
 */
model: string, 
/**
 * How freely it chooses its words.
 */
temperature: number | null, 
/**
 * The share of likely tokens that it chooses from.
 */
topP: number | null, 
/**
 * How many tokens an answer may have.
 */
maxTokens: number | null, 
/**
 * How much it thinks.
 */
effort: Effort | null, 
/**
 * A JSON object; its keys besides ours are added to each request.
 */
extra: string, };

/**
 * The work of a model on this computer before it answers.
 */
export type ModelWait = { "type": "reading", 
/**
 * An estimate of the tokens of the prompt.
 */
tokens: number, } | { "type": "loading" };

/**
 * The cost of all requests of a calendar month in the user's time zone.
 */
export type MonthCost = { 
/**
 * Year and month, `2026-11`.
 */
month: string, 
/**
 * The sum over its requests.
 */
spent: ModelCost, };

/**
 * A note that was found by its name.
 */
export type NameMatch = { 
/**
 * The note, as spelled on disk.
 */
path: NotePath, 
/**
 * The name that fits: its own, or another one of it.
 */
name: string, 
/**
 * Whether that is another one, from its properties.
 */
alias: boolean, 
/**
 * Which letters of `name` were asked for, as UTF-16 offsets `[start, end)`, ascending.
 */
marks: Array<[number, number]>, 
/**
 * The text of a link to it by which no other file is meant: its name, else its path.
 */
link: string, 
/**
 * The rule that keeps it from the model that answers now, if there is one.
 */
private: PrivateNote | null, };

/**
 * Notes by their names, best first.
 */
export type NameMatches = { 
/**
 * The first of them.
 */
names: Array<NameMatch>, 
/**
 * Whether there are more.
 */
more: boolean, };

/**
 * The lines of a note that the assistant wrote.
 */
export type NoteAttribution = { 
/**
 * The text that the lines are of.
 */
text: string, 
/**
 * From top to bottom; none where it is not known, and none where it would be more than 1,000.
 */
marks: Array<AssistantLines>, };

/**
 * A link that leads to a note.
 */
export type NoteBacklink = { 
/**
 * The file that holds it.
 */
from: NotePath, 
/**
 * On which line; 1-based.
 */
line: number, };

/**
 * A note to show next to the chat.
 */
export type NoteContent = { 
/**
 * Events about the note with a number up to this one are in it already.
 */
seq: number, 
/**
 * The note, as spelled on disk.
 */
path: NotePath, 
/**
 * Its text on disk and its properties.
 */
content: NoteText, };

/**
 * A criterion that notes may have in common.
 */
export type NoteCriterion = { "type": "tag", 
/**
 * Without `#`.
 */
tag: string, } | { "type": "value", 
/**
 * The name of the property; upper and lower case count as the same.
 */
property: string, 
/**
 * The value, or one item of a list; upper and lower case count as the same.
 */
value: string, } | { "type": "broken_link", 
/**
 * Its target.
 */
link: string, };

/**
 * The decision on the changes of one note.
 */
export type NoteDecision = { 
/**
 * The path before the changes.
 */
path: NotePath, 
/**
 * Identifies the decided changes, as [`crate::NoteDiff::seen`] named them. If the changes are
 * different ones by now, nothing is decided.
 */
seen: string, 
/**
 * Applies to all its changes, or to each hunk.
 */
decision: ReviewDecision, };

/**
 * One note of a review.
 */
export type NoteDiff = { 
/**
 * Its path before the changes; for a new note, the future one.
 */
path: NotePath, 
/**
 * The operation that is planned.
 */
kind: ChangeKind, 
/**
 * Where it goes, when it is renamed.
 */
to: NotePath | null, 
/**
 * Rows with the same unit are accepted or rejected together: a move and the links to it.
 */
unit: CallId | null, 
/**
 * Lines added.
 */
added: number, 
/**
 * Lines removed.
 */
removed: number, 
/**
 * The single changes, each with up to three lines around it.
 */
hunks: Array<NoteHunk>, 
/**
 * Names exactly these changes, for the decision on them.
 */
seen: string, 
/**
 * Whether it words rules for the assistant after more was read than the user's own words.
 */
rules: boolean, 
/**
 * Why it could not be applied when it was tried.
 */
problem: string | null, };

/**
 * One changed region.
 */
export type NoteHunk = { 
/**
 * The heading it stands under, if any.
 */
heading: string | null, 
/**
 * Whether it begins among the properties at the top of the note.
 */
properties: boolean, 
/**
 * 1-based first line in the note as it was.
 */
oldStart: number, 
/**
 * 1-based first line in the note as it shall be.
 */
newStart: number, 
/**
 * Context, removed and added lines, top to bottom.
 */
lines: Array<DiffLine>, };

/**
 * The matching lines of one note.
 */
export type NoteLineMatches = { 
/**
 * The note with the lines.
 */
path: NotePath, 
/**
 * The first of its lines.
 */
lines: Array<LineMatch>, };

/**
 * The links of a note; several between the same two are one.
 */
export type NoteLinks = { 
/**
 * The first of those that leave it, in order.
 */
out: Array<NoteOutgoingLink>, 
/**
 * How many there are.
 */
outTotal: number, 
/**
 * The first of those that lead to it, in the order of the files.
 */
back: Array<NoteBacklink>, 
/**
 * How many there are.
 */
backTotal: number, 
/**
 * The line of its properties that cannot be read as such, if there is one: rules by tag or
 * property count the note as private then.
 */
unclearLine: number | null, };

/**
 * Notes in the order of their paths.
 */
export type NoteList = { 
/**
 * The first of them.
 */
notes: Array<NotePath>, 
/**
 * How many there are.
 */
total: number, };

/**
 * The one who chose the note that is open beside the chat.
 */
export type NoteOpener = "user" | "tool" | "unknown";

/**
 * A link that leaves a note.
 */
export type NoteOutgoingLink = { 
/**
 * Its target, as it is written there.
 */
name: string, 
/**
 * The file that it points to; `None` for a broken link.
 */
to: NotePath | null, };

/**
 * A path inside the vault: `/`-separated, no `.` or `..` part, no protected part.
 *
 * Compared as NFC, spelled as given (or as on disk, once the vault has resolved it).
 */
export type NotePath = string;

/**
 * A property of a note, with its values as text.
 */
export type NoteProperty = { 
/**
 * Its name, without quotes.
 */
name: string, 
/**
 * Its value, or the items of its list, without quotes; empty when it has none. Nested lists and
 * maps are text.
 */
values: Array<string>, };

/**
 * The text of a note, with its properties read.
 */
export type NoteText = { 
/**
 * All of it on disk, properties included.
 */
text: string, 
/**
 * The properties, in order; those of frontmatter that is no YAML are read as far as they can be.
 */
properties: Array<NoteProperty>, 
/**
 * Where the text behind the properties begins, as a UTF-16 offset in `text`.
 */
bodyStart: number, };

/**
 * An event with its number; numbers rise by one.
 */
export type NumberedEvent = { 
/**
 * Its place in the sequence; [`AppSnapshot::seq`] counts in the same one.
 */
seq: number, 
/**
 * The event itself.
 */
event: AppEvent, };

/**
 * The treatment of the changes of an answer that is regenerated.
 */
export type OldChanges = "keep" | "undo";

/**
 * The effect of closing the window while the hub is on and there is a tray.
 */
export type OnClose = "ask" | "tray" | "quit";

/**
 * The channel something came through. Trust follows it, never the text.
 */
export type Origin = "window" | "hub_text" | "hub_voice" | "cli" | "unknown";

/**
 * A place in a note that matches what was looked for.
 */
export type Passage = { 
/**
 * The note that holds the passage.
 */
path: NotePath, 
/**
 * The heading the passage stands under, if any.
 */
heading: string | null, 
/**
 * 1-based line of the passage's first line.
 */
line: number, 
/**
 * The passage, plain text of the note.
 */
text: string, 
/**
 * Matches in `text`, as UTF-16 offsets `[start, end)`, ascending.
 */
marks: Array<[number, number]>, 
/**
 * Why it matched.
 */
why: MatchReason, 
/**
 * Whether the passage shows properties as they are written, and no text. Passages that were
 * stored before this field say no.
 */
properties: boolean, };

/**
 * How a pattern is meant.
 */
export type PatternKind = "literal" | "regex";

/**
 * A text that needs approval: an answer to the hub, or a message of it.
 */
export type PendingApproval = { 
/**
 * Its number, by which the user's decision names it; unique in the vault.
 */
number: number, 
/**
 * The text that is sent or processed once it is approved.
 */
text: string, 
/**
 * The rule that holds it back.
 */
why: ApprovalReason, };

/**
 * Prices in thousandths of a US dollar per million tokens, which is billionths of a dollar per
 * token.
 */
export type Price = { 
/**
 * Of the prompt, where it was not cached.
 */
input: number, 
/**
 * Of the answer.
 */
output: number, 
/**
 * Of the part of the prompt that was read from the cache.
 */
cacheRead: number, 
/**
 * Of the part of the prompt that was written to the cache.
 */
cacheWrite: number, };

/**
 * Which rule keeps a note from the model that answers now.
 */
export type PrivateNote = "never" | "local_only";

/**
 * Rules for notes that are kept from models: folders (`Diary`), tags (`#private`), properties
 * (`status: secret`). A key that is not known here is an error, because the notes that it should
 * protect are not known.
 */
export type PrivateSettings = { 
/**
 * Notes that no model sees, nor their names.
 */
never: Array<string>, 
/**
 * Notes that only a model on this computer sees.
 */
local: Array<string>, 
/**
 * Whether the user declares that the provider's server URL is on this computer. Counts only
 * for a loopback address. Saving another provider or URL turns it off.
 */
endpointIsLocal: boolean, };

/**
 * The provider that answers.
 */
export type ProviderKind = "automatic" | "anthropic" | "openai" | "ollama" | "commands";

/**
 * The present provider and model, for the composer and the settings.
 */
export type ProviderStatus = { 
/**
 * Whether a model answers (else Commands).
 */
hasModel: boolean, 
/**
 * The model's id or alias; empty where there is none.
 */
model: string, 
/**
 * Models to choose from, by id: the provider's list once it was tested, else those we know.
 */
models: Array<ModelInfo>, 
/**
 * Its short name ("Haiku", "Commands").
 */
label: string, 
/**
 * Where the key comes from: "environment", "keyring", "file" or nothing. Never the key.
 */
keySource: string | null, 
/**
 * How many keys there are.
 */
keys: number, 
/**
 * The server that an environment variable names, while the settings name none.
 */
envServer: EnvServer | null, 
/**
 * The problem and the remedy.
 */
trouble: UserError | null, 
/**
 * Why the keyring could not be looked into for a key that is in no other place.
 */
keyring: KeyringTrouble | null, 
/**
 * A model server on this computer that could answer, while nobody else does and the user was
 * not asked before.
 */
offer: LocalServer | null, };

/**
 * How the selected provider answered a request for one word.
 */
export type ProviderTestResult = { 
/**
 * Whether it can be used; also `true` when no provider is selected.
 */
ok: boolean, 
/**
 * The provider's answer or the problem.
 */
message: string, 
/**
 * Why its models are not listed; `None` where they are, or where it has no list.
 */
unlisted: string | null, };

/**
 * The waiting state of a conversation: it survives restarts, for as long as it takes.
 */
export type Question = { 
/**
 * Its id, which an answer names.
 */
id: QuestionId, 
/**
 * Where it was asked.
 */
conversation: ConversationId, 
/**
 * The turn that ended by asking.
 */
turn: TurnId, 
/**
 * The call that asked.
 */
call: CallId, 
/**
 * The user message that began the turn.
 */
originalMessage: MessageId, 
/**
 * The question, as shown.
 */
text: string, 
/**
 * Ready answers; may be empty.
 */
options: Array<string>, 
/**
 * Tool calls done in the turn before it asked.
 */
toolCallsCompleted: number, 
/**
 * When the turn ended by asking.
 */
askedAt: Timestamp, };

/**
 * An open or closed question to the user.
 */
export type QuestionId = string;

/**
 * The result of regenerating an answer.
 */
export type RegenerateOutcome = { "type": "begun" } | { "type": "asks", 
/**
 * Notes that an undo of its changes changes.
 */
changed: number, 
/**
 * Notes for which changes of it wait.
 */
waiting: number, 
/**
 * Whether that undo includes applied changes of an earlier answer.
 */
earlier: boolean, };

/**
 * A message of the user to be answered again.
 */
export type RegenerateRequest = { 
/**
 * The user's message whose answer is replaced.
 */
message: MessageId, 
/**
 * A new version of it; `None` regenerates the answer to the same text, which works only for
 * the last message.
 */
text: string | null, 
/**
 * The treatment of the changes of the old answer; `None` asks if there are any.
 */
old: OldChanges | null, };

/**
 * A broken link that leads to a note now.
 */
export type RepairedLink = { 
/**
 * The note that it leads to.
 */
note: NotePath, 
/**
 * The change set of the repair, to undo it.
 */
changeSet: ChangeSetId, 
/**
 * The notes in which the link was rewritten; none where the note was created.
 */
rewritten: Array<NotePath>, 
/**
 * The notes in which it is broken still, as they cannot be changed.
 */
left: Array<NotePath>, };

/**
 * Whether an interrupted turn continues automatically at the next start.
 */
export type ResumePolicy = "always" | "ask" | "never";

/**
 * Pending changes.
 */
export type Review = { 
/**
 * The change set that a decision names.
 */
id: ChangeSetId, 
/**
 * The conversation it belongs to.
 */
conversation: ConversationId, 
/**
 * The user's message that led to it.
 */
request: string, 
/**
 * One diff a note, in the order they were planned.
 */
notes: Array<NoteDiff>, 
/**
 * The hub and the notes of which something was read before they were planned.
 */
sources: Array<Source>, };

/**
 * A decision on the changes of one note.
 */
export type ReviewDecision = { "type": "accept" } | { "type": "reject" } | { "type": "hunks", 
/**
 * One entry for each of [`crate::NoteDiff::hunks`], in their order.
 */
hunks: Array<HunkDecision>, };

/**
 * The result of saving an answer as a note.
 */
export type SavedAnswer = { "type": "saved", 
/**
 * The new note, with its extension.
 */
path: NotePath, 
/**
 * The set that made it: to undo that takes the note away.
 */
changeSet: ChangeSetId, } | { "type": "taken", 
/**
 * The existing note.
 */
path: NotePath, 
/**
 * A name like it that is free, without `.md`.
 */
free: string, };

/**
 * The user's message, and where it belongs.
 */
export type SendMessageRequest = { 
/**
 * Where; `None` begins a new conversation.
 */
conversation: ConversationId | null, 
/**
 * The words to send, Markdown.
 */
text: string, 
/**
 * The question they answer; `None` while one is open means "not an answer".
 */
answers: QuestionId | null, 
/**
 * The open note that is sent with them. Without it nothing of the open note reaches a model.
 */
openNote: NotePath | null, };

/**
 * All settings, as in `config.toml`. Keys are never among them.
 */
export type Settings = { 
/**
 * The treatment of planned changes.
 */
mode: Mode, 
/**
 * The provider that answers.
 */
provider: ProviderKind, 
/**
 * The model's id or alias; empty means the provider's default.
 */
model: string, 
/**
 * The provider's server URL; empty means its default.
 */
baseUrl: string, 
/**
 * Whether an interrupted turn continues automatically at the next start.
 */
resume: ResumePolicy, 
/**
 * How several keys are used.
 */
keyPolicy: KeyPolicy, 
/**
 * Whether the offer of a model server on this computer was answered; it is made once.
 */
localOfferAnswered: boolean, 
/**
 * The user's corrections of model data: windows, limits, prices.
 */
models: Array<ModelInfo>, 
/**
 * How models are asked, each one at most once.
 */
parameters: Array<ModelParameters>, 
/**
 * How the notes are organised, in the user's words; the model is told.
 */
organisation: string, 
/**
 * The spending limits.
 */
spending: SpendingSettings, 
/**
 * How earlier messages are summarized.
 */
compaction: CompactionSettings, 
/**
 * The source of titles of conversations.
 */
titles: TitleSource, 
/**
 * The look.
 */
theme: Theme, 
/**
 * The language of the window, the tray and notifications.
 */
language: Language, 
/**
 * The hub link.
 */
hub: HubSettings, 
/**
 * The desktop around the window.
 */
desktop: DesktopSettings, 
/**
 * Rules for notes that are kept from models.
 */
private: PrivateSettings, 
/**
 * Whether links to notes inside the vault are read through. They are never written through.
 */
followLinks: boolean, 
/**
 * Additional folders, which are read as if they were in the vault.
 */
extraRoots: Array<ExtraRoot>, };

/**
 * Which settings count from now on, where the settings file does not.
 */
export type SettingsChoice = "file" | "last_good" | "defaults";

/**
 * Why the settings file does not count. No model is asked until it is whole again or the user has decided.
 */
export type SettingsProblem = { 
/**
 * The message, with what to do, in English.
 */
message: string, 
/**
 * The same as an entry of the catalog.
 */
text?: CatalogText, 
/**
 * The choices of the user.
 */
choices: Array<SettingsChoice>, };

/**
 * Where it comes from. As text: `user`, `hub`, `note:PATH`, `hints:PATH`,
 * `tool:NAME`, `vault`, `foreign`.
 */
export type Source = string;

/**
 * The spending limits for models, in US cents; 0 is no limit.
 */
export type SpendingSettings = { 
/**
 * The cost at which a turn ends; the user may continue.
 */
turnCents: number, 
/**
 * The cost of a month at which no model is asked until the next month.
 */
monthCents: number, 
/**
 * No model is asked at all.
 */
paused: boolean, };

/**
 * The value of a placeholder in a text.
 */
export type TextArg = string | CatalogText;

/**
 * Lines to look for.
 */
export type TextSearch = { 
/**
 * The text or the expression.
 */
pattern: string, 
/**
 * Which of both.
 */
meaning: PatternKind, 
/**
 * Whether `a` and `A` differ.
 */
caseSensitive: boolean, };

/**
 * Light, dark or as the system.
 */
export type Theme = "system" | "light" | "dark";

/**
 * Milliseconds since 1970-01-01T00:00:00Z.
 */
export type Timestamp = number;

/**
 * The source of the title and summary of a conversation that the user has given no name.
 */
export type TitleSource = "model" | "words";

/**
 * Where the token for the hub comes from.
 */
export type TokenStatus = { 
/**
 * "environment", "keyring", "file" or nothing. Never the token.
 */
source: string | null, 
/**
 * Why the keyring could not be looked into for a token that is in no other place.
 */
keyring: KeyringTrouble | null, };

/**
 * Tokens, as the provider reported them; zero where it did not. Of an answer that was stopped or broke
 * off, those that are not reported are estimated.
 */
export type TokenUsage = { 
/**
 * Tokens of the prompt that were not cached.
 */
input: number, 
/**
 * Tokens of the answer.
 */
output: number, 
/**
 * Tokens of the prompt read from the cache.
 */
cacheRead: number, 
/**
 * Tokens of the prompt written to the cache.
 */
cacheWrite: number, };

/**
 * A closed set: the window knows every one.
 */
export type ToolEvent = { "type": "read", 
/**
 * The note, as spelled on disk.
 */
path: NotePath, } | { "type": "open_note", 
/**
 * The note to show.
 */
path: NotePath, 
/**
 * The line to bring into view, counted from 1; `None` is the top.
 */
line: number | null, } | { "type": "show_changes", 
/**
 * Those that this conversation led to; `None` for all.
 */
conversation: ConversationId | null, } | { "type": "question_asked", 
/**
 * The question, in Markdown.
 */
question: string, } | { "type": "conversation_ended", 
/**
 * Why, in the assistant's words.
 */
reason: string | null, } | { "type": "searched", 
/**
 * The query, as the model wrote it.
 */
query: string, 
/**
 * How many hits or entries there were.
 */
hits: number, } | { "type": "passages", 
/**
 * The query, as the model wrote it.
 */
query: string, 
/**
 * The passages shown.
 */
passages: Array<Passage>, 
/**
 * How many there were in all.
 */
total: number, } | { "type": "changed", 
/**
 * The note, or the future path of a new one.
 */
path: NotePath, 
/**
 * Whether the note is new.
 */
created: boolean, 
/**
 * Lines added.
 */
added: number, 
/**
 * Lines removed.
 */
removed: number, 
/**
 * Whether it is pending.
 */
waiting: boolean, } | { "type": "moved", 
/**
 * The path before the move.
 */
path: NotePath, 
/**
 * The path after it.
 */
to: NotePath, 
/**
 * Whether it is pending.
 */
waiting: boolean, } | { "type": "trashed", 
/**
 * The note or folder to trash.
 */
path: NotePath, 
/**
 * Whether it is pending.
 */
waiting: boolean, } | { "type": "folder_made", 
/**
 * The path of the new folder.
 */
path: NotePath, 
/**
 * Whether it is pending.
 */
waiting: boolean, };

/**
 * Why not all is shown.
 */
export type TruncationReason = "length" | "time";

/**
 * The cost of all requests of one turn.
 */
export type TurnCost = { 
/**
 * The turn that the requests belong to.
 */
turn: TurnId, 
/**
 * Its last words, if it said any.
 */
answer: MessageId | null, 
/**
 * The sum over its requests, also those that were cut or sent again.
 */
spent: ModelCost, };

/**
 * One run of the model from a user message to a terminal status.
 */
export type TurnId = string;

/**
 * Where a turn stands. Everything after `Running` is terminal.
 */
export type TurnStatus = "queued" | "running" | "done" | "asked" | "limit" | "cancelled" | "failed" | "interrupted";

/**
 * The request of the user that led to a question, and that an answer completes.
 */
export type UndoAction = "undo" | "redo" | "reapply";

/**
 * A note that may be the one that a change is about.
 */
export type UndoCandidate = { 
/**
 * Its present path.
 */
path: NotePath, 
/**
 * Which file it is, whatever has its path when the user answers.
 */
file: FileId, };

/**
 * A change that could not be undone, redone or reapplied whole.
 */
export type UndoConflict = { 
/**
 * The request that met the conflict.
 */
action: UndoAction, 
/**
 * The change.
 */
effect: EffectId, 
/**
 * The change in the list of applied changes that the conflict belongs to: `effect`, unless that is of an undo or a
 * redo. Those are not listed, so it is then a change that they undid or made again.
 */
listed: EffectId, 
/**
 * Where the note is now, or was last.
 */
path: NotePath, 
/**
 * The hunks of the change that the answer completes, by their place in [`AppliedHunks`]; empty for all
 * that is left of the change.
 */
hunks: Array<number>, 
/**
 * The bytes of the note that the places are of; `None` when the note is gone. An answer about a note
 * that has other bytes by then is refused.
 */
shown: ContentHash | null, 
/**
 * The reason and the remedy.
 */
why: string, 
/**
 * The places, each with both versions.
 */
places: Array<ConflictingLines>, 
/**
 * Notes that may be the one that was changed, where that is not certain; the likeliest first. The
 * user says which it is with [`UndoTarget`].
 */
candidates: Array<UndoCandidate>, };

/**
 * The result of undoing or reapplying changes.
 */
export type UndoResult = { 
/**
 * The set that did it: to undo that set is to redo. `None` when nothing changed.
 */
changeSet: ChangeSetId | null, 
/**
 * The notes and folders that it changed, by their paths afterwards.
 */
changed: Array<NotePath>, 
/**
 * Changes that could not be undone without a guess: the notes are as they were in these
 * places.
 */
conflicts: Array<UndoConflict>, 
/**
 * How many notes were left as they were because the user stopped it, or because one that
 * belongs to them could not be changed.
 */
left: number, };

/**
 * The changes to undo.
 */
export type UndoScope = { "type": "effect", 
/**
 * The change, by its id in the ledger.
 */
effect: EffectId, 
/**
 * Its hunks, by their place in [`AppliedHunks`]; empty for the whole change.
 */
hunks: Array<number>, } | { "type": "change_set", 
/**
 * As [`AppliedSet::id`] named it.
 */
changeSet: ChangeSetId, } | { "type": "turn", 
/**
 * The turn whose sets are undone.
 */
turn: TurnId, } | { "type": "conversation", 
/**
 * The conversation whose sets are undone.
 */
conversation: ConversationId, };

/**
 * The user says which note a change is about, where others moved or replaced it unseen.
 */
export type UndoTarget = { 
/**
 * The request that asked for the note.
 */
action: UndoAction, 
/**
 * The change.
 */
effect: EffectId, 
/**
 * The hunks that were asked for, as the question names them in [`UndoConflict`].
 */
hunks: Array<number>, 
/**
 * The note that was shown. If another file has its path by now, nothing is changed, and the user is
 * asked again.
 */
note: UndoCandidate, };

/**
 * The outcome of asking the user to unlock the keyring.
 */
export type Unlocking = "unlocked" | "dismissed" | "unavailable";

/**
 * A text for the user, with a code where the window acts on it.
 */
export type UserError = { 
/**
 * The action that the window may offer.
 */
code: ErrorCode, 
/**
 * The failure with its cause, and what to do, in English.
 */
message: string, 
/**
 * The same as an entry of the catalog, for the language of the user; none where no catalog has the text.
 */
text?: CatalogText, };

/**
 * A vault on this device: a copy of it, and the same vault on another device, has another one.
 */
export type VaultId = string;

/**
 * The open vault.
 */
export type VaultInfo = { 
/**
 * Which vault: what is shown of it counts for no other.
 */
id: VaultId, 
/**
 * The folder's name.
 */
name: string, 
/**
 * Its whole path, as the user knows it.
 */
folder: string, 
/**
 * The number of notes when they were last counted; the count may lag behind changes.
 */
notes: number, 
/**
 * Whether it takes writes.
 */
writable: boolean, 
/**
 * Whether it is the sample that came with the app.
 */
sample: boolean, 
/**
 * The present problem and the remedy.
 */
trouble: UserError | null, 
/**
 * How far the index is while it is being built; `None` when it stands, or cannot.
 */
indexing: IndexProgress | null, 
/**
 * Rises when notes changed: what was looked up before may stand differently.
 */
revision: number, };

/**
 * One of the seven days, for a title that each language words itself.
 */
export type Weekday = "monday" | "tuesday" | "wednesday" | "thursday" | "friday" | "saturday" | "sunday";

/**
 * The IPC calls of the window. Each may be refused with a `UserError`, thrown as it is.
 */
export interface IpcCalls {
  /**
   * Everything the chat shows of one conversation. Of a long one only its end, unless the
   * whole of it is requested; `earlier` counts the rest.
   */
  openConversation(conversation: ConversationId, whole: boolean): Promise<ConversationView>;
  /**
   * Stores the message durably, then resolves with the conversation it went to. It is
   * refused while another vault is open than the one it was written in.
   */
  sendMessage(request: SendMessageRequest, vault: VaultId | null): Promise<ConversationId>;
  /**
   * Stops the running turn.
   */
  stop(conversation: ConversationId): Promise<void>;
  /**
   * Goes on after a limit, a failure or an interruption.
   */
  continueTurn(conversation: ConversationId): Promise<void>;
  /**
   * Replaces the text of a queued message.
   */
  editQueued(message: MessageId, text: string): Promise<void>;
  /**
   * Removes a queued message: no model gets it.
   */
  removeQueued(message: MessageId): Promise<void>;
  /**
   * Regenerates the answer to a message, in a branch of its own. Asks first about the
   * changes of the old answer.
   */
  regenerate(request: RegenerateRequest): Promise<RegenerateOutcome>;
  /**
   * Shows the conversation as it continued from another version of a message, counted from 1.
   */
  showVariant(message: MessageId, number: number): Promise<void>;
  /**
   * Leaves the turn as it is; messages that were queued behind it run then.
   */
  dismissInterruptedTurn(turn: TurnId): Promise<void>;
  /**
   * The cost of each turn; turns without a model are omitted.
   */
  conversationCosts(conversation: ConversationId): Promise<Array<TurnCost>>;
  /**
   * Replaces the earlier messages by a summary in what a model gets from now on.
   */
  compactConversation(conversation: ConversationId): Promise<void>;
  /**
   * Applies and rejects pending changes; resolves when the files are written.
   */
  decideReview(request: DecideReview): Promise<void>;
  /**
   * Everything the chat shows of the version that contains a turn.
   */
  openConversationAt(conversation: ConversationId, turn: TurnId): Promise<ConversationView>;
  /**
   * A page of the list, newest first.
   */
  listConversations(request: ListConversations): Promise<ConversationPage>;
  /**
   * Searches titles, messages and changes; newest first.
   */
  searchConversations(query: string): Promise<ConversationHits>;
  /**
   * Gives it a title, which no generated one replaces.
   */
  renameConversation(conversation: ConversationId, name: string): Promise<void>;
  /**
   * Archives or unarchives it.
   */
  setArchiveState(conversation: ConversationId, archiveState: ArchiveState): Promise<void>;
  /**
   * Ends it; writing in it reopens it.
   */
  endConversation(conversation: ConversationId): Promise<void>;
  /**
   * Deletes it; for a while it can be restored.
   */
  deleteConversation(conversation: ConversationId): Promise<void>;
  /**
   * Undoes its deletion.
   */
  restoreConversation(conversation: ConversationId): Promise<void>;
  /**
   * Exports one conversation, or all, to a file that the user chooses; `name` is
   * proposed. `null` when the user cancels.
   */
  exportConversations(conversation: ConversationId | null, format: ExportFormat, name: string): Promise<Exported | null>;
  /**
   * How many there are, and how many deleted ones can be restored.
   */
  conversationCounts(): Promise<ConversationCounts>;
  /**
   * Deletes all but those with a turn that runs, and counts what is left; for a while
   * they can be restored.
   */
  deleteConversations(): Promise<ConversationCounts>;
  /**
   * Restores all that can be restored; returns the first page of the list.
   */
  restoreConversations(): Promise<ConversationPage>;
  /**
   * A page of applied changes, newest first.
   */
  listApplied(request: ListApplied): Promise<AppliedPage>;
  /**
   * The effect of an applied change inside its note.
   */
  appliedHunks(effect: EffectId): Promise<AppliedHunks>;
  /**
   * The changes in the note since an applied change of it, wherever the note is now.
   */
  diffSince(effect: EffectId): Promise<ChangedSince>;
  /**
   * The lines of a note that stand as the assistant left them, and the text that they
   * are of.
   */
  assistantLines(path: NotePath): Promise<NoteAttribution>;
  /**
   * Undoes changes, as far as that needs no guess; resolves when the files are written.
   */
  undo(scope: UndoScope): Promise<UndoResult>;
  /**
   * Redoes these changes, as far as they were undone.
   */
  redo(scope: UndoScope): Promise<UndoResult>;
  /**
   * Reapplies a change that another program has overwritten.
   */
  reapply(effect: EffectId): Promise<UndoResult>;
  /**
   * Writes `back` in each place of the conflict where `now` still stands, and so
   * completes its request.
   */
  resolveConflict(conflict: UndoConflict): Promise<UndoResult>;
  /**
   * Undoes, redoes or reapplies a change in the note that the user says it is about.
   */
  undoInNote(identified: UndoTarget): Promise<UndoResult>;
  /**
   * Stops a job of `jobs_changed` between two of its steps.
   */
  stopJob(work: number): Promise<void>;
  /**
   * The size of the stored history, and how much would be lost by age.
   */
  history(): Promise<HistoryStats>;
  /**
   * Deletes the history of an age; resolves when nothing of it is left.
   */
  deleteHistory(age: HistoryAge): Promise<DeletedHistory>;
  /**
   * Shows a note beside the chat; it is then the active note that a model may be told
   * of. Only a note that the user chose counts as named by the messages that it is sent
   * with.
   */
  showNote(path: string, by: NoteOpener): Promise<NoteContent>;
  /**
   * No note is shown any more.
   */
  closeNote(): Promise<void>;
  /**
   * Reports the text that is selected in the shown note, and the heading above it.
   */
  selectInNote(path: NotePath, selected: string, heading: string | null): Promise<void>;
  /**
   * Writes an answer as a new note with this name, unless the name is taken.
   */
  saveAnswer(answer: MessageId, name: string): Promise<SavedAnswer>;
  /**
   * Opens a note with the program that the user has for such files.
   */
  openInEditor(path: NotePath): Promise<void>;
  /**
   * Opens a note in Obsidian, which must be installed.
   */
  openInObsidian(path: NotePath): Promise<void>;
  /**
   * Opens the image that `link` means in a note, or in an answer, with the program that
   * the user has for such files.
   */
  openImage(link: string, note: NotePath | null): Promise<void>;
  /**
   * Notes by some letters of their names; without any, those shown lately first.
   */
  findNames(query: string): Promise<NameMatches>;
  /**
   * All notes whose file has this name, in whichever Unicode form.
   */
  notesNamed(fileName: string): Promise<Array<NameMatch>>;
  /**
   * Lines that match. Refused with code `pattern` when it is no regular expression.
   */
  searchText(request: TextSearch): Promise<LineMatches>;
  /**
   * The links of a note, both ways. `null` until the index stands.
   */
  noteLinks(path: NotePath): Promise<NoteLinks | null>;
  /**
   * The rule that keeps a note from the model that answers now; `null` where it may see
   * the note, and where no model answers.
   */
  privateNote(path: NotePath): Promise<PrivateNote | null>;
  /**
   * The same for folders, tags and conversations, in their order.
   */
  privateMentions(mentions: Array<MentionTarget>): Promise<Array<PrivateNote | null>>;
  /**
   * Targets of broken links that contain `query`. `null` until the index stands.
   */
  unresolvedLinks(query: string): Promise<CountedValues | null>;
  /**
   * The repairs on offer for links to this name, which does not exist. `null` until the
   * index stands.
   */
  linkRepairs(link: string): Promise<LinkRepairs | null>;
  /**
   * Creates the note that a broken link names.
   */
  createLinkedNote(link: string): Promise<RepairedLink>;
  /**
   * Has every link with this name, which does not exist, lead to a note.
   */
  replaceBrokenLink(link: string, note: NotePath): Promise<RepairedLink>;
  /**
   * The broken ones of these links, which are paths as an answer names them. `null`
   * until the index stands.
   */
  brokenLinks(links: Array<string>): Promise<Array<string> | null>;
  /**
   * Tags that contain `query`. `null` until the index stands.
   */
  listTags(query: string): Promise<CountedValues | null>;
  /**
   * Names of properties that contain `query`. `null` until the index stands.
   */
  listProperties(query: string): Promise<CountedValues | null>;
  /**
   * Values of one property that contain `query`. `null` until the index stands.
   */
  propertyValues(property: string, query: string): Promise<CountedValues | null>;
  /**
   * Notes that have something in common. `null` until the index stands.
   */
  notesMatching(having: NoteCriterion): Promise<NoteList | null>;
  /**
   * Open tasks that contain a text. `null` until the index stands.
   */
  listTasks(query: string): Promise<LineMatches | null>;
  /**
   * The text of a note to look at; the shown note stays the same.
   */
  readNote(path: NotePath): Promise<NoteContent>;
  /**
   * Saves the differences between the two: other changes made meanwhile stay. Each takes
   * effect at once. Returns the settings that hold then.
   */
  saveSettings(settings: Settings, before: Settings): Promise<Settings>;
  /**
   * Decides which settings count while their file does not.
   */
  recoverSettings(choice: SettingsChoice): Promise<void>;
  /**
   * Has the provider try a key, which is not stored.
   */
  tryKey(key: string): Promise<KeyTrial>;
  /**
   * Stores a key; an empty one removes it. Refused with code `key` where there is no
   * keyring: then the user may choose the file.
   */
  setKey(key: string, place: KeyStorage): Promise<void>;
  /**
   * Asks the provider for one word.
   */
  testProvider(): Promise<ProviderTestResult>;
  /**
   * Has the system ask the user to unlock the keyring, and reads it again; the feed
   * brings the result. Resolves when the user has answered, or after `stopUnlocking`.
   */
  unlockKeyring(): Promise<Unlocking>;
  /**
   * Withdraws that question.
   */
  stopUnlocking(): Promise<void>;
  /**
   * The cost of the latest months, newest first.
   */
  monthlyCosts(): Promise<Array<MonthCost>>;
  /**
   * Connects again after the hub refused the connection.
   */
  retryHub(): Promise<void>;
  /**
   * Where the token comes from that the hub is shown.
   */
  hubTokenSource(): Promise<TokenStatus>;
  /**
   * Stores that token and connects again; an empty one removes it. Refused as `setKey`.
   */
  setHubToken(token: string, place: KeyStorage): Promise<void>;
  /**
   * Sends an answer that needs approval to the hub, or discards it.
   */
  decideApproval(number: number, decision: ApprovalDecision): Promise<void>;
  /**
   * Has a model write a description for the hub from how the notes are organized. It is
   * not saved; `null` when it was stopped.
   */
  writeDescription(organisation: string): Promise<string | null>;
  /**
   * Stops the model that writes the description.
   */
  stopDescription(): Promise<void>;
  /**
   * Lets the user choose a folder in a dialog of the system and opens it as the vault;
   * `false` when the user cancels. The feed brings `vault_changed`, and the window
   * subscribes again.
   */
  chooseVault(): Promise<boolean>;
  /**
   * The same for an additional folder; the feed then brings `settings_changed`.
   */
  addExtraRoot(): Promise<boolean>;
  /**
   * Opens a writable copy of the sample vault.
   */
  openSample(): Promise<void>;
  /**
   * Says which conversation the window shows: the desktop does not notify about it.
   */
  setWindowFocus(conversation: ConversationId | null): Promise<void>;
  /**
   * The tray icon and the start at login as they are now.
   */
  desktopState(): Promise<DesktopState>;
  /**
   * Starts the program at login, or not; returns the state after that.
   */
  setAutostart(atLogin: AutostartMode): Promise<DesktopState>;
  /**
   * Decides what closing the window does, now and later; `ask` leaves it open this time.
   */
  answerCloseRequest(answer: OnClose): Promise<void>;
}

/**
 * Calls a command with its arguments by name.
 */
type Invoke = <T>(command: string, request: Record<string, unknown>) => Promise<T>;

/**
 * The client. `invokeInVault` adds the id of the vault that the window shows to a request.
 */
export function ipcCalls(invoke: Invoke, invokeInVault: Invoke): IpcCalls {
  return {
    openConversation: (conversation, whole) => invokeInVault('open_conversation', { conversation, whole }),
    sendMessage: (request, vault) => invoke('send_message', { request, vault }),
    stop: (conversation) => invokeInVault('stop', { conversation }),
    continueTurn: (conversation) => invokeInVault('continue_turn', { conversation }),
    editQueued: (message, text) => invokeInVault('edit_queued', { message, text }),
    removeQueued: (message) => invokeInVault('remove_queued', { message }),
    regenerate: (request) => invokeInVault('regenerate', { request }),
    showVariant: (message, number) => invokeInVault('show_variant', { message, number }),
    dismissInterruptedTurn: (turn) => invokeInVault('dismiss_interrupted_turn', { turn }),
    conversationCosts: (conversation) => invokeInVault('conversation_costs', { conversation }),
    compactConversation: (conversation) => invokeInVault('compact_conversation', { conversation }),
    decideReview: (request) => invokeInVault('decide_review', { request }),
    openConversationAt: (conversation, turn) => invokeInVault('open_conversation_at', { conversation, turn }),
    listConversations: (request) => invokeInVault('list_conversations', { request }),
    searchConversations: (query) => invokeInVault('search_conversations', { query }),
    renameConversation: (conversation, name) => invokeInVault('rename_conversation', { conversation, name }),
    setArchiveState: (conversation, archiveState) => invokeInVault('set_archive_state', { conversation, archiveState }),
    endConversation: (conversation) => invokeInVault('end_conversation', { conversation }),
    deleteConversation: (conversation) => invokeInVault('delete_conversation', { conversation }),
    restoreConversation: (conversation) => invokeInVault('restore_conversation', { conversation }),
    exportConversations: (conversation, format, name) => invokeInVault('export_conversations', { conversation, format, name }),
    conversationCounts: () => invokeInVault('conversation_counts', {}),
    deleteConversations: () => invokeInVault('delete_conversations', {}),
    restoreConversations: () => invokeInVault('restore_conversations', {}),
    listApplied: (request) => invokeInVault('list_applied', { request }),
    appliedHunks: (effect) => invokeInVault('applied_hunks', { effect }),
    diffSince: (effect) => invokeInVault('diff_since', { effect }),
    assistantLines: (path) => invokeInVault('assistant_lines', { path }),
    undo: (scope) => invokeInVault('undo', { scope }),
    redo: (scope) => invokeInVault('redo', { scope }),
    reapply: (effect) => invokeInVault('reapply', { effect }),
    resolveConflict: (conflict) => invokeInVault('resolve_conflict', { conflict }),
    undoInNote: (identified) => invokeInVault('undo_in_note', { identified }),
    stopJob: (work) => invoke('stop_job', { work }),
    history: () => invokeInVault('history', {}),
    deleteHistory: (age) => invokeInVault('delete_history', { age }),
    showNote: (path, by) => invokeInVault('show_note', { path, by }),
    closeNote: () => invokeInVault('close_note', {}),
    selectInNote: (path, selected, heading) => invokeInVault('select_in_note', { path, selected, heading }),
    saveAnswer: (answer, name) => invokeInVault('save_answer', { answer, name }),
    openInEditor: (path) => invokeInVault('open_in_editor', { path }),
    openInObsidian: (path) => invokeInVault('open_in_obsidian', { path }),
    openImage: (link, note) => invokeInVault('open_image', { link, note }),
    findNames: (query) => invokeInVault('find_names', { query }),
    notesNamed: (fileName) => invokeInVault('notes_named', { fileName }),
    searchText: (request) => invokeInVault('search_text', { request }),
    noteLinks: (path) => invokeInVault('note_links', { path }),
    privateNote: (path) => invokeInVault('private_note', { path }),
    privateMentions: (mentions) => invokeInVault('private_mentions', { mentions }),
    unresolvedLinks: (query) => invokeInVault('unresolved_links', { query }),
    linkRepairs: (link) => invokeInVault('link_repairs', { link }),
    createLinkedNote: (link) => invokeInVault('create_linked_note', { link }),
    replaceBrokenLink: (link, note) => invokeInVault('replace_broken_link', { link, note }),
    brokenLinks: (links) => invokeInVault('broken_links', { links }),
    listTags: (query) => invokeInVault('list_tags', { query }),
    listProperties: (query) => invokeInVault('list_properties', { query }),
    propertyValues: (property, query) => invokeInVault('property_values', { property, query }),
    notesMatching: (having) => invokeInVault('notes_matching', { having }),
    listTasks: (query) => invokeInVault('list_tasks', { query }),
    readNote: (path) => invokeInVault('read_note', { path }),
    saveSettings: (settings, before) => invoke('save_settings', { settings, before }),
    recoverSettings: (choice) => invoke('recover_settings', { choice }),
    tryKey: (key) => invoke('try_key', { key }),
    setKey: (key, place) => invoke('set_key', { key, place }),
    testProvider: () => invoke('test_provider', {}),
    unlockKeyring: () => invoke('unlock_keyring', {}),
    stopUnlocking: () => invoke('stop_unlocking', {}),
    monthlyCosts: () => invokeInVault('monthly_costs', {}),
    retryHub: () => invokeInVault('retry_hub', {}),
    hubTokenSource: () => invoke('hub_token_source', {}),
    setHubToken: (token, place) => invoke('set_hub_token', { token, place }),
    decideApproval: (number, decision) => invokeInVault('decide_approval', { number, decision }),
    writeDescription: (organisation) => invokeInVault('write_description', { organisation }),
    stopDescription: () => invoke('stop_description', {}),
    chooseVault: () => invoke('choose_vault', {}),
    addExtraRoot: () => invoke('add_extra_root', {}),
    openSample: () => invoke('open_sample', {}),
    setWindowFocus: (conversation) => invoke('set_window_focus', { conversation }),
    desktopState: () => invoke('desktop_state', {}),
    setAutostart: (atLogin) => invoke('set_autostart', { atLogin }),
    answerCloseRequest: (answer) => invoke('answer_close_request', { answer }),
  };
}

/**
 * The settings before the user changes any.
 */
export const defaultSettings: Settings = {
  "mode": "review",
  "provider": "automatic",
  "model": "",
  "baseUrl": "",
  "resume": "ask",
  "keyPolicy": "failover",
  "localOfferAnswered": false,
  "models": [],
  "parameters": [],
  "organisation": "",
  "spending": {
    "turnCents": 50,
    "monthCents": 2000,
    "paused": false
  },
  "compaction": {
    "model": "",
    "prompt": ""
  },
  "titles": "model",
  "theme": "system",
  "language": "system",
  "hub": {
    "enabled": false,
    "address": "ws://127.0.0.1:9473",
    "name": "Notes",
    "description": "Keeps my notes: remembers things, adds to lists, answers from notes.",
    "notes": [],
    "inboxNote": "inbox/Inbox.md"
  },
  "desktop": {
    "notifications": true,
    "onClose": "ask"
  },
  "private": {
    "never": [],
    "local": [],
    "endpointIsLocal": false
  },
  "followLinks": false,
  "extraRoots": []
};
