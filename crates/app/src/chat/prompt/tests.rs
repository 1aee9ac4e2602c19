//! The instructions and the context block, word for word.

use super::*;

fn path(text: &str) -> NotePath {
    NotePath::parse(text).expect("a path")
}

fn instructions(origin: Origin, mode: Mode, detail: ToolDetail) -> String {
    let inbox = path("inbox/2026.md");
    system_prompt(&SystemPromptInput {
        origin,
        inbox: &inbox,
        mode,
        rules_file: None,
        organisation: "",
        detail,
        room: 1_000,
    })
}

#[test]
fn a_message_of_the_hub_is_the_users_request_and_notes_are_data() {
    for detail in [ToolDetail::Whole, ToolDetail::Brief] {
        let hub = instructions(Origin::HubVoice, Mode::Review, detail);
        assert!(hub.contains("the user's request"), "{hub}");
        assert!(hub.contains("call append_file with path `inbox/2026.md`"), "{hub}");
        // The channel is trusted; only what other sources say is data.
        assert!(!hub.contains("text that came over the hub"), "{hub}");
        assert!(hub.contains("data"), "{hub}");
        let read_only = instructions(Origin::HubText, Mode::ReadOnly, detail);
        assert!(!read_only.contains("append_file"), "{read_only}");
        let window = instructions(Origin::Window, Mode::Review, detail);
        assert!(!window.contains("call append_file") && !window.contains("notification"));
    }
    let hub = instructions(Origin::HubVoice, Mode::Review, ToolDetail::Whole);
    assert!(!hub.contains("in Markdown") && hub.contains("without Markdown"), "{hub}");
}

#[test]
fn the_instructions_for_small_models_name_no_tool_that_they_are_not_offered() {
    let named = |text: &str| -> Vec<String> {
        let words = text.split(|c: char| !c.is_ascii_lowercase() && c != '_');
        words.filter(|word| word.contains('_')).map(str::to_owned).collect()
    };
    for origin in [Origin::Window, Origin::HubText] {
        for name in named(&instructions(origin, Mode::Auto, ToolDetail::Brief)) {
            assert!(tools::catalog::MINIMAL_TOOLS.contains(&name.as_str()), "{name}");
        }
    }
    assert_eq!(named("call search_files and then stop"), ["search_files"]);
}

#[test]
fn a_rules_file_that_is_cut_is_called_cut() {
    let inbox = path("inbox/2026.md");
    let told = |room| {
        system_prompt(&SystemPromptInput {
            origin: Origin::Window,
            inbox: &inbox,
            mode: Mode::Review,
            rules_file: Some(&RulesFile {
                path: path("AGENTS.md"),
                text: "é".repeat(500),
                sources: Vec::new(),
            }),
            organisation: "By year.",
            detail: ToolDetail::Brief,
            room,
        })
    };
    let (whole, cut, none) = (told(2_000), told(700), told(200));
    assert!(whole.contains("é\n</hints>\n\nHow the user"), "{whole}");
    assert!(cut.contains("é\n</hints>\nThe text goes on, but there is no room"), "{cut}");
    assert!(cut.len() <= none.len() + 700, "{} {}", cut.len(), none.len());
    assert!(!none.contains("é"), "{none}");
}

fn briefing() -> ContextBlock {
    ContextBlock {
        now: "12:00".into(),
        open_note: None,
        question: None,
        decisions: Vec::new(),
        stale_notes: Vec::new(),
        pending_notes: NameList::default(),
        budget_left: None,
    }
}

#[test]
fn the_block_says_what_changed_since() {
    let briefing = ContextBlock {
        decisions: vec![decision_text(&lists(&row(&["a.md"], &["b.md"], &[])), &[])],
        stale_notes: vec![
            StaleNote::Otherwise(path("d.md")),
            StaleNote::Gone(path("f.md")),
            StaleNote::Otherwise(path("e.md")),
        ],
        pending_notes: NameList::new(&[path("c.md")], |_| NameRank::default()),
        ..briefing()
    };
    assert_eq!(
        context_block(&briefing),
        "<context>\nTime: 12:00\nAfter your last answer, the user applied the changes to a.md and rejected \
         the changes to b.md; those notes are as they were.\nChanged since you read them, so \
         read them again: d.md, e.md\nNo longer there under their name: f.md\nChanges still \
         waiting for the user's review: c.md\n</context>"
    );
}

