//! One question from the command line: answered, printed, not listed as a conversation.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use llm::TimeScale;
use protocol::changes::history::ListApplied;
use protocol::chat::conversation::ChatItem;
use protocol::{
    AppEvent, CallId, CallResult, ConversationId, Message, MessagePart, NewTurn, NotePath,
    NumberedEvent, Origin, Privacy, Role, Source, Timestamp, TokenUsage, TurnEnding, TurnId,
    TurnStatus, TurnStep, UserError,
};
use serde_json::Value;
use store::{PlannedChangeRow, Store, StoreError};
use vault::Vault;

use crate::app::App;
use crate::changes::diff::unified_diff;
use crate::changes::{NoteChanges, apply_review, review};
use crate::chat::prompt::{OWN_CONTEXT_HEADING, PASSED_CONTEXT_HEADING};
use crate::chat::user_message::{UserMessage, WithNote, title_from_text};
use crate::events::feed::FeedListener;
use crate::models::model_info;
use crate::privacy::PrivacyGuard;
use crate::privacy::note_lineage::ReadTimes;
use crate::settings::run_mode::RunMode;
use crate::support::blocking::run_blocking;
use crate::support::clock::now;
use crate::workspace::data_dir::DataDir;

/// A question and the settings for its turn.
pub struct OneShotQuestion {
    /// The folder of the vault.
    pub vault: PathBuf,
    /// The user's words.
    pub text: String,
    /// The note that `get_active_note` returns.
    pub note: Option<String>,
    /// Whether changes are written; else they are returned as a diff and discarded.
    pub write: bool,
    /// Information about the user's situation, for the model.
    pub context: Option<SourcedText>,
    /// The messages before, oldest first. Nothing else is remembered between questions.
    pub history: Vec<PriorMessage>,
}

/// Text that the caller passes on, and its sources.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourcedText {
    /// The text as it is passed on.
    pub text: String,
    /// Its sources; [`Source::Foreign`] where they are unknown.
    pub sources: Vec<Source>,
}

impl SourcedText {
    /// Whether the user alone is the source. Without any source that is not known.
    fn is_users_own(&self) -> bool {
        !self.sources.is_empty() && self.sources.iter().all(|source| *source == Source::User)
    }

    /// As context of the question. The heading says later whether it is the user's own.
    fn to_context(&self) -> MessagePart {
        let heading =
            if self.is_users_own() { OWN_CONTEXT_HEADING } else { PASSED_CONTEXT_HEADING };
        MessagePart::Context { text: format!("{heading}\n{}", self.text) }
    }

    /// As a message of the user before the question.
    fn into_user_parts(self) -> Vec<MessagePart> {
        let passed = (!self.is_users_own()).then_some(MessagePart::Passed);
        passed.into_iter().chain([MessagePart::Text { text: self.text }]).collect()
    }
}

/// A message before the question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PriorMessage {
    /// The user or the assistant.
    pub role: Role,
    /// The words of the message, with their sources.
    pub content: SourcedText,
    /// The calls of the assistant in this message, each with its result.
    pub calls: Vec<PriorCall>,
    /// When it was said, where that is known: text of a note whose path another file has since then may
    /// be text of a private note.
    pub at: Option<Timestamp>,
    /// How private the notes were at most that the model behind the message might see. Where that is not
    /// known, the message may tell of any note.
    pub max_privacy: Option<Privacy>,
}

/// A call that was made before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PriorCall {
    /// The name of the tool.
    pub tool: String,
    /// Its arguments, an object.
    pub arguments: Value,
    /// The text of the result.
    pub output: String,
    /// Whether that is a failure.
    pub is_error: bool,
}

/// The answer, and everything that happened for it.
pub struct OneShotAnswer {
    /// The items of the chat, without the question itself.
    pub items: Vec<ChatItem>,
    /// Planned changes that were not written, as unified diffs.
    pub planned: Vec<UnappliedChange>,
    /// Notes with pending changes, although changes were to be written.
    pub waiting: Vec<NotePath>,
    /// Notes that were changed.
    pub written: Vec<NotePath>,
    /// The sources of everything that was read for it, including the messages before.
    pub sources: BTreeSet<Source>,
    /// Why there is no whole answer; at a limit, which one it was, unless it was that of steps.
    pub error: Option<UserError>,
    /// When it was asked: nothing was read for it before.
    pub at: Timestamp,
    /// How private the notes were at most that its model might see; `None` where no model was asked.
    pub max_privacy: Option<Privacy>,
    /// Whether it ended at a limit: what is there was answered, and there may be more.
    pub at_limit: bool,
    /// The note of the question where neither its text nor its name was sent, because it is private.
    pub unsent_note: Option<NotePath>,
}

