//! What the hub hears of a turn, and the pace at which it is told.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use hub::{HubHandle, Priority, Response};
use protocol::{Ending, HubState, Message, Part, TurnId, TurnStatus};
use store::{InboxRow, OutboxPush, Store};
use tokio::sync::{Notify, watch};
use tokio::time::Instant;

use crate::clock::now;

/// The hub shows notifications one second apart; a little more keeps them from merging.
const APART: Duration = Duration::from_millis(1_100);
/// It shows at most this many in a minute.
const A_MINUTE: usize = 10;
/// Undelivered notifications older than this are dropped.
const STALE_AFTER_MS: i64 = 24 * 60 * 60 * 1_000;

/// Whether a turn that ended so is the end of its hub message. A failed one is tried again.
pub(crate) const fn is_an_outcome(status: TurnStatus) -> bool {
    !matches!(status, TurnStatus::Failed | TurnStatus::Interrupted)
}

/// The notifications of a finished hub turn: each message the model sent, then its last words
/// unless it has said them already, a question with high priority, and what waits for review.
pub(crate) fn outcome(
    row: &InboxRow,
    turn: &TurnId,
    history: &[Message],
    ending: &Ending,
) -> Vec<OutboxPush> {
    let mut said: Vec<(String, &'static str)> = Vec::new();
    for part in history.iter().filter(|m| m.turn == *turn).flat_map(|m| &m.parts) {
        if let Part::Call { tool, arguments, .. } = part
            && tool == "send_message"
            && arguments.get("is_question").and_then(serde_json::Value::as_bool) != Some(true)
            && let Some(text) = arguments.get("message").and_then(serde_json::Value::as_str)
        {
            said.push((text.to_owned(), "normal"));
        }
    }
    if let Some(question) = &ending.question {
        said.push((question.text.clone(), "high"));
    }
    let last = ending.message.as_ref().map(Message::text).unwrap_or_default();
    if !last.trim().is_empty() && !said.iter().any(|(text, _)| text.trim() == last.trim()) {
        said.push((last, "normal"));
    }
    if ending.status == TurnStatus::Cancelled {
        said.push(("Stopped before it was done.".to_owned(), "normal"));
    }
    said.into_iter().map(|(body, priority)| push(row, &body, priority)).collect()
}

/// One notification for the message in `row`.
pub(crate) fn push(row: &InboxRow, body: &str, priority: &str) -> OutboxPush {
    OutboxPush {
        hub: row.hub.clone(),
        message_id: row.id.clone(),
        title: Some(title(&row.text)),
        body: body.to_owned(),
        priority: priority.to_owned(),
        at: now(),
    }
}

/// The first words of what was said: titles differ, so that the hub does not merge them.
fn title(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or_default();
    let cut: String = line.chars().take(60).collect();
    if cut.len() < line.len() { format!("{}…", cut.trim_end()) } else { cut }
}

/// Sends queued notifications in order while the link is online, until it is dropped.
pub(crate) async fn deliver(
    store: Store,
    hub: HubHandle,
    bell: Arc<Notify>,
    mut state: watch::Receiver<HubState>,
) {
    let mut sent: VecDeque<Instant> = VecDeque::new();
    loop {
        if state.wait_for(|state| *state == HubState::Online).await.is_err() {
            return;
        }
        let oldest = protocol::Timestamp(now().0 - STALE_AFTER_MS);
        if let Err(error) = store.outbox_drop_older(oldest).await {
            tracing::warn!(%error, "old notifications stay queued");
        }
        match store.outbox_next().await {
            Ok(Some(row)) => {
                pause(&mut sent).await;
                let response = Response::Notification {
                    message_id: row.push.message_id,
                    title: row.push.title.unwrap_or_default(),
                    body: row.push.body,
                    priority: priority(&row.push.priority),
                };
                if hub.send(response).await.is_ok()
                    && let Err(error) = store.outbox_sent(row.id).await
                {
                    tracing::warn!(%error, "a notification may be sent twice");
                }
            }
            Ok(None) => bell.notified().await,
            Err(error) => {
                tracing::warn!(%error, "notifications wait");
                bell.notified().await;
            }
        }
    }
}

async fn pause(sent: &mut VecDeque<Instant>) {
    if let Some(last) = sent.back() {
        tokio::time::sleep_until(*last + APART).await;
    }
    if sent.len() >= A_MINUTE
        && let Some(first) = sent.pop_front()
    {
        tokio::time::sleep_until(first + Duration::from_secs(60)).await;
    }
    sent.push_back(Instant::now());
}

fn priority(word: &str) -> Priority {
    match word {
        "high" => Priority::High,
        "low" => Priority::Low,
        _ => Priority::Normal,
    }
}
