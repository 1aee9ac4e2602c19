//! The history that a model gets when it was made under other rules.
#![expect(clippy::disallowed_methods, reason = "tests make and move the files of the vault")]

mod captures;
mod same_rules;
mod view_cost;

use index::Index;
use protocol::settings::PrivateSettings;
use protocol::{
    CallId, ConversationId, MessageId, MessagePart, NotePath, PrivateRules, Role, Timestamp,
};
use serde_json::json;
use vault::Vault;

use super::*;
use crate::support::clock::now;

const CANARY: &str = "canary-7f3a";

fn rules(never: &[&str], local: &[&str]) -> PrivateRules {
    let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    let settings =
        PrivateSettings { never: owned(never), local: owned(local), ..Default::default() };
    PrivateRules::parse(&settings).expect("rules")
}

fn row(turn: &str, role: Role, part: MessagePart) -> Message {
    Message {
        id: MessageId::from("m"),
        conversation: ConversationId::from("c"),
        turn: TurnId::from(turn),
        role,
        parts: vec![part],
        at: now(),
    }
}

/// A turn that read a note and spoke of it, and one after it.
fn story(path: &str, text: &str) -> Vec<Message> {
    let says =
        |turn, role, text: &str| row(turn, role, MessagePart::Text { text: text.to_owned() });
    let call = CallId::from("call");
    let arguments = json!({ "path": path });
    let tool = "read_file".to_owned();
    let output = format!("`{path}` · 3 lines\n1| ---\n2| {text}\n3| ---\n4| {CANARY}");
    vec![
        says("one", Role::User, "what does it say?"),
        row("one", Role::Assistant, MessagePart::Call { id: call.clone(), tool, arguments }),
        row("one", Role::User, MessagePart::Result { call, output, is_error: false, speech: None }),
        says("one", Role::Assistant, &format!("It says {CANARY}.")),
        says("two", Role::User, "and?"),
        says("two", Role::Assistant, &format!("As I said: {CANARY}.")),
        row(
            "three",
            Role::User,
            MessagePart::Context { text: format!("Open note: {path}\nTime: 1") },
        ),
        says("three", Role::User, "go on"),
    ]
}

fn folder() -> (tempfile::TempDir, Vault) {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in [("Secret.md", "---\ntags: [home]\n---\n"), ("Open.md", "open")] {
        std::fs::write(folder.path().join(name), text).expect("written");
    }
    // Made longer ago than the clock of files may be behind, so before any turn.
    std::thread::sleep(std::time::Duration::from_millis(30));
    let vault = Vault::open(folder.path()).expect("a vault");
    (folder, vault)
}

/// Of a vault whose index does not stand yet.
fn guard_over(vault: &Vault, rules: PrivateRules) -> Arc<PrivacyGuard> {
    let dir = tempfile::tempdir().expect("a folder");
    PrivacyGuard::new(vault, &Index::new(vault, rules.clone(), dir.path()), rules)
}

async fn heard(guard: &PrivacyGuard, most: Privacy, rows: Vec<Message>) -> String {
    let turn = TurnId::from("three");
    guard.begin(&turn, most).await.expect("begun");
    let (heard, _) =
        guard.redact_for_turn(&turn, rows, &SourcesByTurn::new()).await.expect("heard");
    serde_json::to_string(&heard).expect("json")
}

#[tokio::test]
async fn text_for_another_provider_is_withheld_with_all_messages_about_it() {
    let (_folder, vault) = folder();
    for rules in [rules(&[], &["#home"]), rules(&[], &["Secret"]), rules(&["tags: home"], &[])] {
        let guard = guard_over(&vault, rules);
        let told = heard(&guard, Privacy::Open, story("Secret.md", "tags: [home]")).await;
        assert!(!told.contains(CANARY) && !told.contains("Secret.md"), "{told}");
        assert!(told.contains("what does it say?") && told.contains("Time: 1"), "{told}");
    }
    // The control: who may see it hears everything.
    let guard = guard_over(&vault, rules(&[], &["#home"]));
    let told = heard(&guard, Privacy::Local, story("Secret.md", "tags: [home]")).await;
    assert!(told.contains(CANARY) && told.contains("Secret.md"), "{told}");
}

