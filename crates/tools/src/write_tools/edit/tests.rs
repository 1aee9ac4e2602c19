//! Every kind of edit over small texts, and that each changes only its own bytes.

use llm::tool_api::tool::ToolOffer;
use proptest::prelude::*;
use protocol::NotePath;
use serde_json::{Value, json};

use super::freshness::Freshness;
use crate::write_tools::edit_file::EditFileInput;
use crate::write_tools::edit_section::EditSectionInput;
use crate::write_tools::set_property::SetPropertyInput;

pub(super) fn edit(text: &str, call: Value) -> Result<String, String> {
    let mut call = call;
    call["path"] = json!("n.md");
    let path = NotePath::parse("n.md").unwrap();
    let given = |name: &str| call[name].as_str().is_some_and(|it| !it.is_empty());
    let edited = if given("heading") && !given("old_text") {
        let input: EditSectionInput = serde_json::from_value(call).unwrap();
        input.edit()?.apply(&path, text, Freshness::Current)
    } else if given("property") && !given("old_text") {
        let input: SetPropertyInput = serde_json::from_value(call).unwrap();
        input.edit()?.apply(&path, text, Freshness::Current)
    } else {
        let input: EditFileInput = serde_json::from_value(call).unwrap();
        input.edit(&ToolOffer::default())?.apply(&path, text, Freshness::Current)
    };
    edited.map(|edited| edited.text)
}

pub(super) fn check(text: &str, call: Value, expected: &str) {
    assert_eq!(edit(text, call.clone()).as_deref(), Ok(expected), "{text:?} {call}");
}

fn refused(text: &str, call: Value, part: &str) {
    let words = edit(text, call.clone()).expect_err(&call.to_string());
    assert!(words.contains(part), "{call}: {words}");
}

pub(super) fn section(heading: &str, action: &str, text: &str) -> Value {
    json!({ "heading": heading, "action": action, "text": text })
}

#[test]
fn the_text_under_a_heading_is_replaced_or_added_to() {
    let note = "# A\n\none\n\n## B\ntwo\n\n# C";
    check(note, section("A", "replace", "x"), "# A\n\nx\n\n# C");
    check(note, section("A > B", "replace", "x\n"), "# A\n\none\n\n## B\nx\n\n# C");
    check(note, section("A", "append", "x"), "# A\n\none\nx\n\n## B\ntwo\n\n# C");
    check(note, section("A", "prepend", "x"), "# A\n\nx\none\n\n## B\ntwo\n\n# C");
    check(note, section("C", "append", "x"), "# A\n\none\n\n## B\ntwo\n\n# C\nx");
    check(note, section("C", "replace", "x"), "# A\n\none\n\n## B\ntwo\n\n# C\nx");
    check(note, section("B", "replace", ""), "# A\n\none\n\n## B\n\n# C");
    check("One\r\n===\r\ntwo", section("One", "replace", "x\ny"), "One\r\n===\r\nx\r\ny");
    check("<h2>🛒</h2>\na\n", section("🛒", "prepend", "x"), "<h2>🛒</h2>\nx\na\n");
    refused("# A\nx\n# A\n", section("A", "append", "y"), "- `line 3`");
    refused("## A\nx\n", section("A", "replace", "## A\ny"), "Leave out the first line");
}

#[test]
fn text_goes_under_its_heading_where_lines_end_in_bare_returns() {
    let note = "# A\rone\r\r# B\rtwo\r";
    check(note, section("A", "append", "x"), "# A\rone\rx\n\r# B\rtwo\r");
    check(note, section("A", "prepend", "x"), "# A\rx\none\r\r# B\rtwo\r");
    check(note, section("A", "replace", "x"), "# A\rx\n\r# B\rtwo\r");
    check(note, section("B", "append", "x"), "# A\rone\r\r# B\rtwo\rx\n");
}

#[test]
fn a_block_is_found_by_its_id_where_lines_end_in_bare_returns() {
    let note = "# A\rkeep\r\rold words ^p";
    check(note, section("^p", "replace", "new"), "# A\rkeep\r\rnew ^p");
    check(note, section("^p", "prepend", "x"), "# A\rkeep\r\rx\nold words ^p");
    check(note, section("^p", "append", "x"), "# A\rkeep\r\rold words ^p\nx");
    let ended = "# H\rkeep\r\rtext ^p\n";
    check(ended, section("^p", "replace", "new"), "# H\rkeep\r\rnew ^p\n");
    let list = "- one ^o\r- two ^i\r- three\r";
    check(list, section("^i", "replace", "- 2"), "- one ^o\r- 2 ^i\r- three\r");
    check(list, section("^i", "append", "- x"), "- one ^o\r- two ^i\r- x\n- three\r");
    let matter = "---\ra: 1\r---\rb ^x";
    check(matter, section("^x", "replace", "c"), "---\ra: 1\r---\rc ^x");
    refused("a ^x\r\rb ^x\n\nc ^x", section("^x", "append", "y"), "in lines 1, 1, 3");
}

