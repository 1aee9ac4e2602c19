//! Where a model runs, as its server says it, or does not.

use std::time::Duration;

use llm::{Deadlines, Ollama, OllamaConfig, OpenAi, OpenAiConfig, Provider, RequestParameters};
use serde_json::{Value, json};

use crate::fixtures::byte_server::{AfterBytes, ByteServer, CannedAnswer, respond};
use crate::fixtures::service_world::within;

fn openai(server: &ByteServer) -> OpenAi {
    let (base_url, deadlines) = (server.url(), Deadlines::default());
    let parameters = RequestParameters::default();
    OpenAi::new(OpenAiConfig { base_url, key: "".into(), deadlines, parameters }).unwrap()
}

fn value(value: &Value) -> CannedAnswer {
    respond("200 OK", "content-type: application/json\r\n", &value.to_string())
}

/// A server that takes the question and says no more than this of its answer.
fn begun(bytes: &str, then: AfterBytes) -> CannedAnswer {
    CannedAnswer { bytes: bytes.to_owned(), at_a_time: usize::MAX, then }
}

/// Of which nobody can tell whose server lists it.
fn models() -> CannedAnswer {
    value(&json!({ "data": [{ "id": "foo", "owned_by": "somebody" }] }))
}

fn tags(entry: &Value) -> CannedAnswer {
    value(&json!({ "models": [entry] }))
}

fn nothing() -> CannedAnswer {
    respond("404 Not Found", "", "404 page not found")
}

async fn runs_elsewhere(provider: &dyn Provider) -> bool {
    within(provider.capabilities("foo")).await.runs_elsewhere
}

#[tokio::test]
async fn a_server_that_does_not_say_where_a_model_runs_has_it_elsewhere_until_it_does() {
    let head = "HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{\"models\":";
    for unknown in [
        vec![begun("", AfterBytes::Hold)],
        vec![begun("", AfterBytes::Close)],
        vec![models(), begun("", AfterBytes::Hold)],
        vec![models(), begun("", AfterBytes::Close)],
        vec![models(), begun(head, AfterBytes::Close)],
        vec![models(), respond("500 Internal Server Error", "", "{}")],
    ] {
        let asked = unknown.len();
        let here = [models(), tags(&json!({ "name": "foo" }))];
        let server = ByteServer::serving(unknown.into_iter().chain(here).collect()).await;
        let provider = openai(&server);
        assert!(runs_elsewhere(&provider).await, "{asked}");
        // A server that did not answer once is not counted as elsewhere for good.
        assert!(!runs_elsewhere(&provider).await, "{asked}");
    }
}

#[tokio::test]
async fn a_server_that_is_no_ollama_has_its_models_here() {
    for no_tags in [nothing(), value(&json!({ "error": "Unexpected endpoint" }))] {
        let server = ByteServer::serving(vec![models(), no_tags, nothing()]).await;
        assert!(!runs_elsewhere(&openai(&server)).await);
    }
}

/// The list of models that an Ollama has at its OpenAI URL.
fn ollama_models() -> CannedAnswer {
    value(&json!({ "data": [{ "id": "foo", "owned_by": "library" }] }))
}

/// The capabilities of `foo` at Ollama's OpenAI URL, where it answers so about the model, and to the question
/// at the last path.
async fn ollama_capabilities(told: Vec<CannedAnswer>, last: &str) -> llm::Capabilities {
    let listed = [ollama_models(), tags(&json!({ "name": "foo" }))];
    let mut server = ByteServer::serving(listed.into_iter().chain(told).collect()).await;
    let told = within(openai(&server).capabilities("foo")).await;
    let asked: Vec<_> = std::iter::from_fn(|| server.requests.try_recv().ok()).collect();
    let shown = asked.get(2).expect("the model is asked about");
    assert!(shown.head.starts_with("post /api/show "), "{}", shown.head);
    assert_eq!(shown.body, json!({ "model": "foo" }));
    let (end, head) = (format!(" {last} "), &asked.last().unwrap().head);
    assert!(head.lines().next().unwrap().contains(&end), "{head}");
    told
}

