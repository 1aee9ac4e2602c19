//! `list [FOLDER or PATTERN]`: which notes there are.

use serde_json::json;

use super::words::unquoted;
use super::{Command, Entry, Move, Scene, reply};
use crate::list_files;

/// Notes listed at most.
const MOST: u32 = 30;

pub(super) const ENTRY: Entry = Entry {
    word: "list",
    form: "list [FOLDER or PATTERN]",
    does: "lists notes, newest first; a pattern is like `**/*garden*`",
    tool: Some("list_files"),
    parse: |rest| Some(Box::new(List { what: unquoted(rest).to_owned() })),
};

struct List {
    what: String,
}

impl Command for List {
    fn next(&self, scene: &Scene<'_>) -> Move {
        let is_pattern = self.what.contains(['*', '?', '[', '{']);
        match scene.done.first() {
            None if is_pattern => {
                Move::call("list_files", json!({ "pattern": self.what, "max_results": MOST }))
            }
            None => {
                let folder = (!self.what.is_empty()).then_some(&self.what);
                let notes = json!({ "pattern": "**/*.md", "path": folder, "max_results": MOST });
                Move::call("list_files", notes)
            }
            Some(done) if done.is_error => Move::Say(reply::first_line(done.output).to_owned()),
            Some(done) => Move::Say(self.listed(done.output)),
        }
    }
}

impl List {
    fn listed(&self, output: &str) -> String {
        let Some((total, paths)) = list_files::read(output) else {
            return match self.what.as_str() {
                "" => "There are no notes yet. Type `new NOTE: TEXT` to write one.".to_owned(),
                what => format!("There is nothing in “{what}”."),
            };
        };
        let lines: Vec<String> = paths
            .iter()
            .map(|path| format!("- {}", path.strip_suffix(".md").unwrap_or(path)))
            .collect();
        let text = lines.join("\n");
        match total.checked_sub(paths.len()) {
            Some(more) if more > 0 => format!("The {} newest of {total}:\n\n{text}", paths.len()),
            _ => format!("{total}, newest first:\n\n{text}"),
        }
    }
}
