//! Notifications for the hub about turns, and the pace at which they are sent.
//!
//! The oldest goes first, until the hub is about to drop the messages that are answered: then the
//! newest. The number of answers that the hub no longer shows is reported once, when everything
//! that came is being worked on.
//!
//! An answer may be queued for a day. It is judged again before it is sent, unless the user approved it: if its turn
//! read what is private by now, it needs approval.

pub(crate) mod disclosure;
mod lost_answers;

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use hub::{HubResponse, Priority};
use markdown::parser::plain_text;
use protocol::{
    AppEvent, CallId, HubState, Message, MessagePart, NotePath, Role, Speech, Timestamp,
    TurnEnding, TurnStatus, UserError,
};
use store::{InboxRow, OutboxPush, OutboxRow, Store, StoreError, id_at_hub};
use tokio::sync::{Notify, watch};
use tokio::time::Instant;

use crate::events::domain_event::{DomainEvent, DomainEvents};
use crate::events::feed::Feed;
use crate::hub::connection::HubLink;
use crate::hub::fallback_capture::capture_call::{captures_message, is_capture_call};
use crate::privacy::PrivacyGuard;
use crate::settings::config::Config;
use crate::support::blocking::run_blocking;
use crate::support::clock::now;
use disclosure::{HubDisclosure, judge_turn};
use lost_answers::{expired_error, undelivered_error};

/// Sent in place of an answer that waits for the user.
const NEEDS_APPROVAL: &str = "An answer needs your approval in Vaultmate.";
/// The hub shows notifications one second apart; a little more keeps them from merging.
const MIN_SEND_INTERVAL: Duration = Duration::from_millis(1_100);
/// It shows at most this many in a minute.
const MAX_PER_MINUTE: usize = 10;
const MINUTE: Duration = Duration::from_secs(60);
/// Undelivered notifications older than this are left to the user.
const STALE_AFTER_MS: i64 = 24 * 60 * 60 * 1_000;
/// The hub takes two with one title in so short a time for the same, and may lose the second.
const TITLE_MERGE_WINDOW: Duration = Duration::from_secs(5);
/// The number of its last messages to which a hub takes answers; it drops others without an error.
const HUB_REPLY_WINDOW: i64 = 100;
/// How long a queue that cannot be read is left alone.
const RETRY_DELAY: Duration = Duration::from_secs(30);

/// Before a link that was lost is asked again, unless it tells before.
const LINK_STATE_TIMEOUT: Duration = Duration::from_secs(1);

/// Whether a turn that ended so may be the end of its hub message. One that failed or was cut by an
/// error is tried again: its last text may claim a change that was never made.
pub(crate) const fn may_be_final(ending: &TurnEnding) -> bool {
    match ending.status {
        TurnStatus::Failed | TurnStatus::Interrupted => false,
        TurnStatus::Limit => ending.error.is_none(),
        _ => true,
    }
}

/// The notifications of a finished turn.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct TurnNotifications {
    /// At once.
    pub(crate) now: Vec<OutboxPush>,
    /// Sent once the user approves.
    pub(crate) needs_approval: Vec<OutboxPush>,
}

impl TurnNotifications {
    /// Whether the turn that ended so is the end of its hub message. A turn that came to its limit
    /// and tells the hub nothing is not: nobody would hear of the message again.
    pub(crate) fn are_final(&self, ending: &TurnEnding) -> bool {
        let tells = !self.now.is_empty() || !self.needs_approval.is_empty();
        may_be_final(ending) && (ending.status != TurnStatus::Limit || tells)
    }
}

/// The notifications of a finished hub turn, of which these are the messages: each message that the
/// model sent, then its last answer unless it was sent already, a question with high priority, and
/// the pending changes. The hub gets text of the model, and names that it chose, only within its
/// reach. Such text and names have the time at which the turn ended, and our own words a later one.
pub(crate) fn turn_notifications(
    row: &InboxRow,
    own: &[Message],
    ending: &TurnEnding,
    waiting: &[NotePath],
    reach: HubDisclosure,
) -> TurnNotifications {
    let push = |body: &str, priority: &str, at: Timestamp| OutboxPush {
        at,
        ..notification_for(row, body, priority)
    };
    let later = after(ending.at);
    let worded_at = if is_only_captured(own) { later } else { ending.at };
    let worded: Vec<OutboxPush> = model_messages(own, ending)
        .into_iter()
        .map(|(body, priority)| push(&body, priority, worded_at))
        .collect();
    let mut told = Vec::new();
    if reach == HubDisclosure::Beyond && !worded.is_empty() {
        told.push(push(NEEDS_APPROVAL, "normal", later));
    }
    if ending.status == TurnStatus::Cancelled {
        told.push(push("Stopped before it was done.", "normal", later));
    }
    if let Some(review) = review_text(waiting, reach) {
        let at = if reach == HubDisclosure::Within { ending.at } else { later };
        told.push(push(&review, "normal", at));
    }
    match reach {
        HubDisclosure::Within => TurnNotifications {
            now: worded.into_iter().chain(told).collect(),
            needs_approval: Vec::new(),
        },
        HubDisclosure::Beyond => TurnNotifications { now: told, needs_approval: worded },
    }
}

