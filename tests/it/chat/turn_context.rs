//! The context that is sent beside the user's message: the open note, changed notes, pending
//! changes.

use protocol::Settings;
use protocol::chat::conversation::ChatItem;
use protocol::notes::query::PrivateNote;
use protocol::request::RegenerateRequest;
use protocol::settings::PrivateSettings;
use serde_json::{Value, json};
use testkit::{Gate, Reply, ScriptedModel};

use crate::harness::test_app::{
    RunningApp, content_blocks, home_with_key, last_two_messages, note_paths, settings_with_model,
};

/// All that the last message of a request says.
fn last_message_text(request: &Value) -> String {
    let message = request["messages"].as_array().and_then(|all| all.last()).expect("a message");
    let texts = content_blocks(message, "text");
    texts.iter().filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n")
}

#[tokio::test(flavor = "multi_thread")]
async fn notes_that_changed_since_they_were_read_are_named_with_the_next_message() {
    let home = home_with_key(&[("Alpha.md", "one\n"), ("Beta.md", "one\n"), ("Gone.md", "one\n")]);
    let read = |path: &str| ("read_file", json!({ "path": path }));
    let reads = Reply::calls(vec![read("Alpha.md"), read("Beta.md"), read("Gone.md")]);
    let script = vec![reads, Reply::text("Read."), Reply::text("Still."), Reply::text("Oh.")];
    let model = ScriptedModel::start(script).await;
    let running = home.open(settings_with_model(&model)).await;
    let chat = running.send_and_wait(None, "Read all.").await;
    running.send_and_wait(Some(&chat), "As it was?").await;
    home.notes.write("Beta.md", "two\n");
    std::fs::remove_file(home.notes.root().join("Gone.md")).expect("removed");
    running.send_and_wait(Some(&chat), "And now?").await;
    let (same, other) =
        (last_message_text(&model.requests()[2]), last_message_text(&model.requests()[3]));
    assert!(!same.contains("Changed since"), "{same}");
    assert!(
        other.contains("Changed since you read them, so read them again: Beta.md\n"),
        "{other}"
    );
    assert!(other.contains("No longer there under their name: Gone.md\n"), "{other}");
    running.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_selected_is_told_and_not_when_any_model_must_not_see_the_note() {
    let home = home_with_key(&[("Alpha.md", "# Top\n\nsecret words\n")]);
    let model = ScriptedModel::start(vec![Reply::text("Yes."), Reply::text("No.")]).await;
    let running = home.open(settings_with_model(&model)).await;
    running.show("Alpha.md").await;
    running.select("Alpha.md", "secret words", Some("Top")).await;
    let chat = running.send_and_wait(None, "What is this?").await;
    let told = last_message_text(&model.requests()[0]);
    assert!(told.contains("Open note: Alpha.md (opened beside the chat just now)"), "{told}");
    let selected = "Selected in Alpha.md, under “Top”, just now:\n> secret words\n</selection>";
    assert!(told.contains(selected), "{told}");

    // From now on it is private: neither this selection nor the one before is told.
    let never = PrivateSettings { never: vec!["Alpha.md".into()], ..PrivateSettings::default() };
    let settings = Settings { private: never, ..settings_with_model(&model) };
    running.app.save_settings(settings).await.expect("saved");
    running.send_and_wait(Some(&chat), "And this?").await;
    let body = model.request_bodies().pop().expect("a request");
    assert!(!body.contains("secret words") && !body.contains("Alpha"), "{body}");
    running.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_selection_is_of_the_note_it_was_made_in_even_when_another_one_is_open_by_then() {
    let home = home_with_key(&[("Alpha.md", "secret words\n"), ("Beta.md", "plain words\n")]);
    let model = ScriptedModel::start(vec![Reply::text("Yes."), Reply::text("No.")]).await;
    let running = home.open(settings_with_model(&model)).await;
    running.show("Alpha.md").await;
    running.show("Beta.md").await;
    running.select("Alpha.md", "secret words", None).await;
    running.send_and_wait(None, "What is this?").await;
    // The control: what is selected in the open note is told, and stays when the other note is late.
    running.select("Beta.md", "plain words", None).await;
    running.select("Alpha.md", "", None).await;
    running.send_and_wait(None, "And this?").await;
    let [late, told]: [String; 2] = model.request_bodies().try_into().expect("two requests");
    assert!(late.contains("Open note: Beta.md"), "{late}");
    assert!(!late.contains("secret words") && !late.contains("Selected in"), "{late}");
    assert!(told.contains("Selected in Beta.md") && told.contains("plain words"), "{told}");
    running.quit().await;
    model.finish();
}

/// Bodies of all requests of a conversation about the open note, which the model looks up by its tool. The
/// message is queued behind another one, is answered after the note was closed, and then once more.
async fn told_of_open_note(open: impl AsyncFnOnce(&RunningApp)) -> String {
    let home = home_with_key(&[("Deep/Alpha.md", "# Top\n\nsecret words\n"), ("Beta.md", "two\n")]);
    let gate = Gate::closed();
    let look = || Reply::calls(vec![("get_active_note", json!({}))]);
    let script = vec![
        Reply::text("First.").gated(&gate),
        look(),
        Reply::text("Second."),
        look(),
        Reply::text("Third."),
    ];
    let model = ScriptedModel::start(script).await;
    let running = home.open(settings_with_model(&model)).await;
    let chat = running.send(None, "Hello", None).await.expect("it is taken");
    model.wait_for_request(1).await;
    running.show("Deep/Alpha.md").await;
    running.select("Deep/Alpha.md", "secret words", Some("Top")).await;
    open(&running).await;
    running.send(Some(&chat), "And this?", None).await.expect("it is queued");
    running.show("Beta.md").await;
    gate.open();
    running.app.wait_until_idle(&chat).await.expect("a vault is open");
    let items = running.view(&chat).await.items;
    let message = items.iter().rev().find_map(|item| match item {
        ChatItem::User { id, .. } => Some(id.clone()),
        _ => None,
    });
    let message = message.expect("a message");
    let again = RegenerateRequest { message, text: None, old: None };
    running.app.regenerate(&again).await.expect("it is regenerated");
    running.app.wait_until_idle(&chat).await.expect("a vault is open");
    let bodies = model.request_bodies().join("\n");
    running.quit().await;
    model.finish();
    bodies
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_of_an_excluded_open_note_is_in_any_request() {
    let told = told_of_open_note(async |running: &RunningApp| running.exclude_note()).await;
    for word in ["Alpha", "secret words", "Open note", "Beta"] {
        assert!(!told.contains(word), "{word}: {told}");
    }
    assert_eq!(told.matches("did not send the open note with this message").count(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_open_note_of_a_message_stays_when_it_is_queued_and_regenerated() {
    let told = told_of_open_note(async |_: &RunningApp| ()).await;
    assert!(told.contains("Open note: Deep/Alpha.md (opened beside the chat just now)"), "{told}");
    assert!(told.contains("Open note: Deep/Alpha.md (open when the user first sent this)"));
    assert_eq!(told.matches("`Deep/Alpha.md` · open when the user sent the message").count(), 2);
    assert!(told.contains("Selected in Deep/Alpha.md, under “Top”, just now"), "{told}");
    assert!(!told.contains("Beta"), "what was opened since was not sent");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_open_note_that_is_private_is_not_sent_even_when_the_composer_asks_for_it() {
    let rules = |rule: &str| vec![rule.to_owned()];
    for (never, local, is_sent, why) in [
        (rules("Deep/"), Vec::new(), false, Some(PrivateNote::Never)),
        (Vec::new(), rules("#home"), false, Some(PrivateNote::LocalOnly)),
        (Vec::new(), Vec::new(), true, None),
    ] {
        let home = home_with_key(&[("Deep/Alpha.md", "secret words #home\n")]);
        let model = ScriptedModel::start(vec![Reply::text("Yes.")]).await;
        let private = PrivateSettings { never, local, ..PrivateSettings::default() };
        let running = home.open(Settings { private, ..settings_with_model(&model) }).await;
        running.show("Deep/Alpha.md").await;
        let note = note_paths(&["Deep/Alpha.md"]).remove(0);
        assert_eq!(running.app.private_note(note).await.expect("it is judged"), why);
        running.send_and_wait(None, "What is this?").await;
        let body = model.request_bodies().pop().expect("a request");
        assert_eq!(body.contains("Alpha"), is_sent, "{body}");
        assert_eq!(body.contains("Open note"), is_sent, "{body}");
        running.quit().await;
        model.finish();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_folders_hints_and_the_users_own_order_stand_behind_the_instructions() {
    let home = home_with_key(&[("CLAUDE.md", "Recipes live in `Recipes/`.")]);
    let model = ScriptedModel::start(vec![Reply::text("Yes."), Reply::text("No.")]).await;
    let organisation = "Meetings are tagged #meeting.".to_owned();
    let running = home.open(Settings { organisation, ..settings_with_model(&model) }).await;
    running.send_and_wait(None, "Hello").await;
    let system = model.requests()[0]["system"][0]["text"].as_str().expect("a text").to_owned();
    let at = |words: &str| system.find(words).unwrap_or_else(|| panic!("no {words} in {system}"));
    assert!(at("<hints file=\"CLAUDE.md\">") < at("Recipes live in `Recipes/`."));
    assert!(at("Recipes live") < at("Meetings are tagged #meeting."));

    let never = PrivateSettings { never: vec!["CLAUDE.md".into()], ..PrivateSettings::default() };
    let settings = Settings { private: never, ..settings_with_model(&model) };
    running.app.save_settings(settings).await.expect("saved");
    running.send_and_wait(None, "Hello again").await;
    assert!(!model.request_bodies()[1].contains("Recipes live"), "private hints are not told");
    running.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_answers_nothing_says_that_the_question_was_skipped() {
    let asks = json!({ "message": "Which list?", "is_question": true, "options": ["One", "Two"] });
    let script = vec![Reply::calls(vec![("send_message", asks)]), Reply::text("Well.")];
    let model = ScriptedModel::start(script).await;
    let home = home_with_key(&[("Alpha.md", "one\n")]);
    let running = home.open(settings_with_model(&model)).await;
    let chat = running.send_and_wait(None, "Write down turmeric").await;
    running.send_and_wait(Some(&chat), "Forget it.").await;
    let (_, last) = {
        let request = model.requests().pop().expect("a request");
        let (before, last) = last_two_messages(&request);
        (before.clone(), last.to_string())
    };
    assert!(last.contains("put your question “Which list?” aside"), "{last}");
    running.quit().await;
    model.finish();
}