#[tokio::test]
async fn a_renamed_note_is_recognized_by_its_text() {
    let (_folder, vault) = folder();
    let guard = guard_over(&vault, rules(&["#home"], &[]));
    let told = heard(&guard, Privacy::Open, story("Before.md", "tags: [home]")).await;
    assert!(!told.contains(CANARY), "{told}");
}

#[tokio::test]
async fn messages_about_open_notes_are_sent_whole() {
    let (_folder, vault) = folder();
    let guard = guard_over(&vault, rules(&["#home"], &["Diary"]));
    let rows = story("Open.md", "title: x");
    let turn = TurnId::from("three");
    guard.begin(&turn, Privacy::Open).await.expect("begun");
    assert_eq!(
        guard.redact_for_turn(&turn, rows.clone(), &SourcesByTurn::new()).await.expect("heard").0,
        rows
    );
}

#[tokio::test]
async fn a_turn_from_which_the_same_was_hidden_is_not_withheld() {
    let (_folder, vault) = folder();
    let guard = guard_over(&vault, rules(&["#home"], &[]));
    let two = TurnId::from("two");
    guard.begin(&two, Privacy::Open).await.expect("begun");
    guard.end(&two);
    let told = heard(&guard, Privacy::Open, story("Secret.md", "tags: [home]")).await;
    assert!(told.contains("As I said") && !told.contains("It says"), "{told}");
}

/// The messages of a turn, as a turn after it hears them that may see open notes only. The first turn began
/// while the server counted as another computer, and then ran with what `levels` says, one after the other; its
/// messages were made under the first of these.
async fn heard_after_switch(levels: &[Privacy]) -> String {
    let (_folder, vault) = folder();
    let guard = guard_over(&vault, rules(&[], &["#home"]));
    let one = TurnId::from("one");
    guard.begin(&one, Privacy::Open).await.expect("begun");
    let (first, later) = levels.split_at(levels.len().min(1));
    for most in first {
        guard.change_model(&one, *most).await.expect("another model");
    }
    let rows = story("Secret.md", "tags: [home]");
    for most in later {
        guard.change_model(&one, *most).await.expect("another model");
    }
    guard.end(&one);
    heard(&guard, Privacy::Open, rows).await
}

#[tokio::test]
async fn a_turn_whose_model_changed_is_withheld_from_who_may_see_less() {
    for levels in [&[Privacy::Local][..], &[Privacy::Local, Privacy::Open]] {
        let told = heard_after_switch(levels).await;
        assert!(!told.contains(CANARY) && told.contains("what does it say?"), "{told}");
    }
    for levels in [&[][..], &[Privacy::Open]] {
        let told = heard_after_switch(levels).await;
        assert!(told.contains(CANARY), "the control: nothing was hidden by then, {told}");
    }
}

/// A turn whose text names no note and holds no tag.
fn nameless(turn: &str) -> Vec<Message> {
    let call = CallId::from("call");
    let arguments = json!({ "message": format!("It says {CANARY}.") });
    let (tool, output) = ("send_message".to_owned(), CANARY.to_owned());
    vec![
        row(turn, Role::User, MessagePart::Text { text: "what does it say?".to_owned() }),
        row(turn, Role::Assistant, MessagePart::Call { id: call.clone(), tool, arguments }),
        row(turn, Role::User, MessagePart::Result { call, output, is_error: false, speech: None }),
        row(turn, Role::Assistant, MessagePart::Text { text: format!("It says {CANARY}.") }),
    ]
}

