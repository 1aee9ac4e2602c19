//! Pending and rejected changes whose text or name may come from a note that only local models see.

use protocol::chat::conversation::ChatItem;
use protocol::request::{
    DecideReview, HunkDecision, NoteDecision, OldChanges, RegenerateRequest, ReviewDecision,
};
use protocol::settings::PrivateSettings;
use protocol::{ConversationId, Settings};
use serde_json::{Value, json};
use testkit::scripted_model::tool_results;
use testkit::{Reply, ScriptedModel};

use crate::harness::test_app::{RunningApp, TestHome, home_with_key, settings_with_model};

const CANARY: &str = "canary-71d4";

const FAMILY: &str = "# Family\n\none\n\ntwo\n\nthree\n";

const NOTES: [(&str, &str); 3] =
    [("Diary/Ann.md", "canary-71d4\n"), ("Family.md", FAMILY), ("Other.md", "nothing\n")];

/// The settings in which the diary is for local models only, as which the scripted model counts or not.
fn settings(model: &ScriptedModel, is_local: bool) -> Settings {
    settings_with_rule(model, "Diary", is_local)
}

/// The same with another rule.
fn settings_with_rule(model: &ScriptedModel, rule: &str, is_local: bool) -> Settings {
    let local = vec![rule.to_owned()];
    let private =
        PrivateSettings { local, endpoint_is_local: is_local, ..PrivateSettings::default() };
    Settings { private, ..settings_with_model(model) }
}

