//! `links NOTE`: where a note leads, and what leads to it.

use serde_json::json;

use crate::commands::command::{CommandContext, CommandEntry, NextStep, TypedCommand};
use crate::commands::dialog::lexer::strip_quotes;
use crate::commands::dialog::replies;
use crate::read_tools::get_links::{self, ParsedLinks};

pub(in crate::commands) const ENTRY: CommandEntry = CommandEntry {
    word: "links",
    usage: "links NOTE",
    description: "lists the outgoing links and the backlinks of a note",
    tool: Some("get_links"),
    parse: |rest| {
        let note = strip_quotes(rest).to_owned();
        (!note.is_empty()).then(|| Box::new(LinksCommand { note }) as Box<dyn TypedCommand>)
    },
};

struct LinksCommand {
    note: String,
}

impl TypedCommand for LinksCommand {
    fn next(&self, context: &CommandContext<'_>) -> NextStep {
        match context.calls.first() {
            None => NextStep::call("get_links", json!({ "path": self.note })),
            Some(done) if done.is_error => replies::failure_reply(done.output, &self.note),
            Some(done) => NextStep::Say(self.result_text(&get_links::parse_result(done.output))),
        }
    }

    fn choose_note(&mut self, note: String) {
        self.note = note;
    }
}

impl LinksCommand {
    fn result_text(&self, ParsedLinks { out, broken, back, more }: &ParsedLinks<'_>) -> String {
        let note = replies::title(&self.note);
        let out = out.iter().map(|path| format!("- {}", replies::link(path)));
        let broken = broken.iter().map(|name| format!("- {} (broken link)", replies::link(name)));
        let back = back.iter().map(|path| format!("- {} (backlink)", replies::link(path)));
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