/// The history that a model gets of turn `two`, which was told text of this note.
async fn heard_from(guard: &PrivacyGuard, note: &str) -> String {
    let turn = TurnId::from("three");
    guard.begin(&turn, Privacy::Open).await.expect("begun");
    let source = Source::Note(NotePath::parse(note).expect("a path"));
    let told = SourcesByTurn::from([(TurnId::from("two"), BTreeSet::from([source]))]);
    let (heard, _) = guard.redact_for_turn(&turn, nameless("two"), &told).await.expect("heard");
    serde_json::to_string(&heard).expect("json")
}

#[tokio::test]
async fn text_from_a_hidden_note_is_withheld_though_it_does_not_name_it() {
    let (_folder, vault) = folder();
    for rules in [rules(&[], &["#home"]), rules(&["Secret"], &[]), rules(&[], &["tags: home"])] {
        let guard = guard_over(&vault, rules);
        let told = heard_from(&guard, "Secret.md").await;
        assert!(!told.contains(CANARY) && told.contains("what does it say?"), "{told}");
        // The control: what came from an open note is heard whole.
        let told = heard_from(&guard, "Open.md").await;
        assert_eq!(told.matches(CANARY).count(), 3, "{told}");
    }
}

#[tokio::test]
async fn text_of_a_missing_note_is_withheld_under_any_rule_that_may_hide_it() {
    let (_folder, vault) = folder();
    for rules in [rules(&["#home"], &[]), rules(&["Secret"], &[]), rules(&[], &["Diary"])] {
        let told = heard_from(&guard_over(&vault, rules), "Gone.md").await;
        assert!(!told.contains(CANARY) && told.contains("what does it say?"), "{told}");
    }
    // The control: no rule hides anything.
    let told = heard_from(&guard_over(&vault, rules(&[], &[])), "Gone.md").await;
    assert!(told.contains(CANARY), "{told}");
}

/// Turn `two` reads `Open.md` while it is open, and turn `three` repeats it; then this happens to the
/// note, and turn `four` hears of both.
async fn heard_after(rules: PrivateRules, happens: impl FnOnce(&std::path::Path)) -> String {
    let (folder, vault) = folder();
    let guard = guard_over(&vault, rules);
    let source = Source::Note(NotePath::parse("Open.md").expect("a path"));
    let told = SourcesByTurn::from([(TurnId::from("two"), BTreeSet::from([source]))]);
    let mut rows = nameless("two");
    for turn in ["two", "three"].map(TurnId::from) {
        guard.begin(&turn, Privacy::Open).await.expect("begun");
        let (heard, _) = guard.redact_for_turn(&turn, rows.clone(), &told).await.expect("heard");
        assert_eq!(heard, rows, "the control: it is open");
        guard.end(&turn);
        if turn.as_str() == "two" {
            rows.extend(nameless("three"));
        }
    }
    happens(folder.path());
    let four = TurnId::from("four");
    guard.begin(&four, Privacy::Open).await.expect("begun");
    let (heard, _) = guard.redact_for_turn(&four, rows, &told).await.expect("heard");
    serde_json::to_string(&heard).expect("json")
}

#[tokio::test]
async fn what_was_read_while_open_is_withheld_once_the_note_is_moved_or_gone() {
    let moves: [fn(&std::path::Path); 2] = [
        |vault| {
            std::fs::create_dir(vault.join("Diary")).expect("made");
            std::fs::rename(vault.join("Open.md"), vault.join("Diary/Open.md")).expect("moved");
        },
        |vault| std::fs::remove_file(vault.join("Open.md")).expect("removed"),
    ];
    for happens in moves {
        for rules in [rules(&["Diary"], &[]), rules(&[], &["#private"])] {
            let told = heard_after(rules, happens).await;
            assert!(!told.contains(CANARY) && told.contains("what does it say?"), "{told}");
        }
        let told = heard_after(rules(&[], &[]), happens).await;
        assert!(told.contains(CANARY), "the control: no rules, {told}");
    }
    let told = heard_after(rules(&["Diary"], &[]), |_| {}).await;
    assert_eq!(told.matches(CANARY).count(), 6, "the control: it stays, {told}");
}

