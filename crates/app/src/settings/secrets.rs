//! Where API keys and the hub's token come from: the environment, the system's keyring, or a file that only the
//! user can read. None of them ever leaves as text.
//!
//! The keyring is read without a prompt. A secret that a locked or silent keyring may hold is reported as such, never as
//! missing, and no other provider or hub is used in its place.
#![expect(clippy::disallowed_methods, reason = "the key file is a file of the data directory")]

use std::path::PathBuf;
use std::process::Command;
use std::sync::LazyLock;

use desktop::{InKeyring, Keyring, KeyringError};
use protocol::request::KeyStorage;
use protocol::settings::KeyringTrouble;
use protocol::{ErrorCode, UserError};
use secrecy::{ExposeSecret as _, SecretString};

use crate::models::selection::ModelProvider;
use crate::support::blocking::run_blocking;
use crate::user_texts;
use crate::workspace::data_dir::{DataDir, write_private};

mod keyring_removal;
mod save_error;
mod stored;

use keyring_removal::KeyringRemovalError;
pub(crate) use save_error::SecretSaveError;

/// The places in which a secret can be found, as [`FoundKeys::source`] names them.
pub(crate) const FROM_KEYRING: &str = "keyring";
/// See [`FROM_KEYRING`].
pub(crate) const FROM_ENVIRONMENT: &str = "environment";
/// See [`FROM_KEYRING`].
pub(crate) const FROM_FILE: &str = "file";

/// The name of a place that the user chose.
pub(crate) const fn place_name(place: KeyStorage) -> &'static str {
    match place {
        KeyStorage::Keyring => FROM_KEYRING,
        KeyStorage::File => FROM_FILE,
    }
}

/// A kind of secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Secret {
    /// The API keys of a provider, separated by spaces, line breaks or commas.
    Keys(ModelProvider),
    /// The token that a hub asks for.
    HubToken,
}

impl Secret {
    const ALL: [Self; 4] = [
        Self::Keys(ModelProvider::Anthropic),
        Self::Keys(ModelProvider::OpenAi),
        Self::Keys(ModelProvider::Ollama),
        Self::HubToken,
    ];

    /// The variable of the environment that may hold it.
    fn env_variable(self) -> &'static str {
        match self {
            Self::Keys(provider) => provider.env_variable(),
            Self::HubToken => "VAULTMATE_HUB_TOKEN",
        }
    }

    /// Its name in the keyring.
    pub(crate) const fn keyring_account(self) -> &'static str {
        match self {
            Self::Keys(ModelProvider::Anthropic) => "anthropic",
            Self::Keys(ModelProvider::OpenAi) => "openai",
            Self::Keys(ModelProvider::Ollama) => "ollama",
            Self::HubToken => "hub",
        }
    }

    /// How the user calls it.
    const fn label(self) -> &'static str {
        match self {
            Self::Keys(_) => "API key",
            Self::HubToken => "token",
        }
    }

    /// The file of the first provider keeps its original name.
    fn file_path(self, data: &DataDir) -> PathBuf {
        match self {
            Self::Keys(ModelProvider::Anthropic) => data.key_file(),
            Self::Keys(_) | Self::HubToken => {
                data.key_file().with_extension(self.keyring_account())
            }
        }
    }
}

/// Keys, at least one, and the name of the place they were found in.
pub(crate) struct FoundKeys {
    pub(crate) keys: Vec<SecretString>,
    pub(crate) source: &'static str,
}

/// The secrets in the environment at the start.
static ENVIRONMENT: LazyLock<Vec<(Secret, SecretString)>> = LazyLock::new(|| {
    let given = |secret: Secret| {
        std::env::var(secret.env_variable()).ok().map(|text| (secret, SecretString::from(text)))
    };
    Secret::ALL.into_iter().filter_map(given).collect()
});

/// Reads the keys of the environment, then has `unset` take each variable away: programs that are
/// started from here on inherit none. For the beginning of a program, before it has threads.
/// [`pass_to_command`] gives them to a program all the same.
pub fn take_from_environment(unset: impl Fn(&str)) {
    LazyLock::force(&ENVIRONMENT);
    for secret in Secret::ALL {
        unset(secret.env_variable());
    }
}

/// Gives `program`, a new start of this one, the keys of this process.
pub fn pass_to_command(program: &mut Command) {
    program.envs(ENVIRONMENT.iter().map(|(of, keys)| (of.env_variable(), keys.expose_secret())));
}

/// The keys of the environment, whatever other places hold.
pub(crate) fn environment_keys(secret: Secret) -> Option<FoundKeys> {
    parse_keys(from_environment(secret), FROM_ENVIRONMENT)
}

