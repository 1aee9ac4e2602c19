//! The edit of a property over small texts: it changes only its own bytes.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::{NoteProperty, Properties};

/// The name of a property, `set`, `append` or `remove`, and a value.
type EditCall<'a> = (&'a str, &'a str, Value);

const YAML: &str =
    "---\n# kept\ntitle:  'It''s' # why\ntags: [a, \"b c\"]\n\nlist:\n- one\nempty:\n---\nText\n";

fn edit(text: &str, (name, action, value): EditCall<'_>) -> Result<String, PropertyEditError> {
    let action = match action {
        "set" => PropertyAction::Set(&value),
        "append" => PropertyAction::Append(&value),
        _ => PropertyAction::Remove,
    };
    PropertyEdit { name, action }.apply(text)
}

#[track_caller]
fn check(text: &str, call: EditCall<'_>, expected: &str) {
    assert_eq!(edit(text, call.clone()).as_deref(), Ok(expected), "{text:?} {call:?}");
}

#[track_caller]
fn refused(text: &str, call: EditCall<'_>, expected: PropertyEditError) {
    assert_eq!(edit(text, call.clone()), Err(expected), "{text:?} {call:?}");
}

fn to_set(name: &str, value: Value) -> EditCall<'_> {
    (name, "set", value)
}

fn to_append(name: &str, value: Value) -> EditCall<'_> {
    (name, "append", value)
}

fn to_remove(name: &str) -> EditCall<'_> {
    (name, "remove", Value::Null)
}

fn comments_in(name: &str) -> PropertyEditError {
    PropertyEditError::HoldsComments { name: name.to_owned() }
}

#[test]
fn a_property_is_set_and_the_rest_keeps_its_bytes() {
    let with = |from: &str, to: &str| YAML.replace(from, to);
    check(YAML, to_set("title", json!("New: one")), &with("'It''s'", "\"New: one\""));
    check(YAML, to_set("Tags", json!(["x, y", 3])), &with("[a, \"b c\"]", "[\"x, y\", 3]"));
    check(YAML, to_set("list", json!(true)), &with("list:\n- one", "list: true"));
    check(YAML, to_set("empty", json!("[[Garden]]")), &with("empty:", "empty: \"[[Garden]]\""));
    let title = with("title:  'It''s' # why", "title: # why\n  - a");
    check(YAML, to_set("title", json!(["a"])), &title);
    let due = with("empty:\n", "empty:\ndue: 2026-11-21\n");
    check(YAML, to_set("due", json!("2026-11-21")), &due);
    check("Text", to_set("size", json!("5")), "---\nsize: \"5\"\n---\nText");
    check("a\r\n", to_set("size", json!([1, 2])), "---\r\nsize:\r\n  - 1\r\n  - 2\r\n---\r\na\r\n");
    check("---\n---\n", to_set("a", json!("")), "---\na: \"\"\n---\n");
    check(
        "---\na: |\n  x: \"\n\ttab\n\n  y\nb: 1\n---\n",
        to_set("a", json!(1)),
        "---\na: 1\nb: 1\n---\n",
    );
}

#[test]
fn a_property_is_set_in_whatever_the_reader_takes_for_frontmatter() {
    for (text, expected) in [
        ("---\na: 1\n...\nText\n---\n", "---\na: 1\nb: 2\n...\nText\n---\n"),
        ("---\n...\nText", "---\nb: 2\n...\nText"),
        ("--- \t\na: 1\n---  \nText", "--- \t\na: 1\nb: 2\n---  \nText"),
        ("\u{feff}---\na: 1\n---\nText", "\u{feff}---\na: 1\nb: 2\n---\nText"),
        ("\u{feff}Text", "\u{feff}---\nb: 2\n---\nText"),
        ("---\r\na: 1\r\n...\r\nText", "---\r\na: 1\r\nb: 2\r\n...\r\nText"),
        ("\n---\na: 1\n---\n", "---\nb: 2\n---\n\n---\na: 1\n---\n"),
        ("Text\n---\na: 1\n---\n", "---\nb: 2\n---\nText\n---\na: 1\n---\n"),
    ] {
        check(text, to_set("b", json!(2)), expected);
    }
    refused("---\na: 1\n", to_set("b", json!(2)), PropertyEditError::Unclosed);
    refused("---\ra: 1\r---\r", to_set("b", json!(2)), PropertyEditError::BareReturns);
}

