//! Turns what happened in a turn into what the window shows.

use std::collections::HashMap;

use llm::ports::turn_policy::TurnEvent;
use protocol::chat::conversation::ChatItem;
use protocol::{
    AppEvent, CallId, CallResult, ChangeSetId, ContextUse, ConversationId, Message, MessagePart,
    OpenTurn, Question, Timestamp, TurnEnding, TurnId, TurnStatus, UserError,
};
use store::Store;
use tokio::sync::{mpsc, oneshot};

use crate::changes::{history, review};
use crate::events::feed::Feed;
use crate::models::context_use::ContextUses;
use crate::support::errors::store_error;

/// An event in the conversations of a vault. One task handles all of them, so the window always
/// ends with the latest state.
pub(crate) enum DomainEvent {
    /// A turn went on.
    Turn(OpenTurn, TurnEvent),
    /// The user's message was stored; `question` was open before it, and the user was asked about
    /// the interrupted turn `cut`.
    Sent { turn: OpenTurn, question: Option<Question>, cut: Option<TurnId> },
    /// Other things stand in a conversation now.
    Reordered(ConversationId),
    /// A conversation stands differently in the list, or is there no longer.
    Row(ConversationId),
    /// More changes are pending.
    Planned(ConversationId),
    /// The user has decided about pending changes.
    Decided(ConversationId),
    /// A question that waited was answered in the middle of a turn.
    Resolved(Question),
    /// The user has decided what the hub is told.
    Held(ConversationId),
    /// Sets were applied, or stand differently now.
    Applied(Vec<ChangeSetId>),
    /// Something failed that the user waits for.
    Problem(UserError),
    /// Somebody wants to know when all news until here is in the feed.
    CaughtUp(oneshot::Sender<()>),
}

/// Tells the feed of the conversations of one vault, in order.
pub(crate) struct EventPublisher {
    store: Store,
    feed: Feed,
    context_uses: ContextUses,
    /// Calls of running turns that have no result yet.
    running_calls: HashMap<(TurnId, CallId), RunningCall>,
}

/// A call that has no result yet.
struct RunningCall {
    tool: String,
    arguments: serde_json::Value,
    at: Timestamp,
}

impl EventPublisher {
    /// A publisher that has told nothing yet.
    pub(crate) fn new(store: Store, feed: Feed, context_uses: ContextUses) -> Self {
        Self { store, feed, context_uses, running_calls: HashMap::new() }
    }

    /// Works until the senders are gone. Calls `ended` after each turn that ended.
    pub(crate) async fn run(
        mut self,
        mut news: mpsc::UnboundedReceiver<DomainEvent>,
        ended: mpsc::UnboundedSender<(OpenTurn, TurnEnding)>,
    ) {
        while let Some(news) = news.recv().await {
            let told = match news {
                DomainEvent::Turn(turn, event) => self.on_turn_event(turn, event, &ended).await,
                DomainEvent::Sent { turn, question, cut } => {
                    self.on_sent(&turn, question, cut).await
                }
                DomainEvent::Reordered(conversation) => self.on_reordered(conversation).await,
                DomainEvent::Row(conversation) => self.publish_row_or_removal(conversation).await,
                DomainEvent::Planned(conversation) => self.publish_review(&conversation).await,
                DomainEvent::Decided(conversation) => self.on_review_decided(&conversation).await,
                DomainEvent::Resolved(question) => self.on_question_resolved(&question).await,
                DomainEvent::Held(conversation) => self.publish_approvals(&conversation).await,
                DomainEvent::Applied(sets) => {
                    history::publish_sets(&self.store, &self.feed, sets).await
                }
                DomainEvent::Problem(error) => {
                    self.feed.publish(AppEvent::Problem { error });
                    Ok(())
                }
                DomainEvent::CaughtUp(asked) => {
                    // The caller may have stopped waiting.
                    let _ = asked.send(());
                    Ok(())
                }
            };
            if let Err(error) = told {
                tracing::warn!(%error, "something that happened is not shown");
            }
        }
    }

