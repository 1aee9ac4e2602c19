//! Changes of two answers are accepted together, and the second answer is regenerated without its changes: those of the
//! first one stay.

use protocol::ConversationId;
use protocol::changes::history::UndoScope;
use protocol::chat::conversation::ChatItem;
use protocol::request::{OldChanges, RegenerateOutcome, RegenerateRequest};
use serde_json::{Value, json};
use testkit::{Reply, ScriptedModel};

use crate::harness::test_app::{RunningApp, TestHome, home_with_key, settings_with_model};

const NOTES: [(&str, &str); 3] =
    [("A.md", "text\n"), ("C.md", "See [[A]].\n\nThe end.\n"), ("E.md", "First\n\nThe end.\n")];
/// `E.md` with a link that the user adds while the changes are pending.
const WITH_LINK: &str = "First\n\nThe end.\n\nMine: [[A]].\n";

fn edit(path: &str, old: &str, new: &str) -> (&'static str, Value) {
    ("edit_file", json!({ "path": path, "old_text": old, "new_text": new }))
}

fn move_a() -> (&'static str, Value) {
    ("move_file", json!({ "source": "A.md", "destination": "Sub/B.md" }))
}

/// An application with the changes of two answers.
struct TwoAnswers {
    home: TestHome,
    model: ScriptedModel,
    running: RunningApp,
    conversation: ConversationId,
}

impl TwoAnswers {
    /// The changes that these calls make, accepted together; before that the user adds a link to `E.md`.
    async fn accepted(calls: [(&'static str, Value); 2]) -> Self {
        let replies = calls
            .into_iter()
            .flat_map(|call| [Reply::calls(vec![call]), Reply::text("Done.")])
            .chain([Reply::text("Nothing this time.")]);
        let model = ScriptedModel::start(replies.collect()).await;
        let home = home_with_key(&NOTES);
        let running = home.open(settings_with_model(&model)).await;
        let conversation = running.send_and_wait(None, "one").await;
        running.send_and_wait(Some(&conversation), "two").await;
        home.notes.write("E.md", WITH_LINK);
        let pending = running.pending_paths(&conversation).await;
        let all: Vec<_> = pending.iter().map(String::as_str).collect();
        running.decide(&conversation, &all, &[]).await.expect("applied");
        assert_eq!(running.pending_paths(&conversation).await, [""; 0]);
        Self { home, model, running, conversation }
    }

    /// Regenerates the second answer and undoes its changes, after the question about so many notes.
    async fn regenerate_second(&self, changed: u32, earlier: bool) {
        let view = self.running.view(&self.conversation).await;
        let message = view.items.iter().find_map(|item| match item {
            ChatItem::User { id, text, .. } if text == "two" => Some(id.clone()),
            _ => None,
        });
        let message = message.expect("the second message");
        let request = RegenerateRequest { message, text: None, old: None };
        let asked = self.running.app.regenerate(&request).await.expect("asked");
        assert_eq!(asked, RegenerateOutcome::Asks { changed, waiting: 0, earlier });
        let request = RegenerateRequest { old: Some(OldChanges::Undo), ..request };
        self.running.app.regenerate(&request).await.expect("begun");
        self.running.app.wait_until_idle(&self.conversation).await.expect("idle");
    }

    fn assert_notes(&self, expected: &[(&str, Option<&str>)]) {
        for (path, text) in expected {
            assert_eq!(self.home.notes.try_read(path).as_deref(), *text, "{path}");
        }
    }

    /// The rest is undone too, and all is as it was.
    async fn undo_rest(self) {
        let all = UndoScope::Conversation { conversation: self.conversation.clone() };
        let undone = self.running.app.undo(&all).await.expect("undone");
        assert!(undone.conflicts.is_empty(), "{undone:?}");
        let [a, c, _] = NOTES.map(|(path, text)| (path, Some(text)));
        self.assert_notes(&[a, c, ("E.md", Some(WITH_LINK)), ("Sub/B.md", None)]);
        self.running.quit().await;
        self.model.finish();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn regenerating_an_answer_leaves_what_was_accepted_of_an_earlier_one() {
    // An edit of the note that the second answer moves.
    let answers = TwoAnswers::accepted([edit("A.md", "text", "TEXT"), move_a()]).await;
    answers.assert_notes(&[("Sub/B.md", Some("TEXT\n")), ("A.md", None)]);
    answers.regenerate_second(3, false).await;
    let [_, c, _] = NOTES.map(|(path, text)| (path, Some(text)));
    answers.assert_notes(&[("A.md", Some("TEXT\n")), ("Sub/B.md", None), c]);
    answers.assert_notes(&[("E.md", Some(WITH_LINK))]);
    answers.undo_rest().await;

    // An edit of a note to which the user added a link.
    let answers = TwoAnswers::accepted([edit("E.md", "First", "FIRST"), move_a()]).await;
    answers.assert_notes(&[("E.md", Some("FIRST\n\nThe end.\n\nMine: [[B]].\n"))]);
    answers.regenerate_second(2, false).await;
    answers.assert_notes(&[("A.md", Some("text\n")), ("Sub/B.md", None), c]);
    answers.assert_notes(&[("E.md", Some("FIRST\n\nThe end.\n\nMine: [[A]].\n"))]);
    answers.undo_rest().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn regenerating_an_answer_leaves_a_move_that_was_accepted_of_an_earlier_one() {
    const LINKED: (&str, Option<&str>) = ("C.md", Some("See [[B]].\n\nThe end.\n"));
    const MOVED: (&str, Option<&str>) = ("Sub/B.md", Some("text\n"));
    const OTHER: (&str, Option<&str>) = ("E.md", Some("First\n\nThe end.\n\nMine: [[B]].\n"));
    for (call, path, changed) in [
        (edit("Sub/B.md", "text", "TEXT"), "Sub/B.md", "TEXT\n"),
        (edit("C.md", "The end", "The END"), "C.md", "See [[B]].\n\nThe END.\n"),
        (edit("E.md", "First", "FIRST"), "E.md", "FIRST\n\nThe end.\n\nMine: [[B]].\n"),
    ] {
        let answers = TwoAnswers::accepted([move_a(), call]).await;
        answers.assert_notes(&[(path, Some(changed)), ("A.md", None)]);
        answers.regenerate_second(1, false).await;
        answers.assert_notes(&[MOVED, LINKED, OTHER, ("A.md", None)]);
        answers.undo_rest().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_move_is_undone_with_the_edit_of_a_line_whose_link_it_rewrote_and_counted() {
    let answers = TwoAnswers::accepted([move_a(), edit("C.md", "See", "SEE")]).await;
    answers.assert_notes(&[("C.md", Some("SEE [[B]].\n\nThe end.\n")), ("A.md", None)]);
    // The link to the moved note in the third note is of the move too.
    answers.regenerate_second(3, true).await;
    let [a, c, _] = NOTES.map(|(path, text)| (path, Some(text)));
    answers.assert_notes(&[a, c, ("E.md", Some(WITH_LINK)), ("Sub/B.md", None)]);
    answers.running.quit().await;
    answers.model.finish();
}
