//! `tags [TEXT]`: which tags there are.

use serde_json::json;

use super::words::unquoted;
use super::{Command, Entry, Move, Scene, reply};
use crate::list_tags;

/// Tags listed at most.
const MOST: u16 = 50;

pub(super) const ENTRY: Entry = Entry {
    word: "tags",
    form: "tags [TEXT]",
    does: "lists tags with how many notes have each",
    tool: Some("list_tags"),
    parse: |rest| Some(Box::new(Tags { part: unquoted(rest).trim_start_matches('#').to_owned() })),
};

struct Tags {
    /// What their names shall hold; empty for all.
    part: String,
}

impl Command for Tags {
    fn next(&self, scene: &Scene<'_>) -> Move {
        match scene.done.first() {
            None => {
                let part = (!self.part.is_empty()).then_some(&self.part);
                Move::call("list_tags", json!({ "pattern": part, "limit": MOST }))
            }
            Some(done) if done.is_error => Move::Say(reply::first_line(done.output).to_owned()),
            Some(done) => Move::Say(self.listed(done.output)),
        }
    }
}

impl Tags {
    fn listed(&self, output: &str) -> String {
        let Some((total, tags)) = list_tags::read(output) else {
            return match self.part.as_str() {
                "" => "No note has a tag.".to_owned(),
                part => format!("No tag has “{part}” in its name."),
            };
        };
        let lines: Vec<String> =
            tags.iter().map(|(tag, notes)| format!("- #{tag} ({notes})")).collect();
        let text = lines.join("\n");
        if tags.len() < total {
            return format!("The {} most used of {total} tags:\n\n{text}", tags.len());
        }
        format!("Tags, most used first:\n\n{text}")
    }
}
