//! Where providers' keys and the hub's token come from: the environment, the system's keyring, else a
//! file that only the user can read. None of them ever leaves as text.
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

/// What is kept secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Secret {
    /// The keys of a vendor.
    Keys(Vendor),
    /// What a hub wants to see before it lets anybody in.
    HubToken,
}

impl Secret {
    const ALL: [Self; 4] = [
        Self::Keys(Vendor::Anthropic),
        Self::Keys(Vendor::OpenAi),
        Self::Keys(Vendor::Ollama),
        Self::HubToken,
    ];

    /// The variable of the environment that may hold it.
    fn variable(self) -> &'static str {
        match self {
            Self::Keys(vendor) => vendor.variable(),
            Self::HubToken => "VAULTMATE_HUB_TOKEN",
        }
    }

    /// Its name in the keyring.
    const fn account(self) -> &'static str {
        match self {
            Self::Keys(Vendor::Anthropic) => "anthropic",
            Self::Keys(Vendor::OpenAi) => "openai",
            Self::Keys(Vendor::Ollama) => "ollama",
            Self::HubToken => "hub",
        }
    }

    /// What it is to its user.
    const fn word(self) -> &'static str {
        match self {
            Self::Keys(_) => "key",
            Self::HubToken => "token",
        }
    }

    /// The first vendor's file has the name it always had.
    fn file(self, data: &DataDir) -> PathBuf {
        match self {
            Self::Keys(Vendor::Anthropic) => data.key_file(),
            Self::Keys(_) | Self::HubToken => data.key_file().with_extension(self.account()),
        }
    }
}

/// Keys, at least one, and the name of the place they were found in.
pub(crate) struct FoundKeys {
    pub(crate) keys: Vec<SecretString>,
    pub(crate) source: &'static str,
}

/// What the environment had at the start, one by one.
static ENVIRONMENT: LazyLock<Vec<(Secret, SecretString)>> = LazyLock::new(|| {
    let given = |secret: Secret| {
        std::env::var(secret.variable()).ok().map(|text| (secret, SecretString::from(text)))
    };
    Secret::ALL.into_iter().filter_map(given).collect()
});

/// Reads the keys of the environment, then has `unset` take each variable away: programs that are
/// started from here on inherit none. For the beginning of a program, before it has threads.
/// [`give_to`] gives them to a program all the same.
pub fn take_from_environment(unset: impl Fn(&str)) {
    LazyLock::force(&ENVIRONMENT);
    for secret in Secret::ALL {
        unset(secret.variable());
    }
}

/// Has `program` find the keys where this one found them: for this program, started anew.
pub fn give_to(program: &mut Command) {
    program.envs(ENVIRONMENT.iter().map(|(of, keys)| (of.variable(), keys.expose_secret())));
}

fn in_environment(secret: Secret) -> Option<String> {
    let mut given = ENVIRONMENT.iter();
    let (_, keys) = given.find(|(of, _)| *of == secret)?;
    Some(keys.expose_secret().to_owned())
}

/// Looks in the keyring, the environment, the key file; the first that has one. Blocks, perhaps
/// until the user has unlocked the keyring.
pub(crate) fn find(data: &DataDir, secret: Secret) -> Option<FoundKeys> {
    let in_keyring = || Entry::new(SERVICE, secret.account()).ok()?.get_password().ok();
    let in_file = || std::fs::read_to_string(secret.file(data)).ok();
    found(in_keyring(), "keyring")
        .or_else(|| found(in_environment(secret), "environment"))
        .or_else(|| found(in_file(), "file"))
}

/// Several keys stand between spaces, commas or line ends.
fn found(text: Option<String>, source: &'static str) -> Option<FoundKeys> {
    let text = text?;
    let keys = text.split(|c: char| c.is_whitespace() || c == ',').filter(|key| !key.is_empty());
    let keys: Vec<SecretString> = keys.map(SecretString::from).collect();
    (!keys.is_empty()).then_some(FoundKeys { keys, source })
}

/// Stores a secret where the user wants it. An empty text removes it from both places.
/// Blocks as [`find`] does.
pub(crate) fn keep(
    data: &DataDir,
    secret: Secret,
    text: &SecretString,
    place: KeyPlace,
) -> Result<(), UserError> {
    let text = text.expose_secret().trim();
    if text.is_empty() {
        return forget(data, secret);
    }
    match place {
        KeyPlace::File => write_private(&secret.file(data), text.as_bytes()),
        KeyPlace::Keyring => Entry::new(SERVICE, secret.account())
            .and_then(|entry| entry.set_password(text))
            .map_err(|error| {
                let (word, variable) = (secret.word(), secret.variable());
                let words = format!(
                    "The system keyring does not take the {word} ({error}). Unlock it and try \
                     again, set {variable}, or keep the {word} in a file that only you can read."
                );
                UserError::new(ErrorCode::Key, words)
            }),
    }
}

fn forget(data: &DataDir, secret: Secret) -> Result<(), UserError> {
    if let Ok(entry) = Entry::new(SERVICE, secret.account()) {
        // Nothing stored and no keyring are the same to someone who wants no key stored.
        let _ = entry.delete_credential();
    }
    data.lock()?.remove(&secret.file(data))
}
