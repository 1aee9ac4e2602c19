//! For which server each saved API key is: no other server is sent it. A file of the data directory has a line for each
//! provider and place, such as `openai/keyring https://api.openai.com`.
//!
//! A key of the environment is for the server that is configured: whoever sets the one can set the other.

use protocol::{ErrorCode, UserError};

use crate::models::selection::ModelProvider;
use crate::settings::secret_owners::{self, OwnerRow};
use crate::settings::secrets::{FROM_FILE, FROM_KEYRING, Secret};
use crate::user_texts;
use crate::workspace::data_dir::{DataDir, plain_reason};

/// The server that the key from `place` is for, where that is another one than that of `base_url`. A key that was put
/// there by hand, or saved before servers were told apart, is for whichever is configured. A key that was being saved when
/// that was interrupted is for another server than each, and so is every key while the file of the servers cannot be read:
/// the problem is told in the place of the server. Blocks.
pub(crate) fn other_server(
    data: &DataDir,
    provider: ModelProvider,
    place: &str,
    base_url: &str,
) -> Option<String> {
    if place != FROM_KEYRING && place != FROM_FILE {
        return None;
    }
    let server = llm::transport::http::server_of(base_url)?;
    let file = data.key_server_file();
    match secret_owners::read(&file) {
        Ok(mut known) => {
            let other = known.remove(&name(provider, place)).filter(|known| *known != server)?;
            Some(match secret_owners::is_being_saved(&other) {
                true => "an unknown server (saving it was interrupted)".to_owned(),
                false => other,
            })
        }
        Err(error) => {
            let (file, why) = (file.display(), plain_reason(&error));
            Some(format!("an unknown server ({file} can’t be read: {why})"))
        }
    }
}

/// Forgets for which server the key in `place` was. Only for a place that certainly holds no key of the provider any
/// more: one that comes back from there would be for any server. Blocks.
pub(crate) fn disown(
    data: &DataDir,
    provider: ModelProvider,
    place: &str,
) -> Result<(), UserError> {
    owner_row(data, provider, place).set(data, None)
}

/// Refuses a key that could not be assigned to a server: no provider sends one to this URL, or the servers of the other
/// keys cannot be read. Blocks.
pub(crate) fn ensure_assignable(data: &DataDir, base_url: &str) -> Result<(), UserError> {
    server_for_key(base_url)?;
    secret_owners::read_or_explain(&data.key_server_file()).map(drop)
}

/// The line that says for which server the key of a provider in `place` is.
pub(crate) fn owner_row(data: &DataDir, provider: ModelProvider, place: &str) -> OwnerRow {
    OwnerRow::new(data.key_server_file(), name(provider, place))
}

/// The server of this URL. Refused if no key may be sent to it: without a server to name, the key would be for whichever
/// is configured next.
pub(crate) fn server_for_key(base_url: &str) -> Result<String, UserError> {
    llm::transport::http::server_of(base_url)
        .ok_or_else(|| UserError::new(ErrorCode::Key, user_texts::key_for_unsafe_url()))
}

