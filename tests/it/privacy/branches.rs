//! Other versions of an answer: a model is told nothing of a branch that it does not hear of.

use protocol::chat::conversation::ChatItem;
use protocol::request::{OldChanges, RegenerateRequest};
use protocol::settings::{PrivateSettings, TitleSource};
use protocol::{ConversationId, MessageId, Settings};
use serde_json::json;
use testkit::scripted_model::tool_results;
use testkit::{Reply, ScriptedModel};

use crate::harness::test_app::{RunningApp, home_with_key, settings_with_model};

const CANARY: &str = "canary-5e02";

fn read_reply(path: &str) -> Reply {
    Reply::calls(vec![("read_file", json!({ "path": path }))])
}

/// The first message of the user.
async fn first_message(app: &RunningApp, conversation: &ConversationId) -> MessageId {
    let items = app.view(conversation).await.items;
    let found = items.into_iter().find_map(|item| match item {
        ChatItem::User { id, .. } => Some(id),
        _ => None,
    });
    found.expect("a message")
}

/// Regenerates the answer to the first message, or edits it, and waits for the new answer.
async fn regenerate(app: &RunningApp, conversation: &ConversationId, text: Option<&str>) {
    let request = RegenerateRequest {
        message: first_message(app, conversation).await,
        text: text.map(str::to_owned),
        old: Some(OldChanges::Keep),
    };
    app.app.regenerate(&request).await.expect("begun");
    app.app.wait_until_idle(conversation).await.expect("idle");
}

/// What `get_conversation` returns, listed and searched, after the diary was read in one version of
/// an answer and not in the next, which ended the conversation. `shows_first` goes back.
async fn archive_after_branches(never: &[&str], shows_first: bool) -> String {
    let home = home_with_key(&[("Diary/Ann.md", "canary-5e02\n")]);
    let model = ScriptedModel::start(vec![
        read_reply("Diary/Ann.md"),
        Reply::text("It says canary-5e02."),
        Reply::calls(vec![("end_conversation", json!({}))]),
        Reply::calls(vec![
            ("get_conversation", json!({})),
            ("get_conversation", json!({ "query": CANARY })),
        ]),
        Reply::text("Well."),
    ])
    .await;
    let never = never.iter().map(|rule| (*rule).to_owned()).collect();
    let private = PrivateSettings { never, ..PrivateSettings::default() };
    let settings = Settings { titles: TitleSource::Words, ..settings_with_model(&model) };
    let running = home.open(settings.clone()).await;
    let conversation = running.send_and_wait(None, "what is new?").await;
    regenerate(&running, &conversation, Some("bye")).await;
    if shows_first {
        let message = first_message(&running, &conversation).await;
        running.app.show_variant(&message, 1).await.expect("shown");
    }
    running.app.save_settings(Settings { private, ..settings }).await.expect("saved");
    running.send_and_wait(None, "what was before?").await;
    let request = model.wait_for_request(5).await;
    let results: Vec<String> = tool_results(&request).into_iter().map(|(_, text)| text).collect();
    running.quit().await;
    model.finish();
    let found = |text: &str| text.contains(&format!("id `{conversation}`"));
    let [listed, searched] = results.as_slice() else { panic!("{results:?}") };
    assert!(found(listed), "{listed}");
    let searched = if found(searched) { "found" } else { "not found" };
    format!("{listed}\n{searched}")
}

#[tokio::test(flavor = "multi_thread")]
async fn other_versions_are_neither_found_nor_quoted_from_an_ended_conversation() {
    let told = archive_after_branches(&["Diary"], false).await;
    assert!(!told.contains(CANARY) && told.ends_with("not found"), "{told}");
    let told = archive_after_branches(&["Diary"], true).await;
    assert!(!told.contains(CANARY) && told.ends_with("not found"), "{told}");
    let told = archive_after_branches(&[], true).await;
    assert!(told.contains(CANARY) && told.ends_with("\nfound"), "the control: {told}");
    let told = archive_after_branches(&[], false).await;
    assert!(!told.contains(CANARY) && told.ends_with("not found"), "{told}");
}