fn from_environment(secret: Secret) -> Option<String> {
    let mut given = ENVIRONMENT.iter();
    let (_, keys) = given.find(|(of, _)| *of == secret)?;
    Some(keys.expose_secret().to_owned())
}

/// The outcome of looking for a secret.
pub(crate) enum Finding {
    /// One key or several.
    Keys(FoundKeys),
    /// There is none.
    Nothing,
    /// It is in no other place, and the keyring could not be looked into.
    Closed(KeyringTrouble),
}

impl Finding {
    /// The keys that were found, even if the keyring may hold more.
    pub(crate) fn keys(self) -> Option<FoundKeys> {
        match self {
            Self::Keys(keys) => Some(keys),
            Self::Nothing | Self::Closed(_) => None,
        }
    }

    /// Why the keyring could not be looked into, where that matters.
    pub(crate) const fn trouble(&self) -> Option<KeyringTrouble> {
        match self {
            Self::Closed(trouble) => Some(*trouble),
            Self::Keys(_) | Self::Nothing => None,
        }
    }
}

/// Looks in the keyring, the environment, the key file; the first that has one, and the file first
/// if the secret was saved there last. Ends within seconds, and asks the user for nothing.
///
/// A keyring that is not there is no trouble to those who never stored this secret in it. One that is
/// locked may not say what it holds: whether the secret is in it is remembered in the data directory.
pub(crate) async fn find(data: &DataDir, keyring: &Keyring, secret: Secret) -> Finding {
    let looked = keyring.look(secret.keyring_account()).await;
    let data = data.clone();
    run_blocking(move || combined(&data, secret, looked)).await.unwrap_or(Finding::Nothing)
}

fn combined(data: &DataDir, secret: Secret, looked: InKeyring) -> Finding {
    let was_stored = stored::has(data, secret);
    let in_file = || std::fs::read_to_string(secret.file_path(data)).ok();
    let given = || parse_keys(from_environment(secret), FROM_ENVIRONMENT);
    // A secret that was saved in the file after the keyring's replaces that one.
    if !was_stored && let Some(keys) = parse_keys(in_file(), FROM_FILE) {
        return Finding::Keys(given().unwrap_or(keys));
    }
    let closed = match looked {
        InKeyring::Secret(text) => {
            stored::note(data, secret);
            match parse_keys(Some(text.expose_secret().to_owned()), FROM_KEYRING) {
                Some(keys) => return Finding::Keys(keys),
                None => None,
            }
        }
        InKeyring::Nothing => {
            stored::strike(data, secret);
            None
        }
        InKeyring::Locked => Some(KeyringTrouble::Locked),
        InKeyring::Unknown if was_stored => Some(KeyringTrouble::Locked),
        InKeyring::Unknown => Some(KeyringTrouble::Unknown),
        InKeyring::Unavailable => was_stored.then_some(KeyringTrouble::Unavailable),
    };
    match (given().or_else(|| parse_keys(in_file(), FROM_FILE)), closed) {
        (Some(keys), _) => Finding::Keys(keys),
        (None, Some(trouble)) => Finding::Closed(trouble),
        (None, None) => Finding::Nothing,
    }
}

/// The places where the secret was saved, as far as that is known without the keyring. Blocks.
pub(crate) fn saved_places(data: &DataDir, secret: Secret) -> Vec<&'static str> {
    let in_keyring = stored::has(data, secret).then_some(FROM_KEYRING);
    let in_file = secret.file_path(data).exists().then_some(FROM_FILE);
    in_keyring.into_iter().chain(in_file).collect()
}

fn parse_keys(text: Option<String>, source: &'static str) -> Option<FoundKeys> {
    let keys = several(&SecretString::from(text?));
    (!keys.is_empty()).then_some(FoundKeys { keys, source })
}

/// The keys of a text: several stand between spaces, commas or line ends.
pub(crate) fn several(text: &SecretString) -> Vec<SecretString> {
    let text = text.expose_secret();
    let keys = text.split(|c: char| c.is_whitespace() || c == ',').filter(|key| !key.is_empty());
    keys.map(SecretString::from).collect()
}

