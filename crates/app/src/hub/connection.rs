//! The hub link's settings, judged before anything is dialled, and the token that is shown to a hub.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use desktop::Keyring;
use hub::{ConfigProblem, HubHandle, LinkConfig, Token};
use protocol::settings::{HubSettings, KeyringTrouble};
use protocol::{AppEvent, ErrorCode, HubState, HubStatus, UserError};
use secrecy::ExposeSecret as _;
use store::Store;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use vault::Vault;

use crate::events::feed::Feed;
use crate::hub::{client_name, token_owner};
use crate::settings::config::Config;
use crate::settings::secrets::{self, Finding, FoundKeys, Secret};
use crate::support::blocking::run_blocking;
use crate::support::task_group::TaskGroup;
use crate::user_texts;
use crate::workspace::data_dir::DataDir;

/// A keyring that keeps its owner waiting does not keep the hub waiting longer.
const KEYRING_TIMEOUT: Duration = Duration::from_secs(2);

/// The link of an open vault to its hub.
pub(crate) struct HubLink {
    pub(crate) handle: HubHandle,
    linking: Mutex<Linking>,
    status: Mutex<HubStatus>,
    feed: Feed,
    /// Notified when notifications may go out to another hub.
    outbox_ready: Arc<Notify>,
    tasks: TaskGroup,
}

/// How far the token for a hub was looked for.
#[derive(Debug, Default)]
struct Linking {
    /// Ends looking for it, once that is for another link.
    cancel: CancellationToken,
    /// Why it cannot be looked for, while the link waits for that.
    closed: Option<KeyringTrouble>,
    /// The hub that is linked to, or shall be.
    hub: Option<String>,
}

/// The hub to dial; `None` when the link is switched off. `VAULTMATE_HUB_URL` switches it on and
/// comes before the URL in the settings.
pub(crate) fn link_config(settings: &HubSettings) -> Result<Option<LinkConfig>, ConfigProblem> {
    let given = url_from_environment();
    if !settings.enabled && given.is_none() {
        return Ok(None);
    }
    let address = given.unwrap_or_else(|| settings.address.clone());
    LinkConfig::new(&address, &settings.name, &settings.description).map(Some)
}

fn url_from_environment() -> Option<String> {
    std::env::var("VAULTMATE_HUB_URL").ok().filter(|url| !url.is_empty())
}

/// The id of the hub whose URL is configured, whether or not the link is switched on.
pub(crate) fn configured_hub(settings: &HubSettings) -> Option<String> {
    let address = url_from_environment().unwrap_or_else(|| settings.address.clone());
    LinkConfig::hub_id_of(&address).ok()
}

/// Messages and tokens that were stored before hubs were told apart are for the hub that is
/// configured now.
pub(crate) async fn assign_to_configured_hub(
    store: &Store,
    config: &Config,
    data: &DataDir,
) -> Result<(), UserError> {
    let Some(hub) = configured_hub(&config.get().hub) else { return Ok(()) };
    store.name_unnamed_hub(&hub).await?;
    let data = data.clone();
    run_blocking(move || token_owner::assign_unowned(&data, &hub)).await?
}

/// The hub to dial for a vault, under a name that no other vault has. This vault uses that name,
/// whatever the settings file says for others. The sample takes no name from the user's own notes.
pub(crate) async fn vault_link_config(
    vault: &Vault,
    home: &Path,
    config: &Config,
    data: &DataDir,
) -> Result<Option<LinkConfig>, UserError> {
    let mut hub = config.hub_in_file();
    let link = link_config(&hub)?;
    if link.is_none() || vault.folder() == data.sample() {
        config.set_hub_name(None);
        return Ok(link);
    }
    let (data, home, wanted) = (data.clone(), home.to_owned(), hub.name);
    hub.name = run_blocking(move || client_name::choose_name(&data, &home, &wanted)).await??;
    config.set_hub_name(Some(hub.name.clone()));
    Ok(link_config(&hub)?)
}

impl HubLink {
    /// The link to no hub yet.
    pub(crate) fn new(
        handle: HubHandle,
        feed: Feed,
        outbox_ready: Arc<Notify>,
        tasks: TaskGroup,
    ) -> Self {
        let (linking, status) = (Mutex::default(), Mutex::new(HubStatus::off()));
        Self { handle, linking, status, feed, outbox_ready, tasks }
    }

