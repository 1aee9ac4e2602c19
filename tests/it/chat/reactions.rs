//! The reactions of tools that the window is told, live and when a conversation is opened again.

use protocol::chat::conversation::ChatItem;
use protocol::{AppEvent, ConversationId, ToolEvent};
use serde_json::{Value, json};
use testkit::{Reply, ScriptedModel};

use crate::harness::test_app::{
    RunningApp, home_with_key, settings_with_model, settings_without_model,
};

fn reactions_of(item: &ChatItem) -> &[ToolEvent] {
    match item {
        ChatItem::Tool { reactions, .. } => reactions,
        _ => &[],
    }
}

/// Waits until the window hears of a reaction.
async fn hears(app: &RunningApp, wanted: &ToolEvent) {
    let told = |event: &AppEvent| match event {
        AppEvent::ItemChanged { item, .. } => reactions_of(item).contains(wanted).then_some(()),
        _ => None,
    };
    app.wait_for_event(&format!("{wanted:?}"), told).await;
}

/// Has a model make the call, and the window hear of what it should.
async fn check(
    tool: &'static str,
    arguments: Value,
    reaction: impl FnOnce(&ConversationId) -> ToolEvent,
) {
    let home = home_with_key(&[("Alpha.md", "one\n")]);
    let script = vec![Reply::calls(vec![(tool, arguments)]), Reply::text("There.")];
    let model = ScriptedModel::start(script).await;
    let running = home.open(settings_with_model(&model)).await;
    let chat = running.send_and_wait(None, "Please").await;
    let reaction = reaction(&chat);
    hears(&running, &reaction).await;
    running.quit().await;
    let again = home.open(settings_with_model(&model)).await;
    let items = again.view(&chat).await.items;
    assert!(items.iter().any(|item| reactions_of(item) == [reaction.clone()]), "{items:?}");
    again.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_a_conversation_is_told_with_its_reason() {
    check("end_conversation", json!({ "reason": "All is done." }), |_| {
        ToolEvent::ConversationEnded { reason: Some("All is done.".to_owned()) }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_list_of_changes_is_to_be_shown_for_this_conversation_or_for_all() {
    check("show_changes", json!({}), |chat| ToolEvent::ShowChanges {
        conversation: Some(chat.clone()),
    })
    .await;
    check("show_changes", json!({ "all": true }), |_| ToolEvent::ShowChanges {
        conversation: None,
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_shows_the_list_of_changes() {
    let home = home_with_key(&[("Alpha.md", "one\n")]);
    let running = home.open(settings_without_model()).await;
    let chat = running.send_and_wait(None, "changes").await;
    hears(&running, &ToolEvent::ShowChanges { conversation: None }).await;
    let items = running.view(&chat).await.items;
    let said = |item: &ChatItem| match item {
        ChatItem::Assistant { text, .. } => text == "Opened the list of changes.",
        _ => false,
    };
    assert!(items.iter().any(said), "{items:?}");
    running.quit().await;
}
