//! The numbered feed to the window: events in order, in batches of at most one a frame. Batches
//! with only text of an answer are sent at most twenty times a second, and at most ten times where
//! the text comes faster than anybody reads.
//!
//! The text of an answer that is being written lives here too, under the same lock as the numbers,
//! so that a view and the events after it never disagree.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use protocol::chat::conversation::ChatItem;
use protocol::{AppEvent, ConversationId, MessageId, NumberedEvent};
use tokio::sync::{Notify, mpsc};

/// One frame at 60 Hz.
const FRAME: Duration = Duration::from_millis(16);

/// The number of frames between two batches of text alone: nobody sees smaller steps, and the
/// window draws each batch.
const FRAMES_FOR_TEXT: u32 = 3;

/// Where this many bytes have come by then, far faster than anybody reads, they wait as long once
/// more.
const FAST_TEXT_BYTES: usize = 24;

/// Receives batches; `false` means that nobody listens any more.
pub type FeedListener = Box<dyn Fn(Vec<NumberedEvent>) -> bool + Send + Sync>;

/// Handle to the feed; clones are the same feed.
#[derive(Clone, Default)]
pub(crate) struct Feed {
    inner: Arc<FeedInner>,
}

#[derive(Default)]
struct FeedInner {
    state: Mutex<FeedState>,
    added: Notify,
}

#[derive(Default)]
struct FeedState {
    seq: u32,
    pending: Vec<NumberedEvent>,
    listener: Option<FeedListener>,
    /// Hears what concerns more than the window.
    observer: Option<mpsc::UnboundedSender<AppEvent>>,
    streams: HashMap<ConversationId, (MessageId, String)>,
    /// A view was taken: text that follows must not join an event that it already counts.
    is_view_taken: bool,
}

impl Feed {
    /// Appends an event.
    pub(crate) fn publish(&self, event: AppEvent) {
        let mut state = self.lock();
        state.push(event);
        drop(state);
        self.inner.added.notify_one();
    }

    /// Appends text to the answer that is being written; the first text that is not blank makes its item.
    pub(crate) fn stream_text(&self, conversation: &ConversationId, id: &MessageId, text: &str) {
        let mut state = self.lock();
        if state.streams.get(conversation).is_none_or(|(live, _)| live != id) {
            state.streams.insert(conversation.clone(), (id.clone(), String::new()));
        }
        let Some((_, so_far)) = state.streams.get_mut(conversation) else { return };
        let was_blank = so_far.trim().is_empty();
        so_far.push_str(text);
        // An answer of blanks has no item once it is stored.
        if so_far.trim().is_empty() {
            return;
        }
        if was_blank {
            let text = so_far.clone();
            state.push(AppEvent::ItemChanged {
                conversation: conversation.clone(),
                item: assistant_item(id, String::new()),
            });
            state.push_text(conversation, id, &text);
        } else {
            state.push_text(conversation, id, text);
        }
        drop(state);
        self.inner.added.notify_one();
    }

    /// The answer is stored, or will not be: its live text is dropped.
    pub(crate) fn end_stream(&self, conversation: &ConversationId) {
        self.lock().streams.remove(conversation);
    }

    /// No answer is being written any more: the vault was closed.
    pub(crate) fn end_all_streams(&self) {
        self.lock().streams.clear();
    }

    /// The number of the last event, and the item that is being written in `conversation`.
    pub(crate) fn streaming_item(&self, conversation: &ConversationId) -> (u32, Option<ChatItem>) {
        let mut state = self.lock();
        state.is_view_taken = true;
        let stream = state.streams.get(conversation).filter(|(_, text)| !text.trim().is_empty());
        let item = stream.map(|(id, text)| assistant_item(id, text.clone()));
        (state.seq, item)
    }

    /// The number of the last event.
    pub(crate) fn last_seq(&self) -> u32 {
        self.lock().seq
    }

    /// Installs the listener in place of an earlier one; it hears events after the returned number.
    pub(crate) fn subscribe(&self, listener: FeedListener) -> u32 {
        let mut state = self.lock();
        state.pending.clear();
        state.listener = Some(listener);
        state.seq
    }

    /// Tells an observer, in place of an earlier one, what concerns more than the window, at once.
    pub(crate) fn observe(&self) -> mpsc::UnboundedReceiver<AppEvent> {
        let (tell, heard) = mpsc::unbounded_channel();
        self.lock().observer = Some(tell);
        heard
    }

