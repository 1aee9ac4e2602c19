//! Conversations get a title and a summary from a model, in the background: one at a time, while
//! nothing else is done, and so that nobody ever waits for it.

use std::sync::Arc;
use std::time::Duration;

use llm::Pace;
use llm::gist::Asked;
use protocol::settings::Titles;
use protocol::{Timestamp, UserError};

use crate::announce::News;
use crate::clock::now;
use crate::open_vault::OpenVault;
use crate::shelf::{IDLE, ROUND};
use crate::trouble::user_error;

/// The user has stopped for so long: whoever goes on at once is not disturbed by a request.
const CALM: Duration = Duration::from_secs(2);
/// What failed is not tried again before.
const AFTER_A_FAILURE: Duration = Duration::from_secs(10 * 60);

/// What became of the next conversation.
enum Told {
    /// It is told of, or something else came first: there may be another.
    GoOn,
    /// There is none, or nobody to ask.
    Nothing,
    /// It failed.
    Failed,
}

impl OpenVault {
    /// Has conversations told of, until the vault is closed. What was not done before it was closed
    /// is done after it was opened again.
    pub(crate) async fn tell_gists(self: Arc<Self>, pace: Pace) {
        loop {
            let told = self.tell_next().await.unwrap_or_else(|error| {
                tracing::warn!(%error, "a conversation was not told of");
                Told::Failed
            });
            match told {
                Told::GoOn => {}
                Told::Nothing => {
                    // Another model, or another month, rings no bell.
                    let _ = tokio::time::timeout(pace.of(ROUND), self.untold.notified()).await;
                }
                Told::Failed => tokio::time::sleep(pace.of(AFTER_A_FAILURE)).await,
            }
        }
    }

    async fn tell_next(&self) -> Result<Told, UserError> {
        self.service.calm(CALM).await;
        if self.config.get().titles == Titles::Words {
            return Ok(Told::Nothing);
        }
        let idle = Timestamp(now().0.saturating_sub(IDLE));
        let Some(untold) = self.store.untold(idle).await.map_err(user_error)? else {
            return Ok(Told::Nothing);
        };
        let turn = &untold.turn;
        match self.service.gist(turn, untold.wanted).await? {
            Asked::Told(gist, asked) => {
                let stored = self.store.store_gist(&turn.turn, &gist, &asked).await;
                stored.map_err(user_error)?;
                self.announce(News::Row(turn.conversation.clone()));
                Ok(Told::GoOn)
            }
            Asked::Failed(asked) => {
                let noted = self.store.gist_failed(&turn.turn, asked.as_ref()).await;
                noted.map_err(user_error)?;
                Ok(Told::Failed)
            }
            Asked::NothingSaid => {
                self.store.gist_failed(&turn.turn, None).await.map_err(user_error)?;
                Ok(Told::GoOn)
            }
            Asked::Nobody => Ok(Told::Nothing),
            Asked::Disturbed => Ok(Told::GoOn),
        }
    }
}