#[tokio::test]
async fn a_turn_that_was_told_nothing_of_a_note_that_is_gone_stays_as_it_is() {
    let (_folder, vault) = folder();
    let guard = guard_over(&vault, rules(&["Diary"], &[]));
    let gone = Source::Note(NotePath::parse("Gone.md").expect("a path"));
    let told = SourcesByTurn::from([(TurnId::from("two"), BTreeSet::from([gone]))]);
    let (mut rows, three) = (nameless("two"), TurnId::from("three"));
    guard.begin(&three, Privacy::Open).await.expect("begun");
    let (_, mark) = guard.redact_for_turn(&three, rows.clone(), &told).await.expect("heard");
    guard.end(&three);
    rows.extend(nameless("three"));
    let four = TurnId::from("four");
    guard.begin(&four, Privacy::Open).await.expect("begun");
    let (heard, again) = guard.redact_for_turn(&four, rows, &told).await.expect("heard");
    let heard = serde_json::to_string(&heard).expect("json");
    assert_eq!(heard.matches(CANARY).count(), 3, "of `three` alone: {heard}");
    assert_eq!(mark, again);
    // A summary of earlier rows counts by its fingerprint, which must differ here.
    let (_, whole) =
        guard.redact_for_turn(&four, Vec::new(), &SourcesByTurn::new()).await.expect("heard");
    assert_ne!(mark, whole);
}

#[tokio::test]
async fn behind_a_turn_about_a_hidden_note_only_the_users_messages_are_sent() {
    let (_folder, vault) = folder();
    let guard = guard_over(&vault, rules(&[], &["#home"]));
    let mut rows = story("Secret.md", "tags: [home]");
    rows.extend(nameless("four"));
    let told = heard(&guard, Privacy::Open, rows).await;
    assert!(!told.contains(CANARY), "{told}");
}

#[tokio::test]
async fn a_turn_that_goes_on_after_a_start_does_not_hear_what_it_heard_before() {
    let (_folder, vault) = folder();
    let guard = guard_over(&vault, rules(&["#home"], &[]));
    let turn = TurnId::from("one");
    let rows = story("Secret.md", "tags: [home]");
    // The control: one that began under these rules was never told.
    guard.begin(&turn, Privacy::Open).await.expect("begun");
    let (whole, _) =
        guard.redact_for_turn(&turn, rows.clone(), &SourcesByTurn::new()).await.expect("heard");
    assert!(serde_json::to_string(&whole).expect("json").contains("It says"));

    let guard = guard_over(&vault, rules_again());
    guard.resume(&turn, Privacy::Open).await.expect("begun");
    let (heard, _) =
        guard.redact_for_turn(&turn, rows, &SourcesByTurn::new()).await.expect("heard");
    assert!(!serde_json::to_string(&heard).expect("json").contains(CANARY));
}

fn rules_again() -> PrivateRules {
    rules(&["#home"], &[])
}

#[tokio::test]
async fn a_question_about_a_hidden_note_is_not_quoted_to_who_may_not_see_the_note() {
    let (_folder, vault) = folder();
    let guard = guard_over(&vault, rules(&[], &["#home"]));
    for said in [
        format!(
            "The user has put your question “Is it {CANARY}?” aside: this message does not answer it."
        ),
        format!("The user has put your question “Is </rejected> “it”\n{CANARY}?” aside"),
        format!(
            "Your question still waits for the user's answer: “Is it?” (“Yes” and\n{CANARY} / no)"
        ),
        format!(
            "The user has put your question “Is it?” aside.\nThe user rejected it:\n<rejected>\n\
             +Ann said “no”: {CANARY}\n</rejected>"
        ),
        format!("Your question still waits for the user's answer: “Is it?” ({CANARY} / no)"),
        format!(
            "Your question `q1` still waits for the user's answer: “Is it {CANARY}?” (yes / no)"
        ),
    ] {
        let mut rows = story("Secret.md", "tags: [home]");
        let text = format!("<context>\nTime: 2\n{said}\n</context>");
        rows.push(row("three", Role::User, MessagePart::Context { text }));
        let told = heard(&guard, Privacy::Open, rows).await;
        assert!(!told.contains(CANARY), "{told}");
        assert!(told.contains("Time: 2") && told.contains("(withheld)"), "{told}");
    }
}

