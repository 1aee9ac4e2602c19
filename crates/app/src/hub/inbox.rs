//! Hub messages: stored, then acknowledged, then worked on one at a time. None is lost, none is worked on twice.
//!
//! At most a thousand wait; any further one is refused as busy, unless it was delivered before. After three failed turns the
//! text of a message is kept as it is.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hub::{HubEvent, IncomingMessage};
use protocol::{
    AppEvent, ConversationId, ErrorCode, HubState, HubStatus, NotePath, OpenTurn, Timestamp,
    TurnId, TurnStatus, UserError,
};
use store::{DeliveredMessage, DeliveryOutcome, InboxRow, Store, TurnChanges};
use tokio::sync::{Notify, mpsc, watch};
use tokio::time::{Instant, sleep_until};
use vault::Vault;

use crate::chat::Chats;
use crate::chat::user_message::{MessageAge, UserMessage, WithNote};
use crate::events::domain_event::{DomainEvent, DomainEvents};
use crate::events::feed::Feed;
use crate::hub::connection::HubLink;
use crate::hub::fallback_capture::MAX_TURN_ATTEMPTS;
use crate::hub::outbox::notification_for;
use crate::hub::reply_matching;
use crate::hub::writable_notes::WritableNotes;
use crate::settings::config::Config;
use crate::support::blocking::run_blocking;
use crate::support::clock::{local_now, now};
use crate::user_texts;

/// Messages that may wait to be worked on; past that the hub is told that we are busy.
const MAX_QUEUED: u32 = 1_000;

/// The answer to the hub in that case.
const BUSY_MESSAGE: &str = "Busy: too many messages wait already. Try again later.";

/// The number of messages that are stored in one commit at most.
const STORE_BATCH: usize = 64;

/// How long a message that cannot be begun is left alone, if no other comes.
const RETRY_DELAY: Duration = Duration::from_secs(30);

/// The answer to another message under the id of one that is not finished.
const ID_IN_USE_MESSAGE: &str =
    "Busy: an earlier message with this id isn’t finished. Try again later.";

/// The answer to a message with other words than the one that came under its id a moment ago.
const ID_TAKEN_MESSAGE: &str =
    "Not saved: another message came under this id just now. Send it again with an id of its own.";

/// The notification about a message that could not even be added to the inbox note.
const NOT_SAVED: &str = "Not saved. Open Vaultmate to see why.";

/// The time between two reports of ignored frames to the window, however many there are.
const IGNORED_COUNT_INTERVAL: Duration = Duration::from_millis(250);

/// The messages of the hub of an open vault.
pub(crate) struct HubInbox {
    pub(crate) store: Store,
    pub(crate) vault: Vault,
    pub(crate) config: Config,
    pub(crate) chats: Arc<Chats>,
    pub(crate) feed: Feed,
    /// For the publisher.
    pub(crate) domain_events: DomainEvents,
    /// Notified when messages were stored.
    pub(crate) ready: Notify,
    pub(crate) stalled: StalledMessages,
    /// Notified when notifications were queued.
    pub(crate) outbox_ready: Arc<Notify>,
}

/// Stores and acknowledges what the link brings until the link is dropped. Messages that come while
/// the disk is busy are stored together. [`run_inbox_loop`] works on them, so that no
/// acknowledgement waits for a turn.
pub(crate) async fn run_receive_loop(
    inbox: Arc<HubInbox>,
    link: Arc<HubLink>,
    mut events: mpsc::Receiver<HubEvent>,
    state: watch::Sender<HubState>,
) {
    let mut untold: Option<(Instant, u32)> = None;
    let mut came = Vec::with_capacity(STORE_BATCH);
    loop {
        let due = untold.map(|(due, _)| due);
        tokio::select! {
            count = events.recv_many(&mut came, STORE_BATCH) => if count == 0 { return },
            () = sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() => {
                if let Some((_, ignored)) = untold.take() {
                    link.set_status(HubStatus { ignored, ..link.status() });
                }
            }
        }
        let mut messages = Vec::new();
        for event in came.drain(..) {
            match event {
                HubEvent::Status(status) => {
                    untold = None;
                    state.send_replace(status.state);
                    link.set_status(status);
                }
                HubEvent::Message(message) => messages.push(message),
                HubEvent::Ignored { count } => {
                    let due = due.unwrap_or_else(|| Instant::now() + IGNORED_COUNT_INTERVAL);
                    untold = Some((due, count));
                }
            }
        }
        if !messages.is_empty() {
            accept(&inbox, messages).await;
        }
    }
}