fn name(provider: ModelProvider, place: &str) -> String {
    format!("{}/{place}", Secret::Keys(provider).keyring_account())
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the file is in the data directory")]
mod tests {
    use super::*;

    /// The key in `place` is for the server of this URL.
    fn assign(
        data: &DataDir,
        provider: ModelProvider,
        place: &str,
        base_url: &str,
    ) -> Result<(), UserError> {
        owner_row(data, provider, place).set(data, Some(&server_for_key(base_url)?))
    }

    #[test]
    fn a_key_is_for_the_server_that_it_was_saved_for_and_an_older_one_for_any() {
        let folder = tempfile::tempdir().expect("a folder");
        let data = DataDir::at(folder.path().to_owned()).expect("a data directory");
        let other = |place, url| other_server(&data, ModelProvider::OpenAi, place, url);
        let (own, router) = ("https://api.openai.com/v1", "https://openrouter.ai/api/v1");
        assert_eq!((other("file", own), other("file", router)), (None, None), "nothing is known");
        assign(&data, ModelProvider::OpenAi, "file", own).expect("assigned");
        assert_eq!(other("file", own), None);
        assert_eq!(other("file", router).as_deref(), Some("https://api.openai.com"));
        assert_eq!(
            other("file", "http://127.0.0.1:1234/v1").as_deref(),
            Some("https://api.openai.com")
        );
        assert_eq!(other("environment", router), None, "nobody knows for which it is");
        assign(&data, ModelProvider::OpenAi, "file", router).expect("assigned");
        assert_eq!((other("file", router), other("file", own).is_some()), (None, true));
        // Nothing is sent to a URL that is none.
        assert_eq!(other("file", "openrouter.ai"), None);
        // Another provider, and another place.
        assert_eq!(other_server(&data, ModelProvider::Ollama, "file", own), None);
        assign(&data, ModelProvider::OpenAi, "keyring", "http://localhost:1").expect("assigned");
        assert_eq!(
            other("keyring", "http://127.0.0.1:2/v1"),
            None,
            "another port of this computer"
        );
        assert_eq!(other("keyring", own).as_deref(), Some("localhost"));
        disown(&data, ModelProvider::OpenAi, "file").expect("removed");
        assert_eq!(other("file", own), None);
        assert_eq!(other("keyring", own).as_deref(), Some("localhost"), "it may still be there");
        disown(&data, ModelProvider::OpenAi, "keyring").expect("removed");
        assert_eq!(other("keyring", own), None);
    }

    #[test]
    fn while_a_key_is_being_saved_it_is_for_no_server() {
        let folder = tempfile::tempdir().expect("a folder");
        let data = DataDir::at(folder.path().to_owned()).expect("a data directory");
        let other = |place, url| other_server(&data, ModelProvider::OpenAi, place, url);
        let (own, router) = ("https://api.openai.com/v1", "https://openrouter.ai/api/v1");
        let row = owner_row(&data, ModelProvider::OpenAi, "file");
        assert_eq!(row.suspend(&data).expect("recorded"), None);
        let told = "an unknown server (saving it was interrupted)";
        for url in [own, router, "http://localhost:1"] {
            assert_eq!(other("file", url).as_deref(), Some(told), "{url}");
            assert_eq!(other("keyring", url), None, "another place");
        }
        assign(&data, ModelProvider::OpenAi, "file", own).expect("assigned");
        assert_eq!(
            row.suspend(&data).expect("recorded").as_deref(),
            Some("https://api.openai.com")
        );
        assert_eq!(other("file", own).as_deref(), Some(told));
        row.set(&data, Some("https://api.openai.com")).expect("restored");
        assert_eq!((other("file", own), other("file", router).is_some()), (None, true));
    }

    #[test]
    fn a_key_for_a_url_that_no_key_is_sent_to_is_refused_and_never_left_for_any_server() {
        let folder = tempfile::tempdir().expect("a folder");
        let data = DataDir::at(folder.path().to_owned()).expect("a data directory");
        let (own, router) = ("https://api.openai.com/v1", "https://openrouter.ai/api/v1");
        assign(&data, ModelProvider::OpenAi, "file", own).expect("assigned");
        for url in ["http://192.168.0.2:8000/v1", "openrouter.ai/api/v1", "ftp://a.example", ""] {
            let refused = ensure_assignable(&data, url).expect_err(url);
            assert!(refused.message.contains("must begin with https://"), "{refused}");
            let again = assign(&data, ModelProvider::OpenAi, "file", url).expect_err(url);
            assert_eq!(again, refused);
        }
        let other = other_server(&data, ModelProvider::OpenAi, "file", router);
        assert_eq!(other.as_deref(), Some("https://api.openai.com"), "as before");
        for url in [own, router, "http://localhost:11434"] {
            ensure_assignable(&data, url).expect("the control");
        }
    }

    #[test]
    fn while_the_servers_cannot_be_read_a_key_is_for_none_and_no_line_of_them_is_lost() {
        let folder = tempfile::tempdir().expect("a folder");
        let data = DataDir::at(folder.path().to_owned()).expect("a data directory");
        let own = "https://api.openai.com";
        let bytes = b"openai/file https://api.openai.com\n\xff\n";
        std::fs::write(data.key_server_file(), bytes).expect("written");
        for place in ["file", "keyring"] {
            let told = other_server(&data, ModelProvider::OpenAi, place, own).expect("no server");
            assert!(told.contains("server-of-key can’t be read"), "{told}");
        }
        assert_eq!(other_server(&data, ModelProvider::OpenAi, "environment", own), None);
        for refused in [
            ensure_assignable(&data, own),
            assign(&data, ModelProvider::OpenAi, "keyring", own),
            disown(&data, ModelProvider::OpenAi, "file"),
        ] {
            let refused = refused.expect_err("the other lines cannot be kept").message;
            assert!(refused.contains("server-of-key"), "{refused}");
        }
        assert_eq!(std::fs::read(data.key_server_file()).expect("there"), bytes);
        std::fs::remove_file(data.key_server_file()).expect("removed");
        ensure_assignable(&data, own).expect("the control: no file is no trouble");
        assert_eq!(other_server(&data, ModelProvider::OpenAi, "file", own), None);
    }
}
