//! The replies of commands: short sentences about notes, without the voice of a model.

use markdown::Frontmatter;
use protocol::NotePath;
use serde_json::json;

use crate::catalog::SHOW_NOTE;
use crate::commands::command::{CommandContext, CompletedCall, NextStep};
use crate::conversation_tools::show_note;
use crate::plan_outcome::{self, PlanOutcome};
use crate::text::numbered_page::{self, ParsedPage};
use crate::text::suggestions::{self, NameSuggestions};

/// Lines of a note that are shown in the chat at most.
const MAX_LINES: usize = 200;
/// Names offered at most.
const MAX_OPTIONS: usize = 8;

/// The name a person uses for the note at `path`.
pub(in crate::commands) fn title(path: &str) -> String {
    NotePath::parse(path).map_or_else(|_| path.to_owned(), |path| path.title().to_owned())
}

/// Shows a note beside the chat; where there is no window, as text.
pub(in crate::commands) fn show(note: &str, context: &CommandContext<'_>) -> NextStep {
    let tool = if context.tools.contains(&SHOW_NOTE) { SHOW_NOTE } else { "read_file" };
    NextStep::call(tool, json!({ "path": note }))
}

/// The reply after [`show`]; `None` when it failed.
pub(in crate::commands) fn shown_reply(done: &CompletedCall<'_>) -> Option<NextStep> {
    if done.is_error {
        return None;
    }
    if let Some(path) = show_note::parse_result(done.output) {
        let note = title(path);
        return Some(NextStep::Say(format!("Opened {note}.")));
    }
    numbered_page::parse(done.output).map(|note| note_text(&note))
}

/// The notes that a name which no note has may stand for: those with it in their names, or else the
/// only one that has a name like it.
pub(in crate::commands) fn likely_notes(output: &str, name: &str) -> Vec<String> {
    let Some(NameSuggestions::Near(paths)) = suggestions::parse(output) else { return Vec::new() };
    let name = name.to_lowercase();
    let holds_it = |path: &&String| title(path).to_lowercase().contains(&name);
    let holding: Vec<String> = paths.iter().filter(holds_it).cloned().collect();
    if holding.is_empty() && paths.len() == 1 { paths } else { holding }
}

/// The whole note without its properties, or its first lines if it is long.
fn note_text(note: &ParsedPage<'_>) -> NextStep {
    let title = title(note.path);
    if note.lines.is_empty() {
        return NextStep::Say(format!("**{title}**\n\nThis note is empty."));
    }
    let lines = note.lines.get(..MAX_LINES.min(note.lines.len())).unwrap_or_default();
    let text = without_properties(lines).join("\n");
    NextStep::Say(if lines.len() < note.total {
        format!("**{title}**\n\n{text}\n\nThe first {} of {} lines.", lines.len(), note.total)
    } else {
        format!("**{title}**\n\n{text}")
    })
}

/// A note's lines without the properties on top: they would be drawn as a heading.
fn without_properties<'a>(lines: &'a [&'a str]) -> &'a [&'a str] {
    let text = lines.join("\n");
    let Some(properties) = Frontmatter::parse(&text) else { return lines };
    // Where lines end in a bare carriage return, text may stand on the line that ends the properties.
    let top = text.get(..properties.span.end).unwrap_or_default();
    if !top.ends_with('\n') && top.len() < text.len() {
        return lines;
    }
    lines.get(properties.line_count(&text)..).unwrap_or_default()
}

/// The sentence after a change: that it is done, or pending.
pub(in crate::commands) fn change_reply(output: &str, path: &str, done: &str) -> NextStep {
    let note = title(path);
    NextStep::Say(match plan_outcome::parse(output) {
        PlanOutcome::Applied => done.to_owned(),
        PlanOutcome::Pending => format!("The change to {note} needs your review."),
    })
}

/// The next step after a failed call on the note called `note`: ask which note is meant, or tell
/// the error.
pub(in crate::commands) fn failure_reply(output: &str, note: &str) -> NextStep {
    match suggestions::parse(output) {
        Some(NameSuggestions::Several(paths)) => {
            let options = paths.get(..MAX_OPTIONS.min(paths.len())).unwrap_or_default();
            NextStep::ask(&format!("Several notes are called “{note}”. Which one?"), options)
        }
        Some(NameSuggestions::Near(paths)) => NextStep::Say(match quoted_titles(&paths) {
            None => format!("There is no note “{note}”."),
            Some(near) => format!("There is no note “{note}”. The nearest: {near}."),
        }),
        None => NextStep::Say(first_line(output).to_owned()),
    }
}

/// The first of these notes by their names; `None` when there are none.
pub(in crate::commands) fn quoted_titles(paths: &[String]) -> Option<String> {
    let near: Vec<String> = paths.iter().take(3).map(|path| format!("“{}”", title(path))).collect();
    (!near.is_empty()).then(|| near.join(", "))
}

/// The note at `path` as a link that people read.
pub(in crate::commands) fn link(path: &str) -> String {
    format!("[[{}]]", path.strip_suffix(".md").unwrap_or(path))
}

/// The first line of a failure says what is wrong; the rest is for models.
pub(in crate::commands) fn first_line(output: &str) -> &str {
    output.lines().next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_shown_without_its_properties_and_without_losing_a_rule() {
        assert_eq!(without_properties(&["---", "tags: [list]", "---", "# Milk"]), ["# Milk"]);
        assert_eq!(without_properties(&["---", "tags: [list]", "...", "# Milk"]), ["# Milk"]);
        assert_eq!(without_properties(&["--- ", "tags: [list]", "---\t", "# Milk"]), ["# Milk"]);
        assert!(without_properties(&["---", "tags: [list]", "---"]).is_empty());
        let returns = ["---\rtags: [list]\r---\r# Milk"];
        assert_eq!(without_properties(&returns), returns);
        assert_eq!(without_properties(&["# Milk", "---", "end"]), ["# Milk", "---", "end"]);
        assert_eq!(without_properties(&["---", "no end"]), ["---", "no end"]);
        assert!(without_properties(&[]).is_empty());
    }
}