    /// Links to a hub, with the token that is kept for it, or to none. Returns at once.
    pub(crate) fn connect(
        self: &Arc<Self>,
        link: Option<LinkConfig>,
        data: &DataDir,
        keyring: &Keyring,
    ) {
        let this = CancellationToken::new();
        {
            let mut linking = self.linking();
            std::mem::replace(&mut linking.cancel, this.clone()).cancel();
            linking.hub = link.as_ref().map(LinkConfig::hub_id);
        }
        // Notifications may wait for this hub while the queue of the one before is empty.
        self.outbox_ready.notify_one();
        match link {
            None => {
                self.waits_for_keyring(None);
                self.handle.configure(None);
            }
            Some(link) => {
                let (data, keyring) = (data.clone(), keyring.clone());
                let presenting = connect_with_token(Arc::clone(self), link, data, keyring);
                self.tasks.spawn(async move {
                    this.run_until_cancelled(presenting).await;
                });
            }
        }
    }

    /// The id of the hub that is linked to, or shall be.
    pub(crate) fn linked_hub(&self) -> Option<String> {
        self.linking().hub.clone()
    }

    /// Whether the link waits for the keyring.
    pub(crate) fn is_token_closed(&self) -> bool {
        self.linking().closed.is_some()
    }

    /// Notes whether the link waits for the keyring, and why, and tells the window.
    fn waits_for_keyring(&self, why: Option<KeyringTrouble>) {
        let before = std::mem::replace(&mut self.linking().closed, why);
        if before.or(why).is_some() {
            self.set_status(HubStatus { ignored: self.status().ignored, ..HubStatus::off() });
        }
    }

    /// How the link stands.
    pub(crate) fn status(&self) -> HubStatus {
        self.status.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Notes how the link stands, and tells the window.
    pub(crate) fn set_status(&self, status: HubStatus) {
        let status = self.with_keyring(status);
        *self.status.lock().unwrap_or_else(PoisonError::into_inner) = status.clone();
        self.feed.publish(AppEvent::HubChanged { hub: status });
    }

    fn linking(&self) -> MutexGuard<'_, Linking> {
        self.linking.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How the link stands where it is off only because its token cannot be looked for.
    fn with_keyring(&self, status: HubStatus) -> HubStatus {
        let text = match self.linking().closed {
            Some(KeyringTrouble::Locked | KeyringTrouble::Unknown) => {
                user_texts::keyring_locked_for_token()
            }
            Some(KeyringTrouble::Unavailable) => user_texts::keyring_silent_for_token(),
            None => return status,
        };
        match status.state {
            HubState::Off => {
                let trouble = Some(UserError::new(ErrorCode::Key, text));
                HubStatus { state: HubState::Waiting, trouble, ..status }
            }
            _ => status,
        }
    }
}

/// Links with the token. While a keyring is slow a hub without one is linked to; what is not on this
/// computer is not even dialled before. A hub whose token is in a keyring that is locked or gone is not
/// dialled at all: it would refuse us, as if the token were wrong. No hub is shown a token that was
/// saved for another one.
async fn connect_with_token(
    hub_link: Arc<HubLink>,
    link: LinkConfig,
    data: DataDir,
    keyring: Keyring,
) {
    let looking = secrets::find(&data, &keyring, Secret::HubToken);
    tokio::pin!(looking);
    let found = match tokio::time::timeout(KEYRING_TIMEOUT, &mut looking).await {
        Ok(found) => found,
        Err(_) => {
            if link.is_loopback() {
                hub_link.handle.configure(Some(link.clone()));
            }
            looking.await
        }
    };
    let hub = link.hub_id();
    if let Finding::Closed(why @ (KeyringTrouble::Locked | KeyringTrouble::Unavailable)) = found {
        if is_token_of_another(&data, secrets::FROM_KEYRING, hub).await {
            hub_link.waits_for_keyring(None);
            hub_link.handle.configure(Some(link.without_token_of_another_hub()));
        } else {
            hub_link.handle.configure(None);
            hub_link.waits_for_keyring(Some(why));
        }
        return;
    }
    hub_link.waits_for_keyring(None);
    hub_link.handle.configure(Some(match found.keys() {
        Some(found) if !may_see_token(&data, &found, hub).await => {
            link.without_token_of_another_hub()
        }
        Some(found) => match first_token(&found) {
            Some(token) => link.with_token(token),
            None => link,
        },
        None => link,
    }));
}

/// Whether the token in this place is for another hub, as far as that is known.
pub(super) async fn is_token_of_another(data: &DataDir, place: &'static str, hub: String) -> bool {
    let data = data.clone();
    run_blocking(move || token_owner::is_of_another(&data, place, &hub)).await.unwrap_or(false)
}

/// Whether the hub may be shown the token that was found.
async fn may_see_token(data: &DataDir, found: &FoundKeys, hub: String) -> bool {
    let (data, place) = (data.clone(), found.source);
    run_blocking(move || token_owner::may_see(&data, place, &hub)).await.unwrap_or(false)
}

fn first_token(found: &FoundKeys) -> Option<Token> {
    match Token::new(found.keys.first()?.expose_secret()) {
        Ok(token) => Some(token),
        Err(why) => {
            tracing::warn!(%why, "the token for the hub is not shown to it");
            None
        }
    }
}
