//! Errors teach: plausible mistakes of a weak model, each repaired from the text of its failure
//! alone, by rules that know neither the notes nor the tools.

mod paths;

use serde_json::{Value, json};

use super::call_repair::{RepairCall, repair};
use super::fixture::{CallAnswer, ToolFixture};

/// Repairs that a call may need before it works.
const MAX_REPAIRS: usize = 2;

const NOTES: &[(&str, &[u8])] = &[
    (
        "Groceries.md",
        b"---\ntags: [food]\nowner: Ana\n---\n# Groceries\n\n- milk, 2 litres\n- brown bread\n- tea\n- tea\n\n\
          ## Weekly plan\nMonday: pumpkin soup ^soup\n",
    ),
    ("House/Boiler.md", b"# Boiler\n\nPressure 1.2 to 1.5 bar (cold).\n"),
    ("House/Plan.md", b"plan of the house\n"),
    ("Garden/Plan.md", b"plan of the garden\n"),
    ("Quotes.md", "She said “hello” — and left.\n".as_bytes()),
    ("Windows.md", b"first line\r\nsecond line\r\n"),
    ("Days.md", b"# Monday\n## Tasks\na\n# Tuesday\n## Tasks\nb\n"),
    ("Diary/2026-11-21.md", b"rain\n"),
];

/// Before the mistake is made, the model has read this.
const NOTES_READ: &[&str] = &["Days.md", "Groceries.md", "Windows.md"];

#[derive(Clone)]
struct Mistake {
    call: RepairCall,
    /// The answer of the repaired call.
    comes_to: &'static str,
}

fn one(tool: &str, arguments: Value, comes_to: &'static str) -> Mistake {
    Mistake { call: RepairCall { tool: tool.to_owned(), arguments }, comes_to }
}

fn edit(note: &str, fields: Value, comes_to: &'static str) -> Mistake {
    let mut fields = fields;
    if fields.get("path").is_none() {
        fields["path"] = json!(note);
    }
    let tool = match (fields.get("old_text"), fields.get("heading"), fields.get("property")) {
        (None, Some(_), _) => "edit_section",
        (None, None, Some(_)) => "set_property",
        _ => "edit_file",
    };
    one(tool, fields, comes_to)
}

fn names_and_paths() -> Vec<Mistake> {
    let read = |path: Value, comes_to| one("read_file", json!({ "path": path }), comes_to);
    vec![
        read(json!("House/Boiler"), "`House/Boiler.md`"),
        read(json!("house/boiler.MD"), "`House/Boiler.md`"),
        read(json!("Grocery"), "`Groceries.md`"),
        read(json!("Home/Boiler.md"), "`House/Boiler.md`"),
        read(json!("Plan"), "`Garden/Plan.md`"),
        read(json!("House"), "entries match `House/*`"),
        read(json!("Gro*.md"), "`Groceries.md`"),
        read(json!("/House/Boiler.md"), "`House/Boiler.md`"),
        read(json!("./House/Boiler.md"), "`House/Boiler.md`"),
        read(json!("../House/Boiler.md"), "`House/Boiler.md`"),
        read(json!("House\\Boiler.md"), "`House/Boiler.md`"),
        read(json!("/mnt/notes/Boiler.md"), "`House/Boiler.md`"),
        read(json!("file:///House/Boiler.md"), "`House/Boiler.md`"),
        read(json!("[[Boiler]]"), "`House/Boiler.md`"),
        read(json!("daily"), "`Diary/2026-11-21.md`"),
        read(json!("today"), "`Diary/2026-11-21.md`"),
        one("append_file", json!({ "path": "today", "content": "x" }), "`Diary/2026-11-21.md`"),
        one("append_file", json!({ "path": "Daily.md", "content": "x" }), "`Diary/2026-11-21.md`"),
        one("write_file", json!({ "path": "A: plan.md", "content": "x" }), "Applied: create `A"),
        one("list_files", json!({ "path": "House/Boiler.md" }), "`House`"),
        one("list_files", json!({ "path": "Hause" }), "`House`"),
    ]
}

