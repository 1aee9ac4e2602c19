//! The keyring over the Secret Service (<https://specifications.freedesktop.org/secret-service/>). Items
//! are those that the `keyring` crate makes: the attributes `service` and `username`, in the default
//! collection.

use std::collections::HashMap;
use std::fmt::Display;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::StreamExt as _;
use protocol::request::Unlocking;
use secrecy::{ExposeSecret as _, SecretString};
use secret_service::{EncryptionType, SecretService};
use serde::de::DeserializeOwned;
use zbus::message::Type;
use zbus::zvariant::{DynamicType, OwnedObjectPath, OwnedValue};
use zbus::{Connection, MatchRule, MessageStream};

use super::{APPLICATION, InKeyring, KeyringError};
use crate::bus::Bus;

const NAME: &str = "org.freedesktop.secrets";
const ROOT: &str = "/org/freedesktop/secrets";
const SERVICE: &str = "org.freedesktop.Secret.Service";
const COLLECTION: &str = "org.freedesktop.Secret.Collection";
const ITEM: &str = "org.freedesktop.Secret.Item";
const PROMPT: &str = "org.freedesktop.Secret.Prompt";
const PROPERTIES: &str = "org.freedesktop.DBus.Properties";

/// The path that means "none".
const NO_PATH: &str = "/";
/// How long one question may take, the keyring's own start included.
const KEYRING_TIMEOUT: Duration = Duration::from_secs(8);

/// The keyring. Clones are the same.
#[derive(Debug, Clone)]
pub struct Keyring {
    bus: Bus,
}

impl Keyring {
    /// The one that is reached over this bus.
    #[must_use]
    pub const fn on(bus: Bus) -> Self {
        Self { bus }
    }

    /// Looks for the secret of an account. Ends within seconds and asks the user for nothing.
    pub async fn look(&self, account: &str) -> InKeyring {
        let looked = timed(async {
            let connection = self.connect().await?;
            let items = items(&connection, Some(account)).await?;
            if let Some(item) = items.unlocked.first() {
                return Ok(InKeyring::Secret(secret(&connection, item).await?));
            }
            if !items.locked.is_empty() {
                return Ok(InKeyring::Locked);
            }
            Ok(match locked_collection(&connection).await? {
                Some(collection) if is_opaque(&connection, &collection).await? => {
                    InKeyring::Unknown
                }
                _ => InKeyring::Nothing,
            })
        });
        looked.await.unwrap_or_else(|why| {
            tracing::debug!(?why, account, "the keyring was not looked into");
            InKeyring::Unavailable
        })
    }

    /// Stores the secret of an account in place of the one before.
    pub async fn store(&self, account: &str, secret: &SecretString) -> Result<(), KeyringError> {
        let is_given = AtomicBool::new(false);
        let stored = timed(async {
            let connection = self.connect().await?;
            let items = items(&connection, Some(account)).await?;
            if !items.locked.is_empty() || locked_collection(&connection).await?.is_some() {
                return Err(KeyringError::Locked);
            }
            let service = session(&connection).await?;
            is_given.store(true, Ordering::Relaxed);
            let (bytes, kind) = (secret.expose_secret().as_bytes(), "application/octet-stream");
            if let Some(item) = items.unlocked.first() {
                let item = service.get_item_by_path(item.clone()).await.map_err(failed)?;
                return item.set_secret(bytes, kind).await.map_err(failed);
            }
            let label = format!("keyring:{account}@{APPLICATION}");
            let attributes = attributes(Some(account));
            let collection = service.get_default_collection().await.map_err(failed)?;
            let created = collection.create_item(&label, attributes, bytes, true, kind).await;
            created.map(drop).map_err(failed)
        });
        stored.await.map_err(|error| match error {
            KeyringError::Failed(why) if !is_given.load(Ordering::Relaxed) => {
                KeyringError::Unreachable(why)
            }
            error => error,
        })
    }

    /// Removes the secret of an account, if there is one.
    pub async fn remove(&self, account: &str) -> Result<(), KeyringError> {
        timed(async {
            let connection = self.connect().await?;
            let items = items(&connection, Some(account)).await?;
            for item in &items.unlocked {
                let _prompt: OwnedObjectPath =
                    call(&connection, item.as_str(), ITEM, "Delete", &()).await?;
            }
            if items.locked.is_empty() { Ok(()) } else { Err(KeyringError::Locked) }
        })
        .await
    }

    /// Has the keyring ask the user to unlock it, for as long as the user takes. When `stop` resolves
    /// the question is withdrawn. Unlocks what holds secrets of ours, else the default collection.
    pub async fn unlock(&self, stop: impl Future<Output = ()>) -> Unlocking {
        let asked = timed(async {
            let connection = self.connect().await?;
            let asked = ask_to_unlock(&connection).await?;
            Ok((connection, asked))
        });
        let (connection, prompt) = match asked.await {
            Ok((_, UnlockStep::Nothing)) => return Unlocking::Unlocked,
            Ok((connection, UnlockStep::Prompt(prompt))) => (connection, prompt),
            Err(why) => {
                tracing::debug!(?why, "the keyring cannot be asked");
                return Unlocking::Unavailable;
            }
        };
        match prompted(&connection, &prompt, stop).await {
            Ok(outcome) => outcome,
            Err(why) => {
                tracing::debug!(?why, "the keyring did not ask");
                Unlocking::Unavailable
            }
        }
    }

    async fn connect(&self) -> Result<Connection, KeyringError> {
        let connection = self.bus.connect().await;
        connection.ok_or_else(|| KeyringError::Failed("there is no message bus".to_owned()))
    }
}

