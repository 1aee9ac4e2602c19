//! Why a secret was not saved, and whether its place may hold it all the same: a keyring that does not answer in time
//! may store it later, and a file may be replaced before its folder fails to be flushed.

use std::io::ErrorKind;
use std::path::Path;

use desktop::{InKeyring, Keyring, KeyringError};
use protocol::UserError;
use secrecy::{ExposeSecret as _, SecretString};

/// Why a secret was not saved.
#[derive(Debug)]
pub(crate) enum SecretSaveError {
    /// The place holds what it held before.
    NotSaved(UserError),
    /// The place may hold the new secret all the same.
    Uncertain(UserError),
}

impl SecretSaveError {
    /// Of a keyring that did not store the secret of an account because of `error`, which is told as `why`.
    pub(super) async fn of_keyring(
        why: UserError,
        error: KeyringError,
        keyring: &Keyring,
        account: &str,
        text: &SecretString,
    ) -> Self {
        let may_hold = match error {
            KeyringError::Locked | KeyringError::Unreachable(_) => false,
            KeyringError::Failed(_) => match keyring.look(account).await {
                InKeyring::Secret(found) => found.expose_secret() == text.expose_secret(),
                InKeyring::Nothing => false,
                InKeyring::Locked | InKeyring::Unknown | InKeyring::Unavailable => true,
            },
        };
        Self::new(why, may_hold)
    }

    /// Of a file that could not be written. Blocks.
    pub(super) fn of_file(why: UserError, file: &Path, text: &SecretString) -> Self {
        let may_hold = match std::fs::read_to_string(file) {
            Ok(found) => found == text.expose_secret(),
            Err(error) => error.kind() != ErrorKind::NotFound,
        };
        Self::new(why, may_hold)
    }

    fn new(why: UserError, may_hold: bool) -> Self {
        if may_hold { Self::Uncertain(why) } else { Self::NotSaved(why) }
    }
}

/// An error of which no more is known.
impl From<UserError> for SecretSaveError {
    fn from(why: UserError) -> Self {
        Self::Uncertain(why)
    }
}

impl From<SecretSaveError> for UserError {
    fn from(error: SecretSaveError) -> Self {
        match error {
            SecretSaveError::NotSaved(why) | SecretSaveError::Uncertain(why) => why,
        }
    }
}
