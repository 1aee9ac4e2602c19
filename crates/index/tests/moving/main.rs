//! Moves over random and over large vaults: every link that led somewhere leads there still, and
//! no other byte differs.

#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::string_slice,
    clippy::unwrap_used,
    reason = "a test makes its own files and fails where it cannot go on"
)]

mod large_vault;
mod one_name;
mod random_moves;
mod sources_of_links;

use std::fs;

use index::links::LinkGraph;
use protocol::{Change, ChangeSet, NotePath};
use vault::Vault;

fn path(text: &str) -> NotePath {
    NotePath::parse(text).unwrap()
}

#[test]
fn planned_changes_count_as_done() {
    let folder = tempfile::tempdir().unwrap();
    for (file, text) in [("a.md", "[[n]]"), ("n.md", ""), ("old.md", "[[n]] [[m]]")] {
        fs::write(folder.path().join(file), text).unwrap();
    }
    fs::create_dir(folder.path().join(".obsidian")).unwrap();
    fs::write(folder.path().join(".obsidian/app.json"), r#"{"newLinkFormat":"absolute"}"#).unwrap();
    let vault = Vault::open(folder.path()).unwrap();
    let overlay: ChangeSet = [
        Change::create(path("made.md"), "see [[p/m]]"),
        Change::create(path("q/x.md"), ""),
        Change::trash(path("a.md"), "[[n]]"),
        Change::rename(path("n.md"), path("p/m.md")),
    ]
    .into_iter()
    .collect();
    let graph = LinkGraph::from_vault(&vault, &overlay).unwrap();
    let sources = |to: &str| -> Vec<String> {
        let links = graph.backlinks(&path(to)).into_iter();
        links.map(|link| format!("{}:{}", link.source, link.link.path)).collect()
    };
    assert_eq!(sources("p/m.md"), ["old.md:m", "made.md:p/m"]);
    assert_eq!(sources("n.md"), Vec::<String>::new());
    let rewriting = graph.after_moving(&[(path("q/x.md"), path("m.md"))]);
    let after: Vec<_> =
        rewriting.files.iter().map(|file| String::from_utf8_lossy(&file.after)).collect();
    assert_eq!(after, ["[[n]] [[p/m]]"]);
}
