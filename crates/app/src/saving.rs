//! Settings and keys are changed one after the other: each change is made from what the one before it left.

use std::path::Path;

use protocol::request::KeyPlace;
use protocol::settings::ExtraRoot;
use protocol::{AppEvent, PrivateRules, Settings, UserError};
use secrecy::SecretString;

use crate::app::App;
use crate::aside::aside;
use crate::secrets::Secret;
use crate::trouble::sentence;
use crate::{config, link, secrets};

impl App {
    /// The settings in force.
    #[must_use]
    pub fn settings(&self) -> Settings {
        self.around().config.get()
    }

    /// Saves settings in place of all that hold; each takes effect at once. What cannot be understood is
    /// refused, and then nothing of them is taken. Who changes only some of them says so with
    /// [`App::change_settings`].
    ///
    /// These are a page's to send: a folder beside the vault that was not there before is refused.
    /// [`App::add_extra_root`] adds one.
    pub async fn save_settings(&self, settings: Settings) -> Result<(), UserError> {
        let _saving = self.saving().await;
        adds_no_root(&settings.extra_roots, &self.settings().extra_roots)?;
        self.save(settings).await
    }

    /// Adds a folder beside the vault. The caller vouches that the user named it: in a dialog of the
    /// system, or by typing its path.
    pub async fn add_extra_root(&self, folder: &Path) -> Result<(), UserError> {
        let folder = folder.to_str().ok_or_else(|| {
            UserError::other(
                "The name of this folder is not valid UTF-8. Rename it, or choose another folder.",
            )
        })?;
        let root = ExtraRoot { folder: folder.to_owned(), name: String::new() };
        self.change_settings(|settings| settings.extra_roots.push(root)).await
    }

    /// Saves what `change` makes of the settings that hold then: no other change is lost that is saved
    /// meanwhile. Otherwise as [`App::save_settings`].
    pub async fn change_settings(
        &self,
        change: impl FnOnce(&mut Settings) + Send,
    ) -> Result<(), UserError> {
        let _saving = self.saving().await;
        let mut settings = self.settings();
        change(&mut settings);
        self.save(settings).await
    }

    /// The caller holds [`App::saving`].
    async fn save(&self, settings: Settings) -> Result<(), UserError> {
        let link = link::config(&settings.hub)
            .map_err(|error| UserError::other(sentence(&error.to_string())))?;
        let around = self.around();
        // Rules that cannot be understood are not taken: nobody would know what they protect.
        PrivateRules::parse(&settings.private)
            .map_err(|error| UserError::other(error.to_string()))?;
        let before = around.config.get();
        let extra_roots = self.admitted(&settings.extra_roots, &before.extra_roots).await?;
        let settings = Settings { extra_roots, ..settings };
        let is_other_hub = before.hub != settings.hub;
        if is_other_hub
            && link.is_some()
            && let Some(open) = self.opened().await
        {
            open.claim_hub_name(&around.data, &settings.hub.name).await?;
        }
        let (config, new) = (around.config.clone(), settings.clone());
        aside(move || config.save(new)).await??;
        self.settings_are_right();
        if let Some(open) = self.opened().await {
            open.keeper.set_rules(around.config.private_rules());
            config::let_read(&open.vault, &settings);
            // Other notes may be seen: the index looks again.
            open.indexing.set_rules(around.config.private_rules());
            if is_other_hub {
                open.link_to(link, &around.data);
            }
        }
        around.feed.tell(AppEvent::SettingsChanged { settings });
        self.choose_again().await;
        Ok(())
    }

    /// The folders beside the vault under the names that they get, if all new ones may be added.
    async fn admitted(
        &self,
        wanted: &[ExtraRoot],
        before: &[ExtraRoot],
    ) -> Result<Vec<ExtraRoot>, UserError> {
        if wanted == before {
            return Ok(wanted.to_vec());
        }
        let vault = self.opened().await.map(|open| open.vault.clone());
        let (wanted, before) = (wanted.to_vec(), before.to_vec());
        let judged = aside(move || vault::admit_extra_roots(&wanted, &before, vault.as_ref()));
        judged.await?.map_err(|error| UserError::other(error.to_string()))
    }

    /// Stores the keys of whoever answers, one or several; an empty text removes them.
    pub async fn set_key(&self, key: SecretString, place: KeyPlace) -> Result<(), UserError> {
        let _saving = self.saving().await;
        let around = self.around();
        let (data, vendor) = (around.data.clone(), around.answering.get().await.vendor);
        aside(move || secrets::keep(&data, Secret::Keys(vendor), &key, place)).await??;
        self.choose_again().await;
        Ok(())
    }
}

fn adds_no_root(wanted: &[ExtraRoot], before: &[ExtraRoot]) -> Result<(), UserError> {
    let mut before: Vec<&str> = before.iter().map(|root| root.folder.as_str()).collect();
    for ExtraRoot { folder, .. } in wanted {
        // A folder that is given twice is new the second time.
        let Some(at) = before.iter().position(|known| known == folder) else {
            return Err(UserError::other(format!(
                "{folder} was not chosen in a dialog of the system. Add it in Settings > Vault."
            )));
        };
        before.swap_remove(at);
    }
    Ok(())
}
