//! Finds the lines of a note that still stand as a change of the assistant left them.

use std::collections::HashMap;

use protocol::changes::history::{AppliedBy, AssistantLines, NoteAttribution};
use protocol::{ChangeKind, ChangeSetId, Effect, NotePath, Timestamp, TurnId, UserError};
use store::Store;

use crate::App;
use crate::changes::blame::Blame;
use crate::changes::history::before_and_after;
use crate::support::blocking::run_blocking;

/// The number of changes of a note that are looked at, the newest first; what is older has no
/// marks.
const MAX_CHANGES: usize = 200;
/// A note that is longer, in bytes, has none at all.
const MAX_NOTE_BYTES: usize = 1 << 20;
/// Nor has one with more runs of lines: each is a button in the window.
const MAX_RUNS: usize = 1_000;
/// The number of characters of a message that are told with each of its runs.
const MAX_REQUEST_CHARS: usize = 200;

impl App {
    /// The lines of a note that the assistant wrote and nobody changed since, as far as that is known:
    /// not behind a rename by hand, nor where earlier versions are not kept any more.
    pub async fn assistant_lines(&self, path: NotePath) -> Result<NoteAttribution, UserError> {
        let open = self.session().await?;
        let vault = open.notes.vault.clone();
        let note = run_blocking(move || vault.read(&path)).await??;
        let text = String::from_utf8_lossy(&note.bytes).into_owned();
        let marks = match note.bytes.len() {
            0..=MAX_NOTE_BYTES => blame_note(&open.store, note.path, note.bytes).await?,
            _ => Vec::new(),
        };
        Ok(NoteAttribution { text, marks })
    }
}

async fn blame_note(
    store: &Store,
    path: NotePath,
    note: Vec<u8>,
) -> Result<Vec<AssistantLines>, UserError> {
    let history = note_history(store, path).await?;
    let own = store.user_change_sets().await?;
    let mut blame = Blame::new(note);
    let mut at = 0;
    while let Some(effect) = history.get(at).filter(|_| blame.has_open_lines()) {
        if effect.purged.is_some() {
            break;
        }
        at = match resume_index(&history, at, &own) {
            // The note is as it was then, byte by byte: who wrote it is known from there.
            Some(then) => then,
            None => {
                let whose = (!own.contains_key(&effect.change_set)).then_some(at);
                blame = blame_step(store, blame, effect, whose).await?;
                at + 1
            }
        };
    }
    let runs = blame.runs();
    if runs.len() > MAX_RUNS {
        return Ok(Vec::new());
    }
    // A message may be long and have led to all of them.
    let mut requests: HashMap<&TurnId, String> = HashMap::new();
    let mut marks = Vec::with_capacity(runs.len());
    for (first, behind, whose) in runs {
        let Some(effect) = history.get(whose) else { continue };
        let request = match requests.get(&effect.turn) {
            Some(known) => known.clone(),
            None => {
                let told = request_line(&store.request_text(&effect.turn).await?);
                requests.insert(&effect.turn, told.clone());
                told
            }
        };
        marks.push(lines_of_effect(first, behind, effect, request));
    }
    Ok(marks)
}

/// The changes of a note's bytes, newest first, back over the names that it had.
async fn note_history(store: &Store, mut path: NotePath) -> Result<Vec<Effect>, UserError> {
    let mut history: Vec<Effect> = Vec::new();
    let mut before = None;
    'names: loop {
        let found = store.note_history(&path, before.as_ref()).await?;
        for effect in found {
            before = Some(effect.id.clone());
            match (effect.kind, effect.target.as_ref()) {
                (ChangeKind::Replace, _) => history.push(effect),
                (ChangeKind::Create, _) => {
                    history.push(effect);
                    return Ok(history);
                }
                (ChangeKind::Rename, Some(to)) if *to == path => {
                    path = effect.path;
                    continue 'names;
                }
                (ChangeKind::RenameFolder, Some(to)) => {
                    let Some(earlier) = path_before_move(&path, &effect.path, to) else {
                        return Ok(history);
                    };
                    path = earlier;
                    continue 'names;
                }
                // Before that it was another note.
                _ => return Ok(history),
            }
            if history.len() == MAX_CHANGES {
                return Ok(history);
            }
        }
        return Ok(history);
    }
}

async fn blame_step(
    store: &Store,
    mut blame: Blame,
    effect: &Effect,
    whose: Option<usize>,
) -> Result<Blame, UserError> {
    let (before, after) = before_and_after(store, effect).await?;
    run_blocking(move || {
        blame.skip_to(after);
        blame.attribute(before, whose);
        blame
    })
    .await
}

fn lines_of_effect(
    first: usize,
    behind: usize,
    effect: &Effect,
    request: String,
) -> AssistantLines {
    let line = |line: usize| u32::try_from(line).unwrap_or(u32::MAX);
    AssistantLines {
        first: line(first + 1),
        last: line(behind),
        change_set: effect.change_set.clone(),
        conversation: effect.conversation.clone(),
        request,
        at: effect.at.unwrap_or(Timestamp(0)),
    }
}

/// The first line of a message, cut where it is long.
fn request_line(message: &str) -> String {
    let line = message.trim().lines().next().unwrap_or_default();
    match line.char_indices().nth(MAX_REQUEST_CHARS) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line.to_owned(),
    }
}

/// Where the history continues behind a change of the user's own that restored an earlier state: at
/// the change that had left the note so, or behind the one that had found it so.
fn resume_index(
    history: &[Effect],
    at: usize,
    own: &HashMap<ChangeSetId, AppliedBy>,
) -> Option<usize> {
    let effect = history.get(at).filter(|effect| own.contains_key(&effect.change_set))?;
    let left = effect.after.as_ref()?;
    for (then, earlier) in history.iter().enumerate().skip(at + 1) {
        if earlier.after.as_ref() == Some(left) {
            return Some(then);
        }
        if earlier.before.as_ref() == Some(left) {
            return Some(then + 1);
        }
    }
    None
}

/// The path of a note before the folder above it was renamed.
fn path_before_move(path: &NotePath, from: &NotePath, to: &NotePath) -> Option<NotePath> {
    let inside = path.as_str().strip_prefix(to.as_str())?.strip_prefix('/')?;
    NotePath::parse(&format!("{from}/{inside}")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(message: &str, expected: &str) {
        assert_eq!(request_line(message), expected, "{} bytes", message.len());
    }

    #[test]
    fn a_message_is_told_by_its_first_line_and_no_more_than_200_characters() {
        check("", "");
        check("Tick every second task", "Tick every second task");
        check("\n\nPlan\r\n\r\nAttached file: a.txt", "Plan");
        check(&"ä".repeat(200), &"ä".repeat(200));
        check(&"ä".repeat(201), &format!("{}…", "ä".repeat(200)));
    }
}
