//! Pending changes of an open note whose text may come from a note that only local models see.

use protocol::chat::conversation::ChatItem;
use protocol::request::{
    DecideReview, HunkDecision, NoteDecision, OldChanges, RegenerateRequest, ReviewDecision,
};
use protocol::settings::PrivateSettings;
use protocol::{ConversationId, Settings};
use serde_json::json;
use testkit::scripted_model::tool_results;
use testkit::{Reply, ScriptedModel};

use crate::harness::test_app::{RunningApp, TestHome, home_with_key, settings_with_model};

const CANARY: &str = "canary-71d4";

const FAMILY: &str = "# Family\n\none\n\ntwo\n\nthree\n";

const NOTES: [(&str, &str); 3] =
    [("Diary/Ann.md", "canary-71d4\n"), ("Family.md", FAMILY), ("Other.md", "nothing\n")];

/// The settings in which the diary is for local models only, as which the scripted model counts or not.
fn settings(model: &ScriptedModel, is_local: bool) -> Settings {
    let local = vec!["Diary".to_owned()];
    let private =
        PrivateSettings { local, endpoint_is_local: is_local, ..PrivateSettings::default() };
    Settings { private, ..settings_with_model(model) }
}

fn edit(old: &str, new: &str) -> (&'static str, serde_json::Value) {
    ("edit_file", json!({ "path": "Family.md", "old_text": old, "new_text": new }))
}

/// The models that plan a change and that go on.
#[derive(Debug, Clone, Copy)]
enum Models {
    /// A local one reads the diary and plans; one elsewhere goes on.
    LocalThenCloud,
    /// A local one does both.
    Local,
    /// One elsewhere reads another note and plans, and goes on.
    Cloud,
}

impl Models {
    /// The note that the planning model reads.
    fn source(self) -> &'static str {
        if matches!(self, Self::Cloud) { "Other.md" } else { "Diary/Ann.md" }
    }

    fn first(self, model: &ScriptedModel) -> Settings {
        settings(model, !matches!(self, Self::Cloud))
    }

    fn next(self, model: &ScriptedModel) -> Settings {
        settings(model, matches!(self, Self::Local))
    }
}

/// How the conversation goes on after the plan.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Continuation {
    Message,
    Restart,
    OtherVersion,
}

async fn go_on(
    home: &TestHome,
    running: RunningApp,
    conversation: &ConversationId,
    settings: Settings,
    next: Continuation,
) -> RunningApp {
    let running = if next == Continuation::Restart {
        running.quit().await;
        home.open(settings).await
    } else {
        running.app.save_settings(settings).await.expect("saved");
        running
    };
    if next == Continuation::OtherVersion {
        let items = running.view(conversation).await.items;
        let message = items.into_iter().find_map(|item| match item {
            ChatItem::User { id, .. } => Some(id),
            _ => None,
        });
        let message = message.expect("a message");
        let request = RegenerateRequest { message, text: None, old: Some(OldChanges::Keep) };
        running.app.regenerate(&request).await.expect("begun");
        running.app.wait_until_idle(conversation).await.expect("idle");
    } else {
        running.send_and_wait(Some(conversation), "and now?").await;
    }
    running
}