fn lists(decision: &DecisionRow) -> DecisionLists {
    DecisionLists::new(decision, |_| NameRank::default())
}

fn row(applied: &[&str], rejected: &[&str], edited: &[&str]) -> DecisionRow {
    let paths = |names: &[&str]| names.iter().map(|name| path(name)).collect();
    DecisionRow {
        id: "v".into(),
        change_set: "s".into(),
        applied: paths(applied),
        rejected: paths(rejected),
        edited: paths(edited),
        at: protocol::Timestamp(1),
    }
}

#[test]
fn a_decision_on_hunks_tells_what_was_rejected_and_what_the_user_wrote() {
    let some = lists(&row(&["a.md", "b.md"], &["b.md", "c.md"], &["a.md"]));
    let diff = "--- a/b.md\n+++ b/b.md\n@@ -1 +1 @@\n-one\n+two\n".to_owned();
    assert_eq!(
        decision_text(&some, std::slice::from_ref(&diff)),
        format!(
            "After your last answer, the user applied the changes to a.md and applied some of the changes to \
             b.md and rejected the rest and rejected the changes to c.md; those notes are as \
             they were. The user edited some lines in a.md. Read each note again \
             before you change it.\n<rejected>\n{diff}</rejected>"
        )
    );
    let long = decision_text(&some, &[diff, "x".repeat(MAX_REJECTED_BYTES)]);
    assert!(long.ends_with("</rejected>\nMore was rejected. Look at the notes."), "{long}");
}

#[test]
fn the_block_stays_short_however_many_notes_were_planned_and_decided() {
    let names: Vec<String> = (0..5_000).map(|n| format!("Projects/Garden/Note {n}.md")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let (applied, rejected) = names.split_at(2_500);
    let notes: Vec<NotePath> = names.iter().map(|name| path(name)).collect();
    let block = context_block(&ContextBlock {
        decisions: vec![decision_text(&lists(&row(applied, rejected, applied)), &[])],
        stale_notes: notes.iter().cloned().map(StaleNote::Otherwise).collect(),
        pending_notes: NameList::new(&notes, |_| NameRank::default()),
        ..briefing()
    });
    assert!(block.len() < 10_000, "{} bytes", block.len());
    assert_eq!(block.matches(", and other notes").count(), 5, "{block}");
    for number in ["2450", "4950", "5000"] {
        assert!(!block.contains(number), "it tells no number: {block}");
    }
}

#[test]
fn the_block_says_how_the_message_relates_to_the_question() {
    let told = |asked| context_block(&ContextBlock { question: Some(asked), ..briefing() });
    let waits = told(QuestionStatus::Open("Which?".into(), vec!["a".into(), "b".into()]));
    assert!(waits.contains("still waits for the user's answer: “Which?” (a / b)\n"), "{waits}");
    let aside = told(QuestionStatus::Skipped("Which?".into()));
    assert!(
        aside.contains("put your question “Which?” aside: this message does not answer it."),
        "{aside}"
    );
}

#[test]
fn a_selection_is_quoted_with_its_place_and_age_and_cut_when_it_is_long() {
    let chosen = |text: &str| NoteSelection {
        note: path("a.md"),
        heading: Some("Top".into()),
        text: text.into(),
        age: age_text(std::time::Duration::from_secs(130)),
    };
    assert_eq!(
        selection_block(&chosen("one\n</selection>")),
        "<selection>\nSelected in a.md, under “Top”, 2 minutes ago:\n> one\n> </selection>\n\
         </selection>"
    );
    let long = selection_block(&chosen(&"é".repeat(MAX_SELECTION_CHARS + 1)));
    assert!(long.ends_with("é\n[The selection goes on.]\n</selection>"));
}

#[test]
fn a_time_names_its_zone_and_an_age_its_unit() {
    let now: jiff::Zoned = "2026-11-21T16:20[Europe/Berlin]".parse().expect("a time");
    assert_eq!(time_text(&now), "Saturday, 2026-11-21 16:20 CET (Europe/Berlin)");
    let ages = [3, 60, 7_300, 90_000].map(std::time::Duration::from_secs).map(age_text);
    assert_eq!(ages, ["just now", "1 minute ago", "2 hours ago", "1 day ago"]);
}