#[test]
fn a_block_is_found_by_its_id() {
    let note = "# H\nold\nwords ^p\n\n- one\n- two ^i\n- three\n\n| t |\n\n^t\n";
    let with = |from: &str, to: &str| note.replace(from, to);
    check(note, section("^p", "replace", "new"), &with("old\nwords", "new"));
    check(note, section("^i", "replace", "- 2 ^i"), &with("- two", "- 2"));
    check(note, section("^i", "append", "- x"), &with("two ^i\n", "two ^i\n- x\n"));
    check(note, section("^i", "prepend", "- x"), &with("- two", "- x\n- two"));
    check(note, section("^t", "replace", "| u |"), &with("| t |", "| u |"));
    refused(note, section("^q", "append", "x"), "line 3: ^p\nline 6: ^i\nline 11: ^t");
    refused("a ^x\n\nb ^x\n", section("^x", "append", "y"), "in lines 1, 3");
    check("---\na: 1\n---\nb ^x", section("^x", "replace", "c"), "---\na: 1\n---\nc ^x");
}

#[test]
fn a_block_id_names_the_block_that_the_parser_sees() {
    let replaced = |before: &str, block: &str, behind: &str, new: &str| {
        let note = format!("{before}{block}{behind}");
        check(&note, section("^r", "replace", new), &format!("{before}{new}{behind}"));
        check(&note, section("^r", "prepend", "x"), &format!("{before}x\n{block}{behind}"));
    };
    replaced("Intro\n```\ncode\n```\n", "The result.", " ^r\n", "New.");
    replaced("Intro\n***\n", "The result.", " ^r\n", "New.");
    replaced("Intro\n", "> Two\n> lines", " ^r\n", "> One");
    replaced("Intro\n", "## Title", " ^r\nText\n", "## New");
    replaced("# H\n\nIntro:\n", "- a\n\n- b", "\n\n^r\n", "- c");
    replaced("", "```js\na\n\nb\n```", "\n\n^r\n\nEnd\n", "New.");
    replaced("# H\r\rIntro:\r", "- a\r\r- b", "\r\r^r\r", "- c");
    replaced("- a\n", "- b", "\n^r\n", "- c");
    // A table holds an id in the line below it.
    replaced("Intro\n\n", "| a |\n|---|\n| b |", "\n^r\n", "| c |");
    replaced("Intro\n", "| a |\n|---|\n| b |", "\n\n^r\n", "| c |");
}

#[test]
fn a_block_id_that_the_parser_does_not_see_names_the_lines_above_it() {
    let replace = section("^r", "replace", "New");
    check("a\n\nb\r^r\rc\n", replace.clone(), "a\n\nNew\r^r\rc\n");
    check("a\n\nb\nc ^r\nd\n", replace.clone(), "a\n\nNew ^r\nd\n");
    // The parser names the first item or the heading, and text stands between it and the id.
    check("- a\n\n- b\n\n  ^r\n", replace.clone(), "- a\n\nNew\n\n  ^r\n");
    check("# H\n\n- a\n\n  ^r\n", replace, "# H\n\nNew\n\n  ^r\n");
}

fn property(name: &str, action: &str, value: Value) -> Value {
    json!({ "property": name, "action": action, "value": value })
}

#[test]
fn yaml_that_is_not_understood_is_refused_with_its_line() {
    for (yaml, part) in [
        ("a: 1\n\tb: 2", "line 3: a tab"),
        ("a: b: c", "line 2: a value with a colon"),
        ("a: 'b", "line 2: a quote or bracket is opened"),
        ("a: [b, c", "opened and not closed"),
        ("a: [b] c", "something stands behind"),
        ("a:b", "line 2: `name: value` is expected"),
        ("? a", "cannot begin with `?`"),
        ("{ a: 1 }", "cannot begin with `{`"),
        ("a: 1\na: 2", "line 3: the property `a` stands here a second time"),
        ("- a", "a property is expected here"),
        ("a: 1\n- b", "a list item stands below"),
        ("a: @b", "must be in quotes"),
    ] {
        refused(&format!("---\n{yaml}\n---\n"), property("x", "set", json!(1)), part);
    }
    refused("---\na: 1\n", property("x", "set", json!(1)), "no line of just `---` ends it");
    refused("a", property("a\"b", "set", json!(1)), "holds a quote");
    refused("a", property(" ", "set", json!(1)), "or nothing");
    refused("---\na: &x 1\nb: *x\n---\n", property("a", "set", json!(1)), "anchor");
}

#[test]
fn a_property_that_cannot_be_edited_is_refused_with_the_way_out() {
    let note = "---\ntitle: One\ntags: [a]\nlist: # all\n  - b # 1\n---\n";
    refused(note, property("title", "append", json!("x")), "is not a list: it holds One");
    refused(note, property("tags", "append", json!("a")), "a is in the property tags");
    refused(note, property("list", "set", json!(1)), "comments among its lines");
    refused(note, json!({ "property": "tag", "action": "remove" }), "- `tags`");
    refused("Text", json!({ "property": "tag", "action": "remove" }), "has no properties");
    refused(note, property("tags", "append", json!({ "a": 1 })), "neither a text");
}

