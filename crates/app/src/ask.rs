//! One question from the command line: answered, printed, not listed as a conversation.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use llm::Pace;
use protocol::applied::ListApplied;
use protocol::conversation::Item;
use protocol::{
    CallId, CallResult, ConversationId, Ending, Message, NewTurn, NotePath, Origin, Part, Privacy,
    Role, Source, Step, TurnId, TurnStatus, Usage, UserError,
};
use serde_json::Value;
use store::{PlannedRow, Store, StoreError};

use crate::app::App;
use crate::aside::aside;
use crate::clock::now;
use crate::data_dir::DataDir;
use crate::diff::unified;
use crate::feed::Listener;
use crate::open_vault::OpenVault;
use crate::ports::host;
use crate::purpose::Purpose;
use crate::review;
use crate::submit::{WithNote, Words, first_words};
use crate::trouble::{of_note, user_error};
use crate::verdict;

/// What is asked.
pub struct Question {
    /// The folder of notes.
    pub vault: PathBuf,
    /// The words.
    pub text: String,
    /// What `get_active_note` answers.
    pub note: Option<String>,
    /// Whether changes are written; else they are returned as a diff and discarded.
    pub write: bool,
    /// What whoever asks says about where the user is, for the model.
    pub context: Option<Sourced>,
    /// What was said before, oldest first. Nothing else is remembered from question to question.
    pub history: Vec<Spoken>,
}

/// Words that whoever asks hands over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sourced {
    /// The words.
    pub text: String,
    /// Where they come from; [`Source::Foreign`] where nobody said it.
    pub sources: Vec<Source>,
}

/// Something that was said before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spoken {
    /// By whom.
    pub role: Role,
    /// The words.
    pub told: Sourced,
    /// What the assistant called with these words, each with its result.
    pub calls: Vec<PastCall>,
}

/// A call that was made before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastCall {
    /// The tool.
    pub tool: String,
    /// Its arguments, an object.
    pub arguments: Value,
    /// What it answered.
    pub output: String,
    /// Whether that is a failure.
    pub is_error: bool,
}

/// What came of it.
pub struct Asked {
    /// What stands in the chat, without the question itself.
    pub items: Vec<Item>,
    /// Planned changes that were not written, as unified diffs.
    pub planned: Vec<Unwritten>,
    /// Notes whose changes wait for the user's review, although changes were to be written.
    pub waiting: Vec<NotePath>,
    /// Notes that were changed.
    pub written: Vec<NotePath>,
    /// Where everything comes from that was heard for it, what was said before included.
    pub sources: BTreeSet<Source>,
    /// Why there is no whole answer.
    pub error: Option<UserError>,
    /// Whether it ended at the limit of steps: what is there was answered, and there may be more.
    pub at_limit: bool,
}

/// What stands in the place of words that come from a private note.
const WITHHELD: &str = "(withheld: it comes from a note that is private)";

/// A note as it would be changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unwritten {
    /// The note.
    pub path: NotePath,
    /// As a unified diff.
    pub diff: String,
}

/// Runs one turn. `listener` hears the feed while it streams.
pub async fn ask(
    data: DataDir,
    question: Question,
    listener: Listener,
) -> Result<Asked, UserError> {
    let purpose = if question.write { Purpose::AskAndWrite } else { Purpose::Ask };
    let app = App::with(data, purpose, Pace::REAL);
    let answer = run(&app, question, purpose, listener).await;
    app.shutdown().await;
    answer
}

async fn run(
    app: &App,
    question: Question,
    purpose: Purpose,
    listener: Listener,
) -> Result<Asked, UserError> {
    let open = app.open_for_ask(&question.vault, listener).await?;
    if let Some(note) = &question.note {
        let (vault, note) = (open.vault.clone(), note.clone());
        let path = aside(move || vault.resolve(&note)).await?.map_err(|error| of_note(&error))?;
        app.name_note(path).await?;
    }
    let conversation: ConversationId = crate::clock::fresh();
    let title = first_words(&question.text);
    open.store
        .create_unlisted_conversation(&conversation, &title, now())
        .await
        .map_err(user_error)?;
    let most = host::may_see(&*app.around().answering.get().await).await;
    let history = without_private(&open, most, question.history).await?;
    remember(&open.store, &conversation, history).await?;
    let words = Words::new(question.text, Origin::Cli, WithNote::OnDesk);
    let mut prepared = open.new_turn(&conversation, &words).await?;
    if let Some(context) = question.context {
        let Sourced { text, sources } = shown(&open, most, context).await?;
        prepared.new.message.parts.insert(0, Part::Context { text });
        prepared.new.shown.extend(sources);
    }
    let turn = prepared.new.turn.clone();
    open.submit(prepared).await?;
    open.service.idle(&conversation).await;
    open.caught_up().await;
    open.feed.flush();
    let (planned, waiting) = unwritten(&open, &conversation, purpose).await?;
    let all = ListApplied { conversation: Some(conversation.clone()), before: None };
    let sets = app.list_applied(&all).await?.sets.into_iter().rev();
    let written = sets.flat_map(|set| set.notes).map(|note| note.path).collect();
    let mut items = open.store.items(&conversation).await.map_err(user_error)?;
    // What was said before is not said again.
    if let Some(asked) = items.iter().rposition(|item| matches!(item, Item::User { .. })) {
        items.drain(..=asked);
    }
    items.retain(|item| !matches!(item, Item::Verdict { .. }));
    let error = items.iter().find_map(|item| match item {
        Item::Ended { status: TurnStatus::Failed, error, .. } => error.clone(),
        _ => None,
    });
    let is_limit = |item: &Item| matches!(item, Item::Ended { status: TurnStatus::Limit, .. });
    let at_limit = items.iter().any(is_limit);
    let sources = open.store.heard_sources(&turn).await.map_err(user_error)?;
    Ok(Asked { items, planned, waiting, written, sources, error, at_limit })
}

