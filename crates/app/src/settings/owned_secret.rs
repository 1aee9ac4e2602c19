//! Saves a secret together with its owner: the server or the hub that alone may be sent it. The two are stored one after
//! the other, so the secret is for nobody in between: a crash never leaves a new secret with the owner of the former one.

use desktop::Keyring;
use protocol::UserError;
use protocol::request::KeyStorage;
use secrecy::SecretString;

use crate::settings::secret_owners::OwnerRow;
use crate::settings::secrets::{self, Secret, SecretSaveError};
use crate::support::blocking::run_blocking;
use crate::workspace::data_dir::DataDir;

/// Stores a secret that is not empty, as [`secrets::save`] does, for the owner of `row`: `None` stands for the first that
/// asks. Where its owner cannot be recorded, nothing is stored. Where the secret is not stored, the former one keeps its
/// owner. Where it may be stored although this fails, it is for nobody until it is saved again.
pub(crate) async fn save(
    data: &DataDir,
    keyring: &Keyring,
    secret: Secret,
    text: &SecretString,
    place: KeyStorage,
    (row, owner): (OwnerRow, Option<String>),
) -> Result<Vec<&'static str>, UserError> {
    let (files, suspended) = (data.clone(), row.clone());
    let former = run_blocking(move || suspended.suspend(&files)).await??;
    protocol::fault_injection::point("app.save_secret.before");
    let saved = secrets::save(data, keyring, secret, text, place).await;
    protocol::fault_injection::point("app.save_secret.after");
    let files = data.clone();
    match saved {
        Ok(emptied) => {
            run_blocking(move || row.set(&files, owner.as_deref())).await??;
            Ok(emptied)
        }
        Err(SecretSaveError::NotSaved(why)) => {
            let restored = run_blocking(move || row.set(&files, former.as_deref())).await;
            if let Err(error) = restored.flatten() {
                tracing::warn!(%error, "the owner of a secret is not restored");
            }
            Err(why)
        }
        Err(SecretSaveError::Uncertain(why)) => Err(why),
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
#[expect(clippy::disallowed_methods, reason = "the files are in the data directory")]
mod tests {
    use std::fs;

    use super::*;

    const OLD: &str = "old https://first.example\n";

    /// A data directory in which a token of the first hub is stored, and what `block` puts into it.
    fn data(block: &[&str]) -> (tempfile::TempDir, DataDir) {
        let folder = tempfile::tempdir().expect("a folder");
        let data = DataDir::at(folder.path().to_owned()).expect("a data directory");
        fs::write(folder.path().join("key.hub"), "former").expect("written");
        fs::write(data.token_owner_file(), OLD).expect("written");
        for name in block {
            fs::create_dir(folder.path().join(name)).expect("a folder in its place");
        }
        (folder, data)
    }

    /// Saves another token in the file, for the second hub.
    async fn save_in_file(data: &DataDir) -> Result<(), UserError> {
        let away = Keyring::on(desktop::Bus::at("unix:path=/nowhere/bus"));
        let text = SecretString::from("new");
        let row = OwnerRow::new(data.token_owner_file(), "old".to_owned());
        let owner = Some("https://second.example".to_owned());
        save(data, &away, Secret::HubToken, &text, KeyStorage::File, (row, owner)).await.map(drop)
    }

    /// The secret and the owners that are stored.
    fn stored(data: &DataDir) -> (String, String) {
        let read = |file| fs::read_to_string(file).expect("a file");
        (read(data.key_file().with_extension("hub")), read(data.token_owner_file()))
    }

    #[tokio::test]
    async fn a_secret_is_stored_with_its_owner() {
        let (_folder, data) = data(&[]);
        save_in_file(&data).await.expect("saved");
        assert_eq!(stored(&data), ("new".into(), "old https://second.example\n".into()));
    }

    #[tokio::test]
    async fn where_its_owner_cannot_be_recorded_a_secret_is_not_stored() {
        let (_folder, data) = data(&[".hub-of-token.new"]);
        let refused = save_in_file(&data).await.expect_err("the file cannot be replaced").message;
        assert!(refused.contains("hub-of-token"), "{refused}");
        assert_eq!(stored(&data), ("former".into(), OLD.into()));
    }

    #[tokio::test]
    async fn where_a_secret_is_not_stored_the_former_one_keeps_its_owner() {
        let (_folder, data) = data(&[".key.hub.new"]);
        let refused = save_in_file(&data).await.expect_err("the file cannot be replaced").message;
        assert!(refused.contains("key.hub"), "{refused}");
        assert_eq!(stored(&data), ("former".into(), OLD.into()));
    }

    #[tokio::test]
    async fn a_secret_that_may_be_stored_although_that_failed_is_for_nobody() {
        let (folder, data) = data(&[]);
        let file = folder.path().join("key.hub");
        fs::remove_file(&file).expect("removed");
        fs::create_dir(&file).expect("a folder in its place");
        save_in_file(&data).await.expect_err("what is there cannot be read");
        let owners = fs::read_to_string(data.token_owner_file()).expect("a file");
        assert_eq!(owners, "old being-saved\n");
        fs::remove_dir(&file).expect("removed");
        save_in_file(&data).await.expect("saved again");
        assert_eq!(stored(&data), ("new".into(), "old https://second.example\n".into()));
    }
}
