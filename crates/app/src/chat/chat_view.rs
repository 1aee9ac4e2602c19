//! The chat view for the window.

use protocol::chat::conversation::{ChatItem, ConversationView};
use protocol::{ConversationId, UserError};
use store::OpenedConversation;

use crate::App;
use crate::changes::review;
use crate::chat::Chats;
use crate::events::feed::add_streaming_answer;
use crate::models::context_use::Opened;
use crate::user_texts;

/// With more items a conversation is long: a window shows its end before the rest is there.
const LONG_CONVERSATION_ITEMS: usize = 1_000;
/// The length of the end, or some more items: it begins with a message of the user.
const TAIL_ITEMS: usize = 200;

/// Keeps the end of a long conversation. Returns the number of omitted items.
pub(crate) fn keep_tail(items: &mut Vec<ChatItem>) -> u32 {
    let Some(longest) = items.len().checked_sub(LONG_CONVERSATION_ITEMS).filter(|more| *more > 0)
    else {
        return 0;
    };
    let last = items.len() - TAIL_ITEMS;
    let is_said = |item: &ChatItem| matches!(item, ChatItem::User { .. });
    let said = items.iter().take(last + 1).rposition(is_said).unwrap_or(last);
    // A request that led to very much is cut in its midst.
    let first = said.max(longest);
    items.drain(..first);
    u32::try_from(first).unwrap_or(u32::MAX)
}

impl App {
    /// Everything the chat shows of one conversation.
    pub async fn conversation(&self, id: &ConversationId) -> Result<ConversationView, UserError> {
        self.session().await?.chats.conversation_view(id).await
    }

    /// The same, but only the end of a long conversation, so that a window can show it at once.
    /// `earlier` is the number of omitted items.
    pub async fn conversation_tail(
        &self,
        id: &ConversationId,
    ) -> Result<ConversationView, UserError> {
        let mut view = self.conversation(id).await?;
        view.earlier = keep_tail(&mut view.items);
        Ok(view)
    }
}

impl Chats {
    /// Everything the chat shows of one conversation.
    pub(crate) async fn conversation_view(
        &self,
        id: &ConversationId,
    ) -> Result<ConversationView, UserError> {
        let (seq, live) = self.feed.streaming_item(id);
        let talking_tools = self.service.registry().talking_tools();
        let opened = self.store.open_conversation(id, &talking_tools).await?;
        let opened = opened.ok_or_else(|| UserError::other(user_texts::conversation_gone()))?;
        let OpenedConversation { row, mut items, variants, question, changes, held } = opened;
        add_streaming_answer(&mut items, live);
        let review = match changes {
            Some(set) => Some(review::review_of_set(&self.store, id, set).await?),
            None => None,
        };
        let Opened { context, measure } = self.meter.open(id);
        if measure {
            self.meter.measure(id.clone());
        }
        Ok(ConversationView {
            seq,
            conversation: row,
            earlier: 0,
            items,
            variants,
            question,
            review,
            held,
            context,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::{MessageId, Origin, Timestamp};

    /// How many of `count` items are omitted and how many are kept, when `said` of them are
    /// messages of the user.
    fn cut(count: usize, said: usize) -> (u32, usize) {
        let items = (0..count).map(|number| {
            let (id, text) = (MessageId::from(number.to_string()), String::new());
            if number % said == 0 {
                let (origin, at) = (Origin::Window, Timestamp(1));
                ChatItem::User { id, text, origin, at, queued: false }
            } else {
                ChatItem::Assistant { id, text, streaming: false, cut: false }
            }
        });
        let mut items: Vec<ChatItem> = items.collect();
        let last = items.last().cloned();
        let earlier = keep_tail(&mut items);
        assert_eq!(items.last().cloned(), last);
        (earlier, items.len())
    }

    #[test]
    fn the_end_of_a_long_conversation_begins_with_a_message_of_the_user() {
        assert_eq!(cut(0, 2), (0, 0));
        assert_eq!(cut(1_000, 2), (0, 1_000));
        assert_eq!(cut(1_001, 2), (800, 201));
        assert_eq!(cut(10_000, 2), (9_800, 200));
        assert_eq!(cut(10_000, 300), (9_600, 400));
        assert_eq!(cut(10_000, 20_000), (9_000, 1_000));
    }
}