/// What was said before, without the words that come from notes which the model may not see.
async fn without_private(
    open: &OpenVault,
    most: Privacy,
    history: Vec<Spoken>,
) -> Result<Vec<Spoken>, UserError> {
    let all = history.iter().flat_map(|one| one.told.sources.iter().cloned()).collect();
    if !open.keeper.hides_any(most, all).await? {
        return Ok(history);
    }
    let mut heard = Vec::with_capacity(history.len());
    for one in history {
        let told = shown(open, most, one.told.clone()).await?;
        // With its words the calls go that say where they come from.
        let calls = if told == one.told { one.calls } else { Vec::new() };
        heard.push(Spoken { role: one.role, told, calls });
    }
    Ok(heard)
}

/// The words, or that they are withheld: a caller that hands over the text of a private note has no more
/// of it told to a model than the note itself.
async fn shown(open: &OpenVault, most: Privacy, told: Sourced) -> Result<Sourced, UserError> {
    let sources = told.sources.iter().cloned().collect();
    Ok(match open.keeper.hides_any(most, sources).await? {
        true => Sourced { text: WITHHELD.to_owned(), ..told },
        false => told,
    })
}

/// What was planned and not written. Where changes were to be written it waits for the user, in a
/// conversation that is listed from now on; else it is dropped, because nobody will decide about it.
async fn unwritten(
    open: &Arc<OpenVault>,
    conversation: &ConversationId,
    purpose: Purpose,
) -> Result<(Vec<Unwritten>, Vec<NotePath>), UserError> {
    let set = open.store.open_change_set(conversation).await.map_err(user_error)?;
    let Some(set) = set else { return Ok((Vec::new(), Vec::new())) };
    let unwritten =
        |row: &PlannedRow| Unwritten { path: row.change.path.clone(), diff: unified(&row.change) };
    let planned: Vec<Unwritten> = set.planned.iter().map(unwritten).collect();
    let mut paths: Vec<NotePath> = planned.iter().map(|note| note.path.clone()).collect();
    if purpose.may_write() {
        open.store.list_conversation(conversation).await.map_err(user_error)?;
        paths.dedup();
        return Ok((planned, paths));
    }
    verdict::decide(open, conversation, &review::rejecting(&set, &paths)).await?;
    Ok((planned, Vec::new()))
}

/// Stores what was said before, each message of the user as a turn that has ended.
async fn remember(
    store: &Store,
    conversation: &ConversationId,
    history: Vec<Spoken>,
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
        let past = PastTurn { conversation, turn: crate::clock::fresh() };
        past.store(store, asked, steps, answered).await.map_err(user_error)?;
    }
    Ok(())
}

/// A turn of a history that was handed in.
struct PastTurn<'a> {
    conversation: &'a ConversationId,
    turn: TurnId,
}

impl PastTurn<'_> {
    async fn store(
        &self,
        store: &Store,
        asked: Option<Spoken>,
        steps: Vec<Spoken>,
        answered: Option<Spoken>,
    ) -> Result<(), StoreError> {
        let all = [&asked, &answered].into_iter().flatten().chain(&steps);
        let shown = all.flat_map(|one| one.told.sources.iter().cloned()).collect();
        let text = |one: Spoken| vec![Part::Text { text: one.told.text }];
        let new = NewTurn {
            turn: self.turn.clone(),
            message: self.message(Role::User, asked.map(text).unwrap_or_default()),
            origin: Origin::Cli,
            answers: None,
            shown,
        };
        store.submit_turn(&new).await?;
        store.begin_turn(self.conversation).await?;
        let mut number = 0;
        for Spoken { told, calls, .. } in steps {
            let mut parts = vec![Part::Text { text: told.text }];
            parts.retain(|part| !matches!(part, Part::Text { text } if text.is_empty()));
            let mut results = Vec::new();
            for PastCall { tool, arguments, output, is_error } in calls {
                number += 1;
                let id = CallId::from(format!("past-{number}"));
                results.push(result(id.clone(), output, is_error));
                parts.push(Part::Call { id, tool, arguments });
            }
            let message = self.message(Role::Assistant, parts);
            store.store_step(&self.turn, &Step { message, usage: Usage::default() }).await?;
            store.store_results(&self.turn, &results).await?;
        }
        let ending = Ending {
            status: TurnStatus::Done,
            results: Vec::new(),
            message: answered.map(|one| self.message(Role::Assistant, text(one))),
            cut: false,
            question: None,
            ends_conversation: false,
            error: None,
            usage: Usage::default(),
            at: now(),
        };
        store.finish_turn(&self.turn, &ending).await
    }

    fn message(&self, role: Role, parts: Vec<Part>) -> Message {
        let (conversation, turn) = (self.conversation.clone(), self.turn.clone());
        Message { id: crate::clock::fresh(), conversation, turn, role, parts, at: now() }
    }
}

fn result(call: CallId, output: String, is_error: bool) -> CallResult {
    CallResult {
        call,
        output,
        is_error,
        reactions: Vec::new(),
        seen: Vec::new(),
        sources: Vec::new(),
        whole: None,
    }
}