/// The time of our own words about a text of that time. By it the store tells them from the text.
const fn after(text_at: Timestamp) -> Timestamp {
    Timestamp(text_at.0.saturating_add(1))
}

/// The messages that the model sent, and their priority.
fn model_messages(own: &[Message], ending: &TurnEnding) -> Vec<(String, &'static str)> {
    let said = said_by_calls(own, ending);
    let mut messages: Vec<(String, &'static str)> =
        said.into_iter().map(|text| (text.to_owned(), "normal")).collect();
    if let Some(question) = &ending.question {
        messages.push((question.text.clone(), "high"));
    }
    // Messages of the model before the inbox note took over.
    let kept = own.iter().filter(|message| message.parts.iter().any(is_fallback_capture));
    let texts = kept.map(Message::text).filter(|text| !text.trim().is_empty());
    messages.extend(texts.map(|text| (text, "normal")));
    let last = ending.message.as_ref().map(Message::text).unwrap_or_default();
    if !last.trim().is_empty() && !messages.iter().any(|(text, _)| text.trim() == last.trim()) {
        messages.push((last, "normal"));
    }
    messages
}

fn is_fallback_capture(part: &MessagePart) -> bool {
    matches!(part, MessagePart::Call { id, .. } if is_capture_call(id))
}

/// Whether no model has said anything in the turn of these messages: it captured the hub message,
/// and its last text is ours.
pub(crate) fn is_only_captured(own: &[Message]) -> bool {
    let answers = own.iter().filter(|message| message.role == Role::Assistant);
    let mut parts = answers.flat_map(|message| &message.parts).peekable();
    parts.peek().is_some() && parts.all(is_capture_of_message)
}

fn is_capture_of_message(part: &MessagePart) -> bool {
    matches!(part, MessagePart::Call { id, tool, .. } if captures_message(id, tool))
}

fn review_text(waiting: &[NotePath], reach: HubDisclosure) -> Option<String> {
    let (first, more) = waiting.split_first()?;
    Some(match reach {
        // Several notes are named only if the user's request named them.
        HubDisclosure::Within if !more.is_empty() => {
            format!("Changes to {} notes need your review in Vaultmate.", waiting.len())
        }
        HubDisclosure::Within => {
            format!("A change to {} needs your review in Vaultmate.", first.title())
        }
        HubDisclosure::Beyond => "A change needs your review in Vaultmate.".to_owned(),
    })
}

/// The messages of calls, in order: by the results stored before the end of the turn, then by those stored with it.
/// The first result of a call stands.
fn said_by_calls<'a>(own: &'a [Message], ending: &'a TurnEnding) -> Vec<&'a str> {
    let parts = own.iter().flat_map(|message| &message.parts);
    let stored: Vec<(&CallId, Option<&'a Speech>)> = parts
        .filter_map(|part| match part {
            MessagePart::Result { call, speech, .. } => Some((call, speech.as_ref())),
            _ => None,
        })
        .collect();
    let is_stored = |call: &CallId| stored.iter().any(|(of, _)| *of == call);
    let last = ending.results.iter().filter(|result| !is_stored(&result.call));
    let last = last.map(|result| result.speech.as_ref());
    let message = |speech: Option<&'a Speech>| match speech {
        Some(Speech::Say { text }) => Some(text.as_str()),
        Some(Speech::Ask { .. } | Speech::End { .. }) | None => None,
    };
    stored.iter().map(|(_, speech)| *speech).chain(last).filter_map(message).collect()
}

/// One notification for the message in `row`.
pub(crate) fn notification_for(row: &InboxRow, body: &str, priority: &str) -> OutboxPush {
    OutboxPush {
        hub: row.hub.clone(),
        message_id: row.id.clone(),
        title: Some(title(&row.text)),
        body: body.to_owned(),
        priority: priority.to_owned(),
        at: now(),
    }
}

/// The first words of the text: titles differ, so that the hub does not merge them.
fn title(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or_default();
    let cut: String = line.chars().take(60).collect();
    if cut.len() < line.len() { format!("{}…", cut.trim_end()) } else { cut }
}

/// The notifications of an open vault for its hub.
pub(crate) struct HubOutbox {
    pub(crate) store: Store,
    pub(crate) config: Config,
    /// Keeps private notes from models.
    pub(crate) privacy_guard: Arc<PrivacyGuard>,
    pub(crate) feed: Feed,
    /// For the publisher.
    pub(crate) domain_events: DomainEvents,
    pub(crate) link: Arc<HubLink>,
    /// Notified when notifications were queued.
    pub(crate) ready: Arc<Notify>,
}

/// Sends queued notifications in order while the link is online, until it is dropped. Each is sent
/// until the hub has read it: the very same once more when the link was lost before that is known,
/// so that the hub can know it again. Those for another hub wait until that is linked again.
pub(crate) async fn run_delivery_loop(
    outbox: Arc<HubOutbox>,
    mut state: watch::Receiver<HubState>,
    clocks: llm::TimeScale,
) {
    let mut pace = SendThrottle::new(clocks);
    let (mut last, mut unshown) = (None::<InFlightNotification>, Unshown::default());
    while state.wait_for(|state| *state == HubState::Online).await.is_ok() {
        if last.is_none() {
            // The wait comes first: what is judged is sent at once.
            pace.wait().await;
        }
        let delivered = match next_notification(&outbox, last.as_ref(), &mut unshown).await {
            Ok(Some(row)) => match deliver_one(&outbox, row, &mut last, &mut pace).await {
                Ok(DeliveryStatus::Read) => {
                    last = None;
                    Ok(())
                }
                Ok(DeliveryStatus::Unknown) => {
                    // The link has moved, or is about to say so; one that is back by the time it is
                    // heard of is heard of as if it had never gone.
                    let _ = tokio::time::timeout(LINK_STATE_TIMEOUT, state.changed()).await;
                    Ok(())
                }
                Err(error) => Err(error),
            },
            Ok(None) => {
                outbox.ready.notified().await;
                Ok(())
            }
            Err(error) => Err(error),
        };
        if let Err(error) = delivered {
            tracing::warn!(%error, "notifications wait");
            // Full or locked: the next one may come sooner than the disk is free again.
            let _ = tokio::time::timeout(RETRY_DELAY, outbox.ready.notified()).await;
        }
    }
}

/// The next one to send. Those that are too old are dropped: they need approval in their conversation, or the user
/// is told how many there were. So is how many answers the hub shows no more. Words of a turn that need approval by
/// now are held for it.
async fn next_notification(
    outbox: &HubOutbox,
    last: Option<&InFlightNotification>,
    unshown: &mut Unshown,
) -> Result<Option<OutboxRow>, UserError> {
    let oldest = Timestamp(now().0 - STALE_AFTER_MS);
    let mut lost = 0;
    for dropped in outbox.store.outbox_expire(oldest).await? {
        match dropped.conversation {
            Some(conversation) => outbox.domain_events.emit(DomainEvent::Held(conversation)),
            None => lost += 1,
        }
    }
    if lost > 0 {
        // Without their text: `serve` prints it, and a journal keeps what is printed.
        outbox.feed.publish(AppEvent::Problem { error: expired_error(lost) });
    }
    let Some(hub) = outbox.link.linked_hub() else { return Ok(None) };
    let under_way = last.map(|last| last.id);
    loop {
        let next = outbox.store.outbox_next(&hub, under_way, HUB_REPLY_WINDOW).await?;
        let Some(row) = next else { return Ok(None) };
        let is_read = last.is_some_and(|last| last.id == row.id && last.unread.is_none());
        if is_read || may_be_told(outbox, &row).await? {
            unshown.look(outbox, &row).await?;
            return Ok(Some(row));
        }
    }
}

/// Whether this may be sent by the rules of now. If not, all queued words of its turn are held for approval, and a
/// notice is queued.
async fn may_be_told(outbox: &HubOutbox, row: &OutboxRow) -> Result<bool, UserError> {
    let Some(turn) = &row.unapproved_turn else { return Ok(true) };
    let (hub, ended_at) = (outbox.config.get().hub, row.push.at);
    let (store, privacy_guard) = (&outbox.store, &outbox.privacy_guard);
    let reach = judge_turn(store, privacy_guard, hub, turn, ended_at, Vec::new()).await?;
    if reach == HubDisclosure::Within {
        return Ok(true);
    }
    let notice = OutboxPush {
        body: NEEDS_APPROVAL.to_owned(),
        priority: "normal".to_owned(),
        at: after(ended_at),
        ..row.push.clone()
    };
    if let Some(held) = store.outbox_hold(turn, &notice).await? {
        outbox.domain_events.emit(DomainEvent::Held(held));
    }
    Ok(false)
}

/// Answers that the hub no longer shows, because it has dropped their messages.
#[derive(Debug, Default)]
struct Unshown {
    /// The hub that `told` and `early` are about.
    hub: String,
    /// The number of the last that was told.
    told: i64,
    /// Those that went out, or are about to, while it was not known yet how many there will be.
    early: BTreeSet<i64>,
}

impl Unshown {
    /// Tells once how many there are, together: not before all that came is being worked on.
    async fn look(&mut self, outbox: &HubOutbox, next: &OutboxRow) -> Result<(), StoreError> {
        if self.hub != next.push.hub {
            *self = Self { hub: next.push.hub.clone(), ..Self::default() };
        }
        let is_one = next.newer >= HUB_REPLY_WINDOW && next.id > self.told;
        if outbox.store.inbox_next().await?.is_some() {
            self.early.extend(is_one.then_some(next.id));
            return Ok(());
        }
        // The next one is among the queued ones.
        self.early.remove(&next.id);
        let sent = i64::try_from(std::mem::take(&mut self.early).len()).unwrap_or(i64::MAX);
        let dropped =
            outbox.store.outbox_expired_replies(&self.hub, self.told, HUB_REPLY_WINDOW).await?;
        self.told = self.told.max(dropped.last);
        let count = dropped.count.saturating_add(sent);
        if count > 0 {
            outbox.feed.publish(AppEvent::Problem { error: undelivered_error(count) });
        }
        Ok(())
    }
}

/// The notification that goes out, until it is noted as sent.
struct InFlightNotification {
    id: i64,
    /// A response that the hub may not have read yet.
    unread: Option<HubResponse>,
}

/// The state of a notification that was sent.
enum DeliveryStatus {
    /// The hub has read it, and that is noted.
    Read,
    /// The link was lost before that was known.
    Unknown,
}

async fn deliver_one(
    outbox: &HubOutbox,
    row: OutboxRow,
    last: &mut Option<InFlightNotification>,
    pace: &mut SendThrottle,
) -> Result<DeliveryStatus, UserError> {
    let hub = row.push.hub.clone();
    let under_way = match last.take().filter(|last| last.id == row.id) {
        Some(under_way) => last.insert(under_way),
        None => {
            let unread = Some(pace.throttle(row.push).await?);
            last.insert(InFlightNotification { id: row.id, unread })
        }
    };
    if let Some(response) = &under_way.unread {
        if outbox.link.handle.send(&hub, response.clone()).await.is_err() {
            return Ok(DeliveryStatus::Unknown);
        }
        under_way.unread = None;
    }
    outbox.store.outbox_sent(row.id).await?;
    Ok(DeliveryStatus::Read)
}

/// The notifications that were sent lately, and their titles.
#[derive(Debug)]
struct SendThrottle {
    pace: llm::TimeScale,
    sent: VecDeque<(Instant, String)>,
}

impl SendThrottle {
    const fn new(clocks: llm::TimeScale) -> Self {
        Self { pace: clocks, sent: VecDeque::new() }
    }

    /// Waits until the hub will show one more.
    async fn wait(&mut self) {
        if let Some((last, _)) = self.sent.back() {
            tokio::time::sleep_until(*last + self.pace.scale(MIN_SEND_INTERVAL)).await;
        }
        if self.sent.len() >= MAX_PER_MINUTE
            && let Some((first, _)) = self.sent.pop_front()
        {
            tokio::time::sleep_until(first + self.pace.scale(MINUTE)).await;
        }
    }

    /// As [`Self::wait`], and gives the notification a title that the hub will not merge.
    async fn throttle(&mut self, push: OutboxPush) -> Result<HubResponse, UserError> {
        let OutboxPush { message_id, title, body, priority, .. } = push;
        // A hub shows the text as it comes, and drops everything that looks like a tag.
        let to_plain = move || (plain_text(&title.unwrap_or_default()), plain_text(&body));
        let (title, body) = run_blocking(to_plain).await?;
        self.wait().await;
        // Two titles may differ in their marks alone, so the titles as they are shown are told apart.
        let title = self.distinct_title(title, Instant::now());
        self.sent.push_back((Instant::now(), title.clone()));
        let priority = parse_priority(&priority);
        let message_id = id_at_hub(&message_id).to_owned();
        Ok(HubResponse::Notification { message_id, title, body, priority })
    }

    fn distinct_title(&self, title: String, now: Instant) -> String {
        let is_recent = |wanted: &str| {
            let merged = self.pace.scale(TITLE_MERGE_WINDOW);
            let mut recent = self.sent.iter().filter(|(at, _)| now.duration_since(*at) <= merged);
            recent.any(|(_, title)| title == wanted)
        };
        let numbered = (2..).map(|n| format!("{title} ({n})"));
        std::iter::once(title.clone())
            .chain(numbered)
            .find(|title| !is_recent(title))
            .unwrap_or(title)
    }
}

fn parse_priority(word: &str) -> Priority {
    match word {
        "high" => Priority::High,
        "low" => Priority::Low,
        _ => Priority::Normal,
    }
}

#[cfg(test)]
mod tests;