fn shapes() -> Vec<Mistake> {
    let boiler = "`House/Boiler.md`";
    vec![
        one("read_note", json!({ "path": "Boiler" }), boiler),
        one("readFile", json!({ "path": "Boiler" }), boiler),
        one("read_file", json!({ "file": "Boiler" }), boiler),
        one("read_file", json!({ "path": ["Boiler"] }), boiler),
        one("read_file", json!({ "path": "Boiler", "start_line": "1" }), boiler),
        one("read_file", json!({ "path": "Boiler", "end_line": 2.0 }), boiler),
        one("read_file", json!({ "path": "Boiler", "encoding": "utf-8" }), boiler),
        one("read_file", json!({ "path": "Boiler", "start_line": 50 }), boiler),
        one("read_file", json!({ "path": "Boiler", "start_line": 3, "end_line": 1 }), boiler),
        one("find_notes", json!({ "pattern": "boiler" }), boiler),
        one("find_notes", json!({ "query": "boiler", "limit": 100_000 }), boiler),
        one("search_files", json!({ "pattern": "(cold" }), boiler),
        one("search_files", json!({ "pattern": "cold", "case_sensitive": "false" }), boiler),
        one("search_files", json!({ "pattern": "cold", "file_pattern": "House/[*.md" }), boiler),
        one("write_file", json!({ "path": "New.md", "text": "x" }), "Applied: create `New.md`"),
        one("get_conversation", json!({ "conversation_id": "42" }), "c-1"),
        one(
            "write_file",
            json!({ "path": "Quotes.md", "content": "x", "overwrite": "true" }),
            "Applied: replace all",
        ),
        one("write_file", json!({ "path": "Quotes.md", "content": "x" }), "Applied: replace all"),
        one(
            "write_file",
            json!({ "path": "Days.md", "content": "x", "overwrite": true, "expect_hash": "0123456789ab" }),
            "Applied: replace all",
        ),
    ]
}

fn texts() -> Vec<Mistake> {
    let groceries = |fields, comes_to| edit("Groceries.md", fields, comes_to);
    let replaced = "Applied: replace 1 place in `Groceries.md` (line 7)";
    let text = |old: &str| json!({ "old_text": old, "new_text": "- milk" });
    vec![
        groceries(text("- 2 litres of milk"), replaced),
        groceries(text("- Milk, 2 Litres"), replaced),
        groceries(text("- milk, 2 litres   "), replaced),
        groceries(text("-  milk,  2 litres"), replaced),
        groceries(text("7| - milk, 2 litres"), replaced),
        groceries(text("- tea"), "Applied: replace 2 places"),
        groceries(json!({ "old_text": "- milk, 2 litres" }), replaced),
        groceries(json!({ "old_text": "- milk, 2 litres", "text": "- milk" }), replaced),
        edit("Quotes", json!({ "old_text": "said \"hello\" - and", "new_text": "x" }), "(line 1)"),
        edit(
            "Windows",
            json!({ "old_text": "First line\nsecond line", "new_text": "x" }),
            "(line 1)",
        ),
        edit("Windows.txt", json!({ "old_text": "first", "new_text": "1" }), "`Windows.md`"),
        groceries(
            json!({ "old_text": "- milk, 2 litres", "new_text": "- milk", "line": 7 }),
            replaced,
        ),
        groceries(
            json!({ "old_text": "- milk, 2 litres", "new_text": "- milk", "heading": "Groceries" }),
            replaced,
        ),
    ]
}

