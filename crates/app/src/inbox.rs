//! Hub messages: durable, then acknowledged, then worked on. Nothing lost, nothing twice.

use std::sync::Arc;
use std::time::Duration;

use hub::{HubEvent, IncomingMessage};
use protocol::{AppEvent, ConversationId, ErrorCode, HubState, HubStatus, OpenTurn, UserError};
use store::{Delivered, InboxRow, Taken};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep_until};

use crate::announce::News;
use crate::clock::now;
use crate::hub_question;
use crate::open_vault::OpenVault;
use crate::outbox::push;
use crate::submit::{Said, WithNote, Words};
use crate::trouble::user_error;

/// Messages that may wait to be worked on; past that the hub is told that we are busy.
const QUEUE: u32 = 1_000;

/// What the hub shows then.
const BUSY: &str = "Busy: too many messages wait already. Try again later.";

/// So many are stored in one commit at most.
const TOGETHER: usize = 64;

/// How long a message that cannot be begun is left alone, if no other comes.
const A_WHILE: Duration = Duration::from_secs(30);

/// The name under which the one hub's messages are kept.
const HUB: &str = "hub";

/// The window hears of ignored frames so often at most, however many there are.
const COUNTED_EVERY: Duration = Duration::from_millis(250);

/// After this many failed turns the words of a message are kept as they are; if that fails too, it
/// is parked for the user.
pub(crate) const ATTEMPTS: u32 = 3;

/// Stores and acknowledges what the link brings until the link is dropped. What comes while the
/// disk is busy is stored together; what becomes of it is the business of [`work`], so that no
/// acknowledgement waits for a turn.
pub(crate) async fn receive(
    vault: Arc<OpenVault>,
    mut events: mpsc::Receiver<HubEvent>,
    state: watch::Sender<HubState>,
) {
    let mut untold: Option<(Instant, u32)> = None;
    let mut came = Vec::with_capacity(TOGETHER);
    loop {
        let due = untold.map(|(due, _)| due);
        tokio::select! {
            count = events.recv_many(&mut came, TOGETHER) => if count == 0 { return },
            () = sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() => {
                if let Some((_, ignored)) = untold.take() {
                    vault.set_hub_status(HubStatus { ignored, ..vault.hub_status() });
                }
            }
        }
        let mut messages = Vec::new();
        for event in came.drain(..) {
            match event {
                HubEvent::Status(status) => {
                    untold = None;
                    state.send_replace(status.state);
                    vault.set_hub_status(status);
                }
                HubEvent::Message(message) => messages.push(message),
                HubEvent::Ignored { count } => {
                    let due = due.unwrap_or_else(|| Instant::now() + COUNTED_EVERY);
                    untold = Some((due, count));
                }
            }
        }
        if !messages.is_empty() {
            accept(&vault, messages).await;
        }
    }
}

async fn accept(vault: &OpenVault, messages: Vec<IncomingMessage>) {
    let delivered = |message: &IncomingMessage| Delivered {
        id: message.id.clone(),
        text: message.text.clone(),
        origin: message.origin,
    };
    let came: Vec<Delivered> = messages.iter().map(delivered).collect();
    match vault.store.inbox_insert(HUB, &came, QUEUE, now()).await {
        Ok(taken) => {
            for (message, taken) in messages.into_iter().zip(taken) {
                match taken {
                    Taken::New | Taken::Known => message.receipt.ack(),
                    Taken::Differs => {
                        tracing::warn!(id = message.id, "known under this id with other words");
                        message.receipt.ack();
                    }
                    Taken::Full => message.receipt.reject(BUSY),
                }
            }
            vault.arrivals.notify_one();
        }
        Err(error) => {
            let why = format!("Not saved: {}", user_error(error).message);
            messages.into_iter().for_each(|message| message.receipt.reject(&why));
        }
    }
}

/// Begins a turn for each accepted message, in the order they came, until it is dropped. What cannot
/// be begun is tried again with the next one, or after a while.
pub(crate) async fn work(vault: Arc<OpenVault>) {
    loop {
        match begin(&vault).await {
            Ok(()) => vault.arrivals.notified().await,
            Err(error) => {
                vault.feed.tell(AppEvent::Problem { error });
                let _ = tokio::time::timeout(A_WHILE, vault.arrivals.notified()).await;
            }
        }
    }
}

