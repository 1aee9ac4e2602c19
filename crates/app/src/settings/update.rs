//! Settings and keys are changed one after the other: each change is made from what the one before it left,
//! whichever window or hand made that.

use std::path::Path;

use protocol::request::KeyStorage;
use protocol::settings::{ExtraRoot, HubSettings, SettingsChoice};
use protocol::{AppEvent, PrivateRules, Settings, UserError};
use secrecy::{ExposeSecret as _, SecretString};

use crate::app::App;
use crate::app::services::AppServices;
use crate::hub::connection;
use crate::settings::config::{ConfigWatcher, ReloadRequests};
use crate::settings::key_target::KeyTarget;
use crate::settings::secrets::Secret;
use crate::settings::{config, key_server, owned_secret, secrets};
use crate::support::blocking::run_blocking;
use crate::user_texts;
use crate::vault_session::SessionGuard;

impl App {
    /// The settings in force.
    #[must_use]
    pub fn settings(&self) -> Settings {
        self.services().config.get()
    }

    /// Changes each setting that differs from those in force. Otherwise as [`App::change_settings`].
    pub async fn save_settings(&self, settings: Settings) -> Result<(), UserError> {
        self.change_settings(|now| *now = settings).await
    }

    /// Adds an additional folder. The caller vouches that the user named it: in a dialog of the
    /// system, or by typing its path.
    pub async fn add_extra_root(&self, folder: &Path) -> Result<(), UserError> {
        let folder =
            folder.to_str().ok_or_else(|| UserError::other(user_texts::folder_name_not_text()))?;
        let root = ExtraRoot { folder: folder.to_owned(), name: String::new() };
        self.change_settings(|settings| settings.extra_roots.push(root)).await
    }

    /// Saves what `change` does to the settings in force, and nothing else: what another window or a hand
    /// has changed in their file meanwhile stays. Otherwise as [`App::save_changed`].
    pub async fn change_settings(
        &self,
        change: impl FnOnce(&mut Settings) + Send,
    ) -> Result<(), UserError> {
        let _saving = self.lock_settings().await;
        let before = self.settings();
        let mut after = before.clone();
        change(&mut after);
        self.save(&before, after).await
    }

    /// Saves the differences between `before`, from which the change was made, and `after`. They
    /// take effect at once. If a value is invalid, nothing is saved. Returns the settings in force
    /// then.
    ///
    /// A page may send these settings, so an additional folder that was not there before is
    /// refused. [`App::add_extra_root`] adds one.
    pub async fn save_changed(
        &self,
        before: &Settings,
        after: Settings,
    ) -> Result<Settings, UserError> {
        let _saving = self.lock_settings().await;
        ensure_no_new_root(&after.extra_roots, &self.settings().extra_roots)?;
        self.save(before, after).await?;
        Ok(self.settings())
    }

    /// Decides which settings count while their file does not.
    pub async fn recover_settings(&self, choice: SettingsChoice) -> Result<(), UserError> {
        let _saving = self.lock_settings().await;
        let config = self.services().config.clone();
        let before = config.get().hub;
        let settled = run_blocking(move || config.recover(choice)).await?;
        self.apply_settings(&before).await;
        settled
    }

    /// Follows the settings file, whichever program changes it, until it is dropped.
    pub(crate) async fn run_settings_loop(self, mut outdated: ReloadRequests) {
        let mut watch = ConfigWatcher::start(&self.services().data);
        // Changes before the watch was set up were not reported.
        self.reload_settings().await;
        loop {
            let asked = tokio::select! {
                () = watch.next() => None,
                asked = outdated.recv() => match asked {
                    Some(asked) => Some(asked),
                    None => return,
                },
            };
            self.reload_settings().await;
            if let Some(asked) = asked {
                // The caller has given up.
                let _ = asked.send(());
            }
        }
    }

    async fn reload_settings(&self) {
        let _saving = self.lock_settings().await;
        let config = self.services().config.clone();
        let before = config.get().hub;
        if matches!(run_blocking(move || config.reload()).await, Ok(true)) {
            self.apply_settings(&before).await;
        }
    }

    /// The caller holds [`App::lock_settings`].
    async fn save(&self, before: &Settings, after: Settings) -> Result<(), UserError> {
        let link = connection::link_config(&after.hub)?;
        let services = self.services();
        // Rules that cannot be understood are not taken: nobody would know what they protect.
        PrivateRules::parse(&after.private).map_err(|error| UserError::other(error.to_string()))?;
        services.config.ensure_valid()?;
        let now = services.config.get();
        let extra_roots = self.admit_extra_roots(&after.extra_roots, &now.extra_roots).await?;
        let after = Settings { extra_roots, ..after };
        if before.hub != after.hub
            && link.is_some()
            && let Some(open) = self.open_session().await
        {
            open.home.claim_hub_name(&services.data, &after.hub.name).await?;
        }
        let (config, before) = (services.config.clone(), before.clone());
        let saved = run_blocking(move || config.change(&before, &after)).await?;
        self.apply_settings(&now.hub).await;
        saved
    }

