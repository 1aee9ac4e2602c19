//! After the user unlocks the keyring, the tasks that wait for it continue.

use protocol::UserError;
use protocol::request::{KeyStorage, Unlocking};
use secrecy::SecretString;

use crate::App;
use crate::settings::secrets;
use crate::settings::secrets::Secret;

impl App {
    /// Has the keyring ask the user to unlock it, for as long as the user takes. Then the keys and the
    /// token for the hub are looked for again, whatever came of it: somebody else may have unlocked it.
    pub async fn unlock_keyring(&self) -> Result<Unlocking, UserError> {
        let outcome = self.ask_to_unlock().await;
        {
            let _saving = self.lock_settings().await;
            self.reselect_model().await;
        }
        self.link_with_token().await?;
        Ok(outcome)
    }

    /// Withdraws the question that [`App::unlock_keyring`] has the keyring ask, if there is one.
    pub fn stop_unlocking(&self) {
        self.unlocking().notify_waiters();
    }

    /// Before a secret is stored in the keyring or removed from it, the keyring is unlocked. What comes of
    /// that is seen when the secret is stored.
    pub(crate) async fn ready_to_store(
        &self,
        secret: Secret,
        text: &SecretString,
        place: KeyStorage,
    ) {
        if secrets::needs_unlocking(
            &self.services().data,
            &self.services().keyring,
            secret,
            text,
            place,
        )
        .await
        {
            self.ask_to_unlock().await;
        }
    }

    async fn ask_to_unlock(&self) -> Unlocking {
        let outcome = self.services().keyring.unlock(self.unlocking().notified()).await;
        tracing::debug!(?outcome, "the keyring was asked to be unlocked");
        outcome
    }
}
