//! Which notes the private rules keep from the selected model.

use std::sync::Arc;
use std::time::Duration;

use protocol::notes::query::PrivateNote;
use protocol::{ConversationId, NotePath, Privacy, UserError};
use store::Store;

use crate::models::model_info;
use crate::models::selection::ModelSelector;
use crate::privacy::PrivacyGuard;
use crate::settings::config::Config;
use crate::support::blocking::run_blocking;

/// Typing waits no longer than this for a model server that is asked where its model runs.
const PRIVACY_CHECK_TIMEOUT: Duration = Duration::from_millis(500);

/// Judges notes and conversations of a vault by what the selected model may see.
pub(crate) struct ModelPrivacy {
    pub(crate) store: Store,
    pub(crate) config: Config,
    /// Keeps private notes from models.
    pub(crate) privacy_guard: Arc<PrivacyGuard>,
    pub(crate) model_selector: ModelSelector,
}

impl ModelPrivacy {
    /// For each of these notes, in their order, which rule keeps it from the model that answers now.
    pub(crate) async fn kept_from_model(
        &self,
        paths: Vec<NotePath>,
    ) -> Result<Vec<Option<PrivateNote>>, UserError> {
        if self.config.private_rules().is_empty() {
            return Ok(vec![None; paths.len()]);
        }
        let (guard, most) = (Arc::clone(&self.privacy_guard), self.shown_at_most().await);
        run_blocking(move || guard.kept_from(most, &paths)).await
    }

    /// The rule that hides some text of a conversation, in the branch that is shown of it, at the
    /// privacy level `shown`.
    pub(crate) async fn conversation_rule(
        &self,
        shown: Privacy,
        id: &ConversationId,
    ) -> Result<Option<PrivateNote>, UserError> {
        let Some(last) = self.store.last_shown_turn(id).await? else { return Ok(None) };
        let told = self.store.context_sources_by_turn(&last.turn).await?;
        if !self.privacy_guard.hides_told(shown, &told).await? {
            return Ok(None);
        }
        let is_never = self.privacy_guard.hides_told(Privacy::Local, &told).await?;
        Ok(Some(if is_never { PrivateNote::Never } else { PrivateNote::LocalOnly }))
    }

    /// The highest privacy of notes that the selected model is shown. Until it is known, that of
    /// every model.
    pub(crate) async fn shown_at_most(&self) -> Privacy {
        let Some(chosen) = self.model_selector.at_hand() else { return Privacy::Open };
        let asked =
            tokio::time::timeout(PRIVACY_CHECK_TIMEOUT, model_info::effective_privacy(&chosen))
                .await;
        asked.unwrap_or(Privacy::Open)
    }
}
