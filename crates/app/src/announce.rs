//! Turns what happened in a turn into what the window shows.

use std::collections::HashMap;

use llm::host::TurnEvent;
use protocol::conversation::Item;
use protocol::{
    AppEvent, CallId, CallResult, Ending, Message, OpenTurn, Part, TurnId, TurnStatus,
};
use store::Store;
use tokio::sync::mpsc;

use crate::feed::Feed;

/// Tells the feed of the turns of one vault, in order.
pub(crate) struct Announcer {
    pub(crate) store: Store,
    pub(crate) feed: Feed,
    /// Calls of running turns that have no result yet.
    pub(crate) open: HashMap<(TurnId, CallId), (String, serde_json::Value)>,
}

impl Announcer {
    /// Works until the senders are gone. Calls `ended` after each turn that ended.
    pub(crate) async fn run(
        mut self,
        mut news: mpsc::UnboundedReceiver<(OpenTurn, TurnEvent)>,
        ended: mpsc::UnboundedSender<(OpenTurn, Ending)>,
    ) {
        while let Some((turn, event)) = news.recv().await {
            match event {
                TurnEvent::Began => self.began(&turn).await,
                TurnEvent::Delta { message, text } => {
                    self.feed.write(&turn.conversation, &message, &text);
                }
                TurnEvent::Stepped(message) => self.stepped(&turn, &message),
                TurnEvent::Called(_) => {}
                TurnEvent::Answered(results) => self.answered(&turn, &results),
                TurnEvent::Ended(ending) => {
                    self.ended(&turn, &ending).await;
                    let _ = ended.send((turn, ending));
                }
            }
        }
    }

    async fn began(&self, turn: &OpenTurn) {
        match self.store.history(&turn.conversation, &turn.turn).await {
            Ok(history) => {
                if let Some(message) = history.iter().find(|message| message.id == turn.message) {
                    self.item(turn, user_item(message, turn, false));
                }
            }
            Err(error) => tracing::warn!(%error, "a user message is not announced"),
        }
        self.row(turn).await;
    }

    fn stepped(&mut self, turn: &OpenTurn, message: &Message) {
        self.words(turn, message, false);
        for part in &message.parts {
            let Part::Call { id, tool, arguments } = part else { continue };
            let key = (turn.turn.clone(), id.clone());
            self.open.insert(key, (tool.clone(), arguments.clone()));
            if !is_talk(tool) {
                self.item(turn, tool_item(turn, id, tool, arguments, None));
            }
        }
    }

    fn answered(&mut self, turn: &OpenTurn, results: &[CallResult]) {
        for result in results {
            let Some((tool, arguments)) =
                self.open.remove(&(turn.turn.clone(), result.call.clone()))
            else {
                continue;
            };
            let said = arguments.get("message").and_then(serde_json::Value::as_str);
            let asks = arguments.get("is_question").and_then(serde_json::Value::as_bool);
            match said {
                Some(_) if tool == "send_message" && asks == Some(true) && !result.is_error => {}
                Some(text) if tool == "send_message" && !result.is_error => {
                    let id = store::view::said_id(&turn.turn, &result.call);
                    let text = text.to_owned();
                    self.item(turn, Item::Assistant { id, text, streaming: false, cut: false });
                }
                _ if is_talk(&tool) && !result.is_error => {}
                _ => self.item(turn, tool_item(turn, &result.call, &tool, &arguments, Some(result))),
            }
        }
    }

    async fn ended(&mut self, turn: &OpenTurn, ending: &Ending) {
        self.answered(turn, &ending.results);
        if let Some(message) = &ending.message {
            self.words(turn, message, ending.cut);
        }
        self.feed.written(&turn.conversation);
        if let Some(question) = &ending.question {
            let id = store::view::asked_id(&question.id);
            let text = question.text.clone();
            self.item(turn, Item::Asked { id, text, answer: None, withdrawn: false });
            self.feed.tell(AppEvent::QuestionChanged {
                conversation: turn.conversation.clone(),
                question: Some(question.clone()),
            });
        }
        if !matches!(ending.status, TurnStatus::Done | TurnStatus::Asked) {
            let (turn_id, error) = (turn.turn.clone(), ending.error.clone());
            self.item(turn, Item::Ended { turn: turn_id, status: ending.status, error });
        }
        self.row(turn).await;
    }

    fn words(&self, turn: &OpenTurn, message: &Message, cut: bool) {
        let text = message.text();
        self.feed.written(&turn.conversation);
        if !text.trim().is_empty() {
            let id = message.id.clone();
            self.item(turn, Item::Assistant { id, text, streaming: false, cut });
        }
    }

    fn item(&self, turn: &OpenTurn, item: Item) {
        self.feed.tell(AppEvent::ItemChanged { conversation: turn.conversation.clone(), item });
    }

    async fn row(&self, turn: &OpenTurn) {
        match self.store.conversation(&turn.conversation).await {
            Ok(Some(conversation)) => {
                self.feed.tell(AppEvent::ConversationChanged { conversation });
            }
            Ok(None) => {}
            Err(error) => tracing::warn!(%error, "a conversation is not announced"),
        }
    }
}

/// The user's words as they stand in the chat.
pub(crate) fn user_item(message: &Message, turn: &OpenTurn, queued: bool) -> Item {
    Item::User {
        id: message.id.clone(),
        text: message.text(),
        origin: turn.origin,
        at: message.at,
        queued,
    }
}

fn is_talk(tool: &str) -> bool {
    matches!(tool, "send_message" | "end_conversation")
}

fn tool_item(
    turn: &OpenTurn,
    call: &CallId,
    tool: &str,
    arguments: &serde_json::Value,
    result: Option<&CallResult>,
) -> Item {
    Item::Tool {
        turn: turn.turn.clone(),
        call: call.clone(),
        tool: tool.to_owned(),
        arguments: serde_json::to_string_pretty(arguments).unwrap_or_default(),
        output: result.map(|result| result.output.clone()),
        is_error: result.is_some_and(|result| result.is_error),
        reactions: result.map(|result| result.reactions.clone()).unwrap_or_default(),
    }
}
