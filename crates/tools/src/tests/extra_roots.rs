//! An additional folder: every reading tool sees it, every changing tool refuses it.

#![expect(clippy::disallowed_methods, reason = "the tests make the notes and look at them")]

use std::path::Path;

use serde_json::json;

use super::fixture::{PlanPolicy, ToolFixture};

const BREAD: &str = "# Bread\n\nflour and water, with [[Garden]] herbs\n";

/// A vault, and beside it `Recipes` with two notes.
fn kitchen() -> (ToolFixture, tempfile::TempDir) {
    let beside = tempfile::tempdir().unwrap();
    std::fs::create_dir(beside.path().join("sweet")).unwrap();
    std::fs::write(beside.path().join("Bread.md"), BREAD).unwrap();
    std::fs::write(beside.path().join("sweet/Cake.md"), "eggs\n").unwrap();
    let bench = ToolFixture::with(&[
        ("Garden.md", b"# Garden\n\nsee [[Bread]] and [[sweet/Cake]]\n"),
        ("Plan.md", b"[[Garden]]\n"),
    ]);
    bench.add_root(beside.path(), "Recipes");
    (bench, beside)
}

fn nothing_changed(bench: &ToolFixture, beside: &Path) {
    assert!(!bench.file("Recipes").exists() && !bench.file("recipes").exists());
    assert_eq!(std::fs::read_to_string(beside.join("Bread.md")).unwrap(), BREAD);
    assert_eq!(std::fs::read_dir(beside).unwrap().count(), 2);
    assert_eq!(std::fs::read_dir(beside.join("sweet")).unwrap().count(), 1);
}

#[tokio::test]
async fn every_reading_tool_sees_notes_in_additional_folders() {
    let (mut bench, _beside) = kitchen();
    for (tool, call, says) in [
        ("read_file", json!({ "path": "bread" }), "flour and water"),
        ("list_files", json!({ "pattern": "**/*.md" }), "`Recipes/sweet/Cake.md`"),
        ("list_files", json!({ "path": "Recipes" }), "`Recipes/Bread.md`"),
        ("search_files", json!({ "pattern": "flour" }), "Recipes/Bread.md"),
        ("find_notes", json!({ "query": "eggs" }), "Recipes/sweet/Cake.md"),
        ("get_file_info", json!({ "path": "Recipes/Bread.md" }), "Garden.md"),
        ("get_links", json!({ "path": "Garden", "direction": "out" }), "Recipes/Bread.md"),
        ("get_links", json!({ "path": "Garden", "direction": "in" }), "Recipes/Bread.md"),
        ("get_links", json!({ "path": "Recipes/Bread.md", "direction": "out" }), "Garden.md"),
    ] {
        let answer = bench.call_ok(tool, call.clone()).await;
        assert!(answer.text.contains(says), "{tool} {call}: {}", answer.text);
    }
}

#[tokio::test]
async fn every_changing_tool_says_that_additional_folders_are_read_only() {
    let (mut bench, beside) = kitchen();
    for policy in [PlanPolicy::Apply, PlanPolicy::Wait] {
        bench.policy = policy;
        bench.call_ok("read_file", json!({ "path": "Recipes/Bread.md" })).await;
        for (tool, call, at) in [
            ("write_file", json!({ "path": "Recipes/New", "content": "x" }), "Recipes/New"),
            (
                "write_file",
                json!({ "path": "recipes/a/New.md", "content": "x" }),
                "recipes/a/New.md",
            ),
            (
                "write_file",
                json!({ "path": "Recipes/Bread.md", "content": "x", "overwrite": true }),
                "Recipes/Bread.md",
            ),
            ("append_file", json!({ "path": "Bread", "content": "x" }), "Recipes/Bread.md"),
            ("append_file", json!({ "path": "Recipes/New.md", "content": "x" }), "Recipes/New.md"),
            (
                "edit_file",
                json!({ "path": "bread", "old_text": "flour", "new_text": "rye" }),
                "Recipes/Bread.md",
            ),
            ("delete_file", json!({ "path": "Bread" }), "Recipes/Bread.md"),
            ("delete_file", json!({ "path": "Recipes/sweet/" }), "Recipes/sweet"),
            ("delete_file", json!({ "path": "Recipes" }), "Recipes"),
            ("create_folder", json!({ "path": "Recipes/new" }), "Recipes/new"),
            ("create_folder", json!({ "path": "Recipes" }), "Recipes"),
            ("move_file", json!({ "source": "Bread", "destination": "B.md" }), "Recipes/Bread.md"),
            (
                "move_file",
                json!({ "source": "Plan", "destination": "Recipes/Plan" }),
                "Recipes/Plan",
            ),
            (
                "move_file",
                json!({ "source": "Plan", "destination": "Recipes/" }),
                "Recipes/Plan.md",
            ),
            ("move_file", json!({ "source": "Recipes/", "destination": "R" }), "Recipes"),
        ] {
            let words = bench.call_err(tool, call.clone()).await;
            let says = format!(
                "`{at}` is in an additional folder, which is read-only. Create the note in the \
                 vault instead."
            );
            assert_eq!(words, says, "{tool} {call}");
        }
    }
    nothing_changed(&bench, beside.path());
}

#[tokio::test]
async fn a_move_keeps_links_to_additional_folders_and_names_those_it_could_not_keep() {
    let (mut bench, beside) = kitchen();
    let call = json!({ "source": "Garden", "destination": "Home/Yard" });
    let answer = bench.call_ok("move_file", call).await;
    assert_eq!(
        answer.text,
        "Applied: move `Garden.md` to `Home/Yard.md`, and rewrite 1 link in 1 note so that they still lead \
         to the same place. 1 link in `Recipes/Bread.md` will not lead to the same place, because \
         nothing is changed outside the vault. Tell the user."
    );
    assert_eq!(bench.text("Plan.md"), "[[Yard]]\n");
    let made = json!({ "path": "Bread.md", "content": "mine" });
    bench.call_ok("write_file", made).await;
    let yard = bench.text("Home/Yard.md");
    assert!(yard.contains("[[Recipes/Bread]]") && yard.contains("[[sweet/Cake]]"), "{yard}");
    nothing_changed(&bench, beside.path());
}

#[tokio::test]
async fn a_listing_names_a_root_that_is_away() {
    let (mut bench, beside) = kitchen();
    let place = beside.path().to_owned();
    drop(beside);
    let answer = bench.call_ok("list_files", json!({})).await;
    assert!(answer.text.contains("Left out: `Recipes`: this additional folder is"), "{answer:?}");
    assert!(!answer.text.contains(place.to_str().unwrap()), "{answer:?}");
}