/// Items of ours, by whether they are locked.
struct Items {
    unlocked: Vec<OwnedObjectPath>,
    locked: Vec<OwnedObjectPath>,
}

/// The step that is left before the keyring is unlocked.
enum UnlockStep {
    Nothing,
    Prompt(OwnedObjectPath),
}

async fn items(connection: &Connection, account: Option<&str>) -> Result<Items, KeyringError> {
    let (unlocked, locked) =
        call(connection, ROOT, SERVICE, "SearchItems", &(attributes(account),)).await?;
    Ok(Items { unlocked, locked })
}

fn attributes(account: Option<&str>) -> HashMap<&str, &str> {
    let account = account.map(|account| ("username", account));
    [("service", APPLICATION)].into_iter().chain(account).collect()
}

/// The default collection where it is locked.
async fn locked_collection(
    connection: &Connection,
) -> Result<Option<OwnedObjectPath>, KeyringError> {
    let collection: OwnedObjectPath =
        call(connection, ROOT, SERVICE, "ReadAlias", &("default",)).await?;
    if collection.as_str() == NO_PATH {
        return Ok(None);
    }
    let locked: OwnedValue =
        call(connection, collection.as_str(), PROPERTIES, "Get", &(COLLECTION, "Locked")).await?;
    let is_locked = bool::try_from(locked).map_err(failed)?;
    Ok(is_locked.then_some(collection))
}

/// Whether a locked collection hides its items. A collection that lists its items has them found,
/// too; GNOME's does, KDE's does not.
async fn is_opaque(
    connection: &Connection,
    collection: &OwnedObjectPath,
) -> Result<bool, KeyringError> {
    let items: OwnedValue =
        call(connection, collection.as_str(), PROPERTIES, "Get", &(COLLECTION, "Items")).await?;
    Ok(Vec::<OwnedObjectPath>::try_from(items).map_err(failed)?.is_empty())
}

async fn ask_to_unlock(connection: &Connection) -> Result<UnlockStep, KeyringError> {
    let mut objects = items(connection, None).await?.locked;
    if objects.is_empty() {
        objects.extend(locked_collection(connection).await?);
    }
    if objects.is_empty() {
        return Ok(UnlockStep::Nothing);
    }
    let (_, prompt): (Vec<OwnedObjectPath>, OwnedObjectPath) =
        call(connection, ROOT, SERVICE, "Unlock", &(objects,)).await?;
    Ok(if prompt.as_str() == NO_PATH { UnlockStep::Nothing } else { UnlockStep::Prompt(prompt) })
}

/// Shows a prompt and waits for the user's answer.
async fn prompted(
    connection: &Connection,
    prompt: &OwnedObjectPath,
    stop: impl Future<Output = ()>,
) -> Result<Unlocking, KeyringError> {
    let rule = MatchRule::builder()
        .msg_type(Type::Signal)
        .sender(NAME)
        .and_then(|rule| rule.path(prompt.as_str()))
        .and_then(|rule| rule.interface(PROMPT))
        .and_then(|rule| rule.member("Completed"))
        .map_err(failed)?
        .build();
    let mut completed =
        MessageStream::for_match_rule(rule, connection, None).await.map_err(failed)?;
    let no_window = ("",);
    let () = call(connection, prompt.as_str(), PROMPT, "Prompt", &no_window).await?;
    tokio::select! {
        signal = completed.next() => {
            let signal = signal.ok_or_else(|| failed("the message bus is gone"))?;
            let signal = signal.map_err(failed)?;
            let (dismissed, _): (bool, OwnedValue) =
                signal.body().deserialize().map_err(failed)?;
            Ok(if dismissed { Unlocking::Dismissed } else { Unlocking::Unlocked })
        }
        // A prompt is gone with the connection that asked for it. `Dismiss` would say the same, and ends
        // gnome-keyring 42 with a crash.
        () = stop => Ok(Unlocking::Dismissed),
    }
}

async fn secret(
    connection: &Connection,
    item: &OwnedObjectPath,
) -> Result<SecretString, KeyringError> {
    let service = session(connection).await?;
    let item = service.get_item_by_path(item.clone()).await.map_err(failed)?;
    let bytes = item.get_secret().await.map_err(failed)?;
    String::from_utf8(bytes).map(SecretString::from).map_err(|_| failed("it isn’t text"))
}

/// A session in which secrets are encrypted on their way over the bus.
async fn session(connection: &Connection) -> Result<SecretService<'_>, KeyringError> {
    let session = SecretService::connect_with_existing(EncryptionType::Dh, connection.clone());
    session.await.map_err(failed)
}

async fn call<T: DeserializeOwned + zbus::zvariant::Type>(
    connection: &Connection,
    path: &str,
    interface: &str,
    method: &str,
    body: &(impl serde::Serialize + DynamicType),
) -> Result<T, KeyringError> {
    let answer = connection.call_method(Some(NAME), path, Some(interface), method, body);
    let answer = answer.await.map_err(failed)?;
    answer.body().deserialize().map_err(failed)
}

fn failed(why: impl Display) -> KeyringError {
    KeyringError::Failed(why.to_string())
}

async fn timed<T>(work: impl Future<Output = Result<T, KeyringError>>) -> Result<T, KeyringError> {
    let silent = |_| Err(failed(format!("no answer within {} s", KEYRING_TIMEOUT.as_secs())));
    tokio::time::timeout(KEYRING_TIMEOUT, work).await.unwrap_or_else(silent)
}
