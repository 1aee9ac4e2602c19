//! Every tool records the sources of its results: every name, tag, heading and link text in the
//! vault is a canary, and a result that holds one has a source.

use protocol::{NotePath, Source};
use serde_json::{Value, json};

use super::fixture::{PlanPolicy, ToolFixture};

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
        let edit = |heading: &str| json!({ "path": near, "heading": heading, "action": "append", "text": "x" });
        [
            ("read_file", json!({ "path": near })),
            ("read_file", json!({ "path": near, "start_line": 400 })),
            ("get_file_info", json!({ "path": near })),
            ("get_links", json!({ "path": near })),
            ("show_note", json!({ "path": near })),
            ("show_note", json!({ "path": near, "heading": "Monday" })),
            ("find_notes", json!({ "folder": near })),
            ("append_file", json!({ "path": near, "content": "x" })),
            ("append_file", json!({ "path": near, "content": "x", "heading": "Tasks" })),
            ("edit_file", json!({ "path": near, "old_text": "on", "new_text": "x" })),
            ("edit_file", json!({ "path": near, "old_text": "qqq", "new_text": "x" })),
            ("edit_section", edit("Monday")),
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
async fn a_result_with_text_of_the_vault_has_its_source() {
    let (mut told, mut silent) = (0, 0);
    for (tool, arguments) in calls() {
        for policy in [PlanPolicy::Apply, PlanPolicy::Wait] {
            let mut bench = ToolFixture::with(&NOTES);
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
    // The controls: canaries were told, and results without one do not count as text of the vault.
    assert!(told > 30 && silent > 10, "{told} {silent}");
}

#[tokio::test]
async fn text_that_the_call_spelled_is_no_text_of_the_vault() {
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
        let answer = ToolFixture::with(&NOTES).call(tool, arguments.clone()).await;
        assert_eq!(answer.sources, [], "{tool} {arguments}: {}", answer.text);
    }
}

#[tokio::test]
async fn a_search_tells_something_of_all_that_it_looked_through() {
    let find = |narrow: &str, by: Value| {
        let mut arguments = json!({ "query": "one" });
        arguments[narrow] = by;
        ("find_notes", arguments)
    };
    let nothing = [
        ("search_files", json!({ "pattern": "PIN: [0-4]" })),
        ("search_files", json!({ "pattern": "one", "file_pattern": "zzz*/**" })),
        find("query", json!("zeppelin")),
        find("tags", json!(["zzz"])),
        find("property", json!("mood: zzz")),
        find("folder", json!("zzz")),
        find("linked_to", json!("zzz")),
        ("list_files", json!({ "pattern": "zzz*" })),
        ("read_file", json!({ "path": "zzz" })),
    ];
    // A hit also tells that there is no other one: `PIN: [0-4]|one` asks about every note.
    let something = [
        ("search_files", json!({ "pattern": "PIN: [0-4]|Head" })),
        ("search_files", json!({ "pattern": "Head", "file_pattern": "*.md" })),
        find("query", json!("head")),
        ("list_files", json!({ "pattern": "Pl*" })),
        ("get_links", json!({ "path": "canary folder/Weekly canary plan.md" })),
        ("get_links", json!({ "path": "Plain.md", "direction": "in" })),
        ("get_file_info", json!({ "path": "Plain.md" })),
    ];
    for (tool, arguments) in nothing {
        let answer = ToolFixture::with(&NOTES).call(tool, arguments.clone()).await;
        assert_eq!(answer.sources, [Source::Vault], "{tool} {arguments}: {}", answer.text);
    }
    for (tool, arguments) in something {
        let answer = ToolFixture::with(&NOTES).call(tool, arguments.clone()).await;
        let is_told = answer.sources.contains(&Source::Vault);
        assert!(is_told && answer.sources.len() > 1, "{tool} {arguments}: {:?}", answer.sources);
    }
}

#[tokio::test]
async fn a_search_of_one_folder_tells_of_that_folder() {
    let folder = Source::Note(NotePath::parse("canary other").expect("a path"));
    for (tool, arguments) in [
        ("search_files", json!({ "pattern": "one", "file_pattern": "canary other/*.md" })),
        ("search_files", json!({ "pattern": "zzz", "file_pattern": "canary other/*.md" })),
        ("list_files", json!({ "path": "canary other" })),
        ("list_files", json!({ "path": "canary other", "pattern": "zzz" })),
    ] {
        let answer = ToolFixture::with(&NOTES).call(tool, arguments.clone()).await;
        assert!(answer.sources.contains(&folder), "{tool} {arguments}: {:?}", answer.sources);
        let is_wide = answer.sources.iter().any(|s| matches!(s, Source::Vault | Source::Foreign));
        assert!(!is_wide, "{tool} {arguments}: {:?}", answer.sources);
    }
    // A reader who may see a folder may not see everything below it.
    for (tool, arguments) in [
        ("search_files", json!({ "pattern": "zzz", "file_pattern": "canary other/**" })),
        ("search_files", json!({ "pattern": "one", "file_pattern": "canary other/**/*.md" })),
        ("find_notes", json!({ "query": "zeppelin", "folder": "canary other" })),
        ("find_notes", json!({ "query": "one", "folder": "Canary Other" })),
        ("find_notes", json!({ "query": "one", "folder": "canary other", "linked_to": "Plain" })),
        ("list_files", json!({ "path": "canary other", "pattern": "**/*" })),
    ] {
        let answer = ToolFixture::with(&NOTES).call(tool, arguments.clone()).await;
        let is_wide = answer.sources.contains(&Source::Vault) && answer.sources.contains(&folder);
        assert!(is_wide, "{tool} {arguments}: {:?}", answer.sources);
    }
}

#[tokio::test]
async fn what_is_read_through_a_link_comes_from_the_note_to_which_it_leads() {
    let note = |path: &str| Source::Note(NotePath::parse(path).expect("a path"));
    let (plain, far) = (note("Plain.md"), note("canary other/Twin.md"));
    for (tool, arguments, real) in [
        ("read_file", json!({ "path": "Way.md" }), &plain),
        ("read_file", json!({ "path": "way" }), &plain),
        ("read_file", json!({ "path": "canary other/Far.md" }), &far),
        ("read_file", json!({ "path": "Way.md", "start_line": 400 }), &plain),
        ("get_file_info", json!({ "path": "Way.md" }), &plain),
        ("get_links", json!({ "path": "Way.md" }), &plain),
        ("edit_file", json!({ "path": "Way.md", "old_text": "qqq", "new_text": "x" }), &plain),
        // Nothing is changed through a link, and that is told before anything is planned.
        ("edit_file", json!({ "path": "Way.md", "old_text": "one", "new_text": "x" }), &plain),
        ("append_file", json!({ "path": "Way.md", "content": "x" }), &plain),
        ("append_file", json!({ "path": "canary other/Far.md", "content": "x" }), &far),
        ("write_file", json!({ "path": "Way.md", "content": "x", "overwrite": true }), &plain),
        ("delete_file", json!({ "path": "Way.md" }), &plain),
    ] {
        let mut bench = ToolFixture::with(&NOTES);
        bench.link("Way.md", "Plain.md");
        bench.link("canary other/Far.md", "Twin.md");
        let answer = bench.call(tool, arguments.clone()).await;
        assert!(answer.sources.contains(real), "{tool} {arguments}: {answer:?}");
        assert_eq!(answer.effect, None, "{tool} {arguments}: {answer:?}");
    }
    // The control: without a link a note is its only source.
    let answer = ToolFixture::with(&NOTES).call("read_file", json!({ "path": "Plain.md" })).await;
    assert_eq!(answer.sources, [plain]);
    // Where a link leads out, and where what it leads to cannot be read, nobody knows the source.
    for to in ["../out.md", "gone.md", "canary folder"] {
        let mut bench = ToolFixture::with(&NOTES);
        bench.link("Way.md", to);
        let answer = bench.call("read_file", json!({ "path": "Way.md" })).await;
        assert!(answer.is_error && answer.sources.contains(&Source::Foreign), "{to}: {answer:?}");
    }
}

#[tokio::test]
async fn a_count_of_links_tells_of_the_whole_vault_also_where_it_is_none() {
    let vault = [Source::Vault];
    for (tool, arguments, sources) in [
        ("move_file", json!({ "source": "Plain.md", "destination": "Moved.md" }), &vault[..]),
        ("delete_file", json!({ "path": "Plain.md" }), &vault),
        ("delete_file", json!({ "path": "canary other/Twin.md" }), &vault),
        // The new note takes a link over: the other note has to say which it means.
        ("write_file", json!({ "path": "canary twin/Plain.md", "content": "x" }), &vault),
        ("append_file", json!({ "path": "canary twin/Plain.md", "content": "x" }), &vault),
        ("write_file", json!({ "path": "canary twin/Fresh.md", "content": "x" }), &[]),
    ] {
        let answer = ToolFixture::with(&NOTES).call(tool, arguments.clone()).await;
        assert!(answer.effect.is_some(), "{tool} {arguments}: {}", answer.text);
        assert_eq!(answer.sources, sources, "{tool} {arguments}: {}", answer.text);
    }
}