    async fn on_turn_event(
        &mut self,
        turn: OpenTurn,
        event: TurnEvent,
        ended: &mpsc::UnboundedSender<(OpenTurn, TurnEnding)>,
    ) -> Result<(), UserError> {
        match event {
            TurnEvent::Began => {
                self.publish_user_message(&turn).await?;
                self.publish_row(&turn.conversation).await
            }
            TurnEvent::Delta { message, text } => {
                self.feed.stream_text(&turn.conversation, &message, &text);
                Ok(())
            }
            TurnEvent::Stepped(message) => {
                self.on_step(&turn, &message);
                Ok(())
            }
            TurnEvent::Called(_) => Ok(()),
            TurnEvent::Waits(wait) => {
                let conversation = turn.conversation;
                self.feed.publish(AppEvent::WaitChanged { conversation, wait });
                Ok(())
            }
            // The line stands where the earlier messages end, not at the end.
            TurnEvent::Summarized => {
                let conversation = turn.conversation;
                self.feed.publish(AppEvent::ChatChanged { conversation });
                Ok(())
            }
            TurnEvent::Context(context) => {
                self.context(turn.conversation, context);
                Ok(())
            }
            TurnEvent::Answered(results) => {
                self.on_results(&turn, &results);
                Ok(())
            }
            TurnEvent::Ended(ending) => {
                self.on_turn_ended(&turn, &ending);
                let told = if turn.origin.is_hub() {
                    self.publish_approvals(&turn.conversation).await
                } else {
                    self.publish_row(&turn.conversation).await
                };
                // Nobody wants to know once the vault is being closed.
                let _ = ended.send((turn, ending));
                told
            }
        }
    }

    fn context(&self, conversation: ConversationId, context: Option<ContextUse>) {
        if self.context_uses.know(&conversation, context.as_ref()) {
            self.feed.publish(AppEvent::ContextChanged { conversation, context });
        }
    }

    async fn on_sent(
        &self,
        turn: &OpenTurn,
        question: Option<Question>,
        cut: Option<TurnId>,
    ) -> Result<(), UserError> {
        self.publish_user_message(turn).await?;
        if cut.is_some() {
            // The offer to continue it has ended.
            self.feed.publish(AppEvent::ChatChanged { conversation: turn.conversation.clone() });
        }
        if let Some(question) = question {
            self.publish_closed_question(&turn.conversation, &question).await?;
        }
        self.publish_row(&turn.conversation).await
    }

    async fn on_reordered(&self, conversation: ConversationId) -> Result<(), UserError> {
        let row = self.publish_row(&conversation).await;
        self.context_uses.outdate(&conversation);
        self.feed.publish(AppEvent::ChatChanged { conversation });
        row
    }

    /// The user's message in its current state: queued, or no longer.
    async fn publish_user_message(&self, turn: &OpenTurn) -> Result<(), UserError> {
        let opening = self.store.opening_message(&turn.turn).await.map_err(store_error)?;
        if let Some((message, status)) =
            opening.filter(|(m, _)| !m.parts.contains(&MessagePart::Repeated))
        {
            let queued = status == TurnStatus::Queued;
            self.publish_item(&turn.conversation, user_item(&message, turn, queued));
        }
        Ok(())
    }

    /// A question that waited before, when it no longer does.
    async fn publish_closed_question(
        &self,
        conversation: &ConversationId,
        before: &Question,
    ) -> Result<(), UserError> {
        let question = self.store.question(conversation).await.map_err(store_error)?;
        if question.as_ref().is_some_and(|open| open.id == before.id) {
            return Ok(());
        }
        let answer = self.store.answer_of(&before.id).await.map_err(store_error)?;
        let item = ChatItem::Asked {
            id: store::chat_view::question_message_id(&before.id),
            text: before.text.clone(),
            withdrawn: answer.is_none(),
            answer,
        };
        self.publish_item(conversation, item);
        let conversation = conversation.clone();
        self.feed.publish(AppEvent::QuestionChanged { conversation, question });
        Ok(())
    }

    async fn on_question_resolved(&self, question: &Question) -> Result<(), UserError> {
        self.publish_closed_question(&question.conversation, question).await?;
        self.publish_row(&question.conversation).await
    }

    async fn publish_review(&self, conversation: &ConversationId) -> Result<(), UserError> {
        let review = review::open_review(&self.store, conversation).await?;
        let conversation = conversation.clone();
        self.feed.publish(AppEvent::ReviewChanged { conversation, review });
        Ok(())
    }

    async fn publish_approvals(&self, conversation: &ConversationId) -> Result<(), UserError> {
        let held = self.store.hub_approvals(conversation).await.map_err(store_error)?;
        self.feed.publish(AppEvent::HeldChanged { conversation: conversation.clone(), held });
        self.publish_row(conversation).await
    }

    async fn on_review_decided(&self, conversation: &ConversationId) -> Result<(), UserError> {
        self.publish_review(conversation).await?;
        let decision = self.store.decisions(conversation).await.map_err(store_error)?.pop();
        if let Some(decision) = decision {
            let (id, at) = (decision.id, decision.at);
            let (applied, rejected) = (decision.applied, decision.rejected);
            self.publish_item(conversation, ChatItem::Decision { id, applied, rejected, at });
        }
        self.publish_row(conversation).await
    }

