//! Where the parts meet: two windows into one vault, a vault that is changed for another, requests
//! that cross, and crashes between two parts.

use std::path::Path;

use protocol::conversation::Item;
use protocol::{AppEvent, ErrorCode, Resume, Settings, TurnStatus};
use serde_json::json;
use testkit::{Gate, Reply, ScriptedModel, TempVault, TestHub};

use crate::bare_hub::BareHub;
use crate::stage::{Home, asking, keyed, linked, paths, users_words, without_model};

const NOTES: [(&str, &str); 1] = [("Alpha.md", "# Alpha\n\nThe first line.\n")];

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_runs_is_never_told_as_queued_afterwards() {
    let home = Home::new(&NOTES);
    let running = home.open(without_model()).await;
    let conversation = running.say(None, "list").await;
    for _ in 0..20 {
        running.say(Some(&conversation), "list").await;
    }
    let last = "list the last";
    running.say(Some(&conversation), last).await;
    running
        .hears("the last message as running", |event| match event {
            AppEvent::ItemChanged { item: Item::User { text, queued: false, .. }, .. } => {
                (text == last).then_some(())
            }
            _ => None,
        })
        .await;
    let queued = running.left_queued();
    assert!(queued.is_empty(), "{queued:?}");
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn however_its_path_is_spelled_a_vault_is_one_vault() {
    let home = Home::new(&NOTES);
    let running = home.open(without_model()).await;
    let conversation = running.say(None, "list").await;
    let with_slash = format!("{}/", home.notes.root().display());
    let around = home.notes.root().join("../").join(home.notes.root().file_name().expect("a name"));
    for other in [Path::new(&with_slash), &around] {
        let second = home.start(without_model()).await;
        let refused = second.app.open_vault(other).await.expect_err("it is held");
        assert_eq!(refused.code, ErrorCode::Busy, "{}", other.display());
        second.quit().await;
        running.app.open_vault(other).await.expect("the same vault again");
        assert_eq!(users_words(&running.view(&conversation).await), ["list"]);
    }
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_that_is_not_there_does_not_close_the_vault_that_is_open() {
    let home = Home::new(&NOTES);
    let running = home.open(without_model()).await;
    let gone = home.notes.root().join("nowhere");
    let refused = running.app.open_vault(&gone).await.expect_err("it is not there");
    assert_eq!(refused.code, ErrorCode::Vault);
    running.say(None, "list").await;
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_was_cut_by_another_vault_is_not_being_written_for_ever() {
    let gate = Gate::closed();
    let words = "These are many words of an answer that is never completed.";
    let model = ScriptedModel::start(vec![Reply::text(words).gated(&gate)]).await;
    let (home, other) = (keyed(&NOTES), TempVault::new(&[]));
    let settings = Settings { resume: Resume::Never, ..asking(&model) };
    let running = home.open(settings).await;
    let conversation = running.send(None, "tell me", None).await.expect("taken");
    running
        .hears("its first words", |event| matches!(event, AppEvent::TextAdded { .. }).then_some(()))
        .await;
    running.app.open_vault(other.root()).await.expect("another vault");
    running.app.open_vault(home.notes.root()).await.expect("the first vault");
    let view = running.view(&conversation).await;
    let [Item::User { queued: false, .. }, Item::Ended { status, .. }] = view.items.as_slice()
    else {
        panic!("{:#?}", view.items)
    };
    assert_eq!(*status, TurnStatus::Interrupted);
    assert!(!view.conversation.working);
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_verdicts_that_cross_one_counts_and_the_other_is_told_so() {
    let edit = json!({ "path": "Alpha.md", "old_text": "first", "new_text": "FIRST" });
    let model =
        ScriptedModel::start(vec![Reply::calls(vec![("edit_file", edit)]), Reply::text("Look.")])
            .await;
    let home = keyed(&NOTES);
    let running = home.open(asking(&model)).await;
    let conversation = running.say(None, "shout").await;
    let review = running.view(&conversation).await.review.expect("it waits");
    let verdict = review.verdict(&paths(&["Alpha.md"]), &[]);
    let (one, other) =
        tokio::join!(running.app.decide_review(&verdict), running.app.decide_review(&verdict));
    let refused: Vec<_> = [one, other].into_iter().filter_map(Result::err).collect();
    assert_eq!(refused.len(), 1, "{refused:?}");
    assert!(refused[0].message.contains("already decided"), "{refused:?}");
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
    let home = keyed(&NOTES);
    let running = home.open(asking(&model)).await;
    let conversation = running.send(None, "shout", None).await.expect("taken");
    gate.reached(1).await;
    let refused = running.decide(&conversation, &["Alpha.md"], &[]).await.expect_err("too early");
    assert!(refused.message.contains("still grow"), "{refused}");
    assert_eq!(home.notes.read("Alpha.md"), NOTES[0].1);
    gate.open();
    running.app.idle(&conversation).await.expect("idle");
    running.decide(&conversation, &["Alpha.md"], &[]).await.expect("applied");
    assert_eq!(home.notes.read("Alpha.md"), "# Alpha\n\nThe FIRST line.\n");
    running.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_from_the_command_line_leaves_the_hub_and_its_messages_alone() {
    let (home, hub) = (Home::new(&NOTES), TestHub::start().await);
    let running = home.start(linked(without_model(), &hub.url())).await;
    running.quit().await;
    let said = home.ask(&["first"]).await;
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(hub.seen().is_empty(), "{:?}", hub.seen());
    // The control: the same settings, opened to stay.
    let running = home.start_as_it_is().await;
    running.app.open_vault(home.notes.root()).await.expect("it opens");
    assert_eq!(hub.registered().await, "Notes");
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hub_message_cut_before_its_turn_was_stored_is_still_asked_of_the_model() {
    let read = Reply::calls(vec![("read_file", json!({ "path": NOTES[0].0 }))]);
    let model = ScriptedModel::start(vec![read, Reply::text("At nine.")]).await;
    let (home, hub) = (keyed(&NOTES), BareHub::bind().await);
    let url = [("VAULTMATE_HUB_URL", hub.url())];
    let mut killed = home.story("store.inbox_assign.after", "listen", &url);
    let mut line = hub.accept().await;
    line.say("m-1", "when does the ferry leave").await;
    killed.wait().await.expect("it kills itself");
    drop(line);

    let running = home.open(linked(asking(&model), &hub.url())).await;
    let mut line = hub.accept().await;
    // It has read a note that the hub may not hear of.
    assert_eq!(line.answer().await.payload["body"], "An answer waits for you in Vaultmate.");
    assert_eq!(home.notes.try_read("inbox/Inbox.md"), None);
    let conversation = running.only_conversation().await;
    let view = running.view(&conversation).await;
    assert_eq!(users_words(&view), ["when does the ferry leave"]);
    running.quit().await;
    model.finish();
}