fn headings() -> Vec<Mistake> {
    let groceries = |fields, comes_to| edit("Groceries.md", fields, comes_to);
    let plan = "under “Weekly plan”";
    let under = |heading: &str| json!({ "heading": heading, "action": "append", "text": "x" });
    vec![
        groceries(under("Weekly Plans"), plan),
        groceries(under("## Weekly plan ##"), plan),
        groceries(under("Plan of the week"), plan),
        groceries(under("[[Weekly plan]]"), plan),
        edit("Days", under("Tasks"), "under “Tasks”"),
        groceries(under("^soups"), "the block ^soup"),
        groceries(
            json!({ "heading": "Weekly plan", "action": "replace", "text": "## Weekly plan\nx" }),
            "Applied: replace the text",
        ),
        groceries(json!({ "heading": "Weekly plan", "text": "x" }), "“Weekly plan”"),
        groceries(json!({ "heading": "Weekly plan", "action": "append", "new_text": "x" }), plan),
        one(
            "append_file",
            json!({ "path": "Groceries", "content": "x", "heading": "Weekly" }),
            plan,
        ),
        one(
            "append_file",
            json!({ "path": "Garden/Plan.md", "content": "x", "heading": "Beds" }),
            "Applied: append 1 line",
        ),
        one(
            "append_file",
            json!({ "path": "Brand new", "content": "x", "heading": "Beds" }),
            "Applied: create `Brand new.md`",
        ),
    ]
}

fn properties() -> Vec<Mistake> {
    let groceries = |fields, comes_to| edit("Groceries.md", fields, comes_to);
    vec![
        groceries(
            json!({ "property": "tag", "action": "remove" }),
            "Applied: remove the property tags",
        ),
        groceries(
            json!({ "property": "owner", "action": "append", "value": "Bo" }),
            "Applied: set the property owner",
        ),
        groceries(
            json!({ "property": "owner", "action": "set", "text": "Bo" }),
            "Applied: set the property owner",
        ),
        groceries(
            json!({ "property": "owner", "action": "set" }),
            "Applied: remove the property owner",
        ),
        groceries(json!({ "property": "owner", "value": "Bo" }), "Applied: set the property owner"),
        groceries(
            json!({ "property": "owner", "action": "set", "value": { "name": "Bo" } }),
            "Applied: set the property owner",
        ),
    ]
}

/// After how many repairs a mistake works, when the reader gets each failure as `heard` has it.
async fn make(mistake: &Mistake, heard: fn(&str) -> &str) -> Result<usize, String> {
    let mut bench = ToolFixture::with(NOTES);
    for path in NOTES_READ {
        bench.call_ok("read_file", json!({ "path": path })).await;
    }
    let mut call = mistake.call.clone();
    let mut told = Vec::new();
    for tries in 0..=MAX_REPAIRS {
        let answer: CallAnswer = bench.call(&call.tool, call.arguments.clone()).await;
        if !answer.is_error && answer.text.contains(mistake.comes_to) {
            return Ok(tries);
        }
        told.push(format!("{} {}\n  → {}", call.tool, call.arguments, answer.text));
        if !answer.is_error {
            break;
        }
        let repaired = repair(&call, heard(&answer.text));
        for look in repaired.first {
            bench.call(&look.tool, look.arguments).await;
        }
        call = repaired.then;
    }
    Err(told.join("\n"))
}

fn all() -> Vec<Mistake> {
    [names_and_paths(), shapes(), texts(), headings(), properties(), paths::places()].concat()
}

#[tokio::test]
async fn every_plausible_mistake_is_repaired_from_its_failure_alone() {
    let mistakes = all();
    let total = mistakes.len();
    let mut failures = Vec::new();
    let mut forgiven = 0;
    for mistake in &mistakes {
        match make(mistake, |failure| failure).await {
            Ok(0) => forgiven += 1,
            Ok(_) => {}
            Err(told) => failures.push(told),
        }
    }
    println!("repaired={}/{total} ({forgiven} needed no repair)", total - failures.len());
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    assert!(total - forgiven >= 120, "only {} mistakes are mistakes", total - forgiven);
}

#[tokio::test]
async fn no_mistake_is_repaired_from_a_failure_that_teaches_nothing() {
    for mistake in &all() {
        let repairs = make(mistake, |_| "Error: invalid argument.").await;
        assert!(matches!(repairs, Ok(0) | Err(_)), "{:?}", mistake.call);
    }
}
