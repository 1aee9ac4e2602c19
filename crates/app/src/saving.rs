//! Settings and keys are changed one after the other: each change is made from what the one before it left.

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
    pub async fn save_settings(&self, settings: Settings) -> Result<(), UserError> {
        let _saving = self.saving().await;
        self.save(settings).await
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