#[test]
fn an_empty_property_is_set_before_its_comment() {
    let note = "---\nstatus: # draft or done\n\"due\":  # x\nlist: # y\nb: 1\n---\n";
    let with = |from: &str, to: &str| note.replace(from, to);
    check(note, to_set("status", json!("done")), &with("status:", "status: done"));
    check(note, to_set("due", json!("2026-11-21")), &with("\"due\":", "\"due\": 2026-11-21"));
    check(note, to_set("list", json!(["a"])), &with("# y\n", "# y\n  - a\n"));
    check(note, to_append("list", json!("a")), &with("# y\n", "# y\n  - a\n"));
    check("---\r\na: # c\r\n---\r\n", to_set("a", json!(1)), "---\r\na: 1 # c\r\n---\r\n");
    check("---\na:\t# c\n---\n", to_set("a", json!(true)), "---\na: true\t# c\n---\n");
    check(note, to_set("list", json!([])), &with("list:", "list: []"));
    // Control: a value behind the colon is replaced, and a sign without a blank begins no comment.
    check("---\na: b # c\n---\n", to_set("a", json!("d")), "---\na: d # c\n---\n");
    check("---\na: b# c\n---\n", to_set("a", json!("d")), "---\na: d\n---\n");
}

#[test]
fn a_sign_behind_a_doubled_quote_begins_no_comment() {
    let note = "---\na: 'Don''t # x' # why\nb: ''\nlist:\n  - 'it''s # y' # z\n---\n";
    let with = |from: &str, to: &str| note.replace(from, to);
    check(note, to_set("a", json!("Do")), &with("'Don''t # x'", "Do"));
    check(note, to_set("b", json!("c")), &with("b: ''", "b: c"));
    check(note, to_set("list", json!(["m"])), &with("'it''s # y' # z", "m"));
    let list = "---\na:\n  - 'it''s # y'\n---\n";
    check(list, to_set("a", json!("b")), "---\na: b\n---\n");
    // Controls: behind the quote that closes, a comment begins.
    check("---\na: 'b''' # c\n---\n", to_set("a", json!("d")), "---\na: d # c\n---\n");
    refused(&list.replace("y'", "y' # z"), to_set("a", json!("b")), comments_in("a"));
}

#[test]
fn comments_stay_when_a_list_is_set() {
    let note = "---\nlist: # all\n  # first\n  - one # 1\n  - \"# two\"\n  # last\nb: 1\n---\n";
    let with = |from: &str, to: &str| note.replace(from, to);
    check(note, to_set("list", json!(["one", "# two"])), note);
    check(note, to_set("list", json!(["one"])), &with("  - \"# two\"\n", ""));
    check(
        note,
        to_set("list", json!(["new", "one"])),
        &with("  # first\n  - one # 1\n  - \"# two\"\n", "  - new\n  # first\n  - one # 1\n"),
    );
    check(note, to_set("list", json!(["one", "one"])), &with("- \"# two\"", "- one"));
    check(
        "---\na:\n  - x # 1\n  - z\n  - x # 2\n---\n",
        to_set("a", json!(["z", "x", "x", "x"])),
        "---\na:\n  - z\n  - x # 1\n  - x # 2\n  - x\n---\n",
    );
    for value in [json!("one"), json!([])] {
        refused(note, to_set("list", value), comments_in("list"));
    }
    refused("---\na: # why\n  - b\n---\n", to_set("a", json!(1)), comments_in("a"));
    let flow = "---\na: [b,\n  c, # why\n  d]\n---\n";
    refused(flow, to_set("a", json!(["c"])), comments_in("a"));
    check("---\na:\n  - b\n---\n", to_set("a", json!(1)), "---\na: 1\n---\n");
    check(
        "---\r\na:\r\n- b # c\r\n---\r\n",
        to_set("a", json!(["d", "b"])),
        "---\r\na:\r\n- d\r\n- b # c\r\n---\r\n",
    );
}

