//! Conversations as the user keeps them, through the whole application and over restarts.

use protocol::chat::conversation_list::{ArchiveState, HitLocation, ListConversations};
use protocol::request::RegenerateRequest;
use protocol::{AppEvent, ConversationId, TurnId};
use serde_json::Value;
use testkit::stories::note_changes::NOTES;
use testkit::{Gate, Reply, ScriptedModel};

use crate::harness::test_app::{
    RunningApp, TestHome, home_with_key, run_command, settings_with_model, settings_without_model,
    user_messages,
};

async fn listed_titles(app: &RunningApp, archive_state: ArchiveState) -> Vec<String> {
    let request = ListConversations { archive_state, before: None };
    let page = app.app.list_conversations(&request).await.expect("a page");
    page.conversations.into_iter().map(|row| row.title).collect()
}

async fn count_hits(app: &RunningApp, query: &str) -> usize {
    app.app.search_conversations(query).await.expect("searched").found.len()
}

#[tokio::test(flavor = "multi_thread")]
async fn names_the_archive_and_deletion_hold_over_a_restart_and_are_told() {
    let home = TestHome::new(&NOTES);
    let running = home.open(settings_without_model()).await;
    let one = running.send_and_wait(None, "Where is the turmeric?").await;
    running.send_and_wait(None, "Where is the boat?").await;
    running.app.rename_conversation(&one, "  Spices \n and such ").await.expect("renamed");
    running.app.set_archive_state(&one, ArchiveState::Archived).await.expect("archived");
    let told = |event: &AppEvent| match event {
        AppEvent::ConversationChanged { conversation } if conversation.archived => {
            Some(conversation.title.clone())
        }
        _ => None,
    };
    assert_eq!(running.wait_for_event("the archived row", told).await, "Spices and such");
    assert!(running.app.rename_conversation(&one, " ").await.is_err());
    running.quit().await;

    let running = home.open(settings_without_model()).await;
    assert_eq!(listed_titles(&running, ArchiveState::Archived).await, ["Spices and such"]);
    assert_eq!(listed_titles(&running, ArchiveState::Open).await, ["Where is the boat?"]);
    assert_ne!(count_hits(&running, "turmeric").await, 0, "archived conversations are found");
    running.app.delete_conversation(&one).await.expect("deleted");
    let gone = |event: &AppEvent| match event {
        AppEvent::ConversationGone { conversation } => Some(conversation.clone()),
        _ => None,
    };
    assert_eq!(running.wait_for_event("that it is gone", gone).await, one);
    assert!(running.app.conversation(&one).await.is_err());
    assert_eq!(count_hits(&running, "turmeric").await, 0);
    running.quit().await;

    let running = home.open(settings_without_model()).await;
    assert_eq!(listed_titles(&running, ArchiveState::Archived).await, Vec::<String>::new());
    running.app.restore_conversation(&one).await.expect("restored");
    assert_ne!(count_hits(&running, "turmeric").await, 0);
    running.send_and_wait(Some(&one), "And the cumin?").await;
    assert_eq!(
        listed_titles(&running, ArchiveState::Open).await,
        ["Spices and such", "Where is the boat?"]
    );
    let never: ConversationId = "missing".into();
    let refused = running.app.restore_conversation(&never).await.expect_err("there is none");
    assert_eq!(refused.message, "This conversation no longer exists.");
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_that_is_being_answered_is_not_deleted() {
    let model = ScriptedModel::start(vec![Reply::hang()]).await;
    let home = home_with_key(&NOTES);
    let running = home.open(settings_with_model(&model)).await;
    let one = running.send(None, "Tell me", None).await.expect("sent");
    model.wait_for_request(1).await;
    let refused = running.app.delete_conversation(&one).await.expect_err("it works");
    assert!(
        refused.message.contains("Stop it or wait until it is complete"),
        "{}",
        refused.message
    );
    assert!(running.app.end_conversation(&one).await.is_err());
    running.app.stop(&one).await.expect("stopped");
    running.app.wait_until_idle(&one).await.expect("idle");
    running.app.delete_conversation(&one).await.expect("deleted");
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn all_are_deleted_at_once_but_what_is_answered_and_come_back_after_a_restart() {
    let model = ScriptedModel::start(vec![Reply::text("There."), Reply::hang()]).await;
    let home = home_with_key(&NOTES);
    let running = home.open(settings_with_model(&model)).await;
    let spices = running.send_and_wait(None, "Where is the turmeric?").await;
    running.app.set_archive_state(&spices, ArchiveState::Archived).await.expect("archived");
    let hangs = running.send(None, "Tell me", None).await.expect("sent");
    model.wait_for_request(2).await;
    let kept = running.app.conversation_counts().await.expect("counted");
    assert_eq!((kept.kept, kept.deleted, kept.until), (2, 0, None));
    let left = running.app.delete_conversations().await.expect("deleted");
    assert_eq!((left.kept, left.deleted), (1, 1), "what is answered stays");
    assert!(left.until.is_some());
    let gone = |event: &AppEvent| match event {
        AppEvent::ConversationGone { conversation } => Some(conversation.clone()),
        _ => None,
    };
    assert_eq!(running.wait_for_event("that it is gone", gone).await, spices);
    assert_eq!(count_hits(&running, "turmeric").await, 0);
    running.app.stop(&hangs).await.expect("stopped");
    running.app.wait_until_idle(&hangs).await.expect("idle");
    let left = running.app.delete_conversations().await.expect("deleted");
    assert_eq!((left.kept, left.deleted), (0, 2));
    assert_eq!(home.notes.read(NOTES[0].0), NOTES[0].1);
    running.quit().await;

    let running = home.open(settings_with_model(&model)).await;
    assert_eq!(listed_titles(&running, ArchiveState::Open).await, Vec::<String>::new());
    let page = running.app.restore_conversations().await.expect("restored");
    let titles: Vec<_> = page.conversations.iter().map(|row| row.title.as_str()).collect();
    assert_eq!((titles, page.behind), (vec!["Tell me"], None));
    assert_eq!(listed_titles(&running, ArchiveState::Archived).await, ["Where is the turmeric?"]);
    assert_ne!(count_hits(&running, "turmeric").await, 0);
    assert_eq!(running.app.conversation_counts().await.expect("counted").deleted, 0);
    running.quit().await;
}

/// A conversation in two versions: the first asks for a red, the second, which is shown, for a green.
async fn ask_in_two_versions(running: &RunningApp) -> ConversationId {
    let one = running.send_and_wait(None, "Which red?").await;
    let view = running.view(&one).await;
    let Some(protocol::chat::conversation::ChatItem::User { id, .. }) = view.items.first() else {
        panic!("{:?}", view.items)
    };
    let request =
        RegenerateRequest { message: id.clone(), text: Some("Which green?".into()), old: None };
    running.app.regenerate(&request).await.expect("asked");
    running.app.wait_until_idle(&one).await.expect("idle");
    assert_eq!(user_messages(&running.view(&one).await), ["Which green?"]);
    one
}

/// The turn in which these words are found first.
async fn turn_with(running: &RunningApp, words: &str) -> TurnId {
    let found = running.app.search_conversations(words).await.expect("searched").found;
    let HitLocation::Item { turn, .. } = &found[0].place else { panic!("{found:?}") };
    turn.clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_found_in_a_variant_that_is_not_shown_opens_that_variant() {
    let replies = ["Vermilion.", "Sea green."].map(Reply::text);
    let model = ScriptedModel::start(replies.into()).await;
    let home = home_with_key(&NOTES);
    let running = home.open(settings_with_model(&model)).await;
    let one = ask_in_two_versions(&running).await;
    let found = running.app.search_conversations("vermil").await.expect("searched").found;
    let HitLocation::Item { turn, id } = &found[0].place else { panic!("{found:?}") };
    let view = running.app.conversation_at(&one, turn).await.expect("a view");
    assert_eq!(user_messages(&view), ["Which red?"]);
    let shown = view.items.iter().any(|item| {
        matches!(item, protocol::chat::conversation::ChatItem::Assistant { id: shown, .. } if shown == id)
    });
    assert!(shown, "what was found stands there under its id: {:?}", view.items);
    running.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_variant_with_a_search_result_is_not_shown_while_another_one_is_answered() {
    let gate = Gate::closed();
    let mut script = Vec::from(["Vermilion.", "Sea green."].map(Reply::text));
    script.extend([Reply::text("Some words about blue.").gated(&gate), Reply::text("Teal.")]);
    let model = ScriptedModel::start(script).await;
    let home = home_with_key(&NOTES);
    let running = home.open(settings_with_model(&model)).await;
    let one = ask_in_two_versions(&running).await;
    let (red, green) = (turn_with(&running, "vermil").await, turn_with(&running, "sea").await);
    running.send(Some(&one), "Which blue?", None).await.expect("sent");
    gate.wait_until_reached(1).await;
    let refused = running.app.conversation_at(&one, &red).await.expect_err("it is answered");
    assert!(refused.message.contains("in another version"), "{refused}");
    let view = running.app.conversation_at(&one, &green).await.expect("it is shown already");
    assert_eq!(user_messages(&view), ["Which green?", "Which blue?"]);
    gate.open();
    running.app.wait_until_idle(&one).await.expect("idle");
    running.send_and_wait(Some(&one), "And between them?").await;
    let whole = ["Which green?", "Which blue?", "And between them?"];
    assert_eq!(user_messages(&running.view(&one).await), whole, "the next message stays with them");
    // The control: nothing is answered any more.
    let view = running.app.conversation_at(&one, &red).await.expect("a view");
    assert_eq!(user_messages(&view), ["Which red?"]);
    running.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_command_line_exports_and_no_key_is_in_it() {
    let model = ScriptedModel::start(vec![Reply::text("In the attic.")]).await;
    let home = home_with_key(&NOTES);
    let running = home.open(settings_with_model(&model)).await;
    running.send_and_wait(None, "Where is the boat?").await;
    let (vault, file) = (home.notes.root().to_owned(), home.data.root().join("all.json"));
    let (vault, file) = (vault.to_str().expect("UTF-8"), file.to_str().expect("UTF-8"));
    let arguments = ["export", "--vault", vault, file];
    let busy = run_command(&mut home.cli_command(&arguments)).await;
    assert_eq!(busy.code, Some(3), "the window holds the vault: {}", busy.stderr);
    running.quit().await;
    let done = run_command(&mut home.cli_command(&arguments)).await;
    assert_eq!(
        (done.code, done.stdout.as_str()),
        (Some(0), format!("Wrote 1 conversation to {file}.\n").as_str())
    );
    let text = std::fs::read_to_string(file).expect("a file");
    let all: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(all["conversations"][0]["turns"][0]["messages"][1]["text"], "In the attic.");
    assert!(!text.contains(testkit::scripted_model::KEY), "the key stays where it is");
    let again = run_command(&mut home.cli_command(&arguments)).await;
    assert_eq!(again.code, Some(1));
    assert!(again.stderr.contains("already exists"), "{}", again.stderr);
    let unclear =
        run_command(&mut home.cli_command(&["export", "--vault", vault, "all.txt"])).await;
    assert!(unclear.stderr.contains("--format"), "{}", unclear.stderr);
}
