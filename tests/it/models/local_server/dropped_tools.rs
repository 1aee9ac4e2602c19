//! A server whose model has no place for tools drops them in silence. It is sent none where it tells so, in whatever
//! words, and a message of the hub that its model only talks about is kept.

use protocol::Settings;
use protocol::settings::TitleSource;
use serde_json::json;

use super::{FakeLlamaServer, LlamaOptions, send_and_read_answer};
use crate::harness::raw_hub::RawHub;
use crate::harness::test_app::{TestHome, with_hub};

const WINDOW: u32 = 32_768;

/// All that some models say to a reminder.
const ADVICE: &str = "Always remember to buy oat milk.";

/// Settings under which the server is asked for answers alone, and for no title.
fn settings(llama: &FakeLlamaServer) -> Settings {
    Settings { titles: TitleSource::Words, ..llama.settings() }
}

/// Whether each request for an answer had tools.
fn requests_with_tools(llama: &FakeLlamaServer) -> Vec<bool> {
    llama.chat_requests().iter().map(|(sent, _)| sent.get("tools").is_some()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_template_without_tools_is_believed_where_the_server_says_no_more() {
    let without = "{% for message in messages %}{{ message.content }}{% endfor %}";
    let with_tools = "{% if tools %}{{ tools | tojson }}{% endif %}{{ messages }}";
    for (template, takes_tools) in [(without, false), (with_tools, true)] {
        let home = TestHome::new(&[("Alpha.md", "one\n")]);
        let told = Some(template);
        let options =
            LlamaOptions { template: told, takes_tools, ..LlamaOptions::with_window(WINDOW) };
        let llama = FakeLlamaServer::start(options, &[]).await;
        let running = home.open(settings(&llama)).await;
        assert_eq!(send_and_read_answer(&running, "What do I grow?").await, "Yes.");
        running.quit().await;
        assert_eq!(requests_with_tools(&llama), [takes_tools], "{template}");
    }
}

/// Sends a reminder over the hub to a model that answers it with advice. The reminder is kept; returns whether each
/// request for an answer had tools.
async fn remind(options: LlamaOptions) -> Vec<bool> {
    let (home, hub) = (TestHome::new(&[("Alpha.md", "one\n")]), RawHub::bind().await);
    let advice = json!({ "content": ADVICE });
    let llama = FakeLlamaServer::start(options, &[advice.clone(), advice]).await;
    let running = home.open(with_hub(settings(&llama), &hub.url())).await;
    let mut line = hub.accept().await;
    line.deliver("m-1", "remember oat milk").await;
    assert_eq!(line.next_response().await.kind, "ack");
    for text in [ADVICE, "Saved to inbox/Inbox.md."] {
        let told = line.next_response().await;
        assert_eq!(
            (told.kind.as_str(), &told.payload["body"]),
            ("notification", &json!(text)),
            "{options:?}"
        );
    }
    running.quit().await;
    let inbox = home.notes.read("inbox/Inbox.md");
    assert_eq!(inbox, "- remember oat milk\n", "{options:?}");
    requests_with_tools(&llama)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reminder_to_a_model_without_tools_is_kept_and_its_server_is_sent_none() {
    assert_eq!(remind(LlamaOptions::without_tools(WINDOW)).await, [false]);
    // Where the server tells nothing, the first request shows it.
    let silent = LlamaOptions { tells: false, ..LlamaOptions::without_tools(WINDOW) };
    assert_eq!(remind(silent).await, [true, false]);
    // The control: a model that takes tools, and uses none.
    assert_eq!(remind(LlamaOptions::with_window(WINDOW)).await, [true]);
}
