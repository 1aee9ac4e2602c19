//! The hub link's settings, judged before anything is dialled, and the token that is shown to a hub.

use std::path::Path;
use std::sync::PoisonError;
use std::time::Duration;

use hub::{ConfigProblem, HubHandle, LinkConfig, Token};
use protocol::request::KeyPlace;
use protocol::settings::HubSettings;
use protocol::{ErrorCode, UserError};
use secrecy::{ExposeSecret as _, SecretString};
use tokio_util::sync::CancellationToken;
use vault::Vault;

use crate::aside::aside;
use crate::data_dir::DataDir;
use crate::open_vault::{OpenVault, Surroundings};
use crate::secrets::{self, Secret};
use crate::trouble::sentence;
use crate::{App, hub_name};

/// A keyring that keeps its owner waiting does not keep the hub waiting longer.
const SOON: Duration = Duration::from_secs(2);

/// What to dial; `None` when the link is switched off. `VAULTMATE_HUB_URL` switches it on and
/// comes before the settings' address.
pub(crate) fn config(settings: &HubSettings) -> Result<Option<LinkConfig>, ConfigProblem> {
    let given = std::env::var("VAULTMATE_HUB_URL").ok().filter(|url| !url.is_empty());
    if !settings.enabled && given.is_none() {
        return Ok(None);
    }
    let address = given.unwrap_or_else(|| settings.address.clone());
    LinkConfig::new(&address, &settings.name, &settings.description).map(Some)
}

/// What to dial for a vault, under a name that is its alone: that name counts here, whatever the settings
/// file says for others. The sample takes none away from the user's own notes.
pub(crate) async fn of_vault(
    vault: &Vault,
    home: &Path,
    around: &Surroundings,
) -> Result<Option<LinkConfig>, UserError> {
    let mut hub = around.config.hub_in_file();
    let link = config(&hub).map_err(told)?;
    if link.is_none() || vault.folder() == around.data.sample() {
        around.config.name_at_hub(None);
        return Ok(link);
    }
    let (data, home, wanted) = (around.data.clone(), home.to_owned(), hub.name);
    hub.name = aside(move || hub_name::settled(&data, &home, &wanted)).await??;
    around.config.name_at_hub(Some(hub.name.clone()));
    config(&hub).map_err(told)
}

impl App {
    /// Whether a hub is to be linked to: by the settings, or by `VAULTMATE_HUB_URL`.
    #[must_use]
    pub fn wants_hub(&self) -> bool {
        !matches!(config(&self.settings().hub), Ok(None))
    }

    /// Where the token for the hub comes from: `keyring`, `environment` or `file`; `None` without one.
    pub async fn hub_token_source(&self) -> Result<Option<&'static str>, UserError> {
        let data = self.around().data.clone();
        let found = aside(move || secrets::find(&data, Secret::HubToken)).await?;
        Ok(found.map(|found| found.source))
    }

    /// Keeps the token that is shown to the hub, and links to it anew; an empty text removes it.
    pub async fn set_hub_token(
        &self,
        token: SecretString,
        place: KeyPlace,
    ) -> Result<(), UserError> {
        let text = token.expose_secret().trim();
        if !text.is_empty() {
            Token::new(text).map_err(told)?;
        }
        let data = self.around().data.clone();
        aside(move || secrets::keep(&data, Secret::HubToken, &token, place)).await??;
        if let Ok(open) = self.open().await {
            open.link_to(config(&self.settings().hub).map_err(told)?, &self.around().data);
        }
        Ok(())
    }
}

impl OpenVault {
    /// Links to a hub, with the token that is kept for it, or to none. Returns at once.
    pub(crate) fn link_to(&self, link: Option<LinkConfig>, data: &DataDir) {
        let this = CancellationToken::new();
        let mut linking = self.linking.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *linking, this.clone()).cancel();
        match link {
            None => self.hub.configure(None),
            Some(link) => {
                let presenting = present(self.hub.clone(), link, data.clone());
                self.spawn(async move {
                    this.run_until_cancelled(presenting).await;
                });
            }
        }
    }
}

/// Links with the token. While a keyring keeps its owner waiting a hub without one is linked to; what
/// is not on this computer is not even dialled before.
async fn present(hub: HubHandle, link: LinkConfig, data: DataDir) {
    let looking = aside(move || secrets::find(&data, Secret::HubToken));
    tokio::pin!(looking);
    let found = match tokio::time::timeout(SOON, &mut looking).await {
        Ok(found) => found,
        Err(_) => {
            if link.is_on_this_computer() {
                hub.configure(Some(link.clone()));
            }
            looking.await
        }
    };
    let found = found.ok().flatten().and_then(|found| found.keys.into_iter().next());
    let token = found.and_then(|token| match Token::new(token.expose_secret()) {
        Ok(token) => Some(token),
        Err(why) => {
            tracing::warn!(%why, "the token for the hub is not shown to it");
            None
        }
    });
    hub.configure(Some(match token {
        Some(token) => link.with_token(token),
        None => link,
    }));
}

fn told(problem: ConfigProblem) -> UserError {
    UserError::new(ErrorCode::Other, sentence(&problem.to_string()))
}
