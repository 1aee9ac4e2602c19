//! Titles in mentions of conversations that count as text of a model. A model makes a title of all that the mentioned
//! conversation holds, so it may repeat any note. The name that the user gave a conversation is the user's own text.

use std::collections::HashSet;

use protocol::{ConversationId, Message, TurnId, UserError};
use store::Store;

use super::hidden_titles::{TitledMention, titled_in, titled_mentions, users_texts};

/// Whether a turn was told such a title, by a message of its branch, or by the text of a pending change of another one.
pub(crate) async fn was_told_model_title(store: &Store, turn: &TurnId) -> Result<bool, UserError> {
    let told = told_messages(store, turn).await?;
    contain_model_title(store, &told).await
}

/// The messages that a turn was told, and those of the branches whose pending changes its tools show it.
pub(super) async fn told_messages(store: &Store, turn: &TurnId) -> Result<Vec<Message>, UserError> {
    let opening = store.opening_message(turn).await?;
    let Some((opening, _)) = opening else { return Ok(Vec::new()) };
    let conversation = opening.conversation;
    let mut told = store.history(&conversation, turn).await?;
    let mut read: HashSet<TurnId> = told.iter().map(|message| message.turn.clone()).collect();
    let pending = store.open_change_set(&conversation).await?;
    for change in pending.into_iter().flat_map(|set| set.planned) {
        if !read.insert(change.turn.clone()) {
            continue;
        }
        let others = store.history(&conversation, &change.turn).await?;
        read.extend(others.iter().map(|message| message.turn.clone()));
        // The turn knows no change that a later one planned.
        told.extend(others.into_iter().filter(|message| message.at <= opening.at));
    }
    Ok(told)
}

/// Whether a message of the user holds such a title.
pub(super) async fn contain_model_title(
    store: &Store,
    messages: &[Message],
) -> Result<bool, UserError> {
    let mentioned = titled_in(messages);
    if mentioned.is_empty() {
        return Ok(false);
    }
    let ids: Vec<&ConversationId> = mentioned.iter().collect();
    let names = store.names_by_user(&ids).await?;
    let is_users = |mention: TitledMention<'_>| {
        let name = names.get(&ConversationId::from(mention.id));
        name.is_some_and(|name| without_signs(name) == without_signs(mention.title))
    };
    Ok(!messages.iter().flat_map(users_texts).flat_map(titled_mentions).all(is_users))
}

/// The window leaves signs of Markdown out of a title, and those that would end the mention.
fn without_signs(title: &str) -> String {
    title.chars().filter(|c| !c.is_whitespace() && !c.is_ascii_punctuation()).collect()
}

#[cfg(test)]
mod tests {
    use protocol::Role;

    use super::*;
    use crate::adapters::stored_conversations::{StoredConversations, message};

    #[tokio::test]
    async fn only_the_name_that_the_user_gave_a_conversation_is_no_title_of_a_model() {
        let stored = StoredConversations::new().await;
        for conversation in ["named", "other"] {
            stored.begin(conversation).await;
        }
        let named = ConversationId::from("named");
        stored.store.rename(&named, "My *old* [boat]").await.expect("renamed");
        for (text, role, expected) in [
            ("see [[conversation:named|My old  boat ]]", Role::User, false),
            ("see [[conversation:named|My *old*  boat ]] and [[My boat]]", Role::User, false),
            ("see [[conversation:named|Ann is ill]]", Role::User, true),
            ("see [[conversation:other|My old boat]]", Role::User, true),
            ("see [[conversation:other|Words]]", Role::User, true),
            ("see [[conversation:gone|Words]]", Role::User, true),
            ("see [[conversation:other]]", Role::User, false),
            ("see [[conversation:other|Words]]", Role::Assistant, false),
        ] {
            let messages = [message("c", "t", role, text)];
            let found = contain_model_title(&stored.store, &messages).await;
            assert_eq!(found.expect("read"), expected, "{text}");
        }
    }

    #[tokio::test]
    async fn a_title_is_told_to_the_turns_from_its_message_on() {
        let stored = StoredConversations::new().await;
        stored.begin("c").await;
        for (turn, text) in
            [("one", "hello"), ("two", "see [[conversation:m|Milk]]"), ("three", "go on")]
        {
            stored.ask("c", turn, text).await;
            stored.answer("c", turn, None, "Well.").await;
        }
        for (turn, expected) in [("one", false), ("two", true), ("three", true)] {
            let told = was_told_model_title(&stored.store, &TurnId::from(turn)).await;
            assert_eq!(told.expect("read"), expected, "{turn}");
        }
    }
}
