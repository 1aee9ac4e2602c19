//! The items of a chat that are other ones now, as an event: the window need not fetch the chat again.

use std::collections::BTreeSet;

use protocol::chat::conversation::ChatItem;
use protocol::{AppEvent, ConversationId, MessageId, TurnId, UserError};
use store::{OpenedConversation, Store};

use crate::events::feed::{Feed, add_streaming_answer};

/// The items of a chat that are other ones now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ChatPart {
    /// The queued messages.
    Queue,
    /// A message of the user and all behind it.
    Since(MessageId),
    /// The message that opened a turn and all behind it.
    SinceTurn(TurnId),
    /// The summary and all behind it.
    SinceSummary,
    /// Nobody knows which: a window that shows the chat fetches it again.
    Unknown,
}

impl ChatPart {
    /// The event with the items as they are stored now, and the answer that is being written; `None` for
    /// a conversation that was deleted. The caller must be the task that streams answers to the feed, and
    /// publish the event before it streams more.
    pub(crate) async fn event(
        self,
        conversation: ConversationId,
        store: &Store,
        feed: &Feed,
        talking_tools: &BTreeSet<String>,
    ) -> Result<Option<AppEvent>, UserError> {
        let (_, live) = feed.streaming_item(&conversation);
        let opened = store.open_conversation(&conversation, talking_tools).await?;
        let Some(OpenedConversation { mut items, variants, .. }) = opened else { return Ok(None) };
        add_streaming_answer(&mut items, live);
        let first = match self {
            Self::Queue => {
                let queued = items.split_off(first_queued(&items));
                return Ok(Some(AppEvent::QueueChanged { conversation, queued }));
            }
            Self::Since(message) => message_position(&items, &message),
            Self::SinceTurn(turn) => {
                let opening = store.opening_message(&turn).await?;
                opening.and_then(|(message, _)| message_position(&items, &message.id))
            }
            Self::SinceSummary => items.iter().position(is_summary),
            Self::Unknown => None,
        };
        // The message may stand in another version by now, or repeat one that has the item.
        let Some(first) = first else { return Ok(Some(AppEvent::ChatChanged { conversation })) };
        let start = replaced_from(&items, first);
        let after = start.checked_sub(1).and_then(|last| items.get(last)).map(ChatItem::key);
        let items = items.split_off(start);
        Ok(Some(AppEvent::ItemsReplaced { conversation, after, items, variants }))
    }
}

/// The place from which items are told when those from `first` on are other ones. Decisions stand by
/// their time, so those right above may have stood further down. Another part may have another
/// summary, which stands where it ends.
fn replaced_from(items: &[ChatItem], first: usize) -> usize {
    let summary = items.iter().position(is_summary);
    let first = summary.map_or(first, |summary| summary.min(first));
    let is_decision = |item: &ChatItem| matches!(item, ChatItem::Decision { .. });
    let kept = items.iter().take(first).rposition(|item| !is_decision(item));
    kept.map_or(0, |last| last + 1)
}

fn first_queued(items: &[ChatItem]) -> usize {
    let is_queued = |item: &ChatItem| matches!(item, ChatItem::User { queued: true, .. });
    items.iter().rposition(|item| !is_queued(item)).map_or(0, |last| last + 1)
}

fn message_position(items: &[ChatItem], message: &MessageId) -> Option<usize> {
    items.iter().position(|item| matches!(item, ChatItem::User { id, .. } if id == message))
}

fn is_summary(item: &ChatItem) -> bool {
    matches!(item, ChatItem::Summary { .. })
}

#[cfg(test)]
mod tests {
    use protocol::{Origin, Timestamp};

    use super::*;

    fn user(id: &str, queued: bool) -> ChatItem {
        let (text, origin, at) = (id.to_owned(), Origin::Window, Timestamp(1));
        ChatItem::User { id: id.into(), text, origin, at, queued }
    }

    fn decision() -> ChatItem {
        let (applied, rejected) = (Vec::new(), Vec::new());
        ChatItem::Decision { id: "d".into(), applied, rejected, at: Timestamp(1) }
    }

    fn summary() -> ChatItem {
        ChatItem::Summary { id: "s".into(), text: "They talked.".into() }
    }

    #[test]
    fn decisions_above_the_first_item_and_the_summary_are_told_too() {
        let plain = [user("a", false), user("b", false), user("c", false)];
        assert_eq!(replaced_from(&plain, 2), 2);
        assert_eq!(replaced_from(&plain, 0), 0);
        let decided = [user("a", false), decision(), decision(), user("b", false)];
        assert_eq!(replaced_from(&decided, 3), 1);
        let summarized = [user("a", false), decision(), summary(), user("b", false)];
        assert_eq!(replaced_from(&summarized, 3), 1);
        let behind = [user("a", false), user("b", false), summary(), user("c", false)];
        assert_eq!(replaced_from(&behind, 1), 1, "the control: the summary is behind it anyway");
    }

    #[test]
    fn the_queue_is_the_messages_at_the_end() {
        let items = [user("resumed", true), decision(), user("a", true), user("b", true)];
        assert_eq!(first_queued(&items), 2);
        assert_eq!(first_queued(&items[..2]), 2);
        assert_eq!(first_queued(&items[2..]), 0);
    }
}