/// Goes on with what had a turn and was not finished when the process ended; what had none yet is
/// begun by [`work`]. One message that cannot go on does not hold up the others; the first error is
/// told.
pub(crate) async fn resume(vault: &Arc<OpenVault>) -> Result<(), UserError> {
    let mut resumed = Ok(());
    for row in vault.store.inbox_unfinished().await.map_err(user_error)? {
        resumed = resumed.and(go_on(vault, &row).await);
    }
    resumed
}

async fn go_on(vault: &Arc<OpenVault>, row: &InboxRow) -> Result<(), UserError> {
    let Some(turn) = &row.turn else { return Ok(()) };
    match vault.store.turn_status(turn).await.map_err(user_error)? {
        // It was cut before its turn was stored: nothing has been tried yet.
        None => submit(vault, row, Said::Now).await,
        Some(status) if status.is_terminal() => {
            again(vault, row, &UserError::other("It was interrupted.")).await
        }
        Some(_) => Ok(()),
    }
}

/// A hub turn ended without an outcome: its words are tried again, and parked in the end.
pub(crate) async fn failed(
    vault: &Arc<OpenVault>,
    turn: &OpenTurn,
    why: &UserError,
) -> Result<(), UserError> {
    match vault.store.inbox_of_turn(&turn.turn).await.map_err(user_error)? {
        Some(row) => again(vault, &row, why).await,
        None => Ok(()),
    }
}

async fn again(vault: &Arc<OpenVault>, row: &InboxRow, why: &UserError) -> Result<(), UserError> {
    let store = &vault.store;
    if let Some(turn) = &row.turn {
        let changed = store.turn_changed_paths(turn).await.map_err(user_error)?;
        if let Some(path) = changed.first() {
            let words =
                format!("Interrupted after changing {}: look at it in Vaultmate.", path.title());
            store.inbox_done(&push(row, &words, "high")).await.map_err(user_error)?;
            vault.bell.notify_one();
            return Ok(());
        }
    }
    let at_least = if is_final(why.code) { ATTEMPTS } else { 0 };
    let failed = store.inbox_attempt_failed(&row.hub, &row.id, &why.message, at_least).await;
    if failed.map_err(user_error)? <= ATTEMPTS {
        return submit(vault, row, Said::Before).await;
    }
    let words = format!("Not saved: {}", why.message);
    store.inbox_park(&push(row, &words, "high")).await.map_err(user_error)?;
    vault.bell.notify_one();
    if let Some(conversation) = &row.conversation {
        vault.announce(News::Held(conversation.clone()));
    }
    Ok(())
}

/// Whether a model that is asked once more fails alike.
const fn is_final(code: ErrorCode) -> bool {
    use ErrorCode::{Key, Model, Spending, TooLarge};
    matches!(code, Key | Model | Spending | TooLarge)
}

/// Begins what was accepted and has no turn. One at a time: a thousand messages need no more room
/// than one.
async fn begin(vault: &Arc<OpenVault>) -> Result<(), UserError> {
    while let Some(row) = vault.store.inbox_next().await.map_err(user_error)? {
        submit(vault, &row, Said::Now).await?;
    }
    Ok(())
}

async fn submit(vault: &Arc<OpenVault>, row: &InboxRow, said: Said) -> Result<(), UserError> {
    let conversation = conversation_of(vault, row).await?;
    let received_at = Some(row.received_at);
    let words = Words::new(row.text.clone(), row.origin, WithNote::Never);
    let words = Words { said, received_at, ..words };
    let prepared = vault.new_turn(&conversation, &words).await?;
    vault
        .store
        .inbox_assign(&row.hub, &row.id, &conversation, &prepared.new.turn)
        .await
        .map_err(user_error)?;
    vault.submit(prepared).await
}

/// One conversation per hub and day; what may answer a question of yesterday goes to that.
async fn conversation_of(
    vault: &Arc<OpenVault>,
    row: &InboxRow,
) -> Result<ConversationId, UserError> {
    let (since, until) = hub_question::asked_before(row.received_at);
    if let Some(asked) = vault.store.hub_asked(since, until).await.map_err(user_error)? {
        return Ok(asked);
    }
    let today = jiff::Zoned::now().strftime("%Y-%m-%d").to_string();
    let store = &vault.store;
    if let Some(id) = store.hub_conversation(&today).await.map_err(user_error)? {
        return Ok(id);
    }
    let id = crate::clock::fresh();
    let title = format!("Inbox, {}", jiff::Zoned::now().strftime("%A"));
    store.create_conversation(&id, &title, Some(&today), now()).await.map_err(user_error)?;
    Ok(id)
}
