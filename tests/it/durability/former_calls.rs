//! Conversations that earlier versions stored, with calls of tools that have other arguments today.

use protocol::ConversationId;
use protocol::chat::conversation::ChatItem;
use serde_json::{Value, json};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{Connection as _, SqliteConnection};
use testkit::scripted_model::tool_results;
use testkit::{Reply, ScriptedModel};

use crate::harness::test_app::{TestHome, home_with_key, settings_with_model};
use crate::models::local_server::{FakeLlamaServer, LlamaOptions};

const NOTE: &str = "---\nstatus: open\n---\n# Garden\n\nBeans.\n\n## Tasks\n\n- weed\n";

/// The calls as a model of today makes them, and as `edit_file` of earlier versions had them.
fn calls() -> [(&'static str, Value, Value); 3] {
    [
        (
            "edit_section",
            json!({"path": "Garden", "heading": "Tasks", "action": "append", "text": "- water"}),
            json!({"path": "Garden", "heading": "Tasks", "action": "append", "text": "- water"}),
        ),
        (
            "set_property",
            json!({"path": "Garden", "property": "status", "action": "set", "value": "done"}),
            json!({"path": "Garden", "property": "status", "action": "set", "value": "done"}),
        ),
        (
            "edit_file",
            json!({"path": "Garden", "old_text": "Beans.", "new_text": "Beans.\nPeas."}),
            json!({"path": "Garden", "line": 6, "action": "after", "text": "Peas."}),
        ),
    ]
}

/// Gives the stored calls the arguments of an earlier version, and their results its words.
async fn store_as_earlier_version(home: &TestHome) {
    let options = SqliteConnectOptions::new().filename(home.database_path());
    let mut database = SqliteConnection::connect_with(&options).await.expect("a database");
    let rows: Vec<(String, String)> = sqlx::query_as("SELECT id, parts FROM message")
        .fetch_all(&mut database)
        .await
        .expect("rows");
    let mut changed = 0;
    for (id, parts) in rows {
        let mut parts: Value = serde_json::from_str(&parts).expect("JSON");
        for part in parts.as_array_mut().expect("parts") {
            let Some((_, _, former)) =
                calls().into_iter().find(|(_, today, _)| *today == part["arguments"])
            else {
                continue;
            };
            part["arguments"] = former;
            part["tool"] = json!("edit_file");
            changed += 1;
        }
        sqlx::query("UPDATE message SET parts = ? WHERE id = ?")
            .bind(parts.to_string())
            .bind(id)
            .execute(&mut database)
            .await
            .expect("stored");
    }
    assert_eq!(changed, 3, "each call is found");
    for (_, today, former) in calls() {
        let row = sqlx::query(
            "UPDATE tool_call SET tool = 'edit_file', arguments = ?, \
             output = replace(output, 'Waiting for review, not applied: ', 'Planned, not yet done: ') \
             WHERE json(arguments) = json(?)",
        )
        .bind(former.to_string())
        .bind(today.to_string())
        .execute(&mut database)
        .await
        .expect("stored");
        assert_eq!(row.rows_affected(), 1, "{today}");
    }
    database.close().await.expect("closed");
}

/// The note once all changes are accepted.
const CHANGED: &str =
    "---\nstatus: done\n---\n# Garden\n\nBeans.\nPeas.\n\n## Tasks\n\n- weed\n- water\n- prune\n";

/// One more change, as a model of today makes it.
fn further_call() -> (&'static str, Value) {
    let append =
        json!({"path": "Garden", "heading": "Tasks", "action": "append", "text": "- prune"});
    ("edit_section", append)
}

/// A conversation as an earlier version stored it, and the model with the rest of its replies.
async fn former_conversation() -> (TestHome, ConversationId, ScriptedModel) {
    let today = calls().map(|(tool, arguments, _)| (tool, arguments));
    let model = ScriptedModel::start(vec![
        Reply::calls(vec![("read_file", json!({"path": "Garden"}))]),
        Reply::calls(today.to_vec()),
        Reply::text("Three changes are waiting."),
        Reply::calls(vec![further_call()]),
        Reply::text("One more."),
    ])
    .await;
    let home = home_with_key(&[("Garden.md", NOTE)]);
    let running = home.open(settings_with_model(&model)).await;
    let conversation = running.send_and_wait(None, "Tidy up the garden note").await;
    running.quit().await;
    store_as_earlier_version(&home).await;
    (home, conversation, model)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_with_former_calls_opens_replays_and_continues() {
    let (home, conversation, model) = former_conversation().await;

    // It opens: the lines of its calls are there.
    let running = home.open(settings_with_model(&model)).await;
    let view = running.view(&conversation).await;
    let lines = view.items.iter().filter_map(|item| match item {
        ChatItem::Tool { tool, arguments, output, is_error, .. } => {
            assert!(!is_error, "{item:?}");
            Some((tool.as_str(), serde_json::from_str::<Value>(arguments).ok(), output.clone()))
        }
        _ => None,
    });
    let lines: Vec<_> = lines.skip(1).collect();
    for ((_, _, former), (tool, arguments, output)) in calls().into_iter().zip(&lines) {
        assert_eq!((*tool, arguments.as_ref()), ("edit_file", Some(&former)));
        let output = output.as_deref().unwrap_or_default();
        assert!(output.starts_with("Planned, not yet done: "), "{output}");
    }
    assert_eq!(lines.len(), 3);
    assert_eq!(running.pending_paths(&conversation).await, ["Garden.md"]);

    // It replays: the model is sent the calls as they were made, each with its result.
    running.send_and_wait(Some(&conversation), "And prune the roses").await;
    let requests = model.requests();
    let replayed = requests.last().expect("a request").to_string();
    for (_, _, former) in calls() {
        assert!(replayed.contains(&former.to_string()), "{former} is missing in {replayed}");
    }
    assert_eq!(tool_results(requests.last().expect("a request")).len(), 1);

    // It continues: the changes of both are accepted together.
    running.decide(&conversation, &["Garden.md"], &[]).await.expect("applied");
    assert_eq!(home.notes.read("Garden.md"), CHANGED);
    running.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_without_tools_is_told_former_calls_as_text_and_continues() {
    let (home, conversation, _) = former_conversation().await;
    let (tool, arguments) = further_call();
    let call = json!({ "tool": tool, "parameters": arguments }).to_string();
    let replies = [json!({ "content": call }), json!({ "content": "One more." })];
    let llama = FakeLlamaServer::start(LlamaOptions::without_tools(32_768), &replies).await;
    let running = home.open(llama.settings()).await;
    running.send_and_wait(Some(&conversation), "And prune the roses").await;

    let requests = llama.chat_requests();
    let (first, _) = requests.first().expect("it was asked");
    assert_eq!(first.get("tools"), None);
    let messages = first["messages"].as_array().expect("messages");
    let said: Vec<&str> = messages.iter().filter_map(|it| it["content"].as_str()).collect();
    let said = said.join("\n");
    for (_, _, former) in calls() {
        let told = format!("{{\"tool\": \"edit_file\", \"parameters\": {former}}}");
        assert!(said.contains(&told), "{told} is missing in {said}");
    }
    let result = "<tool_result tool=\"edit_file\">\nPlanned, not yet done: ";
    assert_eq!(said.matches(result).count(), 3, "{said}");

    running.decide(&conversation, &["Garden.md"], &[]).await.expect("applied");
    assert_eq!(home.notes.read("Garden.md"), CHANGED);
    running.quit().await;
}
