//! Which notes are kept from the model that answers now: the window says so before anything is sent.

use std::sync::Arc;
use std::time::Duration;

use protocol::notes::query::PrivateNote;
use protocol::{NotePath, Privacy, UserError};

use crate::App;
use crate::adapters::turn_policy;
use crate::support::blocking::run_blocking;
use crate::vault_session::VaultSession;

/// Typing waits no longer than this for a model server that is asked where its model runs.
const PRIVACY_CHECK_TIMEOUT: Duration = Duration::from_millis(500);

impl App {
    /// Which rule keeps a note from the model that answers now; `None` where it may see the note, and
    /// where no model answers.
    pub async fn private_note(&self, path: NotePath) -> Result<Option<PrivateNote>, UserError> {
        let open = self.session().await?;
        Ok(open.kept_from_model(vec![path]).await?.into_iter().next().flatten())
    }
}

impl VaultSession {
    /// For each of these notes, in their order, which rule keeps it from the model that answers now.
    pub(crate) async fn kept_from_model(
        &self,
        paths: Vec<NotePath>,
    ) -> Result<Vec<Option<PrivateNote>>, UserError> {
        if self.config.private_rules().is_empty() {
            return Ok(vec![None; paths.len()]);
        }
        let (keeper, most) = (Arc::clone(&self.privacy_guard), self.shown_at_most().await);
        run_blocking(move || keeper.kept_from(most, &paths)).await
    }

    /// The highest privacy of notes that the selected model is shown. Until it is known, that of
    /// every model.
    async fn shown_at_most(&self) -> Privacy {
        let Some(chosen) = self.answering.at_hand() else { return Privacy::Open };
        let asked =
            tokio::time::timeout(PRIVACY_CHECK_TIMEOUT, turn_policy::effective_privacy(&chosen))
                .await;
        asked.unwrap_or(Privacy::Open)
    }
}
