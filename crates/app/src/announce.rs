//! Turns what happened in a turn into what the window shows.

use std::collections::HashMap;

use llm::host::TurnEvent;
use protocol::conversation::Item;
use protocol::{
    AppEvent, CallId, CallResult, ChangeSetId, ContextUse, ConversationId, Ending, Message,
    OpenTurn, Part, Question, Timestamp, TurnId, TurnStatus, UserError,
};
use store::Store;
use tokio::sync::{mpsc, oneshot};

use crate::applied;
use crate::context_use::ContextUses;
use crate::feed::Feed;
use crate::review;
use crate::trouble::user_error;

/// What happened in the conversations of a vault. All of it goes through one task: what the
/// window is told last is then what was read last.
pub(crate) enum News {
    /// A turn went on.
    Turn(OpenTurn, TurnEvent),
    /// The user's words were stored; `question` waited before them, and the user was asked about
    /// the turn `cut`.
    Sent { turn: OpenTurn, question: Option<Question>, cut: Option<TurnId> },
    /// Other things stand in a conversation now.
    Reordered(ConversationId),
    /// A conversation stands differently in the list, or is there no longer.
    Row(ConversationId),
    /// More changes wait.
    Planned(ConversationId),
    /// The user has decided about waiting changes.
    Decided(ConversationId),
    /// A question that waited was answered in the middle of a turn.
    Resolved(Question),
    /// The user has decided what the hub is told.
    Held(ConversationId),
    /// Sets were applied, or stand differently now.
    Applied(Vec<ChangeSetId>),
    /// Somebody wants to know when all news until here is in the feed.
    CaughtUp(oneshot::Sender<()>),
}

/// Tells the feed of the conversations of one vault, in order.
pub(crate) struct Announcer {
    store: Store,
    feed: Feed,
    context_uses: ContextUses,
    /// Calls of running turns that have no result yet.
    open: HashMap<(TurnId, CallId), Called>,
}

/// A call that has no result yet.
struct Called {
    tool: String,
    arguments: serde_json::Value,
    at: Timestamp,
}

impl Announcer {
    /// An announcer that has told nothing yet.
    pub(crate) fn new(store: Store, feed: Feed, context_uses: ContextUses) -> Self {
        Self { store, feed, context_uses, open: HashMap::new() }
    }

    /// Works until the senders are gone. Calls `ended` after each turn that ended.
    pub(crate) async fn run(
        mut self,
        mut news: mpsc::UnboundedReceiver<News>,
        ended: mpsc::UnboundedSender<(OpenTurn, Ending)>,
    ) {
        while let Some(news) = news.recv().await {
            let told = match news {
                News::Turn(turn, event) => self.turn(turn, event, &ended).await,
                News::Sent { turn, question, cut } => self.sent(&turn, question, cut).await,
                News::Reordered(conversation) => self.reordered(conversation).await,
                News::Row(conversation) => self.moved(conversation).await,
                News::Planned(conversation) => self.planned(&conversation).await,
                News::Decided(conversation) => self.decided(&conversation).await,
                News::Resolved(question) => self.resolved(&question).await,
                News::Held(conversation) => self.held(&conversation).await,
                News::Applied(sets) => applied::tell(&self.store, &self.feed, sets).await,
                News::CaughtUp(asked) => {
                    // Whoever asked may have stopped waiting.
                    let _ = asked.send(());
                    Ok(())
                }
            };
            if let Err(error) = told {
                tracing::warn!(%error, "something that happened is not shown");
            }
        }
    }

    async fn turn(
        &mut self,
        turn: OpenTurn,
        event: TurnEvent,
        ended: &mpsc::UnboundedSender<(OpenTurn, Ending)>,
    ) -> Result<(), UserError> {
        match event {
            TurnEvent::Began => {
                self.request(&turn).await?;
                self.row(&turn.conversation).await
            }
            TurnEvent::Delta { message, text } => {
                self.feed.write(&turn.conversation, &message, &text);
                Ok(())
            }
            TurnEvent::Stepped(message) => {
                self.stepped(&turn, &message);
                Ok(())
            }
            TurnEvent::Called(_) => Ok(()),
            TurnEvent::Waits(wait) => {
                let conversation = turn.conversation;
                self.feed.tell(AppEvent::WaitChanged { conversation, wait });
                Ok(())
            }
            // The line stands where the earlier messages end, not at the end.
            TurnEvent::SummedUp => {
                let conversation = turn.conversation;
                self.feed.tell(AppEvent::ChatChanged { conversation });
                Ok(())
            }
            TurnEvent::Context(context) => {
                self.context(turn.conversation, context);
                Ok(())
            }
            TurnEvent::Answered(results) => {
                self.answered(&turn, &results);
                Ok(())
            }
            TurnEvent::Ended(ending) => {
                self.ended(&turn, &ending);
                let told = if turn.origin.is_hub() {
                    self.held(&turn.conversation).await
                } else {
                    self.row(&turn.conversation).await
                };
                // Nobody wants to know once the vault is being closed.
                let _ = ended.send((turn, ending));
                told
            }
        }
    }