/// Stores a secret where the user wants it, then removes the former one elsewhere, which counts until then. An empty text
/// removes it from both places. A keyring that is locked takes none and loses none: have it unlocked first where
/// [`needs_unlocking`] says so. A secret that is not empty is saved by [`owned_secret`](crate::settings::owned_secret)
/// alone, which records for whom it is.
///
/// Returns the places that certainly hold no such secret any more. Any other place but the new one may still hold the
/// former secret, and give it back later.
pub(crate) async fn save(
    data: &DataDir,
    keyring: &Keyring,
    secret: Secret,
    text: &SecretString,
    place: KeyStorage,
) -> Result<Vec<&'static str>, SecretSaveError> {
    let text = text.expose_secret().trim();
    if text.is_empty() {
        return Ok(remove(data, keyring, secret).await?);
    }
    let (data, text) = (data.clone(), SecretString::from(text));
    match place {
        KeyStorage::File => {
            let files = data.clone();
            let write = move || {
                let file = secret.file_path(&files);
                let written = write_private(&file, text.expose_secret().as_bytes());
                written.map_err(|why| SecretSaveError::of_file(why, &file, &text))
            };
            run_blocking(write).await??;
            protocol::fault_injection::point("app.remove_replaced_secret.before");
            // A keyring that is locked or away keeps the former secret, which does not count any more.
            let removed = keyring_removal::remove(keyring, secret.keyring_account()).await;
            run_blocking(move || stored::strike(&data, secret)).await?;
            Ok(removed.map(|()| FROM_KEYRING).into_iter().collect())
        }
        KeyStorage::Keyring => {
            let account = secret.keyring_account();
            if let Err(error) = keyring.store(account, &text).await {
                let why = not_stored(secret, &error);
                return Err(SecretSaveError::of_keyring(why, error, keyring, account, &text).await);
            }
            let keep = move || {
                stored::note(&data, secret);
                data.lock()?.remove(&secret.file_path(&data))?;
                Ok(vec![FROM_FILE])
            };
            run_blocking(keep).await?
        }
    }
}

/// Whether [`save`] may need the keyring to be unlocked first.
pub(crate) async fn needs_unlocking(
    data: &DataDir,
    keyring: &Keyring,
    secret: Secret,
    text: &SecretString,
    place: KeyStorage,
) -> bool {
    match (text.expose_secret().trim(), place) {
        ("", _) => match keyring.look(secret.keyring_account()).await {
            InKeyring::Locked => true,
            InKeyring::Unknown => {
                let data = data.clone();
                run_blocking(move || stored::has(&data, secret)).await.unwrap_or(true)
            }
            InKeyring::Nothing | InKeyring::Secret(_) | InKeyring::Unavailable => false,
        },
        (_, KeyStorage::Keyring) => true,
        (_, KeyStorage::File) => false,
    }
}

fn not_stored(secret: Secret, error: &KeyringError) -> UserError {
    let (word, variable) = (secret.label(), secret.env_variable());
    let text = match error {
        KeyringError::Locked => user_texts::not_saved_in_locked_keyring(word, variable),
        KeyringError::Unreachable(error) | KeyringError::Failed(error) => {
            user_texts::not_saved_in_keyring(word, error.to_string(), variable)
        }
    };
    UserError::new(ErrorCode::Key, text)
}

/// Removes a secret from the keyring and from its file, and returns those of the two that are certainly empty then. A
/// keyring that is not there, or does not show what it has, is no trouble to those who last stored this secret elsewhere. Refused, with nothing removed
/// from the file, where the keyring may still hold it.
async fn remove(
    data: &DataDir,
    keyring: &Keyring,
    secret: Secret,
) -> Result<Vec<&'static str>, UserError> {
    let removed = keyring_removal::remove(keyring, secret.keyring_account()).await;
    let data = data.clone();
    run_blocking(move || {
        let emptied = match removed {
            Ok(()) => vec![FROM_KEYRING, FROM_FILE],
            Err(KeyringRemovalError::Unreachable | KeyringRemovalError::Hidden)
                if !stored::has(&data, secret) =>
            {
                vec![FROM_FILE]
            }
            Err(why) => return Err(not_removed(secret, why)),
        };
        stored::strike(&data, secret);
        data.lock()?.remove(&secret.file_path(&data))?;
        Ok(emptied)
    })
    .await?
}