/// Stands in place of text that comes from a private note.
const WITHHELD_TEXT: &str = "(withheld: it comes from a note that is private)";

/// A note as it would be changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnappliedChange {
    /// Its path before the change.
    pub path: NotePath,
    /// As a unified diff.
    pub diff: String,
}

/// Runs one turn. `listener` hears the feed while it streams.
pub async fn ask_once(
    data: DataDir,
    question: OneShotQuestion,
    listener: FeedListener,
) -> Result<OneShotAnswer, UserError> {
    let purpose = if question.write { RunMode::AskAndWrite } else { RunMode::Ask };
    let app = App::start_with(data, purpose, TimeScale::REAL_TIME);
    let answer = run_one_shot(&app, question, purpose, listener).await;
    app.shutdown().await;
    answer
}

async fn run_one_shot(
    app: &App,
    question: OneShotQuestion,
    run_mode: RunMode,
    listener: FeedListener,
) -> Result<OneShotAnswer, UserError> {
    let live = LiveItems::default();
    let open = app.open_for_one_shot(&question.vault, live.clone().before(listener)).await?;
    // Another file may take the path of a note as soon as the note was read.
    let at = now();
    let note = match question.note {
        Some(note) => Some(open_note(app, &open.notes.vault, note).await?),
        None => None,
    };
    let conversation: ConversationId = crate::support::clock::new_id();
    let title = title_from_text(&question.text);
    open.store.create_unlisted_conversation(&conversation, &title, now()).await?;
    let most =
        model_info::effective_privacy(&*app.services().model_selector.selected().await).await;
    let guard = &open.model_privacy.privacy_guard;
    let history = redact_history(guard, most, question.history).await?;
    store_history(&open.store, &conversation, history, at).await?;
    let message = UserMessage::new(question.text, Origin::Cli, WithNote::Active);
    let mut prepared = open.chats.prepare_turn(&conversation, &message).await?;
    if let Some(context) = question.context {
        let context = redact_private(guard, most, context, &BTreeMap::new()).await?;
        prepared.new.message.parts.insert(0, context.to_context());
        prepared.new.shown.extend(context.sources);
    }
    let turn = prepared.new.turn.clone();
    let unsent_note = note.filter(|_| prepared.new.message.open_note() == Some(None));
    open.chats.submit(prepared).await?;
    open.chats.service.wait_until_idle(&conversation).await;
    open.chats.domain_events.flush().await;
    open.feed.flush();
    let (planned, waiting) = unapplied_changes(&open.changes, &conversation, run_mode).await?;
    let all = ListApplied { conversation: Some(conversation.clone()), before: None };
    let sets = app.list_applied(&all).await?.sets.into_iter().rev();
    let written = sets.flat_map(|set| set.notes).map(|note| note.path).collect();
    let talking_tools = open.chats.service.registry().talking_tools();
    let mut items = open.store.chat_items(&conversation, &talking_tools).await?;
    // The messages before are not repeated.
    if let Some(asked) = items.iter().rposition(|item| matches!(item, ChatItem::User { .. })) {
        items.drain(..=asked);
    }
    items.retain(|item| !matches!(item, ChatItem::Decision { .. }));
    live.add_unstored(&conversation, &mut items);
    let error = ending_error(&items);
    let is_limit =
        |item: &ChatItem| matches!(item, ChatItem::Ended { status: TurnStatus::Limit, .. });
    let at_limit = items.iter().any(is_limit);
    let sources = open.store.context_sources(&turn).await?;
    let levels = open.store.max_privacy_of_turns(&[&turn]).await?;
    Ok(OneShotAnswer {
        items,
        planned,
        waiting,
        written,
        sources,
        error,
        at,
        max_privacy: levels.get(&turn).copied(),
        at_limit,
        unsent_note,
    })
}

/// The answers and the end of a turn as they were told while it ran. Where they could not be stored, as on a full disk,
/// they are nowhere else.
#[derive(Clone, Default)]
struct LiveItems(Arc<Mutex<Vec<(ConversationId, ChatItem)>>>);

impl LiveItems {
    /// A listener that keeps them, and passes all events on.
    fn before(self, listener: FeedListener) -> FeedListener {
        Box::new(move |batch| {
            for NumberedEvent { event, .. } in &batch {
                if let AppEvent::ItemChanged { conversation, item } = event
                    && let ChatItem::Assistant { streaming: false, .. } | ChatItem::Ended { .. } =
                        item
                {
                    self.lock().push((conversation.clone(), item.clone()));
                }
            }
            listener(batch)
        })
    }

