//! No tool forgets where the words of its results come from: every name, tag, heading and link word in
//! the vault is a canary, and a result that holds one has a source.

use protocol::Source;
use serde_json::{Value, json};

use super::bench::{Bench, Policy};

/// Stands in all that the vault says, and in nothing that a call gives.
const CANARY: &str = "canary";

const NOTES: [(&str, &[u8]); 4] = [
    (
        "canary folder/Weekly canary plan.md",
        b"---\naliases: [canary alias]\nmood: canary\n---\n# Monday canary\n\n#canary/tag [[canary link]]\n\n## Tasks canary\n\n- one\n",
    ),
    ("canary twin/Twin.md", b"[[Weekly canary plan]] [[Plain]]\n"),
    ("canary other/Twin.md", b"one\n"),
    ("Plain.md", b"# Head\n\none\n"),
];

/// Calls that are near to something, for each tool that reaches into the vault.
fn calls() -> Vec<(&'static str, Value)> {
    let near = ["Weekly plan", "Twin", "Plain", "Plain.md", "folder", "Weekly cnary plan", "daily"];
    let near = near.into_iter().flat_map(|near| {
        let edit = |heading: &str| json!({ "path": near, "heading": heading, "text": "x" });
        [
            ("read_file", json!({ "path": near })),
            ("read_file", json!({ "path": near, "start_line": 400 })),
            ("get_file_info", json!({ "path": near })),
            ("get_links", json!({ "path": near })),
            ("append_file", json!({ "path": near, "content": "x" })),
            ("append_file", json!({ "path": near, "content": "x", "heading": "Tasks" })),
            ("edit_file", json!({ "path": near, "old_text": "on", "new_text": "x" })),
            ("edit_file", json!({ "path": near, "old_text": "qqq", "new_text": "x" })),
            ("edit_file", edit("Monday")),
            ("write_file", json!({ "path": near, "content": "x" })),
            ("move_file", json!({ "source": near, "destination": "Moved.md" })),
            ("move_file", json!({ "source": "Plain.md", "destination": near })),
            ("delete_file", json!({ "path": near })),
            ("create_folder", json!({ "path": near })),
            ("find_notes", json!({ "query": "one", "folder": near })),
            ("find_notes", json!({ "query": "one", "linked_to": near })),
            ("list_files", json!({ "path": near })),
        ]
    });
    let wide = [
        ("list_files", json!({})),
        ("list_files", json!({ "pattern": "**/*" })),
        ("list_tags", json!({})),
        ("find_notes", json!({ "query": "one" })),
        ("search_files", json!({ "pattern": "." })),
        ("search_files", json!({ "pattern": "(" })),
        ("get_active_note", json!({})),
        ("get_current_time", json!({})),
    ];
    near.chain(wide).collect()
}

#[tokio::test]
async fn a_result_with_a_word_of_the_vault_has_its_source() {
    let (mut told, mut silent) = (0, 0);
    for (tool, arguments) in calls() {
        for policy in [Policy::Apply, Policy::Wait] {
            let mut bench = Bench::with(&NOTES);
            bench.policy = policy;
            let answer = bench.call(tool, arguments.clone()).await;
            let is_of_vault = |source: &Source| matches!(source, Source::Note(_) | Source::Foreign);
            if answer.text.contains(CANARY) {
                assert!(
                    answer.sources.iter().any(is_of_vault),
                    "{tool} {arguments}: {}",
                    answer.text
                );
                told += 1;
            } else if answer.sources.is_empty() {
                silent += 1;
            }
        }
    }
    // The controls: canaries were told, and what tells none is not taken for the vault's words.
    assert!(told > 30 && silent > 10, "{told} {silent}");
}

#[tokio::test]
async fn what_a_call_spelled_itself_is_no_word_of_the_vault() {
    for (tool, arguments) in [
        ("append_file", json!({ "path": "Plain.md", "content": "x" })),
        ("append_file", json!({ "path": "plain", "content": "x" })),
        ("append_file", json!({ "path": "daily", "content": "x" })),
        ("append_file", json!({ "path": "Fresh.md", "content": "x" })),
        ("write_file", json!({ "path": "New/Fresh.md", "content": "x" })),
        ("create_folder", json!({ "path": "New" })),
        ("append_file", json!({ "path": "Plain.md", "content": " " })),
        ("search_files", json!({ "pattern": "" })),
        ("list_files", json!({ "path": "." })),
    ] {
        let answer = Bench::with(&NOTES).call(tool, arguments.clone()).await;
        assert_eq!(answer.sources, [], "{tool} {arguments}: {}", answer.text);
    }
}

#[tokio::test]
async fn that_nothing_matches_is_told_of_all_notes() {
    let find = |narrow: &str, by: Value| {
        let mut arguments = json!({ "query": "one" });
        arguments[narrow] = by;
        ("find_notes", arguments)
    };
    for (tool, arguments) in [
        ("search_files", json!({ "pattern": "PIN: [0-4]" })),
        ("search_files", json!({ "pattern": "one", "file_pattern": "zzz/**" })),
        find("query", json!("zeppelin")),
        find("tags", json!(["zzz"])),
        find("property", json!("mood: zzz")),
        find("folder", json!("zzz")),
        ("list_files", json!({ "pattern": "zzz*" })),
        ("list_files", json!({ "path": "zzz" })),
        ("list_tags", json!({ "pattern": "zzz" })),
    ] {
        let answer = Bench::with(&NOTES).call(tool, arguments.clone()).await;
        assert_eq!(answer.sources, [Source::Foreign], "{tool} {arguments}: {}", answer.text);
    }
    // The control: what is found names the notes that it comes from.
    let found = Bench::with(&NOTES).call("search_files", json!({ "pattern": "Head" })).await;
    assert!(!found.sources.is_empty() && !found.sources.contains(&Source::Foreign));
}
