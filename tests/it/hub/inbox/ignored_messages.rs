//! Messages about which a model does nothing are kept as they are.

use app::TimeScale;
use protocol::Mode;
use serde_json::json;
use testkit::{Reply, ScriptedModel};

use super::{INBOX, NOTES, acknowledgement};
use crate::harness::raw_hub::RawHub;
use crate::harness::test_app::{home_with_key, settings_with_model, with_hub, with_mode};

/// So many notifications for a message to a model that answers so, and what the inbox holds then.
async fn process_message(
    message: &str,
    replies: Vec<Reply>,
    mode: Mode,
    notifications: usize,
) -> (Vec<String>, String) {
    let (home, hub) = (home_with_key(&NOTES), RawHub::bind().await);
    let model = ScriptedModel::start(replies).await;
    let settings = with_mode(with_hub(settings_with_model(&model), &hub.url()), mode);
    let running = home.open_with_time_scale(settings, TimeScale::divided_by(100)).await;
    let mut line = hub.accept().await;
    line.deliver("m-1", message).await;
    assert_eq!(line.next_response().await, acknowledgement("m-1"));
    let mut told = Vec::new();
    for _ in 0..notifications {
        told.push(line.next_response().await.payload["body"].as_str().expect("a text").to_owned());
    }
    running.quit().await;
    assert_eq!(line.remaining_responses().await, [], "nothing else is told");
    model.finish();
    (told, home.notes.try_read(INBOX).unwrap_or_default())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_a_model_ignores_is_kept_as_it_is() {
    let (reminder, kept) = ("remember oat milk", "- remember oat milk\n");
    let advice = || vec![Reply::text("Always remember to buy oat milk.")];
    let (told, inbox) = process_message(reminder, advice(), Mode::Auto, 2).await;
    assert_eq!(told, ["Always remember to buy oat milk.", "Saved to inbox/Inbox.md."]);
    assert_eq!(inbox, kept);

    // It says so by a tool alone.
    let calls = vec![("send_message", json!({ "message": "Saved." }))];
    let replies = vec![Reply::calls(calls), Reply::text("")];
    let (told, inbox) = process_message(reminder, replies, Mode::Auto, 2).await;
    assert_eq!(told, ["Saved.", "Saved to inbox/Inbox.md."]);
    assert_eq!(inbox, kept);

    // It says so by a tool, and looks for it in vain.
    let calls = vec![
        ("send_message", json!({ "message": "I shall." })),
        ("find_notes", json!({ "query": "zanzibar" })),
    ];
    let replies = vec![Reply::calls(calls), Reply::text("Noted.")];
    let (told, inbox) = process_message(reminder, replies, Mode::Auto, 1).await;
    assert_eq!(told, ["An answer needs your approval in Vaultmate."], "it looked at all notes");
    assert_eq!(inbox, kept);

    // It claims that it has saved the message, and has only read a note.
    let read = || Reply::calls(vec![("read_file", json!({ "path": "Alpha.md" }))]);
    let replies = vec![read(), Reply::text("I have saved it.")];
    assert_eq!(process_message(reminder, replies, Mode::Auto, 1).await.1, kept);

    // The controls: a question that the notes answer, and a mode in which nothing is written.
    let replies = vec![read(), Reply::text("It is the first.")];
    assert_eq!(process_message("Which line is it?", replies, Mode::Auto, 1).await.1, "");
    let (told, inbox) = process_message(reminder, advice(), Mode::ReadOnly, 1).await;
    assert_eq!((told, inbox.as_str()), (vec!["Always remember to buy oat milk.".to_owned()], ""));
}