#[test]
fn a_property_is_removed_or_a_list_is_added_to() {
    let with = |from: &str, to: &str| YAML.replace(from, to);
    let twice = |name: &str, item: &str| PropertyEditError::Duplicate {
        name: name.to_owned(),
        item: item.to_owned(),
    };
    check(YAML, to_remove("list"), &with("list:\n- one\n", ""));
    check(YAML, to_append("tags", json!("d")), &with("b c\"]", "b c\", d]"));
    let list = with("- one\n", "- one\n- two\n- \"3\"\n");
    check(YAML, to_append("list", json!(["two", "3"])), &list);
    check(YAML, to_append("empty", json!("x")), &with("empty:\n", "empty:\n  - x\n"));
    check(YAML, to_append("new", json!("x")), &with("empty:\n", "empty:\nnew:\n  - x\n"));
    check("---\nt: []\n---\n", to_append("t", json!("x")), "---\nt: [x]\n---\n");
    check("---\nt: [\n  a,\n]\n---\n", to_append("t", json!("x")), "---\nt: [\n  a, x\n]\n---\n");
    let (name, value) = ("title".to_owned(), "'It''s'".to_owned());
    refused(YAML, to_append("title", json!("x")), PropertyEditError::NotAList { name, value });
    refused(YAML, to_append("tags", json!("a")), twice("tags", "a"));
    let commented = "---\na:\n  - x # 1\n  - \"# y\"\n---\n";
    refused(commented, to_append("a", json!("x")), twice("a", "x"));
    refused(commented, to_append("a", json!("# y")), twice("a", "\"# y\""));
    check(commented, to_append("a", json!("1")), &commented.replace("y\"\n", "y\"\n  - \"1\"\n"));
    let names = ["title", "tags", "list", "empty"].map(str::to_owned).to_vec();
    refused(YAML, to_remove("tag"), PropertyEditError::Absent { names });
    refused(YAML, to_append("list", json!({ "a": 1 })), PropertyEditError::InvalidValue);
}

/// Texts that YAML reads as they are, without blanks at their ends.
const WORDS: &str = "[a-z]{1,3}( [a-z#]{1,3})?";

/// The part of a property behind its colon, with `# c` on the line of its name or `# d` at an item.
fn entry() -> impl Strategy<Value = String> {
    prop_oneof![
        "( {1,2}(x|'y z'|'y''z # e'|\\[p, q\\]|\\[p,\n  q\\]))?( {1,2}# c)?",
        "( {1,2}# c)?(\n  - p( # d)?){1,2}",
        "( {1,2}# c)?(\n- [pq]( # d)?){1,2}",
    ]
}

/// The properties as the reader has them, which must understand all of them.
fn properties_of(text: &str) -> Vec<NoteProperty> {
    let read = Properties::parse(text);
    assert!(read.malformed().is_none(), "{:?} {text:?}", read.malformed());
    read.top_level().to_vec()
}

/// The values of a property that was set to `value`.
fn values_of(value: &Value) -> Vec<String> {
    match value {
        Value::Array(items) => items.iter().flat_map(values_of).collect(),
        Value::String(text) => vec![text.clone()],
        one => vec![one.to_string()],
    }
}

proptest! {
    #[test]
    fn a_property_that_is_set_reads_as_its_value_and_leaves_all_others_and_their_comments(
        entries in proptest::collection::vec(entry(), 1..4),
        place in 0..3_usize,
        crlf in any::<bool>(),
        value in prop_oneof![
            any::<bool>().prop_map(Value::from),
            WORDS.prop_map(Value::from),
            proptest::collection::vec(WORDS, 0..3).prop_map(Value::from),
        ],
    ) {
        let keys = ["a", "\"b\"", "'c'"];
        let lines: String =
            keys.iter().zip(&entries).map(|(key, entry)| format!("{key}:{entry}\n")).collect();
        let text = format!("---\n{lines}---\nText\n");
        let text = if crlf { text.replace('\n', "\r\n") } else { text };
        let place = place % entries.len();
        let mut wanted = properties_of(&text);
        wanted[place].values = values_of(&value);
        let Ok(after) = edit(&text, to_set(&wanted[place].name, value)) else {
            prop_assert!(entries[place].contains('\n'), "{:?}", text);
            return Ok(());
        };
        prop_assert_eq!(properties_of(&after), wanted, "{:?} {:?}", text, after);
        let comments = |text: &str| text.matches(" # c").count();
        prop_assert_eq!(comments(&after), comments(&text), "{:?} {:?}", text, after);
    }

    #[test]
    fn a_text_survives_being_written_as_yaml(text in "[ -~é\n\t]{0,12}") {
        let after = edit("", to_append("a", json!([text]))).unwrap();
        let again = edit(&after, to_append("a", json!([text])));
        prop_assert!(again.is_err(), "{}", after);
        prop_assert_eq!(after.lines().count(), 4);
    }
}
