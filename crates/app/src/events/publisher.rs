//! Turns what happened in a turn into what the window shows.

use std::collections::{BTreeSet, HashMap};

use llm::ports::turn_policy::TurnEvent;
use protocol::chat::conversation::ChatItem;
use protocol::{
    AppEvent, CallResult, ChangeSetId, ContextUse, ConversationId, EffectId, Message, OpenTurn,
    Question, Timestamp, TurnEnding, TurnId, UserError,
};
use store::chat_view::projection;
use store::{CallRow, Store, TurnPlace};
use tokio::sync::mpsc;

use crate::changes::history::{publish_sets, sets_of_purged};
use crate::changes::review;
use crate::events::chat_part::ChatPart;
use crate::events::domain_event::DomainEvent;
use crate::events::feed::Feed;
use crate::models::context_use::ContextUses;

/// Tells the feed of the conversations of one vault, in order.
pub(crate) struct EventPublisher {
    store: Store,
    feed: Feed,
    context_uses: ContextUses,
    talking_tools: BTreeSet<String>,
    /// The last step of each running turn.
    steps: HashMap<TurnId, RunningStep>,
}

/// The calls of an answer, as far as they have results.
struct RunningStep {
    at: Timestamp,
    calls: Vec<CallRow>,
    /// Their items, as the window has them.
    shown: Vec<ChatItem>,
}

impl EventPublisher {
    /// A publisher that has told nothing yet. The calls of `talking_tools` are shown by what they said.
    pub(crate) fn new(
        store: Store,
        feed: Feed,
        context_uses: ContextUses,
        talking_tools: BTreeSet<String>,
    ) -> Self {
        Self { store, feed, context_uses, talking_tools, steps: HashMap::new() }
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
                DomainEvent::Sent { turn, question, replaced } => {
                    self.on_sent(&turn, question, replaced).await
                }
                DomainEvent::ChatReplaced(conversation, part) => {
                    self.on_chat_replaced(conversation, part).await
                }
                DomainEvent::Row(conversation) => self.publish_row_or_removal(conversation).await,
                DomainEvent::Planned(conversation) => self.publish_review(&conversation).await,
                DomainEvent::Decided(conversation) => self.on_review_decided(&conversation).await,
                DomainEvent::Resolved(question) => self.on_question_resolved(&question).await,
                DomainEvent::Held(conversation) => self.publish_approvals(&conversation).await,
                DomainEvent::Applied(sets) => self.on_applied(sets).await,
                DomainEvent::Purged(effects) => self.on_purged(&effects).await,
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
            TurnEvent::Began => self.on_turn_began(&turn).await,
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
                self.publish_part(turn.conversation, ChatPart::SinceSummary).await
            }
            TurnEvent::Context(context) => {
                self.context(turn.conversation, context);
                Ok(())
            }
            TurnEvent::Answered(results) => {
                self.on_results(&turn, &results, None);
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
        replaced: Option<ChatPart>,
    ) -> Result<(), UserError> {
        if replaced.is_none() {
            self.publish_user_message(turn).await?;
        }
        if let Some(question) = question {
            self.publish_closed_question(&turn.conversation, &question).await?;
        }
        match replaced {
            Some(part) => self.on_chat_replaced(turn.conversation.clone(), part).await,
            None => self.publish_row(&turn.conversation).await,
        }
    }

    async fn on_chat_replaced(
        &self,
        conversation: ConversationId,
        part: ChatPart,
    ) -> Result<(), UserError> {
        let row = self.publish_row(&conversation).await;
        self.context_uses.outdate(&conversation);
        self.publish_part(conversation, part).await?;
        row
    }

    /// Tells of the items of a part as they are stored now. A window that shows the chat fetches it where
    /// they cannot be read.
    async fn publish_part(
        &self,
        conversation: ConversationId,
        part: ChatPart,
    ) -> Result<(), UserError> {
        let read = part.event(conversation.clone(), &self.store, &self.feed, &self.talking_tools);
        match read.await {
            Ok(event) => {
                event.into_iter().for_each(|event| self.feed.publish(event));
                Ok(())
            }
            Err(error) => {
                self.feed.publish(AppEvent::ChatChanged { conversation });
                Err(error)
            }
        }
    }