#[tokio::test]
async fn an_ollama_at_an_openai_url_shows_its_window_and_whether_the_model_takes_tools() {
    let info = json!({ "llama.context_length": 131_072 });
    let set = json!({ "capabilities": ["completion"], "model_info": info,
        "parameters": "stop  \"<|eot|>\"\nnum_ctx                        8192" });
    let told = ollama_capabilities(vec![value(&set)], "/api/show").await;
    assert_eq!((told.window, told.tools), (Some(8_192), Some(false)));
    assert!(!told.runs_elsewhere);
    // No answer tells nothing of tools.
    for silent in [nothing(), begun("", AfterBytes::Close)] {
        let told = ollama_capabilities(vec![silent], "/api/show").await;
        assert_eq!((told.window, told.tools), (Some(4_096), None));
    }
}

#[tokio::test]
async fn a_model_of_an_ollama_that_sets_no_window_has_the_one_that_it_is_loaded_with() {
    let show = |most: u32| {
        json!({ "capabilities": ["completion", "tools"],
            "model_info": { "llama.context_length": most } })
    };
    let loaded = |name: &str, window: u32| {
        tags(&json!({ "name": name, "model": name, "context_length": window }))
    };
    for (most, list, expected) in [
        (131_072, loaded("foo", 4_096), 4_096),
        (131_072, loaded("foo:latest", 16_384), 16_384),
        // The number that it was trained with is no window: what is not loaded gets the default.
        (131_072, value(&json!({ "models": [] })), 4_096),
        (131_072, loaded("other", 16_384), 4_096),
        (131_072, tags(&json!({ "name": "foo" })), 4_096),
        (131_072, nothing(), 4_096),
        (2_048, nothing(), 2_048),
    ] {
        let told = ollama_capabilities(vec![value(&show(most)), list], "/api/ps").await;
        assert_eq!((told.window, told.tools), (Some(expected), Some(true)), "{most}");
    }
    // The control: a model elsewhere is not loaded here, so nothing tells its window.
    let cloud = json!({ "name": "foo", "remote_host": "https://ollama.com:443" });
    let answers = vec![ollama_models(), tags(&cloud), value(&cloud)];
    let server = ByteServer::serving(answers).await;
    let told = within(openai(&server).capabilities("foo")).await;
    assert_eq!((told.window, told.runs_elsewhere), (None, true));
}

#[tokio::test]
async fn the_window_of_an_ollama_is_kept_when_it_no_longer_has_the_model_loaded() {
    let probe = |loaded: CannedAnswer| {
        [ollama_models(), tags(&json!({ "name": "foo" })), value(&json!({})), loaded]
    };
    let loaded = |window: u32| tags(&json!({ "name": "foo", "context_length": window }));
    let empty = value(&json!({ "models": [] }));
    let answers = [probe(loaded(16_384)), probe(empty), probe(loaded(8_192))];
    let server = ByteServer::serving(answers.into_iter().flatten().collect()).await;
    let provider = openai(&server);
    for window in [16_384, 16_384, 8_192] {
        assert_eq!(within(provider.capabilities("foo")).await.window, Some(window));
        half_a_minute().await;
    }
}

#[tokio::test]
async fn the_size_of_a_model_that_no_list_names_is_read_from_its_name() {
    let unlisted = |owner: &str| value(&json!({ "data": [{ "id": "other", "owned_by": owner }] }));
    for (server, answers) in [
        (
            "LM Studio",
            vec![unlisted("organization_owner"), nothing(), value(&json!({ "data": [] }))],
        ),
        ("llama.cpp", vec![unlisted("llamacpp"), value(&json!({ "total_slots": 1 }))]),
        ("without lists", vec![nothing(), nothing(), nothing()]),
    ] {
        for (name, count) in [("gemma3:270m", 270_000_000), ("qwen2.5-3b-instruct", 3_000_000_000)]
        {
            let asked = ByteServer::serving(answers.iter().map(repeat).collect()).await;
            let told = within(openai(&asked).capabilities(name)).await;
            assert_eq!(told.parameters, Some(count), "{server}: {name}");
        }
    }
    // The server's count is right, whatever the name says.
    let counted = json!({ "data": [{ "id": "x-7b", "owned_by": "llamacpp",
        "meta": { "n_params": 494_032_768 } }] });
    let asked = ByteServer::serving(vec![value(&counted), value(&json!({}))]).await;
    let told = within(openai(&asked).capabilities("x-7b")).await;
    assert_eq!(told.parameters, Some(494_032_768));
}

