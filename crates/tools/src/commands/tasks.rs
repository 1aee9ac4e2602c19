//! `tasks [TEXT]`: what is still to be done.

use serde_json::json;

use super::words::unquoted;
use super::{Command, Entry, Move, Scene, reply};
use crate::search_files::{self, Told};

/// Tasks listed at most.
const MOST: u16 = 50;

/// How the line of an open task begins.
const OPEN: &str = r"^\s*(?:[-*+]|\d+[.)])\s+\[ \]\s+";

pub(super) const ENTRY: Entry = Entry {
    word: "tasks",
    form: "tasks [TEXT]",
    does: "lists open tasks",
    tool: Some("search_files"),
    parse: |rest| Some(Box::new(Tasks { part: unquoted(rest).to_owned() })),
};

struct Tasks {
    /// What their words shall hold; empty for all.
    part: String,
}

impl Command for Tasks {
    fn next(&self, scene: &Scene<'_>) -> Move {
        match scene.done.first() {
            None => {
                let pattern = format!("{OPEN}.*{}", index::literal(&self.part));
                let arguments =
                    json!({ "pattern": pattern, "context_lines": 0, "max_results": MOST });
                Move::call("search_files", arguments)
            }
            Some(done) if done.is_error => Move::Say(reply::first_line(done.output).to_owned()),
            Some(done) => Move::Say(self.listed(done.output)),
        }
    }
}

impl Tasks {
    fn listed(&self, output: &str) -> String {
        let Some(Told { total, notes }) = search_files::read(output) else {
            return match self.part.as_str() {
                "" => "There are no open tasks.".to_owned(),
                part => format!("No open task has “{part}” in it."),
            };
        };
        let shown: usize = notes.iter().map(|(_, lines)| lines.len()).sum();
        let notes: Vec<String> = notes
            .iter()
            .map(|(path, lines)| {
                let lines: Vec<&str> = lines.iter().map(|line| line.trim_start()).collect();
                format!("{}\n\n{}", reply::link(path), lines.join("\n"))
            })
            .collect();
        let text = notes.join("\n\n");
        if shown < total {
            return format!("The first {shown} of {total} open tasks:\n\n{text}");
        }
        format!("Open tasks:\n\n{text}")
    }
}
