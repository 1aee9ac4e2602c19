//! For which server each saved API key is: no other server is sent it. A file of the data directory has a line for each
//! provider and place, such as `openai/keyring https://api.openai.com`.
//!
//! A key of the environment is for the server that is configured: whoever sets the one can set the other.

use protocol::UserError;

use crate::models::selection::ModelProvider;
use crate::settings::secret_owners;
use crate::settings::secrets::{FROM_FILE, FROM_KEYRING, Secret};
use crate::workspace::data_dir::DataDir;

/// The server that the key from `place` is for, where that is another one than that of `base_url`. A key that was put
/// there by hand, or saved before servers were told apart, is for whichever is configured. Blocks.
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
    let known = secret_owners::read(&data.key_server_file()).remove(&name(provider, place));
    known.filter(|known| *known != server)
}

/// No place holds a key of the provider any more. Blocks.
pub(crate) fn disown(data: &DataDir, provider: ModelProvider) -> Result<(), UserError> {
    secret_owners::change(data, &data.key_server_file(), |servers| {
        for place in [FROM_KEYRING, FROM_FILE] {
            servers.remove(&name(provider, place));
        }
    })
}

/// The key of a provider in `place` is for the server of this URL. Blocks.
pub(crate) fn assign(
    data: &DataDir,
    provider: ModelProvider,
    place: &str,
    base_url: &str,
) -> Result<(), UserError> {
    let Some(server) = llm::transport::http::server_of(base_url) else { return Ok(()) };
    let name = name(provider, place);
    secret_owners::change(data, &data.key_server_file(), |servers| {
        servers.insert(name.clone(), server.clone());
    })
}

fn name(provider: ModelProvider, place: &str) -> String {
    format!("{}/{place}", Secret::Keys(provider).keyring_account())
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assign(&data, ModelProvider::OpenAi, "file", "openrouter.ai/api/v1").expect("left alone");
        assert_eq!((other("file", "openrouter.ai"), other("file", router)), (None, None));
        // Another provider, and another place.
        assert_eq!(other_server(&data, ModelProvider::Ollama, "file", own), None);
        assign(&data, ModelProvider::OpenAi, "keyring", "http://localhost:1").expect("assigned");
        assert_eq!(
            other("keyring", "http://127.0.0.1:2/v1"),
            None,
            "another port of this computer"
        );
        assert_eq!(other("keyring", own).as_deref(), Some("localhost"));
        disown(&data, ModelProvider::OpenAi).expect("removed");
        assert_eq!((other("file", own), other("keyring", own)), (None, None));
    }
}
