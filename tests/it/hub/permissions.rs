//! The permissions of a hub message: reading, planning and talking, and appending at once in a few
//! places only.

use jiff::Zoned;
use protocol::hub::approval::ApprovalDecision;
use protocol::settings::HubSettings;
use protocol::{Mode, Settings};
use serde_json::{Value, json};
use testkit::{Reply, ScriptedModel};

use crate::harness::raw_hub::{RawHub, RawHubLink};
use crate::harness::test_app::{
    TestHome, home_with_key, settings_with_model, settings_without_model, with_hub, with_mode,
};

const NOTES: [(&str, &str); 3] = [
    ("Alpha.md", "# Alpha\n\nThe first line.\n"),
    ("Lists/Shopping.md", "- milk\n"),
    (".obsidian/daily-notes.json", r#"{"folder":"Diary"}"#),
];

fn with_writable_note(settings: Settings, note: &str) -> Settings {
    let hub = HubSettings { notes: vec![note.to_owned()], ..settings.hub };
    Settings { hub, ..settings }
}

fn append_call(path: &str) -> (&'static str, Value) {
    ("append_file", json!({ "path": path, "content": "- eggs" }))
}

/// Names of the tools in a request.
fn offered_tool_names(request: &Value) -> Vec<&str> {
    let tools = request["tools"].as_array().expect("tools");
    tools.iter().filter_map(|tool| tool["name"].as_str()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_hub_adds_to_the_daily_note_and_to_listed_notes_and_to_no_other() {
    let today = format!("Diary/{}.md", Zoned::now().date());
    let model = ScriptedModel::start(vec![
        Reply::calls(vec![
            append_call("daily"),
            append_call("Lists/Shopping.md"),
            append_call("Alpha.md"),
        ]),
        Reply::text("Done."),
    ])
    .await;
    let (home, hub) = (home_with_key(&NOTES), RawHub::bind().await);
    let settings =
        with_writable_note(with_hub(settings_with_model(&model), &hub.url()), "Lists/Shopping");
    let running = home.open(with_mode(settings, Mode::Auto)).await;
    let mut line = hub.accept().await;
    line.deliver("m-1", "eggs").await;
    assert_eq!(line.next_response().await.kind, "ack");
    assert_eq!(line.next_response().await.payload["body"], "Done.");
    assert_eq!(home.notes.read(&today), "- eggs\n");
    assert_eq!(home.notes.read("Lists/Shopping.md"), "- milk\n- eggs\n");
    assert_eq!(home.notes.read("Alpha.md"), NOTES[0].1);
    assert_eq!(running.pending_paths(&running.only_conversation().await).await, ["Alpha.md"]);
    running.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_is_there_and_was_not_offered_to_the_hub_is_refused() {
    let model = ScriptedModel::start(vec![
        Reply::calls(vec![
            ("get_conversation", json!({})),
            ("get_active_note", json!({})),
            ("end_conversation", json!({})),
        ]),
        Reply::text("I cannot."),
        Reply::text("It is over there."),
    ])
    .await;
    let (home, hub) = (home_with_key(&NOTES), RawHub::bind().await);
    let running = home.open(with_hub(settings_with_model(&model), &hub.url())).await;
    let mut line = hub.accept().await;
    line.deliver("m-1", "what did we talk about").await;
    assert_eq!(line.next_response().await.kind, "ack");
    assert_eq!(line.next_response().await.payload["body"], "I cannot.");
    let requests = model.requests();
    let tools = offered_tool_names(&requests[0]);
    assert!(tools.contains(&"edit_file") && tools.contains(&"search_files"), "{tools:?}");
    for tool in ["get_conversation", "get_active_note", "end_conversation"] {
        assert!(!tools.contains(&tool), "{tools:?}");
    }
    let told = requests[1].to_string();
    assert_eq!(told.matches("There is no tool").count(), 3, "{told}");
    // The control: in the window they are on offer.
    running.send_and_wait(None, "where is it").await;
    assert!(offered_tool_names(&model.wait_for_request(3).await).contains(&"get_conversation"));
    running.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_of_notes_that_leaves_the_vault_is_refused() {
    let home = TestHome::new(&NOTES);
    let running = home.open(settings_without_model()).await;
    let wrong = with_writable_note(settings_without_model(), "../elsewhere.md");
    let refused = running.app.save_settings(wrong).await.expect_err("refused");
    assert!(refused.message.contains("“../elsewhere.md” isn’t a note"), "{refused}");
    running.quit().await;
}

/// The next notification for the hub about a message.
async fn next_notification_body(line: &mut RawHubLink) -> String {
    line.next_response().await.payload["body"].as_str().unwrap_or_default().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_from_outside_its_places_needs_approval_over_a_restart() {
    let read = |path: &str| Reply::calls(vec![("read_file", json!({ "path": path }))]);
    let model = ScriptedModel::start(vec![
        read("Lists/Shopping.md"),
        Reply::text("Milk."),
        read("Alpha.md"),
        Reply::text("The first line."),
        read("Lists/Shopping.md"),
        Reply::text("As I said: the first line."),
    ])
    .await;
    let (home, hub) = (home_with_key(&NOTES), RawHub::bind().await);
    let settings =
        with_writable_note(with_hub(settings_with_model(&model), &hub.url()), "Lists/Shopping.md");
    let running = home.open(settings.clone()).await;
    let mut line = hub.accept().await;
    line.deliver("m-1", "what is on my list?").await;
    assert_eq!(line.next_response().await.kind, "ack");
    assert_eq!(
        next_notification_body(&mut line).await,
        "Milk.",
        "the control: it was read in its places"
    );
    line.deliver("m-2", "what does Alpha say?").await;
    assert_eq!(line.next_response().await.kind, "ack");
    assert_eq!(
        next_notification_body(&mut line).await,
        "An answer needs your approval in Vaultmate."
    );
    // The note that was read stays in the history.
    line.deliver("m-3", "can you say it again?").await;
    assert_eq!(line.next_response().await.kind, "ack");
    assert_eq!(
        next_notification_body(&mut line).await,
        "An answer needs your approval in Vaultmate."
    );
    let conversation = running.only_conversation().await;
    running.quit().await;
    drop(line);

    let running = home.open(settings).await;
    let mut line = hub.accept().await;
    let view = running.view(&conversation).await;
    assert_eq!(view.conversation.held, 2);
    let texts: Vec<&str> = view.held.iter().map(|one| one.text.as_str()).collect();
    assert_eq!(texts, ["The first line.", "As I said: the first line."]);
    let (first, second) = (view.held[0].number, view.held[1].number);
    running.app.decide_approval(second, ApprovalDecision::Discard).await.expect("discarded");
    running.app.decide_approval(first, ApprovalDecision::Send).await.expect("sent");
    let mut sent = line.next_response().await;
    // The last notification before the restart comes again, unless it was known that the hub read it.
    if sent.message == "m-3" {
        sent = line.next_response().await;
    }
    assert_eq!((sent.message.as_str(), &sent.payload["body"]), ("m-2", &json!("The first line.")));
    let again = running.app.decide_approval(first, ApprovalDecision::Send).await.expect_err("once");
    assert!(again.message.contains("already sent or discarded"), "{again}");
    assert_eq!(running.view(&conversation).await.held, []);
    running.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_could_be_planned_beyond_its_places_is_not_told_to_the_hub_and_what_was_added_is() {
    const HELD: &str = "An answer needs your approval in Vaultmate.";
    let edit = |path: &str, old: &str| {
        ("edit_file", json!({ "path": path, "old_text": old, "new_text": "x" }))
    };
    let property =
        json!({ "path": "Alpha.md", "property": "mood", "action": "set", "value": "glad" });
    let listed = json!({ "source": "Lists/Shopping.md", "destination": "Lists/Food.md" });
    let new = |path: &str| ("write_file", json!({ "path": path, "content": "x" }));
    for (call, told) in [
        (edit("Alpha.md", "first"), HELD),
        (edit("Alpha.md", "second"), HELD),
        (("set_property", property), HELD),
        (("move_file", json!({ "source": "Alpha.md", "destination": "Beta.md" })), HELD),
        (("move_file", listed), HELD),
        (("delete_file", json!({ "path": "Alpha.md" })), HELD),
        (("create_folder", json!({ "path": "Secret" })), HELD),
        (new("Alpha.md"), HELD),
        // In its places, and where something is only added.
        (edit("Lists/Shopping.md", "milk"), "Done."),
        (append_call("Lists/Shopping.md"), "Done."),
        (append_call("Alpha.md"), "Done."),
        (new("inbox/New.md"), "Done."),
    ] {
        let case = format!("{} {}", call.0, call.1);
        let replies = vec![Reply::calls(vec![call]), Reply::text("Done.")];
        let model = ScriptedModel::start(replies).await;
        let (home, hub) = (home_with_key(&NOTES), RawHub::bind().await);
        let settings =
            with_writable_note(with_hub(settings_with_model(&model), &hub.url()), "Lists/Shopping");
        let running = home.open(settings).await;
        let mut line = hub.accept().await;
        line.deliver("m-1", "do it").await;
        assert_eq!(line.next_response().await.kind, "ack", "{case}");
        assert_eq!(line.next_response().await.payload["body"], told, "{case}");
        running.quit().await;
        model.finish();
    }
}