    async fn on_turn_began(&self, turn: &OpenTurn) -> Result<(), UserError> {
        let message = self.publish_user_message(turn).await;
        let row = self.publish_row(&turn.conversation).await;
        let place = self.publish_moved_message(turn).await;
        self.or_fetch(&turn.conversation, message.and(row).and(place))
    }

    /// Has a window that shows the chat fetch it where not all that happened in it could be told.
    fn or_fetch(
        &self,
        conversation: &ConversationId,
        told: Result<(), UserError>,
    ) -> Result<(), UserError> {
        let outdated = || AppEvent::ChatChanged { conversation: conversation.clone() };
        told.inspect_err(|_| self.feed.publish(outdated()))
    }

    /// A message counts as a version once its turn begins, and stands above the decisions that were made
    /// while it was queued.
    async fn publish_moved_message(&self, turn: &OpenTurn) -> Result<(), UserError> {
        let decisions = self.store.decisions(&turn.conversation).await?;
        let moves = decisions.last().is_some_and(|decision| decision.at >= turn.at);
        if moves || self.store.begins_version(&turn.turn).await? {
            let part = ChatPart::Since(turn.message.clone());
            self.publish_part(turn.conversation.clone(), part).await?;
        }
        Ok(())
    }

    /// The user's message in its current state: queued, or no longer.
    async fn publish_user_message(&self, turn: &OpenTurn) -> Result<(), UserError> {
        let opening = self.store.opening_message(&turn.turn).await?;
        let item = opening
            .and_then(|(message, status)| projection::user_item(message, turn.origin, status));
        self.publish_items(&turn.conversation, item);
        Ok(())
    }

    /// A question that waited before, when it no longer does.
    async fn publish_closed_question(
        &self,
        conversation: &ConversationId,
        before: &Question,
    ) -> Result<(), UserError> {
        let question = self.store.question(conversation).await?;
        if question.as_ref().is_some_and(|open| open.id == before.id) {
            return Ok(());
        }
        // A question of another version does not stand in the chat.
        let shown = self.store.turns_before(conversation, TurnPlace::End).await?;
        if shown.contains(&before.turn) {
            let answer = self.store.answer_of(&before.id).await?;
            let withdrawn = answer.is_none();
            self.publish_item(conversation, projection::question_item(before, answer, withdrawn));
        }
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
        let held = self.store.hub_approvals(conversation).await?;
        self.feed.publish(AppEvent::HeldChanged { conversation: conversation.clone(), held });
        self.publish_row(conversation).await
    }

    async fn on_review_decided(&self, conversation: &ConversationId) -> Result<(), UserError> {
        let decision = self.publish_last_decision(conversation).await;
        let row = self.publish_row(conversation).await;
        let review = self.publish_review(conversation).await;
        let offer = self.publish_offer(conversation).await;
        self.or_fetch(conversation, decision.and(row).and(review).and(offer))
    }

    async fn publish_last_decision(&self, conversation: &ConversationId) -> Result<(), UserError> {
        let decision = self.store.decisions(conversation).await?.pop();
        if let Some(decision) = decision {
            let (id, at) = (decision.id, decision.at);
            let (applied, rejected) = (decision.applied, decision.rejected);
            self.publish_item(conversation, ChatItem::Decision { id, applied, rejected, at });
        }
        Ok(())
    }

    async fn on_applied(&self, sets: Vec<ChangeSetId>) -> Result<(), UserError> {
        for conversation in publish_sets(&self.store, &self.feed, sets).await? {
            self.publish_offer(&conversation).await?;
        }
        Ok(())
    }

    /// Many changes that have lost their texts are not told one by one: a window lists again what it shows.
    async fn on_purged(&self, effects: &[EffectId]) -> Result<(), UserError> {
        let told = match sets_of_purged(&self.store, effects).await {
            Ok(Some(sets)) => publish_sets(&self.store, &self.feed, sets).await.map(drop),
            Ok(None) => {
                self.feed.publish(AppEvent::HistoryChanged);
                Ok(())
            }
            Err(error) => Err(error),
        };
        told.inspect_err(|_| self.feed.publish(AppEvent::HistoryChanged))
    }

