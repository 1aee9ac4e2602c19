//! Gives conversations a title and a summary by a model, in the background, one at a time, while no turn runs.
//!
//! The commit that ends a turn leaves a row in the table `untold`. The row stays until a title and, when the conversation has
//! ended or is idle, a summary are stored, or until that failed three times. A model that may see less of the conversation
//! than the author of the title gets neither.

use std::sync::Arc;
use std::time::Duration;

use llm::TimeScale;
use llm::titles::TitleOutcome;
use protocol::settings::TitleSource;
use protocol::{OpenTurn, Timestamp, UserError};

use crate::chat::Chats;
use crate::chat::conversations::{IDLE_AFTER_MS, MAINTENANCE_INTERVAL};
use crate::events::domain_event::DomainEvent;
use crate::support::clock::now;

/// The time that the user must have been idle: one who continues at once is not disturbed by a
/// request.
const QUIET_PERIOD: Duration = Duration::from_secs(2);
/// A failed request is not repeated before this.
const RETRY_DELAY: Duration = Duration::from_secs(10 * 60);

/// The result for the next conversation.
enum TitleProgress {
    /// It is told of, or something else came first: there may be another.
    GoOn,
    /// There is none, or nobody to ask.
    Nothing,
    /// The request failed, or its answer could not be used; it is tried again later.
    Failed,
}

impl Chats {
    /// Has conversations told of, until the vault is closed. What was not done before it was closed
    /// is done after it was opened again.
    pub(crate) async fn run_titles_loop(self: Arc<Self>, time_scale: TimeScale) {
        let mut unstored = None;
        loop {
            let told = self.generate_next_title(&mut unstored).await.unwrap_or_else(|error| {
                tracing::warn!(%error, "a conversation was not told of");
                TitleProgress::Failed
            });
            match told {
                TitleProgress::GoOn => {}
                TitleProgress::Nothing => {
                    // Nobody notifies this task of another model or another month.
                    let _ = tokio::time::timeout(
                        time_scale.scale(MAINTENANCE_INTERVAL),
                        self.titles_due.notified(),
                    )
                    .await;
                }
                TitleProgress::Failed => tokio::time::sleep(time_scale.scale(RETRY_DELAY)).await,
            }
        }
    }

    /// Nobody is asked while an outcome of before could not be stored: the same request would be paid for
    /// again and again.
    async fn generate_next_title(
        &self,
        unstored: &mut Option<(OpenTurn, TitleOutcome)>,
    ) -> Result<TitleProgress, UserError> {
        self.service.wait_until_idle_for(QUIET_PERIOD).await;
        if let Some((turn, outcome)) = unstored.as_ref() {
            let progress = self.store_title_outcome(turn, outcome).await?;
            *unstored = None;
            return Ok(progress);
        }
        if self.config.get().titles == TitleSource::Words {
            return Ok(TitleProgress::Nothing);
        }
        let idle = Timestamp(now().0.saturating_sub(IDLE_AFTER_MS));
        let Some(untold) = self.store.next_untitled(idle).await? else {
            return Ok(TitleProgress::Nothing);
        };
        let turn = untold.turn;
        let outcome = self.service.suggest_title(&turn, untold.wanted).await?;
        let stored = self.store_title_outcome(&turn, &outcome).await;
        if stored.is_err() {
            *unstored = Some((turn, outcome));
        }
        stored
    }

    async fn store_title_outcome(
        &self,
        turn: &OpenTurn,
        outcome: &TitleOutcome,
    ) -> Result<TitleProgress, UserError> {
        match outcome {
            TitleOutcome::Told(generated, asked) => {
                self.store.store_title(&turn.turn, generated, asked).await?;
                self.emit(DomainEvent::Row(turn.conversation.clone()));
                Ok(TitleProgress::GoOn)
            }
            TitleOutcome::Failed(asked) => {
                self.store.title_failed(&turn.turn, asked.as_ref()).await?;
                Ok(TitleProgress::Failed)
            }
            TitleOutcome::NothingSaid => {
                self.store.title_failed(&turn.turn, None).await?;
                Ok(TitleProgress::GoOn)
            }
            TitleOutcome::Nobody => Ok(TitleProgress::Nothing),
            TitleOutcome::Disturbed => Ok(TitleProgress::GoOn),
        }
    }
}