/// A turn that offers this option, and one after it in which the user answers so.
fn choice(turns: [&str; 2], option: &str, answer: &str) -> Vec<Message> {
    let arguments = json!({ "message": "Which?", "is_question": true, "options": [option] });
    let (id, tool) = (CallId::from("ask"), "send_message".to_owned());
    let mut chosen = row(turns[1], Role::User, MessagePart::Answers { question: turns[0].into() });
    chosen.parts.push(MessagePart::Text { text: answer.to_owned() });
    vec![row(turns[0], Role::Assistant, MessagePart::Call { id, tool, arguments }), chosen]
}

#[tokio::test]
async fn an_option_from_a_hidden_note_is_not_told_as_the_text_of_who_chose_it() {
    let (_folder, vault) = folder();
    let guard = guard_over(&vault, rules(&[], &["#home"]));
    // Their model might see no more than the one that hears of them.
    for turn in ["five", "six"].map(TurnId::from) {
        guard.begin(&turn, Privacy::Open).await.expect("begun");
        guard.end(&turn);
    }
    let asks = |answer: &str| {
        let mut rows = story("Secret.md", "tags: [home]");
        rows.extend(choice(["four", "five"], CANARY, answer));
        rows
    };
    for (answer, rest) in [
        (CANARY.to_owned(), "\""),
        (" Canary-7F3A ".to_owned(), "\""),
        // The window puts behind it what the user attached.
        (format!("{CANARY}\n\n[[x]]"), "\\n\\n[[x]]\""),
        (
            format!("{CANARY}\n\nAttached file: a.txt\n```\nmilk\n```"),
            "\\n\\nattached file: a.txt\\n```\\nmilk\\n```\"",
        ),
    ] {
        let told = heard(&guard, Privacy::Open, asks(&answer)).await.to_lowercase();
        assert!(!told.contains(CANARY), "{told}");
        let chosen = format!("(chose one of the offered answers){rest}");
        assert!(told.contains(&chosen), "{told}");
    }
    let told = heard(&guard, Privacy::Open, asks("Neither of them.")).await;
    assert!(told.contains("Neither of them.") && !told.contains("(chose"), "{told}");
    // The same option of a question that is heard, and before it.
    let mut rows = story("Secret.md", "tags: [home]");
    rows.extend(choice(["four", "five"], "Yes", "Yes"));
    rows.extend(choice(["five", "six"], "Yes", "Yes"));
    let told = heard(&guard, Privacy::Open, rows).await;
    assert_eq!(told.matches("(chose one of the offered answers)").count(), 1, "{told}");
    assert_eq!(told.matches("\"Yes\"").count(), 2, "the option and its choice: {told}");
    // The control: who may see the note is told the choice.
    let told = heard(&guard, Privacy::Local, asks(CANARY)).await;
    assert!(!told.contains("(chose"), "{told}");
}

#[tokio::test]
async fn the_screen_shows_what_the_strictest_running_turn_may_see() {
    let (_folder, vault) = folder();
    let guard = guard_over(&vault, rules(&[], &["#home"]));
    let secret = NotePath::parse("Secret.md").expect("a path");
    let seen = guard.vault_for_models();
    assert!(seen.hides(&secret), "nobody in particular");
    let (local, cloud) = (TurnId::from("local"), TurnId::from("cloud"));
    guard.begin(&local, Privacy::Local).await.expect("begun");
    assert!(!seen.hides(&secret));
    guard.begin(&cloud, Privacy::Open).await.expect("begun");
    assert!(seen.hides(&secret));
    guard.end(&cloud);
    assert!(!seen.hides(&secret));
    guard.set_rules(rules(&["#home"], &[]));
    assert!(seen.hides(&secret), "new rules hold for a turn that runs");
    let told = guard.redact_names(&local, "changed Secret.md".to_owned()).await.expect("told");
    assert_eq!(told, "changed (a private note)");
}