    /// Has everything go by the settings that were read last. The caller holds [`App::lock_settings`].
    async fn apply_settings(&self, before: &HubSettings) {
        let services = self.services();
        if let Some(open) = self.open_session().await {
            let rules = services.config.private_rules();
            open.model_privacy.privacy_guard.set_rules(rules.clone());
            config::apply_read_settings(&open.notes.vault, &services.config.get());
            // Other notes may be seen: the index looks again.
            open.notes.indexer.set_rules(rules).await;
            self.reconnect_hub(&open, before).await;
        }
        let (settings, trouble) = (services.config.get(), services.config.problem());
        services.feed.publish(AppEvent::SettingsChanged { settings, trouble });
        self.reselect_model().await;
    }

    /// Links as the settings say now, where that is not as `before`.
    async fn reconnect_hub(&self, open: &SessionGuard, before: &HubSettings) {
        let services = self.services();
        if !services.run_mode.is_long_running() {
            return;
        }
        let AppServices { config, data, keyring, .. } = services;
        let (vault, home) = (&open.notes.vault, &open.home.data_folder);
        let link = connection::vault_link_config(vault, home, config, data).await;
        if config.get().hub == *before {
            return;
        }
        let link = link.unwrap_or_else(|error| {
            services.feed.publish(AppEvent::Problem { error });
            None
        });
        open.hub.link.connect(link, data, keyring);
    }

    /// The additional folders under the names that they get, if all new ones may be added.
    async fn admit_extra_roots(
        &self,
        wanted: &[ExtraRoot],
        before: &[ExtraRoot],
    ) -> Result<Vec<ExtraRoot>, UserError> {
        if wanted == before {
            return Ok(wanted.to_vec());
        }
        let vault = self.open_session().await.map(|open| open.notes.vault.clone());
        let (wanted, before) = (wanted.to_vec(), before.to_vec());
        let judged =
            run_blocking(move || vault::validate_extra_roots(&wanted, &before, vault.as_ref()));
        Ok(judged.await??)
    }

    /// Stores the keys of the selected provider, one or several; an empty text removes them. Where another
    /// provider or server is selected before the keyring is unlocked, nothing is stored. Refused where it could not be
    /// recorded for which server the keys are, and where keys that shall be removed may stay in the keyring.
    pub async fn set_key(&self, key: SecretString, place: KeyStorage) -> Result<(), UserError> {
        let target = self.key_target().await;
        let is_removed = key.expose_secret().trim().is_empty();
        if !is_removed {
            let (data, base_url) = (self.services().data.clone(), target.base_url.clone());
            run_blocking(move || key_server::ensure_assignable(&data, &base_url)).await??;
        }
        self.ready_to_store(Secret::Keys(target.model_provider), &key, place).await;
        let _saving = self.lock_settings().await;
        if !is_removed {
            self.ensure_key_target(&target).await?;
        }
        let stored = self.store_key(target, &key, place).await;
        // A key that may have been stored although that failed is for no server.
        self.reselect_model().await;
        stored
    }
}

impl App {
    /// Stores a key for the server of `target`: from now on no other one is sent it. An empty text removes it. A key that
    /// may still be in another place keeps its server.
    async fn store_key(
        &self,
        target: KeyTarget,
        key: &SecretString,
        place: KeyStorage,
    ) -> Result<(), UserError> {
        let AppServices { data, keyring, .. } = self.services();
        let KeyTarget { model_provider, base_url } = target;
        let secret = Secret::Keys(model_provider);
        let emptied = match key.expose_secret().trim().is_empty() {
            true => secrets::save(data, keyring, secret, key, place).await?,
            false => {
                let server = key_server::server_for_key(&base_url)?;
                let row = key_server::owner_row(data, model_provider, secrets::place_name(place));
                let owner = (row, Some(server));
                owned_secret::save(data, keyring, secret, key, place, owner).await?
            }
        };
        let data = data.clone();
        let disown = move || {
            emptied.iter().try_for_each(|place| key_server::disown(&data, model_provider, place))
        };
        run_blocking(disown).await?
    }
}

fn ensure_no_new_root(wanted: &[ExtraRoot], before: &[ExtraRoot]) -> Result<(), UserError> {
    let mut before: Vec<&str> = before.iter().map(|root| root.folder.as_str()).collect();
    for ExtraRoot { folder, .. } in wanted {
        // A folder that is given twice is new the second time.
        let Some(at) = before.iter().position(|known| known == folder) else {
            return Err(UserError::other(user_texts::folder_not_chosen(folder.as_str())));
        };
        before.swap_remove(at);
    }
    Ok(())
}
