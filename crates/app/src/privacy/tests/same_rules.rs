//! Turns that ran under the present rules while other files were hidden.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use super::*;

/// A turn in which the user names a private note, and the model is refused it.
fn refusal(path: &str) -> Vec<Message> {
    let call = CallId::from("call");
    let (tool, arguments) = ("read_file".to_owned(), json!({ "path": path }));
    let output = format!("The user keeps `{path}` private.");
    let user = format!("summarize {path}");
    let answer = format!("`{path}` is private. {CANARY}");
    vec![
        row("one", Role::User, MessagePart::Text { text: user }),
        row("one", Role::Assistant, MessagePart::Call { id: call.clone(), tool, arguments }),
        row("one", Role::User, MessagePart::Result { call, output, is_error: true, speech: None }),
        row("one", Role::Assistant, MessagePart::Text { text: answer }),
    ]
}

fn same_rules() -> PrivateRules {
    rules(&["Diary"], &["#home"])
}

fn write_note(vault: &Path, path: &str, text: &str) {
    let file = vault.join(path);
    std::fs::create_dir_all(file.parent().expect("a folder")).expect("made");
    std::fs::write(file, text).expect("written");
}

/// The history that a model gets which may see open notes only, of a turn that named this note. The turn ran
/// under these rules at this level, and since then more notes are private.
async fn heard_of_refusal(private: PrivateRules, most: Privacy, path: &str) -> String {
    let (folder, vault) = folder();
    write_note(folder.path(), "Diary/2026-11-27.md", "x\n");
    let guard = guard_over(&vault, private);
    let one = TurnId::from("one");
    guard.begin(&one, most).await.expect("begun");
    guard.end(&one);
    write_note(folder.path(), "Diary/2026-11-28.md", "y\n");
    write_note(folder.path(), "Other.md", "---\ntags: [home]\n---\n");
    guard.set_rules(same_rules());
    heard(&guard, Privacy::Open, refusal(path)).await
}

#[tokio::test]
async fn a_new_private_note_withholds_no_turn_that_ran_under_the_same_rules() {
    for path in ["Diary/2026-11-27.md", "Secret.md"] {
        let told = heard_of_refusal(same_rules(), Privacy::Open, path).await;
        assert!(told.contains(CANARY) && told.contains("private"), "{path}: {told}");
        for (private, most) in
            [(same_rules(), Privacy::Local), (rules(&["Elsewhere"], &[]), Privacy::Open)]
        {
            let told = heard_of_refusal(private, most, path).await;
            assert!(!told.contains(CANARY), "the control, {path}, {most:?}: {told}");
            assert!(told.contains("summarize"), "{told}");
        }
    }
}

/// Turn `one` names an open note or was told its text, which gets a tag or not. Turn `two` begins then, and
/// turn `three` hears of both after one more private note was made.
async fn heard_after_tag(is_tagged: bool, mut rows: Vec<Message>, told: SourcesByTurn) -> String {
    let (folder, vault) = folder();
    // A note that is gone would be withheld in any case: nobody knows its tags. So would one with a file that is
    // younger than the turn.
    write_note(folder.path(), "Open.md", "x\n");
    for row in &mut rows {
        row.at = Timestamp(now().0 + 1_000);
    }
    let guard = guard_over(&vault, same_rules());
    let begin = async |turn: &TurnId| guard.begin(turn, Privacy::Open).await.expect("begun");
    let [one, two, three] = ["one", "two", "three"].map(TurnId::from);
    begin(&one).await;
    guard.end(&one);
    if is_tagged {
        write_note(folder.path(), "Open.md", "---\ntags: [home]\n---\n");
    }
    begin(&two).await;
    guard.end(&two);
    write_note(folder.path(), "Diary/New.md", "x\n");
    begin(&three).await;
    let (heard, _) = guard.redact_for_turn(&three, rows, &told).await.expect("heard");
    serde_json::to_string(&heard).expect("json")
}

