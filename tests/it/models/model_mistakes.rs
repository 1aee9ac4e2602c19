//! Models that make plausible mistakes, in whole turns: they reach the user's goal or a clear end, and
//! none goes on for ever.

use protocol::chat::conversation::{ChatItem, ConversationView};
use protocol::{ConversationId, TurnStatus};
use serde_json::{Value, json};
use testkit::scripted_model::{last_message_text, tool_results};
use testkit::stories::note_changes::NOTES;
use testkit::{Reply, ScriptedModel};

use crate::harness::test_app::{
    RunningApp, TestHome, home_with_key, settings_with_model, turn_failure,
};

/// A turn that was played to its end.
struct PlayedTurn {
    home: TestHome,
    model: ScriptedModel,
    running: RunningApp,
    conversation: ConversationId,
    view: ConversationView,
}

async fn play_turn(model: ScriptedModel) -> PlayedTurn {
    let home = home_with_key(&NOTES);
    let running = home.open(settings_with_model(&model)).await;
    let conversation = running.send_and_wait(None, "Add milk to the list and shout in Alpha").await;
    let view = running.view(&conversation).await;
    PlayedTurn { home, model, running, conversation, view }
}

impl PlayedTurn {
    /// Whether both things that the user asked for are done, once the pending changes are accepted.
    async fn assert_goal_reached(self, requests: usize) {
        assert_eq!(turn_failure(&self.view), None, "{:#?}", self.view.items);
        assert_eq!(self.model.requests().len(), requests);
        let paths: Vec<String> = self.running.pending_paths(&self.conversation).await;
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        assert_eq!(paths, ["Alpha.md"]);
        self.running.decide(&self.conversation, &paths, &[]).await.expect("applied");
        assert_eq!(self.home.notes.read("List.md"), "# List\n\n- bread\n- milk\n");
        let alpha = "# Alpha\n\nThe FIRST line of alpha.\nThe second line of alpha.\n";
        assert_eq!(self.home.notes.read("Alpha.md"), alpha);
        self.running.quit().await;
        self.model.finish();
    }

    fn turn_status(&self) -> Option<TurnStatus> {
        self.view.items.iter().find_map(|item| match item {
            ChatItem::Ended { status, .. } => Some(*status),
            _ => None,
        })
    }
}

fn append_milk_call(path: &str) -> (&'static str, Value) {
    ("append_file", json!({ "path": path, "content": "- milk" }))
}

fn uppercase_call(path: &str, old: &str) -> (&'static str, Value) {
    let old_line = "The first line of alpha.";
    let new = if old == old_line { "The FIRST line of alpha." } else { "THE FIRST LINE" };
    ("edit_file", json!({ "path": path, "old_text": old, "new_text": new }))
}

const FIRST_LINE: &str = "The first line of alpha.";

