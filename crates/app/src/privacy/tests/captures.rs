//! Hub messages that we added to a note, as a model hears of them later.

use super::*;

const ANSWER: &str = "It is Paris.";

/// A turn in which a model answered a message, and a call with this id added it to the note.
fn captured(id: &str, path: &str, output: &str, is_error: bool) -> Vec<Message> {
    let says = |role, text: &str| row("one", role, MessagePart::Text { text: text.to_owned() });
    let call = CallId::from(id);
    let arguments = json!({ "path": format!("./{path}"), "content": "- which one?" });
    let (tool, output) = ("append_file".to_owned(), output.to_owned());
    vec![
        says(Role::User, "which one?"),
        says(Role::Assistant, ANSWER),
        row("one", Role::Assistant, MessagePart::Call { id: call.clone(), tool, arguments }),
        row("one", Role::User, MessagePart::Result { call, output, is_error, speech: None }),
        says(Role::Assistant, &format!("Saved to {path}.")),
    ]
}

/// The same where the change waits for review.
fn captured_for_review(path: &str) -> Vec<Message> {
    let output = tools::plan_outcome::pending_text(&format!("append 1 line to `{path}`"));
    let mut rows = captured("capture-1", path, &output, false);
    rows.pop();
    let text = format!("Added to {path} as a change to review.");
    rows.push(row("one", Role::Assistant, MessagePart::Text { text }));
    rows
}

/// The history for a model that may see open notes only; `begins` tells whether the turn is known to have run with the
/// same view.
async fn told_of(private: PrivateRules, begins: bool, rows: Vec<Message>) -> String {
    let (_folder, vault) = folder();
    let guard = guard_over(&vault, private);
    if begins {
        let one = TurnId::from("one");
        guard.begin(&one, Privacy::Open).await.expect("begun");
        guard.end(&one);
    }
    heard(&guard, Privacy::Open, rows).await
}

#[tokio::test]
async fn nothing_is_told_of_a_hidden_note_that_a_message_was_added_to_and_the_answer_is() {
    let outcome = format!("Applied: append 1 line to `Secret.md`. {CANARY}");
    for begins in [true, false] {
        for private in [rules(&[], &["#home"]), rules(&[], &["Secret"]), rules(&["#home"], &[])] {
            for is_error in [false, true] {
                let rows = captured("capture-1", "Secret.md", &outcome, is_error);
                let told = told_of(private.clone(), begins, rows).await;
                let case = format!("known: {begins}, failed: {is_error}: {told}");
                assert!(!told.contains(CANARY) && !told.contains("Secret"), "{case}");
                assert!(!told.contains("1 line"), "{case}");
                assert!(told.contains(ANSWER) && told.contains("which one?"), "{case}");
                assert!(told.contains("Saved to the inbox note."), "{case}");
                assert_eq!(told.contains("Applied: add the message"), !is_error, "{case}");
            }
        }
    }
    // The controls: a call of a model, and a model that may see the note.
    let rows = captured("call", "Secret.md", &outcome, false);
    let told = told_of(rules(&[], &["#home"]), false, rows).await;
    assert!(!told.contains(ANSWER) && !told.contains(CANARY), "{told}");
    let (_folder, vault) = folder();
    let guard = guard_over(&vault, rules(&[], &["#home"]));
    let rows = captured("capture-1", "Secret.md", &outcome, false);
    let told = heard(&guard, Privacy::Local, rows).await;
    assert!(told.contains(CANARY) && told.contains("Saved to Secret.md."), "{told}");
}

#[tokio::test]
async fn a_capture_in_a_hidden_note_that_waits_for_review_is_not_called_saved() {
    for begins in [true, false] {
        let told = told_of(rules(&[], &["#home"]), begins, captured_for_review("Secret.md")).await;
        assert!(!told.contains("Secret") && !told.contains("Saved to"), "{told}");
        assert!(told.contains("Added to the inbox note as a change to review."), "{told}");
        let pending = "Waiting for review, not applied: add the message to the inbox note.";
        assert!(told.contains(pending) && told.contains(ANSWER), "{told}");
        // The control: in an open note it is told as it is.
        let told = told_of(rules(&[], &["#home"]), begins, captured_for_review("Open.md")).await;
        assert!(told.contains("Added to Open.md as a change to review."), "{told}");
    }
}

#[tokio::test]
async fn a_capture_in_an_open_note_is_told_unless_it_names_a_hidden_one() {
    let private = || rules(&[], &["#home"]);
    let added = "Applied: append 1 line to `Open.md`.";
    let told = told_of(private(), true, captured("capture-1", "Open.md", added, false)).await;
    assert!(told.contains(added) && told.contains("Saved to Open.md."), "{told}");
    let failed = format!("`Secret.md` is in the way. {CANARY}");
    let told = told_of(private(), true, captured("capture-1", "Open.md", &failed, true)).await;
    assert!(!told.contains(CANARY) && !told.contains("Secret"), "{told}");
    assert!(told.contains(ANSWER), "{told}");
    // A result that is read without its call.
    let rows = captured("capture-1", "Secret.md", CANARY, false).split_off(3);
    let told = told_of(private(), true, rows).await;
    assert!(!told.contains(CANARY), "{told}");
}

#[tokio::test]
async fn a_note_that_was_hidden_when_a_message_was_added_is_not_named_once_it_is_gone() {
    let redacted = "Applied: append 1 line to `(a private note)`.";
    for begins in [true, false] {
        let rows = captured("capture-1", "Gone.md", redacted, false);
        let told = told_of(rules(&[], &["#home"]), begins, rows).await;
        assert!(!told.contains("Gone") && !told.contains("1 line"), "{told}");
        assert!(told.contains(ANSWER) && told.contains("Saved to the inbox note."), "{told}");
        // The control: a call of a model names its note.
        let rows = captured("call", "Gone.md", redacted, false);
        let told = told_of(rules(&[], &["#home"]), begins, rows).await;
        assert!(told.contains("Gone.md"), "{told}");
    }
}
