//! Model servers on this computer: looked for where they usually listen, offered, never taken.

use std::time::Duration;

use llm::transport::http::is_on_this_computer;
use llm::{Deadlines, RequestParameters};
use protocol::event::LocalServer;
use protocol::{ProviderKind, Settings};
use secrecy::SecretString;

use super::model_provider::{ModelProvider, ProviderConfig};

/// How long each server has to answer.
const PROBE_TIMEOUT: Duration = Duration::from_millis(700);

const OLLAMA: &str = "http://127.0.0.1:11434";
const LM_STUDIO: &str = "http://127.0.0.1:1234";
const LLAMA_CPP: &str = "http://127.0.0.1:8080";

/// A server that may be there.
#[derive(Debug, Clone)]
pub(crate) struct LocalServerCandidate {
    name: &'static str,
    model_provider: ModelProvider,
    provider: ProviderKind,
    base_url: String,
}

/// Where servers listen unless they were told otherwise; Ollama also where `OLLAMA_HOST` has it listen on this
/// computer.
pub(crate) fn candidates() -> Vec<LocalServerCandidate> {
    candidates_with(&ModelProvider::Ollama.base_url(&Settings::default()))
}

fn candidates_with(ollama: &str) -> Vec<LocalServerCandidate> {
    let server = |name, model_provider, provider, base_url: &str| LocalServerCandidate {
        name,
        model_provider,
        provider,
        base_url: base_url.to_owned(),
    };
    let ollamas = [Some(ollama).filter(|own| is_on_this_computer(own)), Some(OLLAMA)];
    let mut servers: Vec<LocalServerCandidate> = ollamas
        .into_iter()
        .flatten()
        .map(|url| server("Ollama", ModelProvider::Ollama, ProviderKind::Ollama, url))
        .collect();
    servers.dedup_by(|one, other| one.base_url == other.base_url);
    servers.push(server("LM Studio", ModelProvider::OpenAi, ProviderKind::OpenAi, LM_STUDIO));
    servers.push(server("llama.cpp", ModelProvider::OpenAi, ProviderKind::OpenAi, LLAMA_CPP));
    servers
}

/// The first of these that answers with a model. They are asked for their list and nothing else.
pub(crate) async fn detect(servers: &[LocalServerCandidate]) -> Option<LocalServer> {
    for server in servers {
        if let Some(model) = first_model(server).await {
            return Some(LocalServer {
                name: server.name.to_owned(),
                provider: server.provider,
                address: server.base_url.clone(),
                model,
            });
        }
    }
    None
}

async fn first_model(server: &LocalServerCandidate) -> Option<String> {
    let deadlines =
        Deadlines { connect: PROBE_TIMEOUT, first_event: PROBE_TIMEOUT, idle: PROBE_TIMEOUT };
    let provider = server.model_provider.build(ProviderConfig {
        base_url: server.base_url.clone(),
        key: SecretString::default(),
        deadlines,
        parameters: RequestParameters::default(),
    });
    let models = provider.ok()?.models().await.ok()?;
    models.into_iter().map(|model| model.id).find(|id| !is_embedding_model(id))
}

/// Local servers list these beside those that talk.
fn is_embedding_model(id: &str) -> bool {
    id.to_lowercase().contains("embed")
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;
    use tokio::task::JoinSet;

    use super::*;

    /// A server that answers each request with this body, for as long as `tasks` lives.
    async fn serving(tasks: &mut JoinSet<()>, body: &'static str) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = format!("http://{}", listener.local_addr().expect("an address"));
        tasks.spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut request = [0; 2048];
                let _ = stream.read(&mut request).await;
                let head = "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n";
                let _ = stream.write_all(format!("{head}{body}").as_bytes()).await;
            }
        });
        address
    }

    fn at(
        model_provider: ModelProvider,
        provider: ProviderKind,
        base_url: String,
    ) -> LocalServerCandidate {
        LocalServerCandidate { name: "It", model_provider, provider, base_url }
    }

    #[tokio::test]
    async fn the_first_server_with_a_model_that_talks_is_found() {
        let nobody = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let nobody = format!("http://{}", nobody.local_addr().expect("an address"));
        let tasks = &mut JoinSet::new();
        let page = serving(tasks, "<html>A site being written</html>").await;
        let empty = serving(tasks, r#"{"models":[]}"#).await;
        let lists =
            serving(tasks, r#"{"object":"list","data":[{"id":"nomic-embed"},{"id":"qwen"}]}"#)
                .await;
        let (ollama, openai) = (ProviderKind::Ollama, ProviderKind::OpenAi);
        let servers = [
            at(ModelProvider::Ollama, ollama, nobody),
            at(ModelProvider::OpenAi, openai, page),
            at(ModelProvider::Ollama, ollama, empty),
            at(ModelProvider::OpenAi, openai, lists.clone()),
        ];
        let found = detect(&servers).await.expect("the last one");
        assert_eq!((found.provider, found.address, found.model), (openai, lists, "qwen".into()));
        assert_eq!(detect(&servers[..3]).await, None);
    }

    #[test]
    fn ollama_is_looked_for_where_it_was_told_to_listen_on_this_computer() {
        let addresses = |ollama: &str| -> Vec<String> {
            let all = candidates_with(ollama).into_iter();
            all.filter(|server| server.model_provider == ModelProvider::Ollama)
                .map(|it| it.base_url)
                .collect()
        };
        assert_eq!(addresses("http://127.0.0.1:8123"), ["http://127.0.0.1:8123", OLLAMA]);
        assert_eq!(addresses(OLLAMA), [OLLAMA]);
        assert_eq!(addresses("https://ollama.example"), [OLLAMA], "elsewhere is not offered");
    }

    #[tokio::test]
    async fn a_server_that_lets_one_wait_is_not_waited_for() {
        let silent = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = format!("http://{}", silent.local_addr().expect("an address"));
        let begun = std::time::Instant::now();
        assert_eq!(detect(&[at(ModelProvider::Ollama, ProviderKind::Ollama, address)]).await, None);
        assert!(begun.elapsed() < Duration::from_secs(10));
    }
}