    /// The offer to continue an interrupted turn says how much of its changes stands or is undecided.
    async fn publish_offer(&self, conversation: &ConversationId) -> Result<(), UserError> {
        let Some(cut) = self.store.resume_offer(conversation).await? else { return Ok(()) };
        self.publish_part(conversation.clone(), ChatPart::SinceTurn(cut)).await
    }

    fn on_step(&mut self, turn: &OpenTurn, message: &Message) {
        self.publish_answer(turn, message, false);
        let (calls, at) = (CallRow::of_message(message), message.at);
        let step = RunningStep { at, calls, shown: Vec::new() };
        self.steps.insert(turn.turn.clone(), step);
        self.publish_calls(turn, None);
    }

    /// Takes in results of the last step; `question` is what the turn ended with.
    fn on_results(&mut self, turn: &OpenTurn, results: &[CallResult], question: Option<&Question>) {
        let Some(step) = self.steps.get_mut(&turn.turn) else { return };
        for result in results {
            if let Some(call) = step.calls.iter_mut().find(|call| call.call == result.call) {
                call.add_result(result);
            }
        }
        self.publish_calls(turn, question);
    }

    fn on_turn_ended(&mut self, turn: &OpenTurn, ending: &TurnEnding) {
        self.on_results(turn, &ending.results, ending.question.as_ref());
        self.steps.remove(&turn.turn);
        if let Some(message) = &ending.message {
            self.publish_answer(turn, message, ending.cut);
        }
        self.feed.end_stream(&turn.conversation);
        if let Some(question) = &ending.question {
            self.feed.publish(AppEvent::QuestionChanged {
                conversation: turn.conversation.clone(),
                question: Some(question.clone()),
            });
        }
        let (id, error) = (turn.turn.clone(), ending.error.clone());
        let end = projection::ended_item(id, ending.status, error, None);
        self.publish_items(&turn.conversation, end);
    }

    fn publish_answer(&self, turn: &OpenTurn, message: &Message, cut: bool) {
        self.feed.end_stream(&turn.conversation);
        self.publish_items(&turn.conversation, projection::answer_item(message, cut));
    }

    /// The items of the last step's calls that are new or stand differently now.
    fn publish_calls(&mut self, turn: &OpenTurn, question: Option<&Question>) {
        let Some(step) = self.steps.get_mut(&turn.turn) else { return };
        let asked = |call: &CallRow| {
            let question = question.filter(|question| question.call == call.call)?;
            Some(projection::question_item(question, None, false))
        };
        let calls = step.calls.clone();
        let items = projection::call_items(calls, step.at, &self.talking_tools, asked);
        let before = std::mem::replace(&mut step.shown, items.clone());
        let changed = items.into_iter().filter(|item| !before.contains(item));
        self.publish_items(&turn.conversation, changed);
    }

    fn publish_items(
        &self,
        conversation: &ConversationId,
        items: impl IntoIterator<Item = ChatItem>,
    ) {
        items.into_iter().for_each(|item| self.publish_item(conversation, item));
    }

    fn publish_item(&self, conversation: &ConversationId, item: ChatItem) {
        self.feed.publish(AppEvent::ItemChanged { conversation: conversation.clone(), item });
    }

    async fn publish_row_or_removal(&self, conversation: ConversationId) -> Result<(), UserError> {
        let row = self.store.conversation(&conversation).await?;
        self.feed.publish(match row {
            Some(conversation) => AppEvent::ConversationChanged { conversation },
            None => AppEvent::ConversationGone { conversation },
        });
        Ok(())
    }

    async fn publish_row(&self, conversation: &ConversationId) -> Result<(), UserError> {
        let row = self.store.conversation(conversation).await?;
        if let Some(conversation) = row {
            self.feed.publish(AppEvent::ConversationChanged { conversation });
        }
        Ok(())
    }
}

#[cfg(test)]
mod property_tests;
#[cfg(test)]
mod tests;