    /// Adds those that are not among the stored ones.
    fn add_unstored(&self, conversation: &ConversationId, stored: &mut Vec<ChatItem>) {
        for (told_in, item) in self.lock().iter() {
            if told_in == conversation && !stored.iter().any(|one| is_same_item(one, item)) {
                stored.push(item.clone());
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(ConversationId, ChatItem)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether both are one message, or the end of one turn.
fn is_same_item(one: &ChatItem, other: &ChatItem) -> bool {
    match (one, other) {
        (ChatItem::Assistant { id: one, .. }, ChatItem::Assistant { id: other, .. }) => {
            one == other
        }
        (ChatItem::Ended { turn: one, .. }, ChatItem::Ended { turn: other, .. }) => one == other,
        _ => false,
    }
}

fn ending_error(items: &[ChatItem]) -> Option<UserError> {
    items.iter().find_map(|item| match item {
        ChatItem::Ended { status: TurnStatus::Failed | TurnStatus::Limit, error, .. } => {
            error.clone()
        }
        _ => None,
    })
}

/// Makes the note of the question the active one.
async fn open_note(app: &App, vault: &Vault, note: String) -> Result<NotePath, UserError> {
    let vault = vault.clone();
    let path = run_blocking(move || vault.resolve(&note)).await??;
    app.set_active_note(path.clone()).await?;
    Ok(path)
}

/// The messages before, without text from notes that the model may not see.
async fn redact_history(
    guard: &PrivacyGuard,
    most: Privacy,
    history: Vec<PriorMessage>,
) -> Result<Vec<PriorMessage>, UserError> {
    let all = history.iter().flat_map(|one| one.content.sources.iter().cloned()).collect();
    let read = read_times(&history);
    let first = read.iter().map(|(path, read)| (path.clone(), read.first)).collect();
    let replaced = guard.replaced_for_any(first).await?;
    if replaced.is_empty() && !guard.hides_any(most, all, read.clone()).await? {
        return Ok(history);
    }
    let is_replaced =
        |source: &Source| matches!(source, Source::Note(path) if replaced.contains(path));
    let mut heard = Vec::with_capacity(history.len());
    for one in history {
        let content = match one.content.sources.iter().any(is_replaced) {
            true => withheld(one.content.clone()),
            false => redact_private(guard, most, one.content.clone(), &read).await?,
        };
        // Calls are kept only with the text that records their sources.
        let calls = if content == one.content { one.calls } else { Vec::new() };
        heard.push(PriorMessage { content, calls, ..one });
    }
    Ok(heard)
}

/// When each note was read, by messages that say when they were.
fn read_times(history: &[PriorMessage]) -> BTreeMap<NotePath, ReadTimes> {
    let mut read: BTreeMap<NotePath, ReadTimes> = BTreeMap::new();
    for (one, at) in history.iter().filter_map(|one| Some((one, one.at?))) {
        let times = ReadTimes::since(at);
        for source in &one.content.sources {
            if let Source::Note(path) = source {
                let entry = read.entry(path.clone());
                entry.and_modify(|known| *known = known.and(times)).or_insert(times);
            }
        }
    }
    read
}

/// The text, or a notice that it is withheld. A caller that passes on the text of a private note
/// has no more of it told to a model than the note itself.
async fn redact_private(
    guard: &PrivacyGuard,
    most: Privacy,
    told: SourcedText,
    read: &BTreeMap<NotePath, ReadTimes>,
) -> Result<SourcedText, UserError> {
    let sources = told.sources.iter().cloned().collect();
    Ok(match guard.hides_any(most, sources, read.clone()).await? {
        true => withheld(told),
        false => told,
    })
}

fn withheld(told: SourcedText) -> SourcedText {
    SourcedText { text: WITHHELD_TEXT.to_owned(), ..told }
}

/// The planned changes that were not written. Where changes were to be written, they stay pending
/// in a conversation that is listed from now on; otherwise they are dropped, because nobody will
/// decide about them.
async fn unapplied_changes(
    changes: &NoteChanges,
    conversation: &ConversationId,
    run_mode: RunMode,
) -> Result<(Vec<UnappliedChange>, Vec<NotePath>), UserError> {
    let set = changes.store.open_change_set(conversation).await?;
    let Some(set) = set else { return Ok((Vec::new(), Vec::new())) };
    let unwritten = |row: &PlannedChangeRow| UnappliedChange {
        path: row.change.path.clone(),
        diff: unified_diff(&row.change),
    };
    let planned: Vec<UnappliedChange> = set.planned.iter().map(unwritten).collect();
    let mut paths: Vec<NotePath> = planned.iter().map(|note| note.path.clone()).collect();
    if run_mode.may_write() {
        changes.store.list_conversation(conversation).await?;
        paths.dedup();
        return Ok((planned, paths));
    }
    apply_review::apply_decisions(changes, conversation, &review::reject_request(&set, &paths))
        .await?;
    Ok((planned, Vec::new()))
}

/// Stores the messages before, each message of the user as a turn that has ended, at the time when they were
/// said. Of those that do not say when, no note was looked at since `at`.
async fn store_history(
    store: &Store,
    conversation: &ConversationId,
    history: Vec<PriorMessage>,
    at: Timestamp,
) -> Result<(), UserError> {
    let mut said = history.into_iter().peekable();
    while said.peek().is_some() {
        let asked = said.next_if(|one| one.role == Role::User);
        let mut steps = Vec::new();
        while let Some(step) =
            said.next_if(|one| one.role == Role::Assistant && !one.calls.is_empty())
        {
            steps.push(step);
        }
        let answered = said.next_if(|one| one.role == Role::Assistant);
        let said_at = asked.iter().chain(&steps).chain(&answered).filter_map(|one| one.at).min();
        let at = said_at.map_or(at, |said_at| said_at.min(at));
        let most = prior_max_privacy(asked.iter().chain(&steps).chain(&answered));
        let prior = PriorTurn { conversation, turn: crate::support::clock::new_id(), at };
        prior.store(store, asked, steps, answered).await?;
        if let Some(most) = most {
            store.set_model(&prior.turn, "", None, most).await?;
        }
    }
    Ok(())
}

/// How private the notes were at most that the models behind these messages might see; `None` where all are the
/// user's own. A message that does not say so may tell of any note.
fn prior_max_privacy<'a>(said: impl Iterator<Item = &'a PriorMessage>) -> Option<Privacy> {
    let of_models = said.filter(|one| one.role == Role::Assistant || !one.content.is_users_own());
    of_models.map(|one| one.max_privacy.unwrap_or(Privacy::Never)).max()
}

/// A turn of a history that was handed in.
struct PriorTurn<'a> {
    conversation: &'a ConversationId,
    turn: TurnId,
    at: Timestamp,
}

impl PriorTurn<'_> {
    async fn store(
        &self,
        store: &Store,
        asked: Option<PriorMessage>,
        steps: Vec<PriorMessage>,
        answered: Option<PriorMessage>,
    ) -> Result<(), StoreError> {
        let all = [&asked, &answered].into_iter().flatten().chain(&steps);
        let shown = all.flat_map(|one| one.content.sources.iter().cloned()).collect();
        let text = |one: PriorMessage| vec![MessagePart::Text { text: one.content.text }];
        let new = NewTurn {
            turn: self.turn.clone(),
            message: self.message(
                Role::User,
                asked.map(|one| one.content.into_user_parts()).unwrap_or_default(),
            ),
            origin: Origin::Cli,
            answers: None,
            shown,
        };
        store.submit_turn(&new).await?;
        store.begin_turn(self.conversation).await?;
        let mut number = 0;
        for PriorMessage { content: told, calls, .. } in steps {
            let mut parts = vec![MessagePart::Text { text: told.text }];
            parts.retain(|part| !matches!(part, MessagePart::Text { text } if text.is_empty()));
            let mut results = Vec::new();
            for PriorCall { tool, arguments, output, is_error } in calls {
                number += 1;
                let id = CallId::from(format!("past-{number}"));
                results.push(call_result(id.clone(), output, is_error));
                parts.push(MessagePart::Call { id, tool, arguments });
            }
            let message = self.message(Role::Assistant, parts);
            store
                .store_step(&self.turn, &TurnStep { message, usage: TokenUsage::default() })
                .await?;
            store.store_results(&self.turn, &results).await?;
        }
        let ending = TurnEnding {
            status: TurnStatus::Done,
            results: Vec::new(),
            message: answered.map(|one| self.message(Role::Assistant, text(one))),
            cut: false,
            question: None,
            ends_conversation: false,
            error: None,
            usage: TokenUsage::default(),
            at: now(),
        };
        store.finish_turn(&self.turn, &ending).await
    }

    fn message(&self, role: Role, parts: Vec<MessagePart>) -> Message {
        let (conversation, turn) = (self.conversation.clone(), self.turn.clone());
        let id = crate::support::clock::new_id();
        Message { id, conversation, turn, role, parts, at: self.at }
    }
}

fn call_result(call: CallId, output: String, is_error: bool) -> CallResult {
    CallResult {
        call,
        output,
        is_error,
        speech: None,
        reactions: Vec::new(),
        seen: Vec::new(),
        sources: Vec::new(),
        whole: None,
    }
}
