//! Names of changes in context blocks are told only to models that may hear them.

use std::time::{Duration, Instant};

use protocol::settings::PrivateSettings;
use protocol::{CallId, Change, ChangeSet, ChangeSetId, PrivateRules, Role, TokenUsage, TurnStep};
use serde_json::json;

use super::*;
use crate::adapters::stored_conversations::{StoredConversations, message, private_folders};
use crate::privacy::SourcesByTurn;
use crate::support::clock::now;

fn call(name: &str) -> TurnCall {
    (TurnId::from("t"), name.into())
}

fn plan(path: &str, by: &str) -> PlannedName {
    let (turn, call) = call(by);
    let path = NotePath::parse(path).expect("a path");
    PlannedName {
        path,
        target: None,
        turn,
        call,
        has_text: false,
        after: None,
        updates_links: false,
    }
}

/// A view to which `Diary` is hidden.
fn view() -> PrivacyView {
    let private = PrivateSettings { never: vec!["Diary".to_owned()], ..Default::default() };
    PrivacyView {
        rules: PrivateRules::parse(&private).expect("rules"),
        max_privacy: Privacy::Open,
        generation: 0,
        hidden_names: HiddenNames::new(&[], &[]),
        hidden: Arc::default(),
        made_at: protocol::Timestamp(0),
    }
}

/// The block as it is told after calls planned these changes, of which the call `private` is withheld.
fn told(planned: &[(&str, &str)], block: &str, is_tainted: bool) -> String {
    let planned = planned.iter().map(|(path, by)| plan(path, by)).collect();
    let withheld = BTreeSet::from([call("private")]);
    let view = view();
    let names = PlannedNames::new(planned, &BTreeSet::new(), |plan| {
        view.rules.by_path(&plan.path) > Privacy::Open
    });
    let gone = HiddenNames::new(&[NotePath::parse("Gone.md").expect("a path")], &[]);
    let (names, view, gone) = (&names, &view, &gone);
    let filter = NamesFilter { names, view, gone, withheld: &withheld, is_tainted };
    filter.filter_block(block).unwrap_or_else(|| block.to_owned())
}

#[test]
fn a_list_names_only_what_may_be_told() {
    let planned =
        [("a.md", "open"), ("b, c.md", "private"), ("d, e.md", "open"), ("Diary", "open")];
    for (list, expected) in [
        ("a.md, d, e.md", "a.md, d, e.md"),
        ("b, c.md, a.md", "a.md, other notes (withheld)"),
        ("b, c.md", "other notes (withheld)"),
        ("Diary, a.md", "a.md"),
        ("Diary", "(a private note)"),
        ("DIARY/Gone.md", "(a private note)"),
    ] {
        let block = |list: &str| format!("<context>\n{PENDING_PREFIX}{list}\n</context>");
        assert_eq!(told(&planned, &block(list), false), block(expected), "{list}");
    }
}

#[test]
fn a_name_without_a_plan_is_told_until_a_turn_is_withheld() {
    let block = format!("{PENDING_PREFIX}a.md, gone, twice.md");
    let planned = [("a.md", "open")];
    assert_eq!(told(&planned, &block, false), block);
    let expected = format!("{PENDING_PREFIX}a.md, other notes (withheld)");
    assert_eq!(told(&planned, &block, true), expected);
}

#[test]
fn a_decision_is_told_without_the_names_that_may_not_be_told() {
    let planned = [("a.md", "open"), ("b.md", "private")];
    let decision = |applied: &str, rejected: &str| {
        format!(
            "{DECISION_START}applied the changes to {applied} and rejected the changes to {rejected}; \
             those notes are as they were."
        )
    };
    let block = decision("a.md", "b.md");
    assert_eq!(told(&planned, &block, true), decision("a.md", WITHHELD_NAMES));
    let other = format!("{DECISION_START}did something to b.md.");
    assert_eq!(told(&planned, &other, false), other);
    let withheld = format!("{DECISION_START}{WITHHELD_DECISION}");
    assert_eq!(told(&planned, &other, true), withheld);
}

#[test]
fn a_list_that_is_cut_tells_no_number_of_hidden_names() {
    let planned = [("a.md", "open"), ("b.md", "open"), ("Diary", "open"), ("c, d.md", "private")];
    let list = |names: &str| format!("{PENDING_PREFIX}{names}");
    for (names, expected) in [
        ("a.md, b.md, and other notes", "a.md, b.md, and other notes"),
        ("a.md, Diary, and other notes", "several notes"),
        ("a.md, b.md, Gone.md, and other notes", "several notes"),
        ("a.md, c, d.md, and other notes", "other notes (withheld)"),
        ("a.md, Diary, and other private notes", "a.md"),
        ("Diary, and other private notes", "(a private note)"),
    ] {
        assert_eq!(told(&planned, &list(names), false), list(expected), "{names}");
    }
    let decision = format!("{DECISION_START}applied the changes to a.md, and other notes.");
    assert_eq!(told(&planned, &decision, false), decision);
}