fn not_removed(secret: Secret, why: KeyringRemovalError) -> UserError {
    let word = secret.label();
    let text = match why {
        KeyringRemovalError::Locked | KeyringRemovalError::Hidden => {
            user_texts::not_removed_from_locked_keyring(word)
        }
        KeyringRemovalError::Refused => user_texts::not_removed_by_keyring(word),
        KeyringRemovalError::Unreachable => user_texts::not_removed_from_silent_keyring(word),
    };
    UserError::new(ErrorCode::Key, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEYS: Secret = Secret::Keys(ModelProvider::Anthropic);

    fn data() -> (tempfile::TempDir, DataDir) {
        let folder = tempfile::tempdir().expect("a folder");
        let data = DataDir::at(folder.path().to_owned()).expect("a data directory");
        (folder, data)
    }

    /// Where it is found, or why not.
    fn finding(data: &DataDir, looked: InKeyring) -> Result<Option<&'static str>, KeyringTrouble> {
        match combined(data, KEYS, looked) {
            Finding::Keys(found) => Ok(Some(found.source)),
            Finding::Nothing => Ok(None),
            Finding::Closed(trouble) => Err(trouble),
        }
    }

    #[test]
    fn a_keyring_that_is_not_there_is_no_trouble_until_a_key_was_in_it() {
        let (_folder, data) = data();
        assert_eq!(finding(&data, InKeyring::Unavailable), Ok(None));
        assert_eq!(finding(&data, InKeyring::Unknown), Err(KeyringTrouble::Unknown));
        assert_eq!(finding(&data, InKeyring::Locked), Err(KeyringTrouble::Locked));
        assert_eq!(finding(&data, InKeyring::Secret("sk-1".into())), Ok(Some("keyring")));
        assert_eq!(finding(&data, InKeyring::Unavailable), Err(KeyringTrouble::Unavailable));
        assert_eq!(finding(&data, InKeyring::Unknown), Err(KeyringTrouble::Locked));
        assert_eq!(finding(&data, InKeyring::Nothing), Ok(None));
        assert_eq!(finding(&data, InKeyring::Unavailable), Ok(None), "it was removed elsewhere");
    }

    #[test]
    fn a_key_in_another_place_does_without_a_locked_keyring() {
        let (_folder, data) = data();
        write_private(&data.key_file(), b"sk-file").expect("written");
        for looked in [InKeyring::Locked, InKeyring::Unknown, InKeyring::Unavailable] {
            assert_eq!(finding(&data, looked), Ok(Some("file")));
        }
        // The control: without the file the same keyring is in the way.
        std::fs::remove_file(data.key_file()).expect("removed");
        assert_eq!(finding(&data, InKeyring::Locked), Err(KeyringTrouble::Locked));
    }

    #[test]
    fn a_key_that_was_saved_in_the_file_last_is_not_replaced_by_the_keyrings() {
        let (_folder, data) = data();
        let former = || InKeyring::Secret("sk-former".into());
        assert_eq!(finding(&data, former()), Ok(Some("keyring")));
        write_private(&data.key_file(), b"sk-new").expect("written");
        assert_eq!(finding(&data, former()), Ok(Some("keyring")), "a file that was there before");
        stored::strike(&data, KEYS);
        for looked in [former(), InKeyring::Locked, former()] {
            assert_eq!(finding(&data, looked), Ok(Some("file")));
        }
        stored::note(&data, KEYS);
        assert_eq!(finding(&data, former()), Ok(Some("keyring")), "saved in the keyring again");
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn a_keyring_that_is_away_keeps_what_was_stored_in_it_and_is_no_trouble_to_others() {
        let (_folder, data) = data();
        let away = Keyring::on(desktop::Bus::at("unix:path=/nowhere/bus"));
        let (none, new) = (SecretString::from(""), SecretString::from("sk-new"));
        write_private(&data.key_file(), b"sk-file").expect("written");
        stored::note(&data, KEYS);
        for place in [KeyStorage::Keyring, KeyStorage::File] {
            let refused = save(&data, &away, KEYS, &none, place).await.expect_err("it may hold it");
            let refused = UserError::from(refused);
            let words = "The system keyring doesn’t answer, so the API key couldn’t be removed";
            assert!(refused.message.starts_with(words), "{refused}");
            assert_eq!(saved_places(&data, KEYS), [FROM_KEYRING, FROM_FILE]);
        }
        let emptied = save(&data, &away, KEYS, &new, KeyStorage::File).await.expect("saved");
        assert!(emptied.is_empty(), "the keyring holds the former key: {emptied:?}");
        assert_eq!(saved_places(&data, KEYS), [FROM_FILE]);
        // Now it was stored elsewhere last: whoever has no keyring can remove a key.
        let emptied = save(&data, &away, KEYS, &none, KeyStorage::File).await.expect("removed");
        assert_eq!(emptied, [FROM_FILE]);
        assert!(saved_places(&data, KEYS).is_empty());
    }

    #[test]
    fn it_is_remembered_which_secrets_are_in_the_keyring_and_not_what_they_are() {
        let (_folder, data) = data();
        finding(&data, InKeyring::Secret("sk-1".into())).expect("found");
        stored::note(&data, Secret::HubToken);
        let file = || std::fs::read_to_string(data.in_keyring_file()).expect("a file");
        assert_eq!(file(), "anthropic\nhub\n");
        stored::strike(&data, KEYS);
        assert_eq!(file(), "hub\n");
    }
}
