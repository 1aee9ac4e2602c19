//! `find WORDS`, and what happens with words that are no command.

use serde_json::json;

use super::words::unquoted;
use super::{Command, Entry, Move, Scene, reply};
use crate::find_notes;

pub(super) const ENTRY: Entry = Entry {
    word: "find",
    form: "find WORDS",
    does: "shows the passages that match best",
    tool: Some("find_notes"),
    parse: |rest| {
        let find = Find { words: rest.to_owned(), opening: "", hint: None };
        (!rest.is_empty()).then(|| Box::new(find) as Box<dyn Command>)
    },
};

/// Looks for words.
pub(super) struct Find {
    words: String,
    /// What goes before the number of passages.
    opening: &'static str,
    /// The form of the command that was perhaps meant.
    hint: Option<&'static str>,
}

impl Find {
    /// For words that are no command.
    pub(super) fn anything(words: &str, hint: Option<&'static str>) -> Self {
        Self { words: words.trim().to_owned(), opening: "No model connected. ", hint }
    }

    fn found(&self, output: &str) -> String {
        let found = match find_notes::read(output) {
            Some(matching) => matching.to_owned(),
            None => format!("No note mentions {}.", either(&self.words)),
        };
        let hint = self.hint.map(|form| format!("\n\nThe command is typed `{form}`."));
        format!("{}{found}{}", self.opening, hint.unwrap_or_default())
    }
}

impl Command for Find {
    fn next(&self, scene: &Scene<'_>) -> Move {
        match scene.done.first() {
            None => Move::call("find_notes", json!({ "query": self.words })),
            Some(done) if done.is_error => {
                Move::Say(format!("{}{}", self.opening, reply::first_line(done.output)))
            }
            Some(done) => Move::Say(self.found(done.output)),
        }
    }
}

/// “a”, “b” or “c”: a search that finds nothing has found none of its words.
fn either(words: &str) -> String {
    let mut looked_for: Vec<&str> = match unquoted(words) {
        phrase if phrase != words => vec![phrase],
        words => words.split_whitespace().collect(),
    };
    match looked_for.pop() {
        Some(last) if looked_for.is_empty() => format!("“{last}”"),
        Some(last) => format!("“{}” or “{last}”", looked_for.join("”, “")),
        None => "it".to_owned(),
    }
}
