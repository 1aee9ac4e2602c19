//! Where the parts meet: two windows into one vault, a vault that is changed for another, requests
//! that cross, and crashes between two parts.

use std::path::Path;

use protocol::chat::conversation::ChatItem;
use protocol::{AppEvent, ErrorCode, ResumePolicy, Settings, TurnStatus};
use serde_json::json;
use testkit::{Gate, Reply, ScriptedModel, TempVault, TestHub};

use crate::harness::raw_hub::RawHub;
use crate::harness::test_app::{
    TestHome, home_with_key, note_paths, settings_with_model, settings_without_model,
    user_messages, with_hub,
};

const NOTES: [(&str, &str); 1] = [("Alpha.md", "# Alpha\n\nThe first line.\n")];

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_runs_is_never_told_as_queued_afterwards() {
    let home = TestHome::new(&NOTES);
    let running = home.open(settings_without_model()).await;
    let conversation = running.send_and_wait(None, "list").await;
    for _ in 0..20 {
        running.send_and_wait(Some(&conversation), "list").await;
    }
    let last = "list the last";
    running.send_and_wait(Some(&conversation), last).await;
    running
        .wait_for_event("the last message as running", |event| match event {
            AppEvent::ItemChanged { item: ChatItem::User { text, queued: false, .. }, .. } => {
                (text == last).then_some(())
            }
            _ => None,
        })
        .await;
    let queued = running.still_queued();
    assert!(queued.is_empty(), "{queued:?}");
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn however_its_path_is_spelled_a_vault_is_one_vault() {
    let home = TestHome::new(&NOTES);
    let running = home.open(settings_without_model()).await;
    let conversation = running.send_and_wait(None, "list").await;
    let with_slash = format!("{}/", home.notes.root().display());
    let around = home.notes.root().join("../").join(home.notes.root().file_name().expect("a name"));
    for other in [Path::new(&with_slash), &around] {
        let second = home.start(settings_without_model()).await;
        let refused = second.app.open_vault(other).await.expect_err("it is held");
        assert_eq!(refused.code, ErrorCode::Busy, "{}", other.display());
        second.quit().await;
        running.app.open_vault(other).await.expect("the same vault again");
        assert_eq!(user_messages(&running.view(&conversation).await), ["list"]);
    }
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_that_is_not_there_does_not_close_the_vault_that_is_open() {
    let home = TestHome::new(&NOTES);
    let running = home.open(settings_without_model()).await;
    let gone = home.notes.root().join("missing");
    let refused = running.app.open_vault(&gone).await.expect_err("it is not there");
    assert_eq!(refused.code, ErrorCode::Vault);
    running.send_and_wait(None, "list").await;
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_was_cut_by_another_vault_is_not_being_written_for_ever() {
    let gate = Gate::closed();
    let words = "These are many words of an answer that is never completed.";
    let model = ScriptedModel::start(vec![Reply::text(words).gated(&gate)]).await;
    let (home, other) = (home_with_key(&NOTES), TempVault::new(&[]));
    let settings = Settings { resume: ResumePolicy::Never, ..settings_with_model(&model) };
    let running = home.open(settings).await;
    let conversation = running.send(None, "tell me", None).await.expect("taken");
    running
        .wait_for_event("its first words", |event| {
            matches!(event, AppEvent::TextAdded { .. }).then_some(())
        })
        .await;
    running.app.open_vault(other.root()).await.expect("another vault");
    running.app.open_vault(home.notes.root()).await.expect("the first vault");
    let view = running.view(&conversation).await;
    let [ChatItem::User { queued: false, .. }, ChatItem::Ended { status, .. }] =
        view.items.as_slice()
    else {
        panic!("{:#?}", view.items)
    };
    assert_eq!(*status, TurnStatus::Interrupted);
    assert!(!view.conversation.working);
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_concurrent_decisions_one_counts_and_the_other_is_refused() {
    let edit = json!({ "path": "Alpha.md", "old_text": "first", "new_text": "FIRST" });
    let model =
        ScriptedModel::start(vec![Reply::calls(vec![("edit_file", edit)]), Reply::text("Look.")])
            .await;
    let home = home_with_key(&NOTES);
    let running = home.open(settings_with_model(&model)).await;
    let conversation = running.send_and_wait(None, "shout").await;
    let review = running.view(&conversation).await.review.expect("it is pending");
    let decision = review.decide_request(&note_paths(&["Alpha.md"]), &[]);
    let (one, other) =
        tokio::join!(running.app.decide_review(&decision), running.app.decide_review(&decision));
    let refused: Vec<_> = [one, other].into_iter().filter_map(Result::err).collect();
    assert_eq!(refused.len(), 1, "{refused:?}");
    assert!(refused[0].message.contains("already been reviewed"), "{refused:?}");
    assert_eq!(home.notes.read("Alpha.md"), "# Alpha\n\nThe FIRST line.\n");
    assert!(running.view(&conversation).await.review.is_none());
    running.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_decided_about_changes_that_may_still_grow() {
    let gate = Gate::closed();
    let edit = json!({ "path": "Alpha.md", "old_text": "first", "new_text": "FIRST" });
    let model = ScriptedModel::start(vec![
        Reply::calls(vec![("edit_file", edit)]),
        Reply::text("I am not done yet, there is more.").gated(&gate),
    ])
    .await;
    let home = home_with_key(&NOTES);
    let running = home.open(settings_with_model(&model)).await;
    let conversation = running.send(None, "shout", None).await.expect("taken");
    gate.wait_until_reached(1).await;
    let refused = running.decide(&conversation, &["Alpha.md"], &[]).await.expect_err("too early");
    assert!(refused.message.contains("isn’t finished"), "{refused}");
    assert_eq!(home.notes.read("Alpha.md"), NOTES[0].1);
    gate.open();
    running.app.wait_until_idle(&conversation).await.expect("idle");
    running.decide(&conversation, &["Alpha.md"], &[]).await.expect("applied");
    assert_eq!(home.notes.read("Alpha.md"), "# Alpha\n\nThe FIRST line.\n");
    running.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_from_the_command_line_leaves_the_hub_and_its_messages_alone() {
    let (home, hub) = (TestHome::new(&NOTES), TestHub::start().await);
    let running = home.start(with_hub(settings_without_model(), &hub.url())).await;
    running.quit().await;
    let said = home.ask(&["first"]).await;
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(hub.events().is_empty(), "{:?}", hub.events());
    // The control: the same settings, opened to stay.
    let running = home.start_with_stored_settings().await;
    running.app.open_vault(home.notes.root()).await.expect("it opens");
    assert_eq!(hub.wait_for_registration().await, "Notes");
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hub_message_cut_before_its_turn_was_stored_is_still_asked_of_the_model() {
    let read = Reply::calls(vec![("read_file", json!({ "path": NOTES[0].0 }))]);
    let model = ScriptedModel::start(vec![read, Reply::text("At nine.")]).await;
    let (home, hub) = (home_with_key(&NOTES), RawHub::bind().await);
    let url = [("VAULTMATE_HUB_URL", hub.url())];
    let mut killed = home.spawn_story_killed_at("store.inbox_assign.after", "listen", &url);
    let mut line = hub.accept().await;
    line.deliver("m-1", "when does the ferry leave?").await;
    killed.wait().await.expect("it kills itself");
    drop(line);

    let running = home.open(with_hub(settings_with_model(&model), &hub.url())).await;
    let mut line = hub.accept().await;
    // It has read a note that the hub may not hear of.
    assert_eq!(
        line.next_response().await.payload["body"],
        "An answer needs your approval in Vaultmate."
    );
    assert_eq!(home.notes.try_read("inbox/Inbox.md"), None);
    let conversation = running.only_conversation().await;
    let view = running.view(&conversation).await;
    assert_eq!(user_messages(&view), ["when does the ferry leave?"]);
    running.quit().await;
    model.finish();
}
