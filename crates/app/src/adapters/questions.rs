//! Implements `tools::ports::question_resolver`: open questions of the hub, from the store.

use async_trait::async_trait;
use protocol::{QuestionId, TurnId, UserError};
use store::Store;
use tools::ports::question_resolver::{QuestionResolution, QuestionResolver, UnresolvedQuestion};

use crate::events::domain_event::{DomainEvent, DomainEvents};
use crate::hub::reply_matching;
use crate::support::clock::now;

/// The questions of one vault that a message of the hub may answer.
pub(crate) struct StoreQuestions {
    pub(crate) store: Store,
    pub(crate) domain_events: DomainEvents,
}

#[async_trait]
impl QuestionResolver for StoreQuestions {
    async fn resolve(
        &self,
        turn: &TurnId,
        question: &QuestionId,
        resolution: QuestionResolution,
    ) -> Result<(), UnresolvedQuestion> {
        let pending = reply_matching::question_for_turn_id(&self.store, turn)
            .await
            .map_err(question_error)?;
        let Some(pending) = pending else {
            return Err(UnresolvedQuestion(
                "No question waits that this message may answer.\nTake it as a request of its own."
                    .to_owned(),
            ));
        };
        if pending.question.id != *question {
            return Err(UnresolvedQuestion(format!(
                "The message may answer no question `{question}`.\nThe one that waits is `{}`.",
                pending.question.id
            )));
        }
        match (resolution, &pending.answered_by) {
            (QuestionResolution::Answer, None) => {
                let answered = self.store.answer_question(turn, question, now()).await;
                answered.map_err(UserError::from).map_err(question_error)?;
                self.domain_events.emit(DomainEvent::Resolved(pending.question));
                Ok(())
            }
            (QuestionResolution::Answer, Some(_)) | (QuestionResolution::NoAnswer, None) => Ok(()),
            (QuestionResolution::NoAnswer, Some(_)) => Err(UnresolvedQuestion(
                "This message was taken for the answer already.\nGo on with what you asked about."
                    .to_owned(),
            )),
        }
    }
}

fn question_error(error: UserError) -> UnresolvedQuestion {
    UnresolvedQuestion(error.message)
}