fn edit(old: &str, new: &str) -> (&'static str, Value) {
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

/// The model that planned a change, and how the conversation went on.
#[derive(Debug, Clone, Copy)]
struct PlanSequel {
    is_planned_locally: bool,
    is_rejected: bool,
    /// Whether the model that planned it hears of it first, and the program starts again.
    is_heard_before: bool,
    is_local: bool,
}

/// The path of the last change that a model planned with these calls, and the messages to the model that goes
/// on.
async fn told_of_plan(
    rule: &str,
    calls: &[(&'static str, Value)],
    sequel: PlanSequel,
) -> (String, String) {
    let home = home_with_key(&[("Ann.md", "#home\nAnn is pregnant.\n"), ("Boats.md", "# Boats\n")]);
    let mut replies: Vec<Reply> =
        calls.iter().map(|call| Reply::calls(vec![call.clone()])).collect();
    replies.push(Reply::text("Planned."));
    replies.extend(sequel.is_heard_before.then(|| Reply::text("It is so.")));
    replies.push(Reply::text("Well."));
    let model = ScriptedModel::start(replies).await;
    let running = home.open(settings_with_rule(&model, rule, sequel.is_planned_locally)).await;
    let conversation = running.send_and_wait(None, "make a plan").await;
    let pending = running.pending_paths(&conversation).await;
    let path = pending.last().expect("a pending change").clone();
    if sequel.is_rejected {
        let all: Vec<&str> = pending.iter().map(String::as_str).collect();
        running.decide(&conversation, &[], &all).await.expect("rejected");
    }
    let mut next = Continuation::Message;
    if sequel.is_heard_before {
        running.send_and_wait(Some(&conversation), "is it so?").await;
        next = Continuation::Restart;
    }
    let settings = settings_with_rule(&model, rule, sequel.is_local);
    let running = go_on(&home, running, &conversation, settings, next).await;
    running.quit().await;
    let told = model.requests().last().map(|request| request["messages"].to_string());
    model.finish();
    (path, told.expect("a request"))
}

/// All sequels with these models.
fn sequels(is_planned_locally: bool, is_local: bool) -> impl Iterator<Item = PlanSequel> {
    let sequel = move |(is_rejected, is_heard_before)| PlanSequel {
        is_planned_locally,
        is_rejected,
        is_heard_before,
        is_local,
    };
    [(false, false), (false, true), (true, false), (true, true)].into_iter().map(sequel)
}

/// The words of a context block before the notes.
fn words_before_notes(sequel: PlanSequel) -> &'static str {
    match sequel.is_rejected {
        true => "the user rejected the changes to ",
        false => "Changes still waiting for the user's review: ",
    }
}

/// Whether the last context block tells of a path in this way.
fn is_named(told: &str, sequel: PlanSequel, path: &str) -> bool {
    let behind = told.rsplit(words_before_notes(sequel)).next().unwrap_or_default();
    told.contains(words_before_notes(sequel))
        && behind.split("\\n").next().is_some_and(|line| line.contains(path))
}

fn folder_call(path: &str) -> (&'static str, Value) {
    ("create_folder", json!({ "path": path }))
}

/// A new note in a folder that waits for review waits too.
fn in_pending_folder(folder: &str, note: &str, text: &str) -> Vec<(&'static str, Value)> {
    vec![folder_call(folder), write_call(&format!("{folder}/{note}.md"), text)]
}

fn read_call(path: &str) -> (&'static str, Value) {
    ("read_file", json!({ "path": path }))
}

fn write_call(path: &str, text: &str) -> (&'static str, Value) {
    ("write_file", json!({ "path": path, "content": text }))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_with_a_name_for_local_models_is_named_to_those_only() {
    for (rule, calls) in [
        ("#home", vec![read_call("Ann.md"), write_call("Ann is pregnant/Plan.md", "A plan.\n")]),
        ("#home", in_pending_folder("Plans", "Ann is pregnant", "#home\n\nIn May.\n")),
        ("Tagebuch", vec![folder_call("Tagebuch")]),
        ("Tagebuch", in_pending_folder("Tagebuch", "Ann, Termin", "In May.\n")),
        // Another Unicode form than that of the rule, and a letter that is two when it is small.
        ("M\u{e4}rz", in_pending_folder("Ma\u{308}rz", "Ann, Termin", "In May.\n")),
        ("\u{130}\u{15f}", in_pending_folder("\u{130}\u{15f}", "Ann, Termin", "In May.\n")),
    ] {
        for sequel in sequels(true, false) {
            let (path, told) = told_of_plan(rule, &calls, sequel).await;
            for word in path.split(['/', ',']).map(str::trim) {
                assert!(!told.contains(word), "{word}, {sequel:?}: {told}");
            }
            let withheld = format!("{}other notes (withheld)", words_before_notes(sequel));
            assert!(told.contains(&withheld), "{path}, {sequel:?}: {told}");
        }
        for sequel in sequels(true, true) {
            let (path, told) = told_of_plan(rule, &calls, sequel).await;
            assert!(is_named(&told, sequel, &path), "the control, {path}, {sequel:?}: {told}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_with_an_open_name_is_named_to_the_model_that_planned_it() {
    let calls = in_pending_folder("Trips", "By boat, by tram", "A plan.\n");
    for sequel in sequels(false, false).chain(sequels(true, true)) {
        let (path, told) = told_of_plan("#home", &calls, sequel).await;
        assert!(is_named(&told, sequel, &path), "{path}, {sequel:?}: {told}");
    }
}

/// The last request to a cloud model after a model moved a note to which a diary note links. A local one read the
/// diary before. Then there is one more diary note.
async fn told_after_move(is_local: bool, next: Continuation) -> String {
    let home = home_with_key(&[("Plan.md", "# Plan\n"), ("Diary/Ann.md", "[[Plan]]\n")]);
    let moves = json!({ "source": "Plan.md", "destination": "Projects/Idea.md" });
    let mut calls = vec![("move_file", moves)];
    if is_local {
        calls.insert(0, read_call("Diary/Ann.md"));
    }
    let model = ScriptedModel::start(vec![
        Reply::calls(calls),
        Reply::text("It moves, canary-71d4."),
        Reply::calls(vec![read_call("Projects/Idea.md")]),
        Reply::text("Well."),
    ])
    .await;
    let running = home.open(settings(&model, is_local)).await;
    let conversation = running.send_and_wait(None, "move the plan").await;
    let pending = running.pending_paths(&conversation).await;
    assert!(pending.iter().any(|path| path == "Diary/Ann.md"), "its link is kept: {pending:?}");
    home.notes.write("Diary/Tomorrow.md", "nothing\n");
    let running = go_on(&home, running, &conversation, settings(&model, false), next).await;
    running.quit().await;
    let told = model.requests().last().map(|request| request["messages"].to_string());
    model.finish();
    told.expect("a request")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_move_that_a_private_note_links_to_is_told_to_the_model_that_planned_it() {
    for next in [Continuation::Message, Continuation::Restart] {
        let told = told_after_move(false, next).await;
        assert!(told.contains("It moves, canary-71d4."), "{next:?}: {told}");
        assert!(told.contains("# Plan"), "it is shown the note where it moves: {next:?}: {told}");
        assert!(!told.contains("may not see it") && !told.contains("Diary"), "{next:?}: {told}");
        let told = told_after_move(true, next).await;
        assert!(!told.contains(CANARY) && !told.contains("Diary"), "the control, {next:?}: {told}");
        assert!(told.contains("withheld"), "the control, {next:?}: {told}");
    }
}

/// The last request to a cloud model, after a restart. Before that one elsewhere planned a move of a note to which a
/// diary note links, and a second message was sent: while the move waited, or after it was accepted.
async fn told_after_next_message(is_local: bool, is_accepted: bool) -> String {
    let home = home_with_key(&[("Plan.md", "# Plan\n"), ("Diary/Ann.md", "[[Plan]]\n")]);
    let moves = json!({ "source": "Plan.md", "destination": "Projects/Idea.md" });
    let model = ScriptedModel::start(vec![
        Reply::calls(vec![("move_file", moves)]),
        Reply::text("It moves."),
        Reply::text("As I said, canary-71d4."),
        Reply::text("Well."),
    ])
    .await;
    let running = home.open(settings(&model, false)).await;
    let conversation = running.send_and_wait(None, "move the plan").await;
    if is_accepted {
        let pending = running.pending_paths(&conversation).await;
        let paths: Vec<&str> = pending.iter().map(String::as_str).collect();
        running.decide(&conversation, &paths, &[]).await.expect("applied");
    }
    let (second, last) = (settings(&model, is_local), settings(&model, false));
    let running = go_on(&home, running, &conversation, second, Continuation::Message).await;
    let running = go_on(&home, running, &conversation, last, Continuation::Restart).await;
    running.quit().await;
    let requests = model.requests();
    let told = |request: &Value| request["messages"].to_string();
    assert_eq!(
        told(&requests[2]).contains("Diary/Ann.md"),
        is_local,
        "a local model is told of it"
    );
    let told = told(requests.last().expect("a request"));
    model.finish();
    told
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_that_was_left_out_withholds_no_answer() {
    for is_accepted in [false, true] {
        let told = told_after_next_message(false, is_accepted).await;
        assert!(told.contains("As I said, canary-71d4."), "{is_accepted}: {told}");
        assert!(!told.contains("Diary"), "{is_accepted}: {told}");
        let told = told_after_next_message(true, is_accepted).await;
        assert!(!told.contains(CANARY), "the control, {is_accepted}: {told}");
        assert!(told.contains("withheld"), "the control, {is_accepted}: {told}");
    }
}
