//! The hub link's settings, judged before anything is dialled.

use hub::{ConfigProblem, LinkConfig};
use protocol::settings::HubSettings;

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