    /// Delivers batches until the future is dropped.
    pub(crate) async fn deliver(&self) {
        loop {
            self.inner.added.notified().await;
            for frame in 1.. {
                tokio::time::sleep(FRAME).await;
                if self.lock().is_due(frame) {
                    break;
                }
            }
            self.flush();
        }
    }

    /// Delivers what is pending now.
    pub(crate) fn flush(&self) {
        let mut state = self.lock();
        let batch = std::mem::take(&mut state.pending);
        if !batch.is_empty() && !state.listener.as_ref().is_some_and(|listener| listener(batch)) {
            state.listener = None;
        }
    }

    fn lock(&self) -> MutexGuard<'_, FeedState> {
        self.inner.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FeedState {
    fn push(&mut self, event: AppEvent) {
        self.seq = self.seq.wrapping_add(1);
        self.is_view_taken = false;
        if let Some(observer) = self.observer.as_ref().filter(|_| concerns_observer(&event)) {
            // One that has gone cares for nothing any more.
            let _ = observer.send(event.clone());
        }
        if self.listener.is_some() {
            self.pending.push(NumberedEvent { seq: self.seq, event });
        }
    }

    /// Whether what is pending goes out, `frames` frames after the first of it came.
    fn is_due(&self, frames: u32) -> bool {
        let words = |told: &NumberedEvent| match &told.event {
            AppEvent::TextAdded { text, .. } => Some(text.len()),
            _ => None,
        };
        let alone: Option<usize> = self.pending.iter().map(words).sum();
        alone.is_none_or(|bytes| match frames {
            0..FRAMES_FOR_TEXT => false,
            FRAMES_FOR_TEXT => bytes < FAST_TEXT_BYTES,
            _ => frames >= 2 * FRAMES_FOR_TEXT,
        })
    }

    /// Text for an item that the batch already ends with joins that event.
    fn push_text(&mut self, conversation: &ConversationId, id: &MessageId, more: &str) {
        if let Some(NumberedEvent { event: AppEvent::TextAdded { id: last, text, .. }, .. }) =
            self.pending.last_mut()
            && last == id
            && !self.is_view_taken
        {
            text.push_str(more);
            return;
        }
        self.push(AppEvent::TextAdded {
            conversation: conversation.clone(),
            id: id.clone(),
            text: more.to_owned(),
        });
    }
}

/// Adds the answer that is being written, unless it was stored meanwhile. Queued messages stay
/// below it, and so do the decisions that were made since its turn began.
pub(crate) fn add_streaming_answer(items: &mut Vec<ChatItem>, live: Option<ChatItem>) {
    let Some(ChatItem::Assistant { id: live_id, .. }) = &live else { return };
    let is_live = |item: &ChatItem| matches!(item, ChatItem::Assistant { id, .. } if id == live_id);
    if !items.iter().any(is_live) {
        let is_below = |item: &ChatItem| {
            matches!(item, ChatItem::User { queued: true, .. } | ChatItem::Decision { .. })
        };
        let end = items.iter().rposition(|item| !is_below(item)).map_or(0, |last| last + 1);
        items.splice(end..end, live);
    }
}

fn assistant_item(id: &MessageId, text: String) -> ChatItem {
    ChatItem::Assistant { id: id.clone(), text, streaming: true, cut: false }
}

/// Events that are few and describe a state; text of an answer is not among them.
const fn concerns_observer(event: &AppEvent) -> bool {
    matches!(
        event,
        AppEvent::ConversationChanged { .. }
            | AppEvent::ConversationGone { .. }
            | AppEvent::ItemChanged { item: ChatItem::Ended { .. }, .. }
            | AppEvent::HubChanged { .. }
            | AppEvent::SettingsChanged { .. }
            | AppEvent::VaultChanged { .. }
            | AppEvent::Problem { .. }
    )
}

#[cfg(test)]
mod tests {
    use protocol::{Origin, Timestamp};

    use super::*;

    fn collected(feed: &Feed) -> Arc<Mutex<Vec<NumberedEvent>>> {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&heard);
        feed.subscribe(Box::new(move |batch| {
            sink.lock().expect("not poisoned").extend(batch);
            true
        }));
        heard
    }

