//! One question from the command line: answered, printed, not listed as a conversation.

use std::path::PathBuf;

use llm::Pace;
use protocol::conversation::Item;
use protocol::request::DecideReview;
use protocol::{NotePath, Origin, TurnStatus, UserError};

use crate::app::App;
use crate::aside::aside;
use crate::clock::now;
use crate::data_dir::DataDir;
use crate::diff::unified;
use crate::feed::Listener;
use crate::purpose::Purpose;
use crate::submit::{Words, first_words};
use crate::trouble::{of_note, user_error};

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
}

/// What came of it.
pub struct Asked {
    /// What stands in the chat, without the question itself.
    pub items: Vec<Item>,
    /// Planned changes that were not written, as a unified diff.
    pub diff: String,
    /// Why there is no whole answer.
    pub error: Option<UserError>,
}

/// Runs one turn. `listener` hears the feed while it streams.
pub async fn ask(
    data: DataDir,
    question: Question,
    listener: Listener,
) -> Result<Asked, UserError> {
    let purpose = if question.write { Purpose::AskAndWrite } else { Purpose::Ask };
    let app = App::with(data, purpose, Pace::REAL);
    let answer = run(&app, question, listener).await;
    app.shutdown().await;
    answer
}

async fn run(app: &App, question: Question, listener: Listener) -> Result<Asked, UserError> {
    let open = app.open_for_ask(&question.vault, listener).await?;
    if let Some(note) = &question.note {
        let (vault, note) = (open.vault.clone(), note.clone());
        let path = aside(move || vault.resolve(&note)).await?.map_err(|error| of_note(&error))?;
        app.name_note(path).await?;
    }
    let conversation = crate::clock::fresh();
    let title = first_words(&question.text);
    open.store
        .create_unlisted_conversation(&conversation, &title, now())
        .await
        .map_err(user_error)?;
    let words = Words::new(question.text, Origin::Cli);
    let prepared = open.new_turn(&conversation, &words).await?;
    open.submit(prepared).await?;
    open.service.idle(&conversation).await;
    open.caught_up().await;
    open.feed.flush();
    let planned = open.store.open_change_set(&conversation).await.map_err(user_error)?;
    let mut diff = String::new();
    if let Some(set) = planned {
        diff = set.planned.iter().map(|row| unified(&row.change)).collect();
        let rejected: Vec<NotePath> = set.planned.iter().map(|r| r.change.path.clone()).collect();
        let discard = DecideReview { review: set.id, accepted: Vec::new(), rejected };
        crate::review::decide(&open, &conversation, &discard).await?;
    }
    let mut items = open.store.items(&conversation).await.map_err(user_error)?;
    items.retain(|item| !matches!(item, Item::User { .. } | Item::Verdict { .. }));
    let error = items.iter().find_map(|item| match item {
        Item::Ended { status: TurnStatus::Failed, error, .. } => error.clone(),
        _ => None,
    });
    Ok(Asked { items, diff, error })
}