#[test]
fn of_a_list_that_is_cut_what_a_call_worded_and_hidden_names_are_looked_at_too() {
    let text = |path: &str, by: &str| PlannedName { has_text: true, ..plan(path, by) };
    let planned = [
        text("a.md", "move"),
        text("b.md", "move"),
        text("Diary/c.md", "move"),
        text("new.md", "write"),
    ];
    let relevant = |list: &str| {
        let line = format!("{PENDING_PREFIX}{list}");
        let listed = ListedNames::read(&BTreeSet::from([line.as_str()]));
        let found = listed.relevant(planned.to_vec(), &view());
        found.into_iter().map(|plan| plan.path.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(relevant("a.md, and other notes"), ["a.md", "Diary/c.md", "new.md"]);
    assert_eq!(relevant("a.md"), ["a.md"]);
}

/// The name of the note that a turn in another version of the conversation planned.
const PLANNED: &str = "Ann is ill.md";

/// A conversation of one turn, which was told the title of another one that names a note in `Diary`, and planned a note
/// with that title.
async fn planned_from_title() -> StoredConversations {
    let stored = StoredConversations::new().await;
    stored.end_with("mentioned", None, "It is in Diary/a.md.").await;
    stored.begin("c").await;
    stored.ask("c", "one", "summarize [[conversation:mentioned|Ann is ill]]").await;
    let (turn, call) = (TurnId::from("one"), CallId::from("plan"));
    let arguments = json!({ "path": PLANNED, "content": "x" });
    let part = MessagePart::Call { id: call.clone(), tool: "write_file".to_owned(), arguments };
    let answer = Message { parts: vec![part], ..message("c", "one", Role::Assistant, "") };
    let step = TurnStep { message: answer, usage: TokenUsage::default() };
    stored.store.store_step(&turn, &step).await.expect("stored");
    let change = Change::create(NotePath::parse(PLANNED).expect("a path"), "x");
    let (conversation, set) = (ConversationId::from("c"), ChangeSetId::from("set"));
    let changes = ChangeSet::one(change);
    let planned =
        stored.store.add_planned_changes(&conversation, &set, &changes, &turn, &call, now());
    planned.await.expect("planned");
    stored.answer("c", "one", None, "Planned.").await;
    stored
}

#[tokio::test]
async fn a_name_that_a_turn_of_another_version_has_from_a_hidden_title_is_withheld() {
    let stored = planned_from_title().await;
    let (guard, turn) = (stored.guard(&["Work"]), TurnId::from("two"));
    guard.begin(&turn, Privacy::Open).await.expect("begun");
    for (never, expected) in [("Work", PLANNED), ("Diary", WITHHELD_NAMES), ("Work", PLANNED)] {
        guard.set_rules(private_folders(&[never]));
        let text = format!("{PENDING_PREFIX}{PLANNED}");
        let row = message("c", "two", Role::User, "");
        let rows = vec![Message { parts: vec![MessagePart::Context { text }], ..row }];
        let heard = guard.redact_for_turn(&turn, rows, &SourcesByTurn::new()).await;
        let (heard, _) = heard.expect("heard");
        let parts: Vec<MessagePart> = heard.into_iter().flat_map(|row| row.parts).collect();
        let text = format!("{PENDING_PREFIX}{expected}");
        assert_eq!(parts, [MessagePart::Context { text }], "{never}");
    }
}

/// How often a time is taken: other programs disturb, and the shortest counts.
const ATTEMPTS: usize = 5;
/// The growth that is allowed for eight times the names. The time that is linear grows to the eightfold, the
/// quadratic one to the 64-fold.
const MAX_GROWTH: u32 = 24;

/// The time to look up planned names in a line of before that lists all of them.
fn time_for_names(count: usize) -> Duration {
    let names: Vec<String> = (0..count).map(|n| format!("Projects/Note {n}.md")).collect();
    let planned: Vec<PlannedName> = names.iter().map(|name| plan(name, "open")).collect();
    let line = format!("{PENDING_PREFIX}{}", names.join(LIST_SEPARATOR));
    let (lines, view) = (BTreeSet::from([line.as_str()]), view());
    let measure = |_| {
        let planned = planned.clone();
        let begun = Instant::now();
        let found = ListedNames::read(&lines).relevant(planned, &view);
        let took = begun.elapsed();
        assert_eq!(found.len(), count);
        took
    };
    (0..ATTEMPTS).map(measure).min().expect("a time")
}

#[test]
fn the_time_to_look_names_up_grows_as_their_number() {
    let (few, many) = (time_for_names(1_000), time_for_names(8_000));
    assert!(many < few * MAX_GROWTH, "{few:?} for 1,000 names, {many:?} for 8,000");
}
