//! The table of typed lines, and what the provider refuses to do.

use llm::model::{ContentBlock, ModelMessage, ToolSpec};
use proptest::prelude::*;
use protocol::Role;
use serde_json::{Value, json};

use super::command::CompletedCall;
use super::dialog::parse;
use super::*;
use crate::tests::fixture::still_now;

fn context() -> CommandContext<'static> {
    CommandContext {
        calls: Vec::new(),
        tools: Vec::new(),
        today: jiff::civil::date(2026, 11, 21),
        no_model: NoModelReason::NotConnected,
    }
}

/// The first call that a line leads to.
fn check(line: &str, tool: &str, arguments: Value) {
    match parse::parse_line(line).next(&context()) {
        NextStep::Call { tool: called, arguments: with } => {
            assert_eq!((called, with), (tool, arguments), "{line}");
        }
        NextStep::Say(text) => panic!("{line}: {text}"),
    }
}

#[test]
fn lines_are_read_as_their_commands() {
    check("find milk", "find_notes", json!({ "query": "milk" }));
    check("FIND \"brown bread\"", "find_notes", json!({ "query": "\"brown bread\"" }));
    check("open Groceries", "read_file", json!({ "path": "Groceries" }));
    check("open “My note”", "read_file", json!({ "path": "My note" }));
    let all = json!({ "pattern": "**/*.md", "path": null, "max_results": 30 });
    check("list", "list_files", all);
    check("list *.canvas", "list_files", json!({ "pattern": "*.canvas", "max_results": 30 }));
    let folder = json!({ "pattern": "**/*.md", "path": "My Projects", "max_results": 30 });
    check("list My Projects", "list_files", folder);
    check("new Trip", "write_file", json!({ "path": "Trip", "content": "" }));
    check("new Trip:", "write_file", json!({ "path": "Trip", "content": "" }));
    check("new A/Trip: at 9:30", "write_file", json!({ "path": "A/Trip", "content": "at 9:30\n" }));
    check("append bread to Groceries", "read_file", json!({ "path": "Groceries" }));
    let last_to_wins = json!({ "path": "Groceries" });
    check("append milk, eggs to my list to Groceries", "read_file", last_to_wins);
    check("append a to \"Letters to Ann\"", "read_file", json!({ "path": "Letters to Ann" }));
    check("append a to daily", "read_file", json!({ "path": "daily" }));
    check("append a to today", "read_file", json!({ "path": "today" }));
    let edit = json!({ "path": "Note", "old_text": "a", "new_text": "b" });
    check("replace a with b in Note", "edit_file", edit);
    let edit = json!({ "path": "N", "old_text": "tea with milk", "new_text": "tea in a pot" });
    check("replace \"tea with milk\" with \"tea in a pot\" in N", "edit_file", edit);
    check("today", "read_file", json!({ "path": "daily" }));
    check("changes", "show_changes", json!({ "all": true }));
    let into = json!({ "source": "Trip", "destination": "Archive/2025/" });
    check("move Trip to Archive/2025/", "move_file", into);
    let renamed = json!({ "source": "Letters to Ann", "destination": "Ann" });
    check("move \"Letters to Ann\" to Ann", "move_file", renamed);
    check("delete “Old plan”", "delete_file", json!({ "path": "Old plan" }));
    check("tags", "list_tags", json!({ "pattern": null, "limit": 50 }));
    check("tags #food", "list_tags", json!({ "pattern": "food", "limit": 50 }));
    check("links Trip", "get_links", json!({ "path": "Trip" }));
    let tasks = json!({
        "pattern": r"^\s*(?:[-*+]|\d+[.)])\s+\[ \]\s+.*call \(again\)",
        "context_lines": 0,
        "max_results": 50,
        "max_per_note": 50,
    });
    check("tasks call (again)", "search_files", tasks);
}

#[test]
fn everything_else_is_looked_for_in_the_notes() {
    for line in [
        "boiler pressure",
        "find",
        "open",
        "append bread",
        "append to Groceries",
        "replace a in Note",
        "today I was late",
        "help me with taxes",
        "opening hours",
        "move Trip",
        "move to Archive",
        "delete",
        "links",
    ] {
        check(line, "find_notes", json!({ "query": line }));
    }
}

#[test]
fn a_tool_that_is_not_on_offer_is_not_called_and_its_command_is_not_in_the_help() {
    let commands = CommandProvider::new(still_now, NoModelReason::NotConnected);
    let decide = |line: &str| {
        let tool = ToolSpec {
            name: "find_notes".to_owned(),
            description: String::new(),
            input_schema: Value::Null,
        };
        let blocks = vec![ContentBlock::Text(line.to_owned())];
        let request = ModelRequest {
            model: String::new(),
            system: String::new(),
            tools: vec![tool],
            messages: vec![ModelMessage { role: Role::User, blocks }],
            max_tokens: 1,
        };
        commands.decide(&request).0
    };
    let refused = "This isn’t possible here: `write_file` isn’t allowed.";
    assert_eq!(decide("new Trip"), NextStep::Say(refused.to_owned()));
    let NextStep::Say(help) = decide("help") else { panic!("help calls nothing") };
    assert!(help.contains("`find WORDS`") && !help.contains("`new NOTE"), "{help}");
    assert!(matches!(decide("milk"), NextStep::Call { tool: "find_notes", .. }));
}

proptest! {
    #[test]
    fn any_line_leads_to_a_call_or_to_text(
        line in "(find|open|list|new|append|replace|move|delete|tags|links|tasks|today|help|x)?[ \"“”:a-zé]{0,20}( to | with | in )?.{0,12}",
    ) {
        prop_assume!(!line.trim().is_empty());
        let said = match parse::parse_line(&line).next(&context()) {
            NextStep::Say(text) => text,
            NextStep::Call { tool, .. } => tool.to_owned(),
        };
        prop_assert!(!said.is_empty());
    }

    #[test]
    fn any_output_of_a_tool_is_answered(line in 0..12_usize, output in ".{0,40}", is_error: bool) {
        let lines = [
            "find a",
            "open a",
            "list",
            "new a",
            "append a to b",
            "replace a with b in c",
            "today",
            "move a to b",
            "delete a",
            "tags",
            "links a",
            "tasks",
        ];
        let tool = if line == 4 { "read_file" } else { "" };
        let done = vec![CompletedCall { tool, output: &output, is_error }];
        let next = match parse::parse_line(lines[line]).next(&CommandContext { calls: done, ..context() }) {
            NextStep::Say(_) => "words",
            NextStep::Call { tool, .. } => tool,
        };
        // After a result only `append` goes on with a call, and a name may have to be asked about.
        let goes_on = ["words", "send_message", "read_file", "append_file"];
        prop_assert!(goes_on.contains(&next), "{}", next);
    }
}