    fn context(&self, conversation: ConversationId, context: Option<ContextUse>) {
        if self.context_uses.know(&conversation, context.as_ref()) {
            self.feed.tell(AppEvent::ContextChanged { conversation, context });
        }
    }

    async fn sent(
        &self,
        turn: &OpenTurn,
        question: Option<Question>,
        cut: Option<TurnId>,
    ) -> Result<(), UserError> {
        self.request(turn).await?;
        if cut.is_some() {
            // What was offered of it is over.
            self.feed.tell(AppEvent::ChatChanged { conversation: turn.conversation.clone() });
        }
        if let Some(question) = question {
            self.settled(&turn.conversation, &question).await?;
        }
        self.row(&turn.conversation).await
    }

    async fn reordered(&self, conversation: ConversationId) -> Result<(), UserError> {
        let row = self.row(&conversation).await;
        self.context_uses.outdate(&conversation);
        self.feed.tell(AppEvent::ChatChanged { conversation });
        row
    }

    /// The user's words, as they stand now: queued, or no longer.
    async fn request(&self, turn: &OpenTurn) -> Result<(), UserError> {
        let opening = self.store.opening(&turn.turn).await.map_err(user_error)?;
        if let Some((message, status)) = opening.filter(|(m, _)| !m.parts.contains(&Part::Repeated))
        {
            let queued = status == TurnStatus::Queued;
            self.item(&turn.conversation, user_item(&message, turn, queued));
        }
        Ok(())
    }

    /// A question that waited before, when it no longer does.
    async fn settled(
        &self,
        conversation: &ConversationId,
        before: &Question,
    ) -> Result<(), UserError> {
        let question = self.store.question(conversation).await.map_err(user_error)?;
        if question.as_ref().is_some_and(|open| open.id == before.id) {
            return Ok(());
        }
        let answer = self.store.answer_of(&before.id).await.map_err(user_error)?;
        let item = Item::Asked {
            id: store::view::asked_id(&before.id),
            text: before.text.clone(),
            withdrawn: answer.is_none(),
            answer,
        };
        self.item(conversation, item);
        let conversation = conversation.clone();
        self.feed.tell(AppEvent::QuestionChanged { conversation, question });
        Ok(())
    }

    async fn resolved(&self, question: &Question) -> Result<(), UserError> {
        self.settled(&question.conversation, question).await?;
        self.row(&question.conversation).await
    }

    async fn planned(&self, conversation: &ConversationId) -> Result<(), UserError> {
        let review = review::standing(&self.store, conversation).await?;
        let conversation = conversation.clone();
        self.feed.tell(AppEvent::ReviewChanged { conversation, review });
        Ok(())
    }

    async fn held(&self, conversation: &ConversationId) -> Result<(), UserError> {
        let held = self.store.held_in(conversation).await.map_err(user_error)?;
        self.feed.tell(AppEvent::HeldChanged { conversation: conversation.clone(), held });
        self.row(conversation).await
    }

    async fn decided(&self, conversation: &ConversationId) -> Result<(), UserError> {
        self.planned(conversation).await?;
        let verdict = self.store.verdicts(conversation).await.map_err(user_error)?.pop();
        if let Some(verdict) = verdict {
            let (id, at) = (verdict.id, verdict.at);
            let (applied, rejected) = (verdict.applied, verdict.rejected);
            self.item(conversation, Item::Verdict { id, applied, rejected, at });
        }
        self.row(conversation).await
    }

