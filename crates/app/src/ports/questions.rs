//! `tools`' questions: those of the hub, kept in the store.

use async_trait::async_trait;
use protocol::{QuestionId, TurnId, UserError};
use store::Store;
use tokio::sync::mpsc;
use tools::questions::{Questions, Unsettled, Verdict};

use crate::announce::News;
use crate::clock::now;
use crate::hub_question;
use crate::trouble::user_error;

/// The questions of one vault that a message of the hub may answer.
pub(crate) struct StoreQuestions {
    pub(crate) store: Store,
    pub(crate) news: mpsc::UnboundedSender<News>,
}

#[async_trait]
impl Questions for StoreQuestions {
    async fn settle(
        &self,
        turn: &TurnId,
        question: &QuestionId,
        verdict: Verdict,
    ) -> Result<(), Unsettled> {
        let pending = hub_question::of(&self.store, turn).await.map_err(told)?;
        let Some(pending) = pending else {
            return Err(Unsettled(
                "No question waits that this message may answer.\nTake it as a request of its own."
                    .to_owned(),
            ));
        };
        if pending.question.id != *question {
            return Err(Unsettled(format!(
                "The message may answer no question `{question}`.\nThe one that waits is `{}`: “{}”",
                pending.question.id, pending.question.text
            )));
        }
        match (verdict, &pending.answered_by) {
            (Verdict::Answer, None) => {
                let answered = self.store.answer_question(turn, question, now()).await;
                answered.map_err(user_error).map_err(told)?;
                // Nobody listens once the vault is being closed; then the news are of no use.
                let _ = self.news.send(News::Resolved(pending.question));
                Ok(())
            }
            (Verdict::Answer, Some(_)) | (Verdict::NoAnswer, None) => Ok(()),
            (Verdict::NoAnswer, Some(_)) => Err(Unsettled(
                "This message was taken for the answer already.\nGo on with what you asked about."
                    .to_owned(),
            )),
        }
    }
}

fn told(error: UserError) -> Unsettled {
    Unsettled(error.message)
}