#[tokio::test(flavor = "multi_thread")]
async fn names_without_their_ending_are_understood_or_put_right_in_one_try() {
    let wrong = Reply::calls(vec![append_milk_call("List"), uppercase_call("alpha", FIRST_LINE)]);
    let repair = Reply::computed(|request| {
        let failed = tool_results(request).into_iter().any(|(_, text)| text.contains("List.md"));
        if failed && request.to_string().contains("\"is_error\":true") {
            return Reply::calls(vec![
                append_milk_call("List.md"),
                uppercase_call("Alpha.md", FIRST_LINE),
            ]);
        }
        Reply::text("Done.")
    });
    let model = ScriptedModel::start(vec![wrong, repair, Reply::text("Done.")]).await;
    let home = home_with_key(&NOTES);
    let running = home.open(settings_with_model(&model)).await;
    let conversation = running.send_and_wait(None, "Add milk and shout").await;
    assert_eq!(home.notes.read("List.md").matches("- milk").count(), 1);
    assert_eq!(running.pending_paths(&conversation).await, ["Alpha.md"]);
    assert_eq!(home.notes.try_read("List"), None, "no note beside the one that was meant");
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn text_that_was_paraphrased_is_quoted_back_and_then_found() {
    let repair = Reply::computed(|request| {
        let lessons: Vec<String> =
            tool_results(request).into_iter().map(|(_, text)| text).collect();
        let quoted = lessons.iter().any(|text| text.contains(FIRST_LINE));
        assert!(quoted, "the line is not quoted: {lessons:?}");
        Reply::calls(vec![uppercase_call("Alpha.md", FIRST_LINE)])
    });
    let script = vec![
        Reply::calls(vec![
            append_milk_call("List.md"),
            uppercase_call("Alpha.md", "The first line in alpha"),
        ]),
        repair,
        Reply::text("Done."),
    ];
    play_turn(ScriptedModel::start(script).await).await.assert_goal_reached(3).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_is_not_there_and_arguments_of_another_are_put_right() {
    let wrong = vec![
        ("append_note", json!({ "path": "List.md", "content": "- milk" })),
        ("edit_file", json!({ "file": "Alpha.md", "search": FIRST_LINE, "replace": "x" })),
    ];
    let repair = Reply::computed(|request| {
        let lessons: Vec<String> =
            tool_results(request).into_iter().map(|(_, text)| text).collect();
        assert!(lessons[0].contains("`append_file`"), "{lessons:?}");
        assert!(lessons[1].contains("`path`"), "{lessons:?}");
        Reply::calls(vec![append_milk_call("List.md"), uppercase_call("Alpha.md", FIRST_LINE)])
    });
    let script = vec![Reply::calls(wrong), repair, Reply::text("Done.")];
    play_turn(ScriptedModel::start(script).await).await.assert_goal_reached(3).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_together_with_changes_asks_and_what_stood_behind_it_did_not_run() {
    let asks = json!({ "message": "Really?", "is_question": true, "options": ["Yes", "No"] });
    let script = vec![
        Reply::calls(vec![
            append_milk_call("List.md"),
            ("send_message", asks),
            uppercase_call("Alpha.md", FIRST_LINE),
        ]),
        Reply::computed(|request| {
            let told: Vec<String> =
                tool_results(request).into_iter().map(|(_, text)| text).collect();
            assert!(told[2].contains("Not run: waiting for the user"), "{told:?}");
            Reply::calls(vec![uppercase_call("Alpha.md", FIRST_LINE)])
        }),
        Reply::text("Done."),
    ];
    let mut played = play_turn(ScriptedModel::start(script).await).await;
    let question = played.view.question.clone().expect("it asks").id;
    assert_eq!(played.running.pending_paths(&played.conversation).await, [""; 0]);
    let to = played.conversation.clone();
    played.running.send(Some(&to), "Yes", Some(&question)).await.expect("answered");
    played.running.app.wait_until_idle(&to).await.expect("idle");
    played.view = played.running.view(&to).await;
    played.assert_goal_reached(3).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_sixty_calls_at_once_the_first_run_and_the_others_are_told_so() {
    let reads = (0..58).map(|_| ("read_file", json!({ "path": "Alpha.md" })));
    let calls = [append_milk_call("List.md"), uppercase_call("Alpha.md", FIRST_LINE)]
        .into_iter()
        .chain(reads)
        .collect();
    let last = Reply::computed(|request| {
        let told: Vec<String> = tool_results(request).into_iter().map(|(_, text)| text).collect();
        assert_eq!(told.len(), 60, "each has its one result");
        let refused = told.iter().filter(|text| text.starts_with("Not run")).count();
        assert_eq!(refused, 44, "{:?}", told.last());
        Reply::text("Done.")
    });
    let model = ScriptedModel::start(vec![Reply::calls(calls), last]).await;
    play_turn(model).await.assert_goal_reached(2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_answer_is_asked_for_once_more_and_two_are_a_clear_end() {
    let script = vec![
        Reply::text(""),
        Reply::computed(|request| {
            assert!(last_message_text(request).contains("Your last answer was empty"));
            Reply::calls(vec![append_milk_call("List.md"), uppercase_call("Alpha.md", FIRST_LINE)])
        }),
        Reply::text("Done."),
    ];
    play_turn(ScriptedModel::start(script).await).await.assert_goal_reached(3).await;

    let model = ScriptedModel::start(vec![Reply::text(""), Reply::text(" \n")]).await;
    let played = play_turn(model).await;
    let error = turn_failure(&played.view).expect("it failed");
    assert!(error.message.contains("no answer, twice"), "{error}");
    played.running.quit().await;
    played.model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_failing_call_again_and_again_comes_to_an_end() {
    let stubborn = |request: &Value| {
        if last_message_text(request).contains("no more tools can be called") {
            return Reply::text("I could not find it.");
        }
        Reply::calls(vec![("read_file", json!({ "path": "Nowhere.md" }))])
    };
    let played = play_turn(ScriptedModel::responder(stubborn).await).await;
    assert_eq!(played.turn_status(), Some(TurnStatus::Limit));
    let requests = played.model.requests();
    assert_eq!(requests.len(), 11);
    let told = tool_results(&requests[3]).remove(0).1;
    assert!(told.contains("already failed twice"), "{told}");
    played.running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_calls_although_it_shall_close_ends_at_the_limit() {
    let deaf = |_: &Value| Reply::calls(vec![("read_file", json!({ "path": "Alpha.md" }))]);
    let played = play_turn(ScriptedModel::responder(deaf).await).await;
    assert_eq!(played.turn_status(), Some(TurnStatus::Limit));
    assert_eq!(played.model.requests().len(), 11);
    played.running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_cut_inside_its_calls_runs_none_of_them_and_says_so() {
    let cut =
        Reply::calls(vec![append_milk_call("List.md"), uppercase_call("Alpha.md", FIRST_LINE)]);
    let played = play_turn(ScriptedModel::start(vec![cut.stopping_with("max_tokens")]).await).await;
    let error = turn_failure(&played.view).expect("it failed");
    assert!(error.message.contains("none of them ran"), "{error}");
    assert_eq!(played.home.notes.read("List.md"), NOTES[3].1);
    assert_eq!(played.running.pending_paths(&played.conversation).await, [""; 0]);
    played.running.quit().await;
    played.model.finish();
}