    fn on_step(&mut self, turn: &OpenTurn, message: &Message) {
        self.publish_answer(turn, message, false);
        for part in &message.parts {
            let MessagePart::Call { id, tool, arguments } = part else { continue };
            let key = (turn.turn.clone(), id.clone());
            let called =
                RunningCall { tool: tool.clone(), arguments: arguments.clone(), at: message.at };
            if !is_speech_tool(tool) {
                self.publish_item(&turn.conversation, tool_item(turn, id, &called, None));
            }
            self.running_calls.insert(key, called);
        }
    }

    fn on_results(&mut self, turn: &OpenTurn, results: &[CallResult]) {
        for result in results {
            let key = (turn.turn.clone(), result.call.clone());
            let Some(called) = self.running_calls.remove(&key) else { continue };
            let RunningCall { tool, arguments, .. } = &called;
            let text = arguments.get("message").and_then(serde_json::Value::as_str);
            let asks = arguments.get("is_question").and_then(serde_json::Value::as_bool);
            match text {
                Some(_) if tool == "send_message" && asks == Some(true) && !result.is_error => {}
                Some(text) if tool == "send_message" && !result.is_error => {
                    let id = store::chat_view::sent_message_id(&turn.turn, &result.call);
                    let text = text.to_owned();
                    self.publish_item(
                        &turn.conversation,
                        ChatItem::Assistant { id, text, streaming: false, cut: false },
                    );
                }
                _ if is_speech_tool(tool) && !result.is_error && result.reactions.is_empty() => {}
                _ => self.publish_item(
                    &turn.conversation,
                    tool_item(turn, &result.call, &called, Some(result)),
                ),
            }
        }
    }

    fn on_turn_ended(&mut self, turn: &OpenTurn, ending: &TurnEnding) {
        self.on_results(turn, &ending.results);
        if let Some(message) = &ending.message {
            self.publish_answer(turn, message, ending.cut);
        }
        self.feed.end_stream(&turn.conversation);
        if let Some(question) = &ending.question {
            let id = store::chat_view::question_message_id(&question.id);
            let text = question.text.clone();
            self.publish_item(
                &turn.conversation,
                ChatItem::Asked { id, text, answer: None, withdrawn: false },
            );
            self.feed.publish(AppEvent::QuestionChanged {
                conversation: turn.conversation.clone(),
                question: Some(question.clone()),
            });
        }
        if !matches!(ending.status, TurnStatus::Done | TurnStatus::Asked) {
            let (turn_id, error) = (turn.turn.clone(), ending.error.clone());
            let item = ChatItem::Ended { turn: turn_id, status: ending.status, error, offer: None };
            self.publish_item(&turn.conversation, item);
        }
    }

    fn publish_answer(&self, turn: &OpenTurn, message: &Message, cut: bool) {
        let text = message.text();
        self.feed.end_stream(&turn.conversation);
        if !text.trim().is_empty() {
            let id = message.id.clone();
            self.publish_item(
                &turn.conversation,
                ChatItem::Assistant { id, text, streaming: false, cut },
            );
        }
    }

    fn publish_item(&self, conversation: &ConversationId, item: ChatItem) {
        self.feed.publish(AppEvent::ItemChanged { conversation: conversation.clone(), item });
    }

    async fn publish_row_or_removal(&self, conversation: ConversationId) -> Result<(), UserError> {
        let row = self.store.conversation(&conversation).await.map_err(store_error)?;
        self.feed.publish(match row {
            Some(conversation) => AppEvent::ConversationChanged { conversation },
            None => AppEvent::ConversationGone { conversation },
        });
        Ok(())
    }

    async fn publish_row(&self, conversation: &ConversationId) -> Result<(), UserError> {
        let row = self.store.conversation(conversation).await.map_err(store_error)?;
        if let Some(conversation) = row {
            self.feed.publish(AppEvent::ConversationChanged { conversation });
        }
        Ok(())
    }
}

/// The user's message as an item of the chat.
fn user_item(message: &Message, turn: &OpenTurn, queued: bool) -> ChatItem {
    ChatItem::User {
        id: message.id.clone(),
        text: message.text(),
        origin: turn.origin,
        at: message.at,
        queued,
    }
}

fn is_speech_tool(tool: &str) -> bool {
    matches!(tool, "send_message" | "end_conversation" | "resolve_question")
}

fn tool_item(
    turn: &OpenTurn,
    call: &CallId,
    called: &RunningCall,
    result: Option<&CallResult>,
) -> ChatItem {
    ChatItem::Tool {
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
