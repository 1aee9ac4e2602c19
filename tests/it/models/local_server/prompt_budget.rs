//! Instructions and tools in a turn of the hub whose message may answer a question of the model: a quarter of the
//! window at most, also at the windows where the set of tools changes.

use protocol::Settings;
use serde_json::{Value, json};

use super::{
    FakeLlamaServer, LlamaOptions, offered_tools, overhead_tokens, system_prompt, tool_call,
};
use crate::harness::raw_hub::RawHub;
use crate::harness::test_app::{TestHome, with_hub};
use crate::hub::reply_matching::send_and_read_notification;

/// The windows, each with a tool that it adds to the set of the one before it.
const WINDOWS: [(u32, Option<&str>); 7] = [
    (2_048, Some("resolve_question")),
    (3_499, None),
    (3_500, Some("edit_file")),
    (4_096, None),
    (8_192, None),
    (19_999, None),
    (20_000, Some("move_file")),
];

/// The first request to a server that was started with `options`, in a turn of the hub whose message may answer a
/// question. The question came from a model with more room.
pub(super) async fn request_in_hub_turn(
    options: LlamaOptions,
    notes: &[(&str, &str)],
    organisation: &str,
) -> Value {
    let (home, hub) = (TestHome::new(notes), RawHub::bind().await);
    let ask = json!({ "message": "Which boat?", "is_question": true, "options": ["Red", "Blue"] });
    let says = [tool_call("send_message", &ask)];
    let asking = FakeLlamaServer::start(LlamaOptions::with_window(32_768), &says).await;
    let running = home.open(with_hub(asking.settings(), &hub.url())).await;
    let mut line = hub.accept().await;
    assert_eq!(send_and_read_notification(&mut line, "m-1", "paint the boat").await, "Which boat?");
    running.quit().await;
    drop(line);

    let llama = FakeLlamaServer::start(options, &[]).await;
    let settings = Settings { organisation: organisation.to_owned(), ..llama.settings() };
    let running = home.open(with_hub(settings, &hub.url())).await;
    let mut line = hub.accept().await;
    assert_eq!(send_and_read_notification(&mut line, "m-2", "the blue one").await, "Yes.");
    running.quit().await;
    let chats = llama.chat_requests();
    assert!(chats.iter().all(|(_, answered)| *answered), "{options:?}: refused");
    let is_of_turn = |sent: &Value| sent.to_string().contains("this message may be it");
    let of_turn = chats.into_iter().map(|(sent, _)| sent).find(is_of_turn);
    of_turn.expect("the model is told of the question")
}

/// Whether the model is told of this tool, by a declaration or in text.
fn is_offered(sent: &Value, tool: &str) -> bool {
    offered_tools(sent).contains(&tool) || system_prompt(sent).contains(&format!("\n## {tool}("))
}

#[tokio::test(flavor = "multi_thread")]
async fn in_a_hub_turn_with_an_open_question_they_take_a_quarter_of_the_window_at_most() {
    let rules = "Keep order. ".repeat(100_000 / 12);
    let notes = [("Alpha.md", "one\n"), ("AGENTS.md", &*rules)];
    for takes_tools in [true, false] {
        let mut offered = Vec::new();
        for (window, added) in WINDOWS {
            let options = LlamaOptions { takes_tools, ..LlamaOptions::with_window(window) };
            let sent = request_in_hub_turn(options, &notes, &"By year. ".repeat(200)).await;
            let overhead = overhead_tokens(&sent);
            assert!(overhead <= window / 4, "{window}, {takes_tools}: {overhead}");
            assert!(system_prompt(&sent).contains("message hub"), "{window}, {takes_tools}");
            offered.extend(added);
            for tool in WINDOWS.iter().filter_map(|(_, tool)| *tool) {
                let expected = offered.contains(&tool);
                assert_eq!(is_offered(&sent, tool), expected, "{window}, {takes_tools}: {tool}");
            }
        }
    }
}
