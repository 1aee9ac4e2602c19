//! Works on one task with the real application.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use app::{App, DataDir};
use protocol::chat::conversation::{ChatItem, ConversationView};
use protocol::request::SendMessageRequest;
use protocol::{ConversationId, Mode, Settings, UserError};
use tokio::time::timeout;

use super::end_state::{EndState, failures};
use super::task::ModelTask;
use crate::TempVault;

/// A turn that takes longer counts as failed; models on small computers are slow.
const TURN_TIMEOUT: Duration = Duration::from_secs(900);

/// The result of one task.
#[derive(Debug, Clone, Default)]
pub struct TaskOutcome {
    /// Everything in which the end state is wrong; empty if the task is done.
    pub failures: Vec<String>,
    /// Calls of tools.
    pub calls: usize,
    /// Calls that failed, or that repeated an earlier one with the same arguments.
    pub wasted: usize,
    /// Tokens that the provider reported as read, cached ones included.
    pub input_tokens: u64,
    /// Tokens that the provider reported as written.
    pub output_tokens: u64,
    /// From the first message to the end of the last turn.
    pub time: Duration,
}

/// Works on `task` in a fresh copy of the sample vault, in the mode Review.
///
/// # Panics
/// If the temporary folders cannot be made.
pub async fn run_task(task: &ModelTask, settings: &Settings, key: Option<&str>) -> TaskOutcome {
    let notes = TempVault::from_fixture("sample");
    for (path, text) in &task.extra_notes {
        notes.write(path, text);
    }
    let data = TempVault::new(&[]);
    if let Some(key) = key {
        data.write("key", key);
    }
    let app = App::start(DataDir::at(data.root().to_owned()).expect("a data folder"));
    let mut outcome = TaskOutcome::default();
    let mut state = EndState { before: notes.snapshot(), ..EndState::default() };
    let settings = Settings { mode: Mode::Review, ..settings.clone() };
    let result = work_on(&app, &notes, task, &settings, &mut outcome, &mut state).await;
    if let Err(error) = result {
        state.errors.push(error.to_string());
    }
    state.after = notes.snapshot();
    outcome.failures = failures(task, &state);
    app.shutdown().await;
    outcome
}

async fn work_on(
    app: &App,
    notes: &TempVault,
    task: &ModelTask,
    settings: &Settings,
    outcome: &mut TaskOutcome,
    state: &mut EndState,
) -> Result<(), UserError> {
    app.save_settings(settings.clone()).await?;
    app.open_vault(notes.root()).await?;
    let began = Instant::now();
    let mut conversation: Option<ConversationId> = None;
    let mut seen_items = 0;
    for text in &task.messages {
        let (text, answers, open_note) = (text.clone(), None, None);
        let request =
            SendMessageRequest { conversation: conversation.clone(), text, answers, open_note };
        let id = app.send(request).await?;
        match timeout(TURN_TIMEOUT, app.wait_until_idle(&id)).await {
            Ok(ended) => ended?,
            Err(_) => state.errors.push(format!("a turn did not end within {TURN_TIMEOUT:?}")),
        }
        let view = app.conversation(&id).await?;
        read_last_turn(&view, seen_items, state);
        seen_items = view.items.len();
        if let Some(review) = view.review.filter(|_| !task.keep_pending) {
            let paths: Vec<_> = review.notes.iter().map(|note| note.path.clone()).collect();
            app.decide_review(&review.decide_request(&paths, &[])).await?;
        }
        conversation = Some(id);
    }
    outcome.time = began.elapsed();
    let Some(id) = conversation else { return Ok(()) };
    let view = app.conversation(&id).await?;
    (outcome.calls, outcome.wasted) = count_calls(&view.items);
    let pending = view.review.map(|review| review.notes).unwrap_or_default();
    state.pending = pending.iter().map(|note| note.path.to_string()).collect();
    for turn in app.conversation_costs(&id).await? {
        let usage = turn.spent.usage;
        let read = [usage.input, usage.cache_read, usage.cache_write].map(u64::from);
        outcome.input_tokens += read.iter().sum::<u64>();
        outcome.output_tokens += u64::from(usage.output);
    }
    Ok(())
}

/// The answer and the errors of the items after the first `seen`.
fn read_last_turn(view: &ConversationView, seen: usize, state: &mut EndState) {
    state.answer.clear();
    state.is_asking = view.question.is_some();
    for item in view.items.iter().skip(seen) {
        match item {
            ChatItem::Assistant { text, .. } | ChatItem::Asked { text, .. } => {
                state.answer.push_str(text);
                state.answer.push('\n');
            }
            ChatItem::Ended { status, error, .. } => {
                let reason = error.as_ref().map(ToString::to_string).unwrap_or_default();
                state.errors.push(format!("a turn ended as {status:?}: {reason}"));
            }
            _ => {}
        }
    }
}

/// How many calls there are, and how many of them were wasted.
fn count_calls(items: &[ChatItem]) -> (usize, usize) {
    let mut earlier = BTreeSet::new();
    let (mut calls, mut wasted) = (0, 0);
    for item in items {
        let ChatItem::Tool { tool, arguments, is_error, .. } = item else { continue };
        calls += 1;
        let is_repeated = !earlier.insert((tool, arguments));
        wasted += usize::from(*is_error || is_repeated);
    }
    (calls, wasted)
}