#[tokio::test]
async fn a_turn_that_runs_again_counts_after_the_replay_of_its_messages_ended() {
    let (_folder, vault) = folder();
    let guard = guard_over(&vault, rules(&[], &["#home"]));
    let secret = NotePath::parse("Secret.md").expect("a path");
    let seen = guard.vault_for_models();
    let (local, cloud) = (TurnId::from("local"), TurnId::from("cloud"));
    guard.begin(&local, Privacy::Local).await.expect("begun");
    // Its messages are heard for a title when it is continued.
    guard.begin_replay(&cloud, Privacy::Open).await.expect("begun");
    assert!(seen.hides(&secret), "a replay counts too");
    guard.resume(&cloud, Privacy::Open).await.expect("begun");
    guard.end_replay(&cloud);
    assert!(seen.hides(&secret), "it still runs");
    guard.end(&cloud);
    assert!(!seen.hides(&secret));
    guard.begin_replay(&cloud, Privacy::Open).await.expect("begun");
    guard.end_replay(&cloud);
    assert!(!seen.hides(&secret));
}

#[tokio::test]
async fn a_standing_index_tells_what_is_hidden_as_the_notes_do_and_follows_them() {
    let (folder, vault) = folder();
    let dir = tempfile::tempdir().expect("a folder");
    let rules = rules(&["Secret"], &["#home"]);
    let index = Index::new(&vault, rules.clone(), dir.path());
    index.catch_up(&std::sync::atomic::AtomicBool::new(false)).expect("built");
    let guard = PrivacyGuard::new(&vault, &index, rules.clone());
    for most in [Privacy::Open, Privacy::Local] {
        let hidden = guard.vault.files_hidden_above(most).expect("listed");
        assert_eq!(index.files_hidden_above(&rules, most), Some(hidden), "{most:?}");
    }
    assert_eq!(
        index.files_hidden_above(&PrivateRules::default(), Privacy::Open),
        None,
        "other rules"
    );
    // As long as nothing changes there is nothing to do; what changes counts at once.
    let before = guard.view_for(Privacy::Open).await.expect("a view");
    assert!(Arc::ptr_eq(&before, &guard.view_for(Privacy::Open).await.expect("the same")));
    assert!(!before.hidden_names.occur_in("Open.md"));
    std::fs::write(folder.path().join("Open.md"), "no longer #home").expect("written");
    index.refresh(&[NotePath::parse("Open.md").expect("a path")]);
    assert!(guard.view_for(Privacy::Open).await.expect("a view").hidden_names.occur_in("Open.md"));
    assert!(
        !guard.view_for(Privacy::Local).await.expect("a view").hidden_names.occur_in("Open.md")
    );
}

#[tokio::test]
async fn rejected_hunks_of_a_note_are_withheld_with_the_messages_about_it() {
    let (_folder, vault) = folder();
    let diff = format!("--- a/Secret.md\n+++ b/Secret.md\n@@ -1 +1 @@\n-{CANARY}\n+x\n");
    let block = format!("<context>\nTime: 1\n<rejected>\n{diff}</rejected>\n</context>");
    let rows = vec![
        row("one", Role::User, MessagePart::Context { text: block }),
        row("one", Role::Assistant, MessagePart::Text { text: format!("Not {CANARY}, then.") }),
    ];
    let guard = guard_over(&vault, rules(&["Secret"], &[]));
    let told = heard(&guard, Privacy::Open, rows.clone()).await;
    assert!(
        !told.contains(CANARY) && !told.contains("Secret") && told.contains("Time: 1"),
        "{told}"
    );
    let guard = guard_over(&vault, rules(&["Open"], &[]));
    assert!(heard(&guard, Privacy::Open, rows).await.contains(CANARY), "the control");
}
