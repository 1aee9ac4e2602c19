//! A verdict on single hunks: each goes its own way, what is left waits, a kill at any step of it
//! leads on, and the model is told what was turned down.

use protocol::applied::UndoScope;
use protocol::request::{DecideReview, HunkVerdict, NoteVerdict, Verdict};
use protocol::{ConversationId, Review};
use serde_json::json;
use testkit::scripted_model::{KEY, last_words};
use testkit::{Reply, ScriptedModel};

use crate::stage::{Home, Running, asking, keyed};

const BEFORE: &str = "one\n-\ntwo\n-\nthree\n-\nfour\n";
const HUNKS: [(&str, &str); 1] = [("List.md", BEFORE)];
const DECIDED: &str = "ONE\n-\ntwo\n-\nmine\nand more\n-\nfour\n";
const ALL: &str = "ONE\n-\ntwo\n-\nmine\nand more\n-\nFOUR\n";

fn script() -> Vec<Reply> {
    let edit = |word: &str| {
        let (old_text, new_text) = (word, word.to_uppercase());
        ("edit_file", json!({ "path": "List.md", "old_text": old_text, "new_text": new_text }))
    };
    vec![
        Reply::calls(["one", "two", "three", "four"].map(edit).to_vec()),
        Reply::text("Look at it."),
        Reply::text("I see."),
    ]
}

fn by_hunk(review: &Review) -> DecideReview {
    let note = &review.notes[0];
    let edit = HunkVerdict::Edit { text: "mine\nand more".into() };
    let hunks = vec![HunkVerdict::Accept, HunkVerdict::Reject, edit, HunkVerdict::Wait];
    let (path, seen) = (note.path.clone(), note.seen.clone());
    let notes = vec![NoteVerdict { path, seen, verdict: Verdict::Hunks { hunks } }];
    DecideReview { review: review.id.clone(), notes }
}

async fn review(running: &Running, conversation: &ConversationId) -> Review {
    running.view(conversation).await.review.expect("something waits")
}

/// What waits is the last hunk; it is accepted, and all of it is taken back.
async fn finish(home: &Home, running: &Running, conversation: &ConversationId) {
    let left = review(running, conversation).await;
    assert_eq!((left.notes.len(), left.notes[0].hunks.len()), (1, 1), "{left:?}");
    assert_eq!(home.notes.read("List.md"), DECIDED);
    running.decide(conversation, &["List.md"], &[]).await.expect("applied");
    assert_eq!(home.notes.read("List.md"), ALL);
    let all = UndoScope::Conversation { conversation: conversation.clone() };
    assert!(running.app.undo(&all).await.expect("taken back").conflicts.is_empty());
    assert_eq!(home.notes.read("List.md"), BEFORE);
}

#[tokio::test(flavor = "multi_thread")]
async fn each_hunk_goes_its_own_way_and_the_model_is_told() {
    let (home, model) = (keyed(&HUNKS), ScriptedModel::start(script()).await);
    let running = home.open(asking(&model)).await;
    let conversation = running.say(None, "make it loud").await;
    let shown = review(&running, &conversation).await;
    assert_eq!(shown.notes[0].hunks.len(), 4, "{shown:?}");
    let verdict = by_hunk(&shown);
    running.app.decide_review(&verdict).await.expect("decided");
    assert_eq!(home.notes.read("List.md"), DECIDED);

    let again = running.app.decide_review(&verdict).await.expect_err("it is about other changes");
    assert!(again.message.contains("not the changes that you looked at"), "{again:?}");
    assert_eq!(home.notes.read("List.md"), DECIDED);

    running.say(Some(&conversation), "well?").await;
    let told = last_words(model.requests().last().expect("a request"));
    for words in [
        "applied some of the changes to List.md and rejected the rest",
        "put some lines in other words in List.md",
        "-two\n+TWO\n",
        "still waiting for the user's review: List.md",
    ] {
        assert!(told.contains(words), "{words}: {told}");
    }
    finish(&home, &running, &conversation).await;
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kill_while_hunks_are_decided_leads_on_and_not_back() {
    let points = [
        ("store.choose.before", false),
        ("store.choose.after", false),
        ("store.intend.after", true),
        ("store.settle.after", true),
        ("store.decide.before", true),
        ("store.decide.after", true),
    ];
    for (point, is_decided) in points {
        let (home, model) = (keyed(&HUNKS), ScriptedModel::start(script()).await);
        let env = [("ANTHROPIC_API_KEY", KEY.to_owned()), ("ANTHROPIC_BASE_URL", model.base_url())];
        home.killed_on(point, "hunks", &env).await;
        let running = home.open(asking(&model)).await;
        let conversation = running.only_conversation().await;
        if !is_decided {
            assert_eq!(home.notes.read("List.md"), BEFORE, "{point}");
            let shown = review(&running, &conversation).await;
            running.app.decide_review(&by_hunk(&shown)).await.expect("decided");
        }
        finish(&home, &running, &conversation).await;
        running.quit().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_note_that_changed_elsewhere_takes_the_hunks_where_its_own_lines_did_not() {
    let (home, model) = (keyed(&HUNKS), ScriptedModel::start(script()).await);
    let running = home.open(asking(&model)).await;
    let conversation = running.say(None, "make it loud").await;
    let verdict = by_hunk(&review(&running, &conversation).await);
    home.notes.write("List.md", format!("{BEFORE}-\nfive\n"));
    running.app.decide_review(&verdict).await.expect("decided");
    assert_eq!(home.notes.read("List.md"), format!("{DECIDED}-\nfive\n"));

    home.notes.write("List.md", format!("{DECIDED}-\nfive\n").replace("four", "cuatro"));
    let told = running.decide(&conversation, &["List.md"], &[]).await.expect_err("the same lines");
    assert!(told.message.contains("was not changed and still waits"), "{told:?}");
    assert_eq!(running.waiting(&conversation).await, ["List.md"]);
    running.quit().await;
}
