//! The operations on a note.

use std::fs;
use std::hint::black_box;
use std::time::Duration;

use index::{GrepQuery, NoteFilter};
use markdown::parser::plain_text;
use protocol::ChangeSet;
use serde_json::json;
use vault::merge::{LineOrder, hunks, merge_in_order};

use super::fixture::{NOTE, ScalingFixture, private_rules};

/// One thing to do.
pub(super) type NoteOperation = fn(&ScalingFixture);

/// The works by their names, in the order in which they are done.
pub(super) const OPERATIONS: &[(&str, NoteOperation)] = &[
    ("build", |stage| stage.build_index()),
    ("ask", query_index),
    ("save", |stage| {
        let saved = format!("{}\nOne more line.\n", stage.text);
        fs::write(stage.folder().join(NOTE), saved).expect("written");
        stage.index.refresh(std::slice::from_ref(&stage.note));
    }),
    ("ask-fresh", query_index),
    ("read", |stage| {
        stage.call_tool("read_file", json!({ "path": NOTE }));
        stage.call_tool("get_file_info", json!({ "path": NOTE }));
        stage.call_tool("get_links", json!({ "path": NOTE }));
        stage.call_tool("list_tags", json!({}));
    }),
    ("search", |stage| {
        for pattern in ["a", "(a|b)*c", "^$", r"\w+\s\w+$", "(?i)tea|A"] {
            stage.call_tool("search_files", json!({ "pattern": pattern }));
        }
        stage.call_tool("find_notes", json!({ "query": "tea other" }));
    }),
    ("edit", edit_note),
    ("move", |stage| {
        for (source, to) in [(NOTE, "Elsewhere/Light.md"), ("Other.md", "Elsewhere/Else.md")] {
            stage.call_tool("move_file", json!({ "source": source, "destination": to }));
        }
    }),
    ("private", |stage| {
        black_box(markdown::privacy(&private_rules(), stage.text.as_bytes()));
        stage.vault.list().expect("listed");
    }),
    ("plain", |stage| {
        black_box(plain_text(&stage.text));
    }),
    ("merge", merge_edits),
];

/// Not linear, and to be found out.
pub(super) const QUADRATIC_CONTROL: (&str, NoteOperation) = ("control", |stage| {
    let mut lines: Vec<&str> = Vec::new();
    for line in stage.text.lines() {
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    assert!(!lines.is_empty(), "a note has lines");
});

fn query_index(stage: &ScalingFixture) {
    let (index, vault, plan) = (&stage.index, &stage.vault, &ChangeSet::default());
    index.tags(vault, plan).expect("it stands");
    index.properties(vault).expect("it stands");
    index.property_values(vault, "aliases").expect("it stands");
    index.tasks(vault).expect("it stands");
    index.broken_links(vault).expect("it stands");
    index.outgoing_links(vault, plan, &stage.note).expect("it stands");
    index.backlinks(vault, plan, &stage.note).expect("it stands");
    index.find_files(vault, "name tea", &[], 50, |_| true).expect("found");
    let long = Duration::from_secs(60);
    for query in ["tea a", "\"a a\"", "other -more", "茶の"] {
        index.find(vault, plan, query, &NoteFilter::default(), 10, long).expect("found");
    }
    let query = GrepQuery {
        pattern: "a".to_owned(),
        file_pattern: None,
        context_lines: 2,
        max_results: 50,
        max_per_note: 5,
        case_sensitive: false,
    };
    index.search(vault, plan, &query, long).expect("searched");
}

fn edit_note(stage: &ScalingFixture) {
    let calls = [
        json!({ "path": NOTE, "old_text": "a", "new_text": "bb", "replace_all": true }),
        json!({ "path": NOTE, "old_text": "a", "new_text": "bb" }),
        json!({ "path": NOTE, "old_text": "a line that is not there", "new_text": "" }),
        json!({ "path": NOTE, "old_text": format!("{}.", first_half(&stage.text)), "new_text": "" }),
    ];
    for call in calls {
        stage.call_tool("edit_file", call);
    }
    for heading in ["Same", "^id1"] {
        let call = json!({ "path": NOTE, "heading": heading, "action": "append", "text": "x" });
        stage.call_tool("edit_section", call);
    }
    let items = stage.text.lines().filter_map(|line| line.strip_prefix("  - "));
    let items: Vec<&str> = items.chain(["x"]).collect();
    for call in [
        json!({ "path": NOTE, "property": "aliases", "action": "append", "value": ["x", "y"] }),
        json!({ "path": NOTE, "property": "aliases", "action": "set", "value": items }),
        json!({ "path": NOTE, "property": "status", "action": "set", "value": "open" }),
    ] {
        stage.call_tool("set_property", call);
    }
    stage.call_tool("append_file", json!({ "path": NOTE, "content": "x" }));
}

/// The first half of a text, as whole characters.
fn first_half(text: &str) -> &str {
    let mut half = text.len() / 2;
    while !text.is_char_boundary(half) {
        half -= 1;
    }
    &text[..half]
}

/// Two who change the same note: one every fourth line, the other every sixth; and one who puts
/// lines where the other put some, of which earlier versions tell the order.
fn merge_edits(stage: &ScalingFixture) {
    let base = stage.text.as_bytes();
    let with = |each: usize, put: &str| {
        let lines = stage.text.split_inclusive('\n').enumerate();
        let changed = lines.map(|(at, line)| match at % each {
            0 => format!("{put} {at}\n{line}"),
            _ => line.to_owned(),
        });
        changed.collect::<String>().into_bytes()
    };
    let (ours, theirs, before) = (with(4, "ours"), with(6, "theirs"), with(2, "ours"));
    let order = LineOrder::from_versions([before.as_slice(), theirs.as_slice()]);
    black_box(merge_in_order(base, &ours, &theirs, &order));
    black_box(hunks(&ours, &theirs));
    black_box(hunks(base, &[]));
}
