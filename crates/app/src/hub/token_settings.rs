//! The token for the hub: where it comes from, storing it, and linking with it again.

use hub::{LinkConfig, Token};
use protocol::UserError;
use protocol::request::{KeyStorage, TokenStatus};
use secrecy::{ExposeSecret as _, SecretString};

use crate::App;
use crate::app::services::AppServices;
use crate::hub::connection::{configured_hub, is_token_of_another, link_config};
use crate::hub::token_owner;
use crate::settings::owned_secret;
use crate::settings::secrets::{self, Secret};
use crate::user_texts;

impl App {
    /// Whether a hub is to be linked to: by the settings, or by `VAULTMATE_HUB_URL`.
    #[must_use]
    pub fn is_hub_enabled(&self) -> bool {
        !matches!(link_config(&self.settings().hub), Ok(None))
    }

    /// Where the token for the hub comes from, and why the keyring could not be looked into for one.
    /// A token that is for another hub is none.
    pub async fn hub_token_source(&self) -> TokenStatus {
        let AppServices { data, keyring, .. } = self.services();
        let found = secrets::find(data, keyring, Secret::HubToken).await;
        let keyring = found.trouble();
        let (Some(found), Some(hub)) = (found.keys(), configured_hub(&self.settings().hub)) else {
            return TokenStatus { source: None, keyring };
        };
        let is_others = is_token_of_another(data, found.source, hub).await;
        let source = (!is_others).then(|| found.source.to_owned());
        TokenStatus { source, keyring }
    }

    /// Stores the token for the hub that is configured, and connects again; an empty text removes it.
    /// While the link is off, the token is for the hub that is linked to next. Where another hub is
    /// configured before the keyring is unlocked, nothing is stored.
    pub async fn set_hub_token(
        &self,
        token: SecretString,
        place: KeyStorage,
    ) -> Result<(), UserError> {
        let text = token.expose_secret().trim();
        if !text.is_empty() {
            Token::new(text)?;
        }
        let hub = self.enabled_hub();
        self.ready_to_store(Secret::HubToken, &token, place).await;
        {
            let _saving = self.lock_settings().await;
            self.store_hub_token(&token, place, hub).await?;
        }
        self.link_with_token().await
    }

    /// Stores the token for this hub, or for the first that asks, if that is still as configured; an empty text
    /// removes it. The caller holds [`App::lock_settings`].
    async fn store_hub_token(
        &self,
        token: &SecretString,
        place: KeyStorage,
        hub: Option<String>,
    ) -> Result<(), UserError> {
        let AppServices { data, keyring, .. } = self.services();
        if token.expose_secret().trim().is_empty() {
            secrets::save(data, keyring, Secret::HubToken, token, place).await?;
            return Ok(());
        }
        if hub != self.enabled_hub() {
            return Err(UserError::other(user_texts::hub_changed_before_token()));
        }
        let owner = (token_owner::owner_row(data, secrets::place_name(place)), hub);
        owned_secret::save(data, keyring, Secret::HubToken, token, place, owner).await.map(drop)
    }

    /// The id of the hub that is linked to by the settings; `None` while the link is off.
    fn enabled_hub(&self) -> Option<String> {
        let link = link_config(&self.settings().hub).ok().flatten();
        link.as_ref().map(LinkConfig::hub_id)
    }

    /// Links to the hub with the token as it is found now, if a vault is open.
    pub(crate) async fn link_with_token(&self) -> Result<(), UserError> {
        if let Ok(open) = self.session().await {
            let AppServices { data, keyring, .. } = self.services();
            open.hub.link.connect(link_config(&self.settings().hub)?, data, keyring);
        }
        Ok(())
    }
}