#[test]
fn a_call_with_the_fields_of_another_edit_is_told_where_they_belong() {
    refused("a", json!({ "old_text": "" }), "old_text is empty");
    refused("a", json!({ "old_text": "a" }), "give new_text \"\"");
    refused("a", json!({ "old_text": "a", "text": "b" }), "Give new_text instead of text.");
    refused("a", json!({ "old_text": "a", "line": 1 }), "Leave out line.");
    refused("a", json!({ "old_text": "a", "start_line": 1 }), "Leave out start_line.");
    refused("a", json!({ "old_text": "a", "heading": "A" }), "call edit_section");
    refused("a", json!({ "old_text": "a", "property": "A" }), "call set_property");
    refused("# A", json!({ "heading": "A", "text": "x" }), "append, prepend or replace");
    refused("# A", json!({ "heading": "A", "action": "append" }), "text is missing");
    refused("# A", json!({ "heading": "A", "action": "append", "new_text": "x" }), "Give text");
    refused("a", json!({ "property": "a", "action": "set" }), "value is missing");
    refused("a", json!({ "property": "a", "action": "set", "text": "x" }), "Give value");
    let all =
        json!({ "old_text": "a", "new_text": "b", "heading": "", "text": "", "property": "" });
    check("a", all, "b");
}

/// A small note of all the things that matter, and a place in it that `mark` names.
fn note() -> impl Strategy<Value = (Vec<String>, bool, bool)> {
    let line = prop_oneof![
        "[a-z é]{0,5}",
        "## [ab]{1,2}",
        Just("---".to_owned()),
        Just("```".to_owned()),
        "- [a-z]{1,3}( \\^[a-z])?",
        Just("===".to_owned()),
    ];
    (proptest::collection::vec(line, 1..12), any::<bool>(), any::<bool>())
}

fn written((lines, crlf, ended): &(Vec<String>, bool, bool)) -> String {
    let ends = if *crlf { "\r\n" } else { "\n" };
    let mut text = lines.join(ends);
    if *ended {
        text.push_str(ends);
    }
    text
}

/// Whether `after` is `before` with one stretch exchanged for something that holds `new`.
fn changes_one_stretch(before: &str, after: &str, new: &str) -> bool {
    after.match_indices(new).any(|(at, _)| {
        let (head, tail) = (&after[..at], &after[at + new.len()..]);
        let tail = tail.trim_start_matches(['\r', '\n']);
        let head = head.trim_end_matches(['\r', '\n']);
        before.starts_with(head) && before.ends_with(tail)
    })
}

proptest! {
    #[test]
    fn an_edit_of_a_section_or_block_leaves_all_bytes_around_it(
        note in note(),
        place in "(\\^[a-z]|[ab]{1,2})",
        action in "(replace|append|prepend)",
    ) {
        let text = written(&note);
        if let Ok(after) = edit(&text, section(&place, &action, "NEW")) {
            prop_assert!(changes_one_stretch(&text, &after, "NEW"), "{:?} {:?}", text, after);
            if action != "replace" {
                let back = after.replacen("NEW\r\n", "", 1).replacen("NEW\n", "", 1);
                let back = back.strip_suffix("NEW").map(|back| back.trim_end().to_owned()).unwrap_or(back);
                prop_assert!(back == text || back == text.trim_end(), "{:?} {:?}", text, after);
            }
        }
    }

    #[test]
    fn a_property_that_is_set_and_removed_leaves_the_bytes_as_they_were(
        note in note(),
        entries in proptest::collection::vec("[b-z]{1,3}:( [a-z]{1,4}|\n  - x|\n- y| \\[p, q\\]|)( # c)?", 0..4),
        value in prop_oneof![any::<bool>().prop_map(Value::from), any::<String>().prop_map(Value::from), any::<Vec<String>>().prop_map(Value::from)],
    ) {
        let text = format!("---\n{}\n---\n{}", entries.join("\n"), written(&note));
        let Ok(after) = edit(&text, property("a", "set", value.clone())) else { return Ok(()) };
        let tail = format!("\n---\n{}", written(&note));
        prop_assert!(after.ends_with(&tail));
        let again = edit(&after, property("a", "set", value));
        prop_assert_eq!(again.as_deref(), Ok(after.as_str()));
        prop_assert_eq!(edit(&after, json!({ "property": "a", "action": "remove" })), Ok(text));
    }
}

#[test]
fn a_text_that_stands_in_each_of_many_lines_is_replaced_at_once() {
    let text = "a\n".repeat(80_000);
    let call = json!({ "old_text": "a", "new_text": "bb", "replace_all": true });
    assert_eq!(edit(&text, call).unwrap(), "bb\n".repeat(80_000));
    refused(&text, json!({ "old_text": "a", "new_text": "b" }), "occurs 80000 times");
    refused(&text, json!({ "old_text": "a", "new_text": "b" }), "10| a\nand 79990 more");
}

#[test]
fn a_replacement_that_would_make_a_note_too_large_is_refused_before_it_is_made() {
    let text = "a\n".repeat(1_000_000);
    let long = "b".repeat(20_000);
    let call = json!({ "old_text": "a", "new_text": long, "replace_all": true });
    refused(&text, call, "would be larger than 10 MiB");
}