fn repeat(answer: &CannedAnswer) -> CannedAnswer {
    CannedAnswer {
        bytes: answer.bytes.clone(),
        at_a_time: answer.at_a_time,
        then: AfterBytes::Close,
    }
}

async fn half_a_minute() {
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(31)).await;
    tokio::time::resume();
}

#[tokio::test]
async fn the_older_report_of_a_silent_server_does_not_count() {
    let here = || tags(&json!({ "name": "foo" }));
    let known = || [models(), here(), nothing()];
    let silent = [models(), begun("", AfterBytes::Close)];
    let answers = known().into_iter().chain(silent).chain(known());
    let server = ByteServer::serving(answers.collect()).await;
    let provider = openai(&server);
    for elsewhere in [false, true, false] {
        assert_eq!(runs_elsewhere(&provider).await, elsewhere);
        half_a_minute().await;
    }
}

#[tokio::test]
async fn a_name_that_ollama_gives_to_a_model_elsewhere_is_asked_for_again() {
    let size = json!({ "parameter_size": "3B" });
    let here = value(&json!({ "details": size }));
    let cloud = value(&json!({ "details": size, "remote_host": "https://ollama.com:443" }));
    let server = ByteServer::serving(vec![here, cloud, begun("", AfterBytes::Close)]).await;
    let (base_url, deadlines) = (server.url(), Deadlines::default());
    let parameters = RequestParameters::default();
    let config = OllamaConfig { base_url, key: "".into(), deadlines, parameters };
    let provider = Ollama::new(config).unwrap();
    for elsewhere in [false, true, true] {
        assert_eq!(runs_elsewhere(&provider).await, elsewhere);
        half_a_minute().await;
    }
}

/// Set where this test runs itself with a proxy: the URL that it asks then.
const ASKS: &str = "LLM_TEST_ASKS";

/// A proxy counts for a whole program, so the test runs itself once more for each URL.
#[tokio::test]
async fn a_server_on_this_computer_is_asked_through_no_proxy() {
    if let Ok(base_url) = std::env::var(ASKS) {
        let (deadlines, parameters) = (Deadlines::default(), RequestParameters::default());
        let config = OpenAiConfig { base_url, key: "key".into(), deadlines, parameters };
        let _ = within(OpenAi::new(config).unwrap().models()).await;
        return;
    }
    for (asks, through_proxy) in [
        ("https://models.invalid", true),
        ("https://localhost:1", false),
        ("https://127.0.0.1:1", false),
        ("https://[::1]:1", false),
        ("http://localhost:1", false),
    ] {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let proxy = format!("http://{}", listener.local_addr().unwrap());
        let mut again = tokio::process::Command::new(std::env::current_exe().unwrap());
        again.args([
            "--exact",
            "providers::model_location::a_server_on_this_computer_is_asked_through_no_proxy",
        ]);
        again.env_remove("NO_PROXY").env_remove("no_proxy").kill_on_drop(true);
        for name in ["HTTPS_PROXY", "HTTP_PROXY", "https_proxy", "http_proxy"] {
            again.env(name, &proxy);
        }
        let mut ran = again.env(ASKS, asks).stdout(std::process::Stdio::null()).spawn().unwrap();
        let is_asked = tokio::select! {
            biased;
            asked = listener.accept() => asked.is_ok(),
            ended = within(ran.wait()) => {
                assert!(ended.unwrap().success(), "{asks}");
                false
            }
        };
        assert_eq!(is_asked, through_proxy, "{asks}");
    }
}
