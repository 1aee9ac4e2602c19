//! `append TEXT to NOTE`: adds a line, written as the note's own list writes its items.

use serde_json::json;

use crate::commands::command::{
    CommandContext, CommandEntry, CompletedCall, NextStep, TypedCommand,
};
use crate::commands::dialog::lexer::{split_at_last, strip_quotes};
use crate::commands::dialog::replies;
use crate::notes::daily_note::DAILY_NAME;
use crate::text::list_style::next_item;
use crate::text::numbered_page;
use crate::text::suggestions::{self, NameSuggestions};

/// Lines at the end of a long note in which its last list is looked for.
const MAX_TAIL_LINES: usize = 200;

pub(in crate::commands) const ENTRY: CommandEntry = CommandEntry {
    word: "append",
    usage: "append TEXT to NOTE",
    description: "adds a line at the end; `daily` is the daily note",
    tool: Some("append_file"),
    parse: |rest| {
        let (text, note) = split_at_last(rest, " to ")?;
        let append = AppendCommand {
            text: strip_quotes(text).to_owned(),
            note: strip_quotes(note).to_owned(),
        };
        let is_whole = !append.text.is_empty() && !append.note.is_empty();
        is_whole.then(|| Box::new(append) as Box<dyn TypedCommand>)
    },
};

struct AppendCommand {
    text: String,
    note: String,
}

impl AppendCommand {
    fn is_daily(&self) -> bool {
        self.note.eq_ignore_ascii_case(DAILY_NAME)
    }

    /// Reads the note, and of a long one then its end.
    fn after_reading(&self, output: &str) -> NextStep {
        let Some(note) = numbered_page::parse(output) else {
            return NextStep::Say(replies::first_line(output).to_owned());
        };
        if note.last < note.total {
            let start = note.total.saturating_sub(MAX_TAIL_LINES).max(note.last + 1);
            return NextStep::call("read_file", json!({ "path": note.path, "start_line": start }));
        }
        let content = next_item(&note.lines, &self.text);
        NextStep::call("append_file", json!({ "path": note.path, "content": content }))
    }

    /// The step after `calls`, of which the last failed with `output`. `today` is the daily note
    /// where no note has that name.
    fn without_note(&self, calls: &[CompletedCall<'_>], output: &str) -> NextStep {
        let is_today = self.note.eq_ignore_ascii_case("today");
        match (suggestions::parse(output), calls) {
            (Some(NameSuggestions::Near(_)), [_]) if is_today => {
                NextStep::call("read_file", json!({ "path": DAILY_NAME }))
            }
            (Some(NameSuggestions::Near(_)), [first, ..])
                if self.is_daily() || (is_today && first.is_error) =>
            {
                NextStep::call("append_file", json!({ "path": DAILY_NAME, "content": self.text }))
            }
            (Some(NameSuggestions::Near(paths)), _) => NextStep::Say(self.create_message(&paths)),
            _ => replies::failure_reply(output, &self.note),
        }
    }

    fn create_message(&self, nearest: &[String]) -> String {
        let Self { text, note } = self;
        match replies::quoted_titles(nearest) {
            None => format!("There is no note “{note}”. To begin it, type `new {note}: {text}`."),
            Some(near) => format!(
                "There is no note “{note}”. The nearest: {near}. To begin it, type `new {note}: \
                 {text}`."
            ),
        }
    }
}

impl TypedCommand for AppendCommand {
    fn next(&self, context: &CommandContext<'_>) -> NextStep {
        let Some(done) = context.calls.last() else {
            let path = if self.is_daily() { DAILY_NAME } else { &self.note };
            return NextStep::call("read_file", json!({ "path": path }));
        };
        match (done.tool, done.is_error) {
            ("read_file", false) => self.after_reading(done.output),
            ("read_file", true) => self.without_note(&context.calls, done.output),
            (_, true) => replies::failure_reply(done.output, &self.note),
            (_, false) => {
                let is_read =
                    |call: &&CompletedCall<'_>| call.tool == "read_file" && !call.is_error;
                let read = context.calls.iter().find(is_read);
                let path = read.and_then(|read| Some(numbered_page::parse(read.output)?.path));
                let today = context.today.to_string();
                let path = path.unwrap_or(&today);
                let note = replies::title(path);
                let sentence = match self.text.lines().count() {
                    1 => format!("Added 1 line to {note}."),
                    lines => format!("Added {lines} lines to {note}."),
                };
                replies::change_reply(done.output, path, &sentence)
            }
        }
    }

    fn choose_note(&mut self, note: String) {
        self.note = note;
    }
}