    #[test]
    fn text_of_one_frame_is_one_event_and_numbers_rise_by_one() {
        let feed = Feed::default();
        let heard = collected(&feed);
        let (conversation, id) = (ConversationId::from("c"), MessageId::from("m"));
        for word in ["one ", "two ", "three"] {
            feed.stream_text(&conversation, &id, word);
        }
        feed.flush();
        let heard = heard.lock().expect("not poisoned");
        assert_eq!(heard.iter().map(|numbered| numbered.seq).collect::<Vec<_>>(), [1, 2]);
        let text = AppEvent::TextAdded { conversation, id, text: "one two three".into() };
        assert_eq!(heard.last().map(|numbered| &numbered.event), Some(&text));
    }

    #[tokio::test(start_paused = true)]
    async fn long_text_waits_for_six_frames_short_text_for_three_and_other_events_for_one() {
        let feed = Feed::default();
        let heard = collected(&feed);
        let count = || heard.lock().expect("not poisoned").len();
        let delivering = feed.clone();
        let mut tasks = tokio::task::JoinSet::new();
        tasks.spawn(async move { delivering.deliver().await });
        let (conversation, id) = (ConversationId::from("c"), MessageId::from("m"));
        let began = tokio::time::Instant::now();
        let at = async |ms: u64| {
            tokio::time::sleep_until(began + Duration::from_millis(ms)).await;
        };

        feed.stream_text(&conversation, &id, "the first ");
        at(24).await;
        assert_eq!(count(), 2, "their item comes with them");
        feed.stream_text(&conversation, &id, "words");
        at(64).await;
        assert_eq!(count(), 2, "more of them can wait");
        at(80).await;
        assert_eq!(count(), 3);

        feed.stream_text(&conversation, &id, " and more");
        at(100).await;
        feed.publish(AppEvent::ChatChanged { conversation: conversation.clone() });
        at(118).await;
        assert_eq!(count(), 5, "what else happened does not wait, nor what came before it");

        feed.stream_text(&conversation, &id, "a line that a fast model writes at once");
        at(100 + 18 + 90).await;
        assert_eq!(count(), 5, "nobody reads so fast");
        at(118 + 100).await;
        assert_eq!(count(), 6);
    }

    #[test]
    fn a_view_taken_midway_holds_exactly_the_text_before_its_number() {
        let feed = Feed::default();
        let heard = collected(&feed);
        let (conversation, id) = (ConversationId::from("c"), MessageId::from("m"));
        feed.stream_text(&conversation, &id, "before ");
        let (seq, item) = feed.streaming_item(&conversation);
        feed.stream_text(&conversation, &id, "after");
        feed.flush();
        assert_eq!(item, Some(assistant_item(&id, "before ".into())));
        let later: Vec<_> =
            heard.lock().expect("not poisoned").iter().filter(|n| n.seq > seq).cloned().collect();
        let text = AppEvent::TextAdded { conversation, id, text: "after".into() };
        assert_eq!(later, [NumberedEvent { seq: seq + 1, event: text }]);
    }

    #[test]
    fn an_answer_that_was_stored_meanwhile_stands_in_a_view_once() {
        let answer = |text: &str, streaming| {
            let (id, text) = (MessageId::from("m"), text.to_owned());
            ChatItem::Assistant { id, text, streaming, cut: false }
        };
        let mut stored = vec![answer("all of it", false)];
        add_streaming_answer(&mut stored, Some(answer("all of", true)));
        assert_eq!(stored, [answer("all of it", false)]);
        let mut unstored = Vec::new();
        add_streaming_answer(&mut unstored, Some(answer("all of", true)));
        assert_eq!(unstored, [answer("all of", true)]);
    }

    #[test]
    fn queued_messages_and_decisions_stand_below_the_answer_that_is_being_written() {
        let said = |id: &str, queued| {
            let (text, origin, at) = (id.to_owned(), Origin::Window, Timestamp(1));
            ChatItem::User { id: MessageId::from(id), text, origin, at, queued }
        };
        let (id, text) = (MessageId::from("m"), "all of".to_owned());
        let live = ChatItem::Assistant { id, text, streaming: true, cut: false };
        let mut items = vec![said("asked", false), said("next", true), said("last", true)];
        add_streaming_answer(&mut items, Some(live.clone()));
        let shown = [said("asked", false), live.clone(), said("next", true), said("last", true)];
        assert_eq!(items, shown);
        let (applied, rejected) = (Vec::new(), Vec::new());
        let decided = ChatItem::Decision { id: "d".into(), applied, rejected, at: Timestamp(2) };
        let mut items = vec![said("asked", false), decided.clone(), said("next", true)];
        add_streaming_answer(&mut items, Some(live.clone()));
        assert_eq!(items, [said("asked", false), live, decided, said("next", true)]);
    }
}
