/// Every IPC call of the window. The invoke handler, the permissions, the capability of the window, and the
/// TypeScript interface and client are made from this list; a test compares the commands with it.
///
/// An entry has a scope, and a command in the module of `src-tauri/src/commands` under whose name it stands:
///
/// - `app`: about the whole application, whichever vault is open.
/// - `vault`: about the vault that the window shows. The call is refused while another one is open.
/// - `named_vault`: the same about a vault that the caller names in a last argument.
/// - `feed`: opens a channel, which only the desktop window has. Its client is written by hand.
///
/// Each call may be refused with a `UserError`. The documentation of an entry goes to the interface.
macro_rules! ipc_calls {
    ($generate:ident) => {
        $generate! {
            types {
                use protocol::changes::history::{
                    AppliedHunks, AppliedPage, ChangedSince, ListApplied, NoteAttribution,
                    UndoConflict, UndoResult, UndoScope, UndoTarget,
                };
                use protocol::changes::retention::{DeletedHistory, HistoryAge, HistoryStats};
                use protocol::chat::conversation::ConversationView;
                use protocol::chat::conversation_list::{
                    ArchiveState, ConversationCounts, ConversationHits, ConversationPage,
                    ListConversations,
                };
                use protocol::chat::cost::{MonthCost, TurnCost};
                use protocol::chat::export::{ExportFormat, Exported};
                use protocol::desktop::{AutostartMode, DesktopState, OnClose};
                use protocol::hub::approval::ApprovalDecision;
                use protocol::notes::query::{
                    CountedValues, LineMatches, LinkRepairs, MentionTarget, NameMatch, NameMatches,
                    NoteCriterion, NoteLinks, NoteList, PrivateNote, RepairedLink, TextSearch,
                };
                use protocol::request::{
                    DecideReview, KeyStorage, KeyTrial, NoteContent, ProviderTestResult,
                    RegenerateOutcome, RegenerateRequest, SavedAnswer, SendMessageRequest,
                    TokenStatus, Unlocking,
                };
                use protocol::{
                    AppSnapshot, ConversationId, EffectId, MessageId, NoteOpener, NotePath,
                    Settings, SettingsChoice, TurnId,
                };
            }

            chat {
                /// Opens the feed. The snapshot already contains the events with a number up to `snapshot.seq`.
                feed subscribe() -> AppSnapshot;
                /// Everything the chat shows of one conversation. Of a long one only its end, unless the
                /// whole of it is requested; `earlier` counts the rest.
                vault open_conversation(
                    conversation: ConversationId,
                    whole: bool,
                ) -> ConversationView;
                /// Stores the message durably, then resolves with the conversation it went to. It is
                /// refused while another vault is open than the one it was written in.
                named_vault send_message(request: SendMessageRequest) -> ConversationId;
                /// Stops the running turn.
                vault stop(conversation: ConversationId) -> ();
                /// Goes on after a limit, a failure or an interruption.
                vault continue_turn(conversation: ConversationId) -> ();
                /// Replaces the text of a queued message.
                vault edit_queued(message: MessageId, text: String) -> ();
                /// Removes a queued message: no model gets it.
                vault remove_queued(message: MessageId) -> ();
                /// Regenerates the answer to a message, in a branch of its own. Asks first about the
                /// changes of the old answer.
                vault regenerate(request: RegenerateRequest) -> RegenerateOutcome;
                /// Shows the conversation as it continued from another version of a message, counted from 1.
                vault show_variant(message: MessageId, number: u32) -> ();
                /// Leaves the turn as it is; messages that were queued behind it run then.
                vault dismiss_interrupted_turn(turn: TurnId) -> ();
                /// The cost of each turn; turns without a model are omitted.
                vault conversation_costs(conversation: ConversationId) -> Vec<TurnCost>;
                /// Replaces the earlier messages by a summary in what a model gets from now on.
                vault compact_conversation(conversation: ConversationId) -> ();
                /// Applies and rejects pending changes; resolves when the files are written.
                vault decide_review(request: DecideReview) -> ();
            }

            conversations {
                /// Everything the chat shows of the version that contains a turn.
                vault open_conversation_at(
                    conversation: ConversationId,
                    turn: TurnId,
                ) -> ConversationView;
                /// A page of the list, newest first.
                vault list_conversations(request: ListConversations) -> ConversationPage;
                /// Searches titles, messages and changes; newest first.
                vault search_conversations(query: String) -> ConversationHits;
                /// Gives it a title, which no generated one replaces.
                vault rename_conversation(conversation: ConversationId, name: String) -> ();
                /// Archives or unarchives it.
                vault set_archive_state(
                    conversation: ConversationId,
                    archive_state: ArchiveState,
                ) -> ();
                /// Ends it; writing in it reopens it.
                vault end_conversation(conversation: ConversationId) -> ();
                /// Deletes it; for a while it can be restored.
                vault delete_conversation(conversation: ConversationId) -> ();
                /// Undoes its deletion.
                vault restore_conversation(conversation: ConversationId) -> ();
                /// Exports one conversation, or all, to a file that the user chooses; `name` is
                /// proposed. `null` when the user cancels.
                vault export_conversations(
                    conversation: Option<ConversationId>,
                    format: ExportFormat,
                    name: String,
                ) -> Option<Exported>;
                /// How many there are, and how many deleted ones can be restored.
                vault conversation_counts() -> ConversationCounts;
                /// Deletes all but those with a turn that runs, and counts what is left; for a while
                /// they can be restored.
                vault delete_conversations() -> ConversationCounts;
                /// Restores all that can be restored; returns the first page of the list.
                vault restore_conversations() -> ConversationPage;
            }

            changes {
                /// A page of applied changes, newest first.
                vault list_applied(request: ListApplied) -> AppliedPage;
                /// The effect of an applied change inside its note.
                vault applied_hunks(effect: EffectId) -> AppliedHunks;
                /// The changes in the note since an applied change of it, wherever the note is now.
                vault diff_since(effect: EffectId) -> ChangedSince;
                /// The lines of a note that stand as the assistant left them, and the text that they
                /// are of.
                vault assistant_lines(path: NotePath) -> NoteAttribution;
                /// Undoes changes, as far as that needs no guess; resolves when the files are written.
                vault undo(scope: UndoScope) -> UndoResult;
                /// Redoes these changes, as far as they were undone.
                vault redo(scope: UndoScope) -> UndoResult;
                /// Reapplies a change that another program has overwritten.
                vault reapply(effect: EffectId) -> UndoResult;
                /// Writes `back` in each place of the conflict where `now` still stands, and so
                /// completes its request.
                vault resolve_conflict(conflict: UndoConflict) -> UndoResult;
                /// Undoes, redoes or reapplies a change in the note that the user says it is about.
                vault undo_in_note(identified: UndoTarget) -> UndoResult;
                /// Stops a job of `jobs_changed` between two of its steps.
                app stop_job(work: u32) -> ();
                /// The size of the stored history, and how much would be lost by age.
                vault history() -> HistoryStats;
                /// Deletes the history of an age; resolves when nothing of it is left.
                vault delete_history(age: HistoryAge) -> DeletedHistory;
            }

            notes {
                /// Shows a note beside the chat; it is then the active note that a model may be told
                /// of. Only a note that the user chose counts as named by the messages that it is sent
                /// with.
                vault show_note(path: String, by: NoteOpener) -> NoteContent;
                /// No note is shown any more.
                vault close_note() -> ();
                /// Reports the text that is selected in the shown note, and the heading above it.
                vault select_in_note(
                    path: NotePath,
                    selected: String,
                    heading: Option<String>,
                ) -> ();
                /// Writes an answer as a new note with this name, unless the name is taken.
                vault save_answer(answer: MessageId, name: String) -> SavedAnswer;
                /// Opens a note with the program that the user has for such files.
                vault open_in_editor(path: NotePath) -> ();
                /// Opens a note in Obsidian, which must be installed.
                vault open_in_obsidian(path: NotePath) -> ();
                /// Opens the image that `link` means in a note, or in an answer, with the program that
                /// the user has for such files.
                vault open_image(link: String, note: Option<NotePath>) -> ();
            }

            search {
                /// Notes by some letters of their names; without any, those shown lately first.
                vault find_names(query: String) -> NameMatches;
                /// All notes whose file has this name, in whichever Unicode form.
                vault notes_named(file_name: String) -> Vec<NameMatch>;
                /// Lines that match. Refused with code `pattern` when it is no regular expression.
                vault search_text(request: TextSearch) -> LineMatches;
                /// The links of a note, both ways. `null` until the index stands.
                vault note_links(path: NotePath) -> Option<NoteLinks>;
                /// The rule that keeps a note from the model that answers now; `null` where it may see
                /// the note, and where no model answers.
                vault private_note(path: NotePath) -> Option<PrivateNote>;
                /// The same for folders, tags and conversations, in their order.
                vault private_mentions(mentions: Vec<MentionTarget>) -> Vec<Option<PrivateNote>>;
                /// Targets of broken links that contain `query`. `null` until the index stands.
                vault unresolved_links(query: String) -> Option<CountedValues>;
                /// The repairs on offer for links to this name, which does not exist. `null` until the
                /// index stands.
                vault link_repairs(link: String) -> Option<LinkRepairs>;
                /// Creates the note that a broken link names.
                vault create_linked_note(link: String) -> RepairedLink;
                /// Has every link with this name, which does not exist, lead to a note.
                vault replace_broken_link(link: String, note: NotePath) -> RepairedLink;
                /// The broken ones of these links, which are paths as an answer names them. `null`
                /// until the index stands.
                vault broken_links(links: Vec<String>) -> Option<Vec<String>>;
                /// Tags that contain `query`. `null` until the index stands.
                vault list_tags(query: String) -> Option<CountedValues>;
                /// Names of properties that contain `query`. `null` until the index stands.
                vault list_properties(query: String) -> Option<CountedValues>;
                /// Values of one property that contain `query`. `null` until the index stands.
                vault property_values(property: String, query: String) -> Option<CountedValues>;
                /// Notes that have something in common. `null` until the index stands.
                vault notes_matching(having: NoteCriterion) -> Option<NoteList>;
                /// Open tasks that contain a text. `null` until the index stands.
                vault list_tasks(query: String) -> Option<LineMatches>;
                /// The text of a note to look at; the shown note stays the same.
                vault read_note(path: NotePath) -> NoteContent;
            }

            settings {
                /// Saves the differences between the two: other changes made meanwhile stay. Each takes
                /// effect at once. Returns the settings that hold then.
                app save_settings(settings: Settings, before: Settings) -> Settings;
                /// Decides which settings count while their file does not.
                app recover_settings(choice: SettingsChoice) -> ();
                /// Has the provider try a key, which is not stored.
                app try_key(key: String) -> KeyTrial;
                /// Stores a key; an empty one removes it. Refused with code `key` where there is no
                /// keyring: then the user may choose the file.
                app set_key(key: String, place: KeyStorage) -> ();
                /// Asks the provider for one word.
                app test_provider() -> ProviderTestResult;
                /// Has the system ask the user to unlock the keyring, and reads it again; the feed
                /// brings the result. Resolves when the user has answered, or after `stopUnlocking`.
                app unlock_keyring() -> Unlocking;
                /// Withdraws that question.
                app stop_unlocking() -> ();
                /// The cost of the latest months, newest first.
                vault monthly_costs() -> Vec<MonthCost>;
            }

            hub {
                /// Connects again after the hub refused the connection.
                vault retry_hub() -> ();
                /// Where the token comes from that the hub is shown.
                app hub_token_source() -> TokenStatus;
                /// Stores that token and connects again; an empty one removes it. Refused as `setKey`.
                app set_hub_token(token: String, place: KeyStorage) -> ();
                /// Sends an answer that needs approval to the hub, or discards it.
                vault decide_approval(number: u32, decision: ApprovalDecision) -> ();
                /// Has a model write a description for the hub from how the notes are organized. It is
                /// not saved; `null` when it was stopped.
                vault write_description(organisation: String) -> Option<String>;
                /// Stops the model that writes the description.
                app stop_description() -> ();
            }

            vault {
                /// Lets the user choose a folder in a dialog of the system and opens it as the vault;
                /// `false` when the user cancels. The feed brings `vault_changed`, and the window
                /// subscribes again.
                app choose_vault() -> bool;
                /// The same for an additional folder; the feed then brings `settings_changed`.
                app add_extra_root() -> bool;
                /// Opens a writable copy of the sample vault.
                app open_sample() -> ();
            }

            desktop {
                /// Says which conversation the window shows: the desktop does not notify about it.
                app set_window_focus(conversation: Option<ConversationId>) -> ();
                /// The tray icon and the start at login as they are now.
                app desktop_state() -> DesktopState;
                /// Starts the program at login, or not; returns the state after that.
                app set_autostart(at_login: AutostartMode) -> DesktopState;
                /// Decides what closing the window does, now and later; `ask` leaves it open this time.
                app answer_close_request(answer: OnClose) -> ();
            }
        }
    };
}
