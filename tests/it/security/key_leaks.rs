//! A key is stored only where the user put it, whatever goes wrong with it.

use std::path::Path;
use std::sync::{Arc, Mutex};

use protocol::request::KeyStorage;
use protocol::{AppEvent, ProviderKind, Settings};
use secrecy::SecretString;
use testkit::vaults::temp_vault::read_files;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use crate::harness::test_app::{RunningApp, TestHome};

const CANARY: &str = "sk-CANARY-7f3a9c";

/// Every way in which a server echoes what it was sent.
fn echoing_answers() -> Vec<String> {
    let error = format!(r#"{{"error":{{"type":"x","code":"x","message":"key {CANARY} is bad"}}}}"#);
    let statuses =
        ["400 Bad", "401 No", "402 Pay", "403 No", "404 No", "418 Tea", "422 No", "500 Oh"];
    let refusals = statuses.map(|status| {
        format!("HTTP/1.1 {status}\r\nx-echo: Bearer {CANARY}\r\nconnection: close\r\n\r\n{error}")
    });
    let stream = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    let json = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n";
    let location = format!("location: http://127.0.0.1:9/?key={CANARY}\r\n");
    let redirect = format!("HTTP/1.1 302 Found\r\n{location}connection: close\r\n\r\n");
    let others = [
        redirect,
        format!("{stream}data: {error}\n\n"),
        format!("{stream}event: error\ndata: {error}\n\n"),
        format!("{json}{error}"),
        format!("HTTP/1.1 {CANARY}\r\n\r\n"),
    ];
    refusals.into_iter().chain(others).collect()
}

/// Gives the same answer to every request for as long as `tasks` lives.
async fn serve_answer(tasks: &mut JoinSet<()>, answer: String) -> String {
    record_requests(tasks, answer, &Arc::default()).await
}

/// [`serve_answer`], and keeps what it was sent.
async fn record_requests(
    tasks: &mut JoinSet<()>,
    answer: String,
    requests: &Arc<Mutex<String>>,
) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = format!("http://{}", listener.local_addr().expect("an address"));
    let requests = Arc::clone(requests);
    tasks.spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = vec![0; 65_536];
            let length = stream.read(&mut request).await.unwrap_or(0);
            let request = String::from_utf8_lossy(&request[..length]).into_owned();
            requests.lock().expect("nobody panicked").push_str(&request);
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    });
    address
}

fn files_with_canary(root: &Path) -> Vec<String> {
    let holds = |bytes: &[u8]| bytes.windows(CANARY.len()).any(|part| part == CANARY.as_bytes());
    read_files(root).into_iter().filter_map(|(name, bytes)| holds(&bytes).then_some(name)).collect()
}

/// Asks through each answer; what was told of it, as the window hears and sees it.
async fn provoke_errors(app: &RunningApp, provider: ProviderKind) -> String {
    let mut told = String::new();
    let mut tasks = JoinSet::new();
    for (number, answer) in echoing_answers().into_iter().enumerate() {
        let base_url = serve_answer(&mut tasks, answer).await;
        let settings =
            Settings { provider, base_url, model: "model".into(), ..Settings::default() };
        app.app.save_settings(settings).await.expect("the settings are saved");
        told += &app.app.test_provider().await.message;
        // A turn tries some of them again, after waits.
        if number % 4 == 0 {
            let conversation = app.send_and_wait(None, "Hello").await;
            told += &format!("{:?}", app.view(&conversation).await);
        }
    }
    told
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_is_in_no_database_no_error_and_no_event_whatever_a_server_does_with_it() {
    // K-secrets-03, K-secrets-08
    let home = TestHome::new(&[("Note.md", "A note.\n")]);
    for (provider, file) in [(ProviderKind::Anthropic, "key"), (ProviderKind::OpenAi, "key.openai")]
    {
        // The servers that answer are on this computer, so the key has to be for one there.
        let base_url = "http://127.0.0.1:1".to_owned();
        let settings =
            Settings { provider, base_url, model: "model".into(), ..Settings::default() };
        let running = home.open(settings).await;
        let key = SecretString::from(CANARY);
        running.app.set_key(key, KeyStorage::File).await.expect("the key is kept");
        let told = provoke_errors(&running, provider).await;
        assert!(told.contains("Hello") && !told.contains(CANARY), "{told}");
        let last = Settings { provider, model: "last".into(), ..Settings::default() };
        running.app.save_settings(last).await.expect("the settings are saved");
        // Everything told before is looked at on the way there.
        let is_last = |event: &AppEvent| {
            assert!(!format!("{event:?}").contains(CANARY), "{event:?}");
            matches!(event, AppEvent::SettingsChanged { settings, .. } if settings.model == "last")
                .then_some(())
        };
        running.wait_for_event("the last settings", is_last).await;
        // While it runs, the log of the database is there too.
        assert_eq!(files_with_canary(home.notes.root()), Vec::<String>::new());
        assert!(
            files_with_canary(home.data.root()).iter().all(|name| name.starts_with("key")),
            "{file}"
        );
        running.quit().await;
        assert!(files_with_canary(home.data.root()).contains(&file.to_owned()), "it is looked for");
    }
    assert_eq!(files_with_canary(home.data.root()), ["key", "key.openai"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_canary_that_is_put_where_it_must_not_be_is_found() {
    let home = TestHome::new(&[]);
    let running = home.open(crate::harness::test_app::settings_without_model()).await;
    running.send_and_wait(None, &format!("My key is {CANARY}.")).await;
    let found = files_with_canary(home.data.root());
    assert!(found.iter().any(|name| name.contains("vaultmate.db")), "{found:?}");
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_saved_key_is_sent_to_no_other_server_than_it_was_saved_for() {
    let home = TestHome::new(&[]);
    let (mut tasks, requests) = (JoinSet::new(), Arc::new(Mutex::new(String::new())));
    let refusal = "HTTP/1.1 403 No\r\nconnection: close\r\n\r\n".to_owned();
    let local = record_requests(&mut tasks, refusal, &requests).await;
    let sent = || std::mem::take(&mut *requests.lock().expect("nobody panicked"));
    for provider in [ProviderKind::Anthropic, ProviderKind::OpenAi] {
        let with = |base_url: &str| Settings {
            provider,
            base_url: base_url.to_owned(),
            model: "model".into(),
            ..Settings::default()
        };
        let running = home.open(with("https://models.example/v1")).await;
        let key = || SecretString::from(CANARY);
        running.app.set_key(key(), KeyStorage::File).await.expect("the key is kept");
        running.app.save_settings(with(&local)).await.expect("the settings are saved");
        let conversation = running.send_and_wait(None, "Hello").await;
        let told = format!("{:?}", running.view(&conversation).await);
        let is_told = told.contains("The saved API key is for https://models.example");
        // A server on this computer may do without a key.
        assert_eq!(is_told, provider == ProviderKind::Anthropic, "{told}");
        let without_key = sent();
        assert!(!without_key.contains(CANARY), "{without_key}");
        assert_eq!(without_key.contains("Hello"), provider == ProviderKind::OpenAi);
        // The control: the key is pasted for this server.
        running.app.set_key(key(), KeyStorage::File).await.expect("the key is kept");
        running.send_and_wait(Some(&conversation), "Hello").await;
        assert!(sent().contains(CANARY), "{provider:?}");
        running.quit().await;
    }
}
