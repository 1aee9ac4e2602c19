//! `links NOTE`: where a note leads, and what leads to it.

use serde_json::json;

use super::words::unquoted;
use super::{Command, Entry, Move, Scene, reply};
use crate::get_links::{self, Linked};

pub(super) const ENTRY: Entry = Entry {
    word: "links",
    form: "links NOTE",
    does: "lists the outgoing links and the backlinks of a note",
    tool: Some("get_links"),
    parse: |rest| {
        let note = unquoted(rest).to_owned();
        (!note.is_empty()).then(|| Box::new(Links { note }) as Box<dyn Command>)
    },
};

struct Links {
    note: String,
}

impl Command for Links {
    fn next(&self, scene: &Scene<'_>) -> Move {
        match scene.done.first() {
            None => Move::call("get_links", json!({ "path": self.note })),
            Some(done) if done.is_error => reply::trouble(done.output, &self.note),
            Some(done) => Move::Say(self.told(&get_links::read(done.output))),
        }
    }

    fn choose(&mut self, note: String) {
        self.note = note;
    }
}

impl Links {
    fn told(&self, Linked { out, broken, back, more }: &Linked<'_>) -> String {
        let note = reply::title(&self.note);
        let out = out.iter().map(|path| format!("- {}", reply::link(path)));
        let broken = broken.iter().map(|name| format!("- {} (broken link)", reply::link(name)));
        let back = back.iter().map(|path| format!("- {} (backlink)", reply::link(path)));
        let lines: Vec<String> = out.chain(broken).chain(back).collect();
        if lines.is_empty() {
            return format!("{note} has no links, and no note links to it.");
        }
        let lines = lines.join("\n");
        if *more {
            return format!("Links of {note}:\n\n{lines}\n\nThere are more, not shown here.");
        }
        format!("Links of {note}:\n\n{lines}")
    }
}