/// The messages to a model that looks at the open note and edits it, after a model planned to write into it
/// what it had read. Beside it, the pending text in the end.
async fn told_of_pending(models: Models, next: Continuation) -> (String, String) {
    let home = home_with_key(&NOTES);
    let looks = vec![
        ("read_file", json!({ "path": "Family.md" })),
        ("search_files", json!({ "pattern": "canary-71d." })),
        ("find_notes", json!({ "query": CANARY })),
    ];
    let model = ScriptedModel::start(vec![
        Reply::calls(vec![("read_file", json!({ "path": models.source() }))]),
        Reply::calls(vec![edit("one", "Ann: canary-71d4")]),
        Reply::text("Planned."),
        Reply::calls(looks),
        Reply::calls(vec![edit("three", "four")]),
        Reply::text("Well."),
    ])
    .await;
    let running = home.open(models.first(&model)).await;
    let conversation = running.send_and_wait(None, "what is new?").await;
    assert_eq!(running.pending_paths(&conversation).await, ["Family.md"]);
    let running = go_on(&home, running, &conversation, models.next(&model), next).await;
    let review = running.view(&conversation).await.review.expect("it is pending");
    let diff: String = format!("{:?}", review.notes[0].hunks);
    running.quit().await;
    let requests = model.requests();
    let told: Vec<String> =
        requests[3..].iter().map(|request| request["messages"].to_string()).collect();
    let results: Vec<String> =
        tool_results(&requests[4]).into_iter().map(|(_, text)| text).collect();
    assert!(results[0].contains("# Family"), "it reads the note: {results:?}");
    model.finish();
    (told.join("\n"), diff)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pending_text_from_a_local_note_is_shown_to_local_models_only() {
    for next in [Continuation::Message, Continuation::Restart, Continuation::OtherVersion] {
        let (told, pending) = told_of_pending(Models::LocalThenCloud, next).await;
        assert!(!told.contains("Ann: "), "{next:?}: {told}");
        // The canary is what the model looked for.
        assert_eq!(told.matches("> Ann").count(), 0, "{next:?}: {told}");
        assert!(told.contains("Shown without changes that wait"), "{next:?}: {told}");
        assert!(told.contains("this model may not see it"), "{next:?}: {told}");
        assert!(pending.contains(CANARY) && !pending.contains("four"), "{next:?}: {pending}");

        // The controls: a local model, and a text that comes from open notes.
        for models in [Models::Local, Models::Cloud] {
            let (told, pending) = told_of_pending(models, next).await;
            assert!(told.contains("Ann: canary-71d4"), "{next:?}, {models:?}: {told}");
            assert!(told.contains("Shown with changes that wait"), "{next:?}, {models:?}: {told}");
            assert!(pending.contains(CANARY) && pending.contains("four"), "{next:?}: {pending}");
        }
    }
}

/// Accepts these hunks of the only note with pending changes, and rejects the others.
async fn accept_hunks(app: &RunningApp, conversation: &ConversationId, accepted: &[usize]) {
    let review = app.view(conversation).await.review.expect("it is pending");
    let note = &review.notes[0];
    let one = |at: usize| match accepted.contains(&at) {
        true => HunkDecision::Accept,
        false => HunkDecision::Reject,
    };
    let hunks: Vec<HunkDecision> = (0..note.hunks.len()).map(one).collect();
    assert_eq!(hunks.len(), 2, "{review:?}");
    let (path, seen) = (note.path.clone(), note.seen.clone());
    let notes = vec![NoteDecision { path, seen, decision: ReviewDecision::Hunks { hunks } }];
    app.app.decide_review(&DecideReview { review: review.id, notes }).await.expect("decided");
}

/// The messages to a model after one planned two hunks from what it had read, and the user decided.
async fn told_after_decision(accepted: &[usize], models: Models) -> String {
    let home = home_with_key(&NOTES);
    let model = ScriptedModel::start(vec![
        Reply::calls(vec![("read_file", json!({ "path": models.source() }))]),
        Reply::calls(vec![edit("one", "1"), edit("three", "Ann: canary-71d4")]),
        Reply::text("Planned."),
        Reply::calls(vec![("read_file", json!({ "path": "Family.md" }))]),
        Reply::text("Well."),
    ])
    .await;
    let running = home.open(models.first(&model)).await;
    let conversation = running.send_and_wait(None, "what is new?").await;
    accept_hunks(&running, &conversation, accepted).await;
    let settings = models.next(&model);
    let running = go_on(&home, running, &conversation, settings, Continuation::Message).await;
    running.quit().await;
    let requests = model.requests();
    let told = [&requests[3], &requests[4]].map(|request| request["messages"].to_string());
    assert!(told[0].contains("and now?") && told[0].contains("<rejected>"), "{}", told[0]);
    model.finish();
    told.join("\n")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rejected_text_from_a_local_note_is_quoted_to_local_models_only() {
    let told = told_after_decision(&[0], Models::LocalThenCloud).await;
    assert!(!told.contains(CANARY), "{told}");
    for models in [Models::Local, Models::Cloud] {
        let told = told_after_decision(&[0], models).await;
        assert!(told.contains("+Ann: canary-71d4"), "the control, {models:?}: {told}");
    }
    // Text that the user accepted is the note's own.
    let told = told_after_decision(&[1], Models::LocalThenCloud).await;
    assert!(told.contains("| Ann: canary-71d4"), "{told}");
}
