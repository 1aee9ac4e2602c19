//! For which provider and server a key is that the user pastes: for those that were selected then, whatever is
//! selected once the key was tried or the keyring was unlocked.

use protocol::UserError;

use crate::App;
use crate::models::selection::{ModelProvider, SelectionInput};
use crate::user_texts;

/// The provider that a key is for, and its server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KeyTarget {
    pub(crate) model_provider: ModelProvider,
    pub(crate) base_url: String,
}

impl App {
    /// The target of a key that the user pastes at this moment.
    pub(crate) async fn key_target(&self) -> KeyTarget {
        let model_provider = self.services().model_selector.selected().await.model_provider;
        KeyTarget { model_provider, base_url: model_provider.base_url(&self.settings()) }
    }

    /// Refuses once another provider or server is selected than a key was for. The caller holds
    /// [`App::lock_settings`], so the selection is by the settings in force.
    pub(crate) async fn ensure_key_target(&self, target: &KeyTarget) -> Result<(), UserError> {
        if self.key_target().await == *target {
            return Ok(());
        }
        Err(UserError::other(user_texts::provider_changed_before_key()))
    }

    /// The settings, keys and clock for a key of `target`. Refuses as [`App::ensure_key_target`] does.
    pub(crate) async fn choice_for(&self, target: &KeyTarget) -> Result<SelectionInput, UserError> {
        let _saving = self.lock_settings().await;
        self.ensure_key_target(target).await?;
        Ok(self.choice())
    }
}
