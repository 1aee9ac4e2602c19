//! Answers over the hub about notes in the hub's places that only models on this computer may see.

use std::fs;

use jiff::Zoned;
use protocol::hub::approval::ApprovalDecision;
use serde_json::{Value, json};
use testkit::{Gate, Reply, ScriptedModel};

use super::model_switch::settings;
use crate::harness::raw_hub::{RawHub, RawHubLink};
use crate::harness::test_app::{home_with_key, with_hub};

const ANSWER: &str = "You were at the clinic.";
const HELD: &str = "An answer needs your approval in Vaultmate.";

/// The text that the hub gets after a model on this computer made this call, with `rule` for the notes that
/// only such models may see.
async fn hub_text(notes: &[(&str, &str)], call: (&'static str, Value), rule: &str) -> String {
    let home = home_with_key(notes);
    let model = ScriptedModel::start(vec![Reply::calls(vec![call]), Reply::text(ANSWER)]).await;
    let hub = RawHub::bind().await;
    let running = home.open(with_hub(settings(&model, &[rule], true), &hub.url())).await;
    let mut line = hub.accept().await;
    line.deliver("m-1", "what is in my notes?").await;
    assert_eq!(line.next_response().await.kind, "ack");
    let told = line.next_response().await.payload["body"].as_str().unwrap_or_default().to_owned();
    running.quit().await;
    model.finish();
    told
}

#[tokio::test(flavor = "multi_thread")]
async fn over_the_hub_an_answer_from_a_local_only_note_of_its_places_needs_approval() {
    let today = format!("Diary/{}.md", Zoned::now().date());
    let daily = [
        (today.as_str(), "I was at the clinic.\n"),
        (".obsidian/daily-notes.json", r#"{"folder":"Diary"}"#),
    ];
    let inbox = [("inbox/Inbox.md", "- clinic at ten #home\n")];
    let read = |path: &str| ("read_file", json!({ "path": path }));
    for (notes, path, rule, is_held) in [
        (&daily[..], today.as_str(), "Diary/", true),
        (&daily[..], today.as_str(), "Other/", false),
        (&inbox[..], "inbox/Inbox.md", "#home", true),
        (&inbox[..], "inbox/Inbox.md", "#work", false),
    ] {
        let told = hub_text(notes, read(path), rule).await;
        assert_eq!(told, if is_held { HELD } else { ANSWER }, "{path}, {rule}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn over_the_hub_an_answer_from_a_search_through_local_only_notes_needs_approval() {
    let notes = [("inbox/Inbox.md", "- milk\n"), ("inbox/Plan.md", "clinic at ten #home\n")];
    let elsewhere = [("inbox/Inbox.md", "- milk\n"), ("Plan.md", "clinic at ten #home\n")];
    // It finds nothing, so it names no note.
    let search = ("search_files", json!({ "pattern": "zoo", "file_pattern": "inbox/*.md" }));
    for (notes, rule, is_held) in
        [(&notes, "#home", true), (&notes, "#work", false), (&elsewhere, "#home", false)]
    {
        let told = hub_text(notes, search.clone(), rule).await;
        assert_eq!(told, if is_held { HELD } else { ANSWER }, "{notes:?}, {rule}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn over_the_hub_text_of_a_note_that_was_replaced_since_it_was_read_needs_approval() {
    for (folder, is_held) in [("Home", true), ("Work", false)] {
        let home = home_with_key(&[
            ("inbox/A.md", "clinic at ten\n"),
            ("inbox/B.md", "milk\n"),
            ("Home/C.md", "nothing\n"),
        ]);
        let read = |path: &str| Reply::calls(vec![("read_file", json!({ "path": path }))]);
        let model = ScriptedModel::start(vec![
            read("inbox/A.md"),
            Reply::text(ANSWER),
            read("inbox/B.md"),
            Reply::text("As I said: the clinic."),
        ])
        .await;
        let hub = RawHub::bind().await;
        let running = home.open(with_hub(settings(&model, &["Home/"], true), &hub.url())).await;
        let mut line = hub.accept().await;
        line.deliver("m-1", "what is in my notes?").await;
        assert_eq!(line.next_response().await.kind, "ack");
        assert_eq!(line.next_response().await.payload["body"], ANSWER);
        let (note, left) = (home.notes.root().join("inbox/A.md"), home.notes.root().join(folder));
        fs::create_dir_all(&left).expect("made");
        fs::rename(&note, left.join("A.md")).expect("moved");
        fs::write(&note, "another\n").expect("written");
        line.deliver("m-2", "say it again").await;
        assert_eq!(line.next_response().await.kind, "ack");
        let told = line.next_response().await.payload["body"].clone();
        assert_eq!(told, if is_held { HELD } else { "As I said: the clinic." }, "{folder}");
        running.quit().await;
        model.finish();
    }
}

/// The text of the next notification, past receipts that the hub may not have read before.
async fn next_notification_body(line: &mut RawHubLink) -> String {
    loop {
        let response = line.next_response().await;
        if response.kind == "notification" {
            return response.payload["body"].as_str().unwrap_or_default().to_owned();
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_queued_answer_from_a_note_that_became_private_is_sent_once_approved() {
    for (rule, is_held) in [("inbox/", true), ("Other/", false)] {
        let home = home_with_key(&[("inbox/Inbox.md", "- clinic at ten\n")]);
        let gate = Gate::closed();
        let read = Reply::calls(vec![("read_file", json!({ "path": "inbox/Inbox.md" }))]);
        let replies = vec![read, Reply::text(ANSWER).gated(&gate)];
        let (model, hub) = (ScriptedModel::start(replies).await, RawHub::bind().await);
        let running = home.open(with_hub(settings(&model, &[], true), &hub.url())).await;
        let mut line = hub.accept().await;
        line.deliver("m-1", "what is in my notes?").await;
        assert_eq!(line.next_response().await.kind, "ack");
        gate.wait_until_reached(1).await;
        drop(line);
        gate.open();
        let conversation = running.only_conversation().await;
        running.app.wait_until_idle(&conversation).await.expect("idle");
        let add_rule = |held: &mut protocol::Settings| held.private.local.push(rule.to_owned());
        running.app.change_settings(add_rule).await.expect("saved");

        let mut line = hub.accept().await;
        let told = next_notification_body(&mut line).await;
        assert_eq!(told, if is_held { HELD } else { ANSWER }, "{rule}");
        let held = running.view(&conversation).await.held;
        let texts: Vec<&str> = held.iter().map(|one| one.text.as_str()).collect();
        assert_eq!(texts, if is_held { vec![ANSWER] } else { vec![] }, "{rule}");
        for one in &held {
            let sent = running.app.decide_approval(one.number, ApprovalDecision::Send).await;
            sent.expect("sent");
            assert_eq!(next_notification_body(&mut line).await, ANSWER, "the user approved it");
        }
        running.quit().await;
        model.finish();
    }
}
