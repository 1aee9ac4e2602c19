//! What a command says: short sentences about notes, without the voice of a model.

use protocol::NotePath;
use serde_json::json;

use super::{Done, Move, Scene};
use crate::candidates::{self, Candidates};
use crate::catalog::SHOWS;
use crate::page::{self, Printed};
use crate::show_note;
use crate::verdict::{self, Became};

/// Lines of a note that are shown in the chat at most.
const MAX_LINES: usize = 200;
/// Names offered at most.
const MAX_OPTIONS: usize = 8;

/// The name a person uses for the note at `path`.
pub(super) fn title(path: &str) -> String {
    NotePath::parse(path).map_or_else(|_| path.to_owned(), |path| path.title().to_owned())
}

/// Shows a note beside the chat; where there is no window, in words.
pub(super) fn show(note: &str, scene: &Scene<'_>) -> Move {
    let tool = if scene.tools.contains(&SHOWS) { SHOWS } else { "read_file" };
    Move::call(tool, json!({ "path": note }))
}

/// What is said once [`show`] was done; `None` when it failed.
pub(super) fn after_showing(done: &Done<'_>) -> Option<Move> {
    if done.is_error {
        return None;
    }
    if let Some(path) = show_note::read(done.output) {
        return Some(Move::Say(format!("Opened {}.", title(path))));
    }
    page::read(done.output).map(|note| shown(&note))
}

/// The notes that a name which no note has may stand for: those with it in their names, or else the
/// only one that has a name like it.
pub(super) fn likely(output: &str, name: &str) -> Vec<String> {
    let Some(Candidates::Near(paths)) = candidates::read(output) else { return Vec::new() };
    let name = name.to_lowercase();
    let holds_it = |path: &&String| title(path).to_lowercase().contains(&name);
    let holding: Vec<String> = paths.iter().filter(holds_it).cloned().collect();
    if holding.is_empty() && paths.len() == 1 { paths } else { holding }
}

/// A note in words.
fn shown(note: &Printed<'_>) -> Move {
    let title = title(note.path);
    if note.lines.is_empty() {
        return Move::Say(format!("**{title}**\n\nThis note is empty."));
    }
    let lines = note.lines.get(..MAX_LINES.min(note.lines.len())).unwrap_or_default();
    let text = prose(lines).join("\n");
    Move::Say(if lines.len() < note.total {
        format!("**{title}**\n\n{text}\n\nThe first {} of {} lines.", lines.len(), note.total)
    } else {
        format!("**{title}**\n\n{text}")
    })
}

/// A note's lines without the properties on top: they would be drawn as a heading.
fn prose<'a>(lines: &'a [&'a str]) -> &'a [&'a str] {
    let Some((&"---", rest)) = lines.split_first() else { return lines };
    let end = rest.iter().position(|line| line.trim_end() == "---");
    end.and_then(|end| rest.get(end + 1..)).unwrap_or(lines)
}

/// The sentence after a change: what was done, or that it waits.
pub(super) fn changed(output: &str, path: &str, done: &str) -> Move {
    Move::Say(match verdict::read(output) {
        Became::Applied => done.to_owned(),
        Became::Waiting => format!("The change to {} waits for your review.", title(path)),
    })
}

/// What to do about a failed call on the note called `note`: ask which is meant, or say what is
/// wrong.
pub(super) fn trouble(output: &str, note: &str) -> Move {
    match candidates::read(output) {
        Some(Candidates::Several(paths)) => {
            let options = paths.get(..MAX_OPTIONS.min(paths.len())).unwrap_or_default();
            Move::ask(&format!("Several notes are called “{note}”. Which one?"), options)
        }
        Some(Candidates::Near(paths)) => Move::Say(match quoted(&paths) {
            None => format!("There is no note “{note}”."),
            Some(near) => format!("There is no note “{note}”. The nearest: {near}."),
        }),
        None => Move::Say(first_line(output).to_owned()),
    }
}

/// The first of these notes by their names; `None` when there are none.
pub(super) fn quoted(paths: &[String]) -> Option<String> {
    let near: Vec<String> = paths.iter().take(3).map(|path| format!("“{}”", title(path))).collect();
    (!near.is_empty()).then(|| near.join(", "))
}

/// The note at `path` as a link that people read.
pub(super) fn link(path: &str) -> String {
    format!("[[{}]]", path.strip_suffix(".md").unwrap_or(path))
}

/// The first line of a failure says what is wrong; the rest is for models.
pub(super) fn first_line(output: &str) -> &str {
    output.lines().next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_shown_without_its_properties_and_without_losing_a_rule() {
        assert_eq!(prose(&["---", "tags: [list]", "---", "# Milk"]), ["# Milk"]);
        assert_eq!(prose(&["# Milk", "---", "end"]), ["# Milk", "---", "end"]);
        assert_eq!(prose(&["---", "no end"]), ["---", "no end"]);
        assert!(prose(&[]).is_empty());
    }
}
