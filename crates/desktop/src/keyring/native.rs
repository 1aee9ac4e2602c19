//! The keyring of a system without a Secret Service. It unlocks itself when it is looked into: the system
//! asks the user then.

use ::keyring::{Entry, Error};
use protocol::request::Unlocking;
use secrecy::{ExposeSecret as _, SecretString};

use super::{APPLICATION, InKeyring, KeyringError};
use crate::bus::Bus;

/// The keyring. Clones are the same.
#[derive(Debug, Clone)]
pub struct Keyring;

impl Keyring {
    /// The system's; it is reached over no bus.
    #[must_use]
    pub const fn on(_bus: Bus) -> Self {
        Self
    }

    /// Looks for the secret of an account.
    pub async fn look(&self, account: &str) -> InKeyring {
        match with(account, |entry| entry.get_password()).await {
            Ok(text) => InKeyring::Secret(SecretString::from(text)),
            Err(Error::NoEntry) => InKeyring::Nothing,
            Err(Error::NoStorageAccess(_)) => InKeyring::Unknown,
            Err(_) => InKeyring::Unavailable,
        }
    }

    /// Stores the secret of an account in place of the one before.
    pub async fn store(&self, account: &str, secret: &SecretString) -> Result<(), KeyringError> {
        let secret = secret.clone();
        with(account, move |entry| entry.set_password(secret.expose_secret())).await.map_err(failed)
    }

    /// Removes the secret of an account, if there is one.
    pub async fn remove(&self, account: &str) -> Result<(), KeyringError> {
        match with(account, |entry| entry.delete_credential()).await {
            Ok(()) | Err(Error::NoEntry) => Ok(()),
            Err(error) => Err(failed(error)),
        }
    }

    /// The system asks automatically at the first access to the keyring.
    pub async fn unlock(&self, _stop: impl Future<Output = ()>) -> Unlocking {
        Unlocking::Unlocked
    }
}

/// Does this with the entry of an account where it may block.
async fn with<T: Send + 'static>(
    account: &str,
    work: impl FnOnce(Entry) -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    let account = account.to_owned();
    let done =
        tokio::task::spawn_blocking(move || Entry::new(APPLICATION, &account).and_then(work));
    done.await.unwrap_or(Err(Error::NoDefaultStore))
}

fn failed(error: Error) -> KeyringError {
    match error {
        Error::NoStorageAccess(_) => KeyringError::Locked,
        error => KeyringError::Failed(error.to_string()),
    }
}