async fn accept(inbox: &HubInbox, messages: Vec<IncomingMessage>) {
    let delivered = |message: &IncomingMessage| DeliveredMessage {
        hub: message.hub.clone(),
        id: message.id.clone(),
        text: message.text.clone(),
        origin: message.origin,
        sent_at: message.raw_timestamp.as_deref().and_then(parse_timestamp),
    };
    let came: Vec<DeliveredMessage> = messages.iter().map(delivered).collect();
    match inbox.store.inbox_insert(&came, MAX_QUEUED, now()).await {
        Ok(taken) => {
            for (message, taken) in messages.into_iter().zip(taken) {
                match taken {
                    DeliveryOutcome::New | DeliveryOutcome::Known => message.receipt.ack(),
                    DeliveryOutcome::Differs => {
                        tracing::warn!(id = message.id, "known under this id with other words");
                        message.receipt.reject(ID_TAKEN_MESSAGE);
                    }
                    DeliveryOutcome::IdInUse => message.receipt.reject(ID_IN_USE_MESSAGE),
                    DeliveryOutcome::Full => message.receipt.reject(BUSY_MESSAGE),
                }
            }
            inbox.ready.notify_one();
        }
        Err(error) => {
            let why = format!("Not saved: {}", UserError::from(error).message);
            messages.into_iter().for_each(|message| message.receipt.reject(&why));
        }
    }
}

/// The time that a hub gives with a message, if it is a date and a time with an offset.
fn parse_timestamp(raw: &str) -> Option<Timestamp> {
    let at: jiff::Timestamp = raw.parse().ok()?;
    Some(Timestamp(at.as_millisecond()))
}

/// A message whose next turn could not be begun.
#[derive(Debug, PartialEq)]
enum StalledMessage {
    /// The turn to begin for this message.
    Begin { hub: String, id: String, age: MessageAge },
    /// The failed turn, whose failure could not be recorded, and why it failed.
    Failed(TurnId, UserError),
}

impl StalledMessage {
    fn begin(hub: &str, id: &str, age: MessageAge) -> Self {
        Self::Begin { hub: hub.to_owned(), id: id.to_owned(), age }
    }
}

/// The messages that have to be tried again although the database may name a turn for them. After a
/// restart [`resume_unfinished`] finds them by their rows.
#[derive(Debug, Default)]
pub(crate) struct StalledMessages(Mutex<Vec<StalledMessage>>);

impl StalledMessages {
    fn push(&self, message: StalledMessage) {
        let mut stalled = self.lock();
        if !stalled.contains(&message) {
            stalled.push(message);
        }
    }

    fn take(&self) -> Vec<StalledMessage> {
        std::mem::take(&mut self.lock())
    }

    fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<StalledMessage>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Begins a turn for each accepted message, in the order they came, until it is dropped. What cannot
/// be begun is tried again with the next one, or after a while.
pub(crate) async fn run_inbox_loop(inbox: Arc<HubInbox>) {
    loop {
        let begun = match begin_stalled(&inbox).await {
            Ok(()) => begin_turns(&inbox).await,
            stalled => stalled,
        };
        let is_over = begun.is_ok() && inbox.stalled.is_empty();
        if let Err(error) = begun {
            inbox.feed.publish(AppEvent::Problem { error });
        }
        let ready = inbox.ready.notified();
        if is_over {
            ready.await;
        } else {
            let _ = tokio::time::timeout(RETRY_DELAY, ready).await;
        }
    }
}

/// Goes on with what had a turn and was not finished when the process ended; what had none yet is
/// begun by [`run_inbox_loop`]. One message that cannot go on does not hold up the others; the first error is
/// told.
pub(crate) async fn resume_unfinished(inbox: &HubInbox) -> Result<(), UserError> {
    let mut resumed = Ok(());
    for row in inbox.store.inbox_unfinished().await? {
        resumed = resumed.and(resume_message(inbox, &row).await);
    }
    resumed
}

async fn resume_message(inbox: &HubInbox, row: &InboxRow) -> Result<(), UserError> {
    let Some(turn) = &row.turn else { return Ok(()) };
    match inbox.store.turn_status(turn).await? {
        // It was cut before its turn was stored: nothing has been tried yet.
        None => submit(inbox, row, MessageAge::Now).await,
        Some(status) if status.is_terminal() => {
            retry_or_park(inbox, row, &UserError::other(user_texts::interrupted())).await
        }
        Some(_) => Ok(()),
    }
}

/// A hub turn ended. If its message is not finished, it is tried again, and parked in the end.
pub(crate) async fn turn_failed(
    inbox: &HubInbox,
    turn: &OpenTurn,
    why: &UserError,
) -> Result<(), UserError> {
    let tried = retry_failed_turn(inbox, &turn.turn, why).await;
    if tried.is_err() {
        // The loop tries at once, and then after a while.
        inbox.ready.notify_one();
    }
    tried
}

async fn retry_failed_turn(
    inbox: &HubInbox,
    turn: &TurnId,
    why: &UserError,
) -> Result<(), UserError> {
    let found = inbox.store.inbox_unfinished_of_turn(turn).await;
    let outcome = match found {
        Ok(None) => return Ok(()),
        Ok(Some(row)) => record_failure(inbox, &row, why).await.map(|next| (row, next)),
        Err(error) => Err(error.into()),
    };
    match outcome {
        Ok((row, AfterFailure::TryAgain)) => submit(inbox, &row, MessageAge::Before).await,
        Ok((_, AfterFailure::Ended)) => Ok(()),
        Err(error) => {
            inbox.stalled.push(StalledMessage::Failed(turn.clone(), why.clone()));
            Err(error)
        }
    }
}

async fn retry_or_park(inbox: &HubInbox, row: &InboxRow, why: &UserError) -> Result<(), UserError> {
    match record_failure(inbox, row, why).await? {
        AfterFailure::TryAgain => submit(inbox, row, MessageAge::Before).await,
        AfterFailure::Ended => Ok(()),
    }
}

/// Whether a message whose turn failed gets another one.
enum AfterFailure {
    TryAgain,
    Ended,
}

/// Counts a failed turn of a message. In the end, and if the turn did something, the hub is told instead.
async fn record_failure(
    inbox: &HubInbox,
    row: &InboxRow,
    why: &UserError,
) -> Result<AfterFailure, UserError> {
    let store = &inbox.store;
    if let Some(turn) = &row.turn {
        let changes = store.turn_changes(turn).await?;
        let places = writable_notes(inbox).await?;
        if let Some(words) = interrupted_text(&changes, &places) {
            store.inbox_done(&notification_for(row, &words, "high")).await?;
            inbox.outbox_ready.notify_one();
            return Ok(AfterFailure::Ended);
        }
    }
    let at_least = if is_final(why.code) { MAX_TURN_ATTEMPTS } else { 0 };
    let failed = store.inbox_attempt_failed(&row.hub, &row.id, &why.message, at_least).await?;
    if failed <= MAX_TURN_ATTEMPTS {
        return Ok(AfterFailure::TryAgain);
    }
    // An error may name notes. The window shows it with the message.
    store.inbox_park(&notification_for(row, NOT_SAVED, "high")).await?;
    inbox.outbox_ready.notify_one();
    if let Some(conversation) = &row.conversation {
        inbox.domain_events.emit(DomainEvent::Held(conversation.clone()));
    }
    Ok(AfterFailure::Ended)
}

async fn writable_notes(inbox: &HubInbox) -> Result<WritableNotes, UserError> {
    let (notes, hub) = (inbox.vault.clone(), inbox.config.get().hub);
    run_blocking(move || WritableNotes::from_settings(&notes, &hub, &local_now())).await
}

/// The text for the hub about a turn that did something before it was interrupted; `None` if it did nothing, so
/// that it can be tried again. It names only notes that the settings name: the model may have given a note of
/// the inbox folder its name.
fn interrupted_text(changes: &TurnChanges, places: &WritableNotes) -> Option<String> {
    let name = |paths: &[NotePath]| match paths {
        [] => None,
        [path] if places.lists(path) => Some(path.title().to_owned()),
        [_] => Some("a note".to_owned()),
        _ => Some("some notes".to_owned()),
    };
    let (changed, uncertain) = (name(&changes.changed), name(&changes.uncertain));
    match (changed, uncertain) {
        (_, Some(name)) => Some(format!(
            "Interrupted. Vaultmate can’t tell whether {name} changed. Look at it in Vaultmate."
        )),
        (Some(name), None) => {
            Some(format!("Interrupted after changing {name}. Look at it in Vaultmate."))
        }
        (None, None) => None,
    }
}

/// Whether a model that is asked once more fails alike.
const fn is_final(code: ErrorCode) -> bool {
    use ErrorCode::{Key, Model, Spending, TooLarge};
    matches!(code, Key | Model | Spending | TooLarge)
}

/// Begins what was accepted and has no turn. One at a time: a thousand messages need no more room
/// than one.
async fn begin_turns(inbox: &HubInbox) -> Result<(), UserError> {
    while let Some(row) = inbox.store.inbox_next().await? {
        submit(inbox, &row, MessageAge::Now).await?;
    }
    Ok(())
}

/// Tries the stalled messages again. Those that fail again are kept, and the first error is told.
async fn begin_stalled(inbox: &HubInbox) -> Result<(), UserError> {
    let mut begun = Ok(());
    for message in inbox.stalled.take() {
        begun = begun.and(match message {
            StalledMessage::Begin { hub, id, age } => begin_again(inbox, &hub, &id, age).await,
            StalledMessage::Failed(turn, why) => retry_failed_turn(inbox, &turn, &why).await,
        });
    }
    begun
}

async fn begin_again(
    inbox: &HubInbox,
    hub: &str,
    id: &str,
    age: MessageAge,
) -> Result<(), UserError> {
    let found = async {
        let open = inbox.store.inbox_unfinished().await?;
        let Some(row) = open.into_iter().find(|row| row.hub == hub && row.id == id) else {
            return Ok(None);
        };
        let status = match &row.turn {
            Some(turn) => inbox.store.turn_status(turn).await?,
            None => None,
        };
        let needs_turn = match age {
            MessageAge::Now => status.is_none(),
            // It may still have the turn that failed.
            MessageAge::Before => status.is_none_or(TurnStatus::is_terminal),
        };
        Ok::<_, UserError>(needs_turn.then_some(row))
    };
    match found.await {
        Ok(Some(row)) => submit(inbox, &row, age).await,
        Ok(None) => Ok(()),
        Err(error) => {
            inbox.stalled.push(StalledMessage::begin(hub, id, age));
            Err(error)
        }
    }
}

/// Begins a turn for the message. If that fails, the message is tried again later.
async fn submit(inbox: &HubInbox, row: &InboxRow, age: MessageAge) -> Result<(), UserError> {
    let begun = try_submit(inbox, row, age).await;
    if begun.is_err() {
        inbox.stalled.push(StalledMessage::begin(&row.hub, &row.id, age));
    }
    begun
}

async fn try_submit(inbox: &HubInbox, row: &InboxRow, age: MessageAge) -> Result<(), UserError> {
    let conversation = conversation_of(inbox, row).await?;
    let received_at = Some(row.received_at);
    let message = UserMessage::new(row.text.clone(), row.origin, WithNote::Never);
    let message = UserMessage { age, received_at, ..message };
    let prepared = inbox.chats.prepare_turn(&conversation, &message).await?;
    inbox.store.inbox_assign_turn(&row.hub, &row.id, &conversation, &prepared.new.turn).await?;
    inbox.chats.submit(prepared).await
}

/// One conversation per hub and day; what may answer a question of yesterday goes to that.
async fn conversation_of(inbox: &HubInbox, row: &InboxRow) -> Result<ConversationId, UserError> {
    let (since, until) = reply_matching::asked_between(row.received_at);
    let store = &inbox.store;
    let asked = store.conversation_of_hub_question(&row.hub, since, until).await?;
    if let Some(asked) = asked {
        return Ok(asked);
    }
    let day = local_now();
    let today = format!("{} {}", day.strftime("%Y-%m-%d"), row.hub);
    if let Some(id) = store.hub_conversation(&today).await? {
        return Ok(id);
    }
    let id = crate::support::clock::new_id();
    let title = format!("Inbox, {}", day.strftime("%A"));
    store.create_conversation(&id, &title, Some(&today), now()).await?;
    Ok(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hub_is_told_of_made_changes_and_of_those_that_nobody_can_tell() {
        let folder = tempfile::tempdir().expect("a folder");
        let vault = vault::Vault::open(folder.path()).expect("a vault");
        let settings = protocol::settings::HubSettings::default();
        let places = WritableNotes::from_settings(&vault, &settings, &local_now());
        let paths = |all: &[&str]| {
            all.iter().map(|path| NotePath::parse(path).expect("a path")).collect::<Vec<_>>()
        };
        let told = |changed: &[&str], uncertain: &[&str]| {
            let (changed, uncertain) = (paths(changed), paths(uncertain));
            interrupted_text(&TurnChanges { changed, uncertain }, &places)
        };
        assert_eq!(told(&[], &[]), None);
        for (notes, name) in [
            (&["inbox/Inbox.md"][..], "Inbox"),
            (&["inbox/Ann is pregnant.md"], "a note"),
            (&["Diary.md"], "a note"),
            (&["A.md", "B.md"], "some notes"),
        ] {
            let made = format!("Interrupted after changing {name}. Look at it in Vaultmate.");
            assert_eq!(told(notes, &[]), Some(made));
            let unknown = format!(
                "Interrupted. Vaultmate can’t tell whether {name} changed. Look at it in Vaultmate."
            );
            assert_eq!(told(notes, notes), Some(unknown));
        }
    }
}
