//! Where the provider's key comes from: the environment, the system's keyring, else a file that
//! only the user can read. The key itself never leaves as text.
#![expect(clippy::disallowed_methods, reason = "the key file is a file of the data directory")]

use keyring::Entry;
use protocol::request::KeyPlace;
use protocol::{ErrorCode, UserError};
use secrecy::{ExposeSecret as _, SecretString};

use crate::data_dir::{DataDir, write_private};

const SERVICE: &str = "vaultmate";
const ACCOUNT: &str = "anthropic";
const VARIABLE: &str = "ANTHROPIC_API_KEY";

/// A key and the name of the place it was found in.
pub(crate) struct FoundKey {
    pub(crate) key: SecretString,
    pub(crate) source: &'static str,
}

/// Looks in the keyring, the environment, the key file; the first that has one. Blocks, perhaps
/// until the user has unlocked the keyring.
pub(crate) fn find(data: &DataDir) -> Option<FoundKey> {
    let in_keyring = || Entry::new(SERVICE, ACCOUNT).ok()?.get_password().ok();
    let in_file = || std::fs::read_to_string(data.key_file()).ok();
    found(in_keyring(), "keyring")
        .or_else(|| found(std::env::var(VARIABLE).ok(), "environment"))
        .or_else(|| found(in_file(), "file"))
}

fn found(text: Option<String>, source: &'static str) -> Option<FoundKey> {
    let text = text?;
    let key = text.trim();
    (!key.is_empty()).then(|| FoundKey { key: SecretString::from(key), source })
}

/// Stores a key where the user wants it. An empty key removes it from both places. Blocks as
/// [`find`] does.
pub(crate) fn keep(data: &DataDir, key: &SecretString, place: KeyPlace) -> Result<(), UserError> {
    let text = key.expose_secret().trim();
    if text.is_empty() {
        return forget(data);
    }
    match place {
        KeyPlace::File => write_private(&data.key_file(), text.as_bytes()),
        KeyPlace::Keyring => Entry::new(SERVICE, ACCOUNT)
            .and_then(|entry| entry.set_password(text))
            .map_err(|error| {
                UserError::new(
                    ErrorCode::Key,
                    format!(
                        "The system keyring does not take the key ({error}). Unlock it and try \
                         again, set {VARIABLE}, or keep the key in a file that only you can read."
                    ),
                )
            }),
    }
}

fn forget(data: &DataDir) -> Result<(), UserError> {
    if let Ok(entry) = Entry::new(SERVICE, ACCOUNT) {
        // Nothing stored and no keyring are the same to someone who wants no key stored.
        let _ = entry.delete_credential();
    }
    match std::fs::remove_file(data.key_file()) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(crate::data_dir::trouble("remove", &data.key_file(), &error))
        }
        _ => Ok(()),
    }
}