#[tokio::test]
async fn what_named_a_note_before_it_became_private_is_withheld() {
    let rows = || story("Open.md", "title: x");
    let told = heard_after_tag(true, rows(), SourcesByTurn::new()).await;
    assert!(!told.contains("It says") && !told.contains("Open.md"), "{told}");
    assert!(told.contains("As I said"), "turn `two` ran when it was private: {told}");
    let told = heard_after_tag(false, rows(), SourcesByTurn::new()).await;
    assert!(told.contains("It says") && told.contains("As I said"), "the control: {told}");
}

#[tokio::test]
async fn text_that_was_read_before_its_note_became_private_is_withheld() {
    let source = Source::Note(NotePath::parse("Open.md").expect("a path"));
    let told_of = || SourcesByTurn::from([(TurnId::from("one"), BTreeSet::from([source.clone()]))]);
    let told = heard_after_tag(true, nameless("one"), told_of()).await;
    assert!(!told.contains(CANARY) && told.contains("what does it say?"), "{told}");
    let told = heard_after_tag(false, nameless("one"), told_of()).await;
    assert_eq!(told.matches(CANARY).count(), 3, "the control: {told}");
}

#[tokio::test]
async fn an_answer_after_a_turn_that_named_a_note_is_withheld_once_the_note_is_private() {
    for is_tagged in [true, false] {
        let (folder, vault) = folder();
        let guard = guard_over(&vault, same_rules());
        for turn in ["one", "two"].map(TurnId::from) {
            guard.begin(&turn, Privacy::Open).await.expect("begun");
            guard.end(&turn);
        }
        let tag = if is_tagged { "#home\n" } else { "" };
        write_note(folder.path(), "Open.md", tag);
        let told = heard(&guard, Privacy::Open, story("Open.md", "title: x")).await;
        assert_eq!(told.contains("As I said"), !is_tagged, "{told}");
    }
}

/// The history that turn `three` gets of the answer of turn `one`, which was sent a request while a note was open. While the model
/// answered, the note became private or not, and the names in a result of turn `one` were redacted; then the answer
/// came, after one more request if `is_filtered_again`.
async fn heard_of_answer(is_tagged: bool, is_filtered_again: bool) -> String {
    let (folder, vault) = folder();
    let data = tempfile::tempdir().expect("a folder");
    let index = Index::new(&vault, same_rules(), data.path());
    index.catch_up(&AtomicBool::new(false)).expect("an index");
    let guard = PrivacyGuard::new(&vault, &index, same_rules());
    let one = TurnId::from("one");
    guard.begin(&one, Privacy::Open).await.expect("begun");
    let none = SourcesByTurn::new();
    guard.redact_for_turn(&one, Vec::new(), &none).await.expect("heard");
    assert!(guard.is_request_current(&one).await.expect("known"));
    if is_tagged {
        write_note(folder.path(), "Open.md", "---\ntags: [home]\n---\n");
        index.catch_up(&AtomicBool::new(false)).expect("an index");
    }
    assert_eq!(guard.is_request_current(&one).await.expect("known"), !is_tagged);
    guard.redact_names(&one, "changed Open.md".to_owned()).await.expect("told");
    assert_eq!(guard.is_request_current(&one).await.expect("known"), !is_tagged, "asked again");
    if is_filtered_again {
        guard.redact_for_turn(&one, Vec::new(), &none).await.expect("heard");
        assert!(guard.is_request_current(&one).await.expect("known"));
    }
    std::thread::sleep(std::time::Duration::from_millis(5));
    let answer = MessagePart::Text { text: format!("Open.md: {CANARY}") };
    let rows = vec![row("one", Role::Assistant, answer)];
    guard.end(&one);
    heard(&guard, Privacy::Open, rows).await
}

#[tokio::test]
async fn an_answer_to_a_request_from_before_its_note_became_private_is_withheld() {
    assert!(!heard_of_answer(true, false).await.contains(CANARY));
    assert!(heard_of_answer(false, false).await.contains(CANARY), "the control: it is open");
    let told = heard_of_answer(true, true).await;
    assert!(told.contains(CANARY), "the control: the request did not hold the note, {told}");
}
