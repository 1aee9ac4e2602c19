//! Where a provider's keys come from: the environment, the system's keyring, else a file that
//! only the user can read. A key itself never leaves as text.
#![expect(clippy::disallowed_methods, reason = "the key file is a file of the data directory")]

use std::path::PathBuf;
use std::process::Command;
use std::sync::LazyLock;

use keyring::Entry;
use protocol::request::KeyPlace;
use protocol::{ErrorCode, UserError};
use secrecy::{ExposeSecret as _, SecretString};

use crate::data_dir::{DataDir, write_private};
use crate::provider::Vendor;

const SERVICE: &str = "vaultmate";

/// Keys, at least one, and the name of the place they were found in.
pub(crate) struct FoundKeys {
    pub(crate) keys: Vec<SecretString>,
    pub(crate) source: &'static str,
}

/// What the environment had at the start, vendor by vendor.
static ENVIRONMENT: LazyLock<Vec<(Vendor, SecretString)>> = LazyLock::new(|| {
    let given = |vendor: Vendor| {
        std::env::var(vendor.variable()).ok().map(|keys| (vendor, SecretString::from(keys)))
    };
    Vendor::ALL.into_iter().filter_map(given).collect()
});

/// Reads the keys of the environment, then has `unset` take each variable away: programs that are
/// started from here on inherit none. For the beginning of a program, before it has threads.
/// [`give_to`] gives them to a program all the same.
pub fn take_from_environment(unset: impl Fn(&str)) {
    LazyLock::force(&ENVIRONMENT);
    for vendor in Vendor::ALL {
        unset(vendor.variable());
    }
}

/// Has `program` find the keys where this one found them: for this program, started anew.
pub fn give_to(program: &mut Command) {
    program.envs(ENVIRONMENT.iter().map(|(of, keys)| (of.variable(), keys.expose_secret())));
}

fn in_environment(vendor: Vendor) -> Option<String> {
    let mut given = ENVIRONMENT.iter();
    let (_, keys) = given.find(|(of, _)| *of == vendor)?;
    Some(keys.expose_secret().to_owned())
}

/// Looks in the keyring, the environment, the key file; the first that has one. Blocks, perhaps
/// until the user has unlocked the keyring.
pub(crate) fn find(data: &DataDir, vendor: Vendor) -> Option<FoundKeys> {
    let in_keyring = || Entry::new(SERVICE, account(vendor)).ok()?.get_password().ok();
    let in_file = || std::fs::read_to_string(file(data, vendor)).ok();
    found(in_keyring(), "keyring")
        .or_else(|| found(in_environment(vendor), "environment"))
        .or_else(|| found(in_file(), "file"))
}

/// Several keys stand between spaces, commas or line ends.
fn found(text: Option<String>, source: &'static str) -> Option<FoundKeys> {
    let text = text?;
    let keys = text.split(|c: char| c.is_whitespace() || c == ',').filter(|key| !key.is_empty());
    let keys: Vec<SecretString> = keys.map(SecretString::from).collect();
    (!keys.is_empty()).then_some(FoundKeys { keys, source })
}

/// The vendor's name in the keyring.
fn account(vendor: Vendor) -> &'static str {
    match vendor {
        Vendor::Anthropic => "anthropic",
        Vendor::OpenAi => "openai",
        Vendor::Ollama => "ollama",
    }
}

/// The first vendor's file has the name it always had.
fn file(data: &DataDir, vendor: Vendor) -> PathBuf {
    match vendor {
        Vendor::Anthropic => data.key_file(),
        Vendor::OpenAi | Vendor::Ollama => data.key_file().with_extension(account(vendor)),
    }
}

/// Stores a vendor's keys where the user wants them. An empty text removes them from both places.
/// Blocks as [`find`] does.
pub(crate) fn keep(
    data: &DataDir,
    vendor: Vendor,
    key: &SecretString,
    place: KeyPlace,
) -> Result<(), UserError> {
    let text = key.expose_secret().trim();
    if text.is_empty() {
        return forget(data, vendor);
    }
    match place {
        KeyPlace::File => write_private(&file(data, vendor), text.as_bytes()),
        KeyPlace::Keyring => Entry::new(SERVICE, account(vendor))
            .and_then(|entry| entry.set_password(text))
            .map_err(|error| {
                UserError::new(
                    ErrorCode::Key,
                    format!(
                        "The system keyring does not take the key ({error}). Unlock it and try \
                         again, set {}, or keep the key in a file that only you can read.",
                        vendor.variable()
                    ),
                )
            }),
    }
}

fn forget(data: &DataDir, vendor: Vendor) -> Result<(), UserError> {
    if let Ok(entry) = Entry::new(SERVICE, account(vendor)) {
        // Nothing stored and no keyring are the same to someone who wants no key stored.
        let _ = entry.delete_credential();
    }
    match std::fs::remove_file(file(data, vendor)) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(crate::data_dir::trouble("remove", &file(data, vendor), &error))
        }
        _ => Ok(()),
    }
}