    fn stepped(&mut self, turn: &OpenTurn, message: &Message) {
        self.words(turn, message, false);
        for part in &message.parts {
            let Part::Call { id, tool, arguments } = part else { continue };
            let key = (turn.turn.clone(), id.clone());
            let called =
                Called { tool: tool.clone(), arguments: arguments.clone(), at: message.at };
            if !is_talk(tool) {
                self.item(&turn.conversation, tool_item(turn, id, &called, None));
            }
            self.open.insert(key, called);
        }
    }

    fn answered(&mut self, turn: &OpenTurn, results: &[CallResult]) {
        for result in results {
            let key = (turn.turn.clone(), result.call.clone());
            let Some(called) = self.open.remove(&key) else { continue };
            let Called { tool, arguments, .. } = &called;
            let said = arguments.get("message").and_then(serde_json::Value::as_str);
            let asks = arguments.get("is_question").and_then(serde_json::Value::as_bool);
            match said {
                Some(_) if tool == "send_message" && asks == Some(true) && !result.is_error => {}
                Some(text) if tool == "send_message" && !result.is_error => {
                    let id = store::view::said_id(&turn.turn, &result.call);
                    let text = text.to_owned();
                    self.item(
                        &turn.conversation,
                        Item::Assistant { id, text, streaming: false, cut: false },
                    );
                }
                _ if is_talk(tool) && !result.is_error && result.reactions.is_empty() => {}
                _ => self
                    .item(&turn.conversation, tool_item(turn, &result.call, &called, Some(result))),
            }
        }
    }

    fn ended(&mut self, turn: &OpenTurn, ending: &Ending) {
        self.answered(turn, &ending.results);
        if let Some(message) = &ending.message {
            self.words(turn, message, ending.cut);
        }
        self.feed.written(&turn.conversation);
        if let Some(question) = &ending.question {
            let id = store::view::asked_id(&question.id);
            let text = question.text.clone();
            self.item(&turn.conversation, Item::Asked { id, text, answer: None, withdrawn: false });
            self.feed.tell(AppEvent::QuestionChanged {
                conversation: turn.conversation.clone(),
                question: Some(question.clone()),
            });
        }
        if !matches!(ending.status, TurnStatus::Done | TurnStatus::Asked) {
            let (turn_id, error) = (turn.turn.clone(), ending.error.clone());
            let item = Item::Ended { turn: turn_id, status: ending.status, error, offer: None };
            self.item(&turn.conversation, item);
        }
    }

    fn words(&self, turn: &OpenTurn, message: &Message, cut: bool) {
        let text = message.text();
        self.feed.written(&turn.conversation);
        if !text.trim().is_empty() {
            let id = message.id.clone();
            self.item(&turn.conversation, Item::Assistant { id, text, streaming: false, cut });
        }
    }

    fn item(&self, conversation: &ConversationId, item: Item) {
        self.feed.tell(AppEvent::ItemChanged { conversation: conversation.clone(), item });
    }

    async fn moved(&self, conversation: ConversationId) -> Result<(), UserError> {
        let row = self.store.conversation(&conversation).await.map_err(user_error)?;
        self.feed.tell(match row {
            Some(conversation) => AppEvent::ConversationChanged { conversation },
            None => AppEvent::ConversationGone { conversation },
        });
        Ok(())
    }

    async fn row(&self, conversation: &ConversationId) -> Result<(), UserError> {
        let row = self.store.conversation(conversation).await.map_err(user_error)?;
        if let Some(conversation) = row {
            self.feed.tell(AppEvent::ConversationChanged { conversation });
        }
        Ok(())
    }
}

/// The user's words as they stand in the chat.
fn user_item(message: &Message, turn: &OpenTurn, queued: bool) -> Item {
    Item::User {
        id: message.id.clone(),
        text: message.text(),
        origin: turn.origin,
        at: message.at,
        queued,
    }
}

fn is_talk(tool: &str) -> bool {
    matches!(tool, "send_message" | "end_conversation" | "resolve_question")
}

fn tool_item(turn: &OpenTurn, call: &CallId, called: &Called, result: Option<&CallResult>) -> Item {
    Item::Tool {
        turn: turn.turn.clone(),
        call: call.clone(),
        tool: called.tool.clone(),
        at: called.at,
        arguments: serde_json::to_string_pretty(&called.arguments).unwrap_or_default(),
        output: result.map(|result| result.output.clone()),
        is_error: result.is_some_and(|result| result.is_error),
        reactions: result.map(|result| result.reactions.clone()).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests;
