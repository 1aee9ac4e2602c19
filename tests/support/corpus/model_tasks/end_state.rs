//! Judges the end state of a task.

use std::collections::BTreeSet;

use super::task::{ModelTask, NoteExpectation};
use crate::vaults::temp_vault::Files;

/// Everything that is judged of a task.
#[derive(Debug, Default)]
pub(super) struct EndState {
    pub(super) before: Files,
    pub(super) after: Files,
    /// Text of the last turn: its answer and its questions.
    pub(super) answer: String,
    /// A question of the assistant is open.
    pub(super) is_asking: bool,
    /// Notes with pending changes.
    pub(super) pending: Vec<String>,
    /// Errors of turns.
    pub(super) errors: Vec<String>,
}

/// Everything in which `state` is not the end state that the task wants, in sentences.
pub(super) fn failures(task: &ModelTask, state: &EndState) -> Vec<String> {
    let mut failures = state.errors.clone();
    let answer = state.answer.to_lowercase();
    for alternatives in &task.answer {
        if !contains_any(&answer, alternatives) {
            failures.push(format!("the answer lacks {alternatives:?}: {}", state.answer));
        }
    }
    for text in task.answer_lacks.iter().filter(|it| answer.contains(&it.to_lowercase())) {
        failures.push(format!("the answer has {text:?}: {}", state.answer));
    }
    if task.asks && !state.is_asking && !answer.contains('?') {
        failures.push(format!("it did not ask: {}", state.answer));
    }
    if task.pending != state.pending {
        failures.push(format!("pending are {:?} and not {:?}", state.pending, task.pending));
    }
    let paths: BTreeSet<&String> =
        state.before.keys().chain(state.after.keys()).chain(task.notes.keys()).collect();
    for path in paths.into_iter().filter(|path| !path.starts_with(".trash/")) {
        let (before, after) = (state.before.get(path), state.after.get(path));
        match task.notes.get(path) {
            Some(expected) => failures.extend(
                note_failures(expected, before, after).into_iter().map(|it| format!("{path} {it}")),
            ),
            None if before != after => failures.push(format!("{path} was changed")),
            None => {}
        }
    }
    failures
}

fn note_failures(
    expected: &NoteExpectation,
    before: Option<&Vec<u8>>,
    after: Option<&Vec<u8>>,
) -> Vec<String> {
    let text =
        |bytes: Option<&Vec<u8>>| bytes.map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    let (before, after) = (text(before).unwrap_or_default(), text(after));
    let Some(after) = after else {
        return if expected.gone { Vec::new() } else { vec!["is not there".to_owned()] };
    };
    if expected.gone {
        return vec!["is still there".to_owned()];
    }
    let lower = after.to_lowercase();
    let mut failures = Vec::new();
    for alternatives in expected.has.iter().filter(|it| !contains_any(&lower, it)) {
        failures.push(format!("lacks {alternatives:?}: {after}"));
    }
    for text in expected.lacks.iter().filter(|it| lower.contains(&it.to_lowercase())) {
        failures.push(format!("has {text:?}"));
    }
    if expected.keeps_lines && !keeps_lines(&before, &after) {
        failures.push(format!("lost lines: {after}"));
    }
    failures
}

fn contains_any(lower: &str, alternatives: &[String]) -> bool {
    alternatives.iter().any(|it| lower.contains(&it.to_lowercase()))
}

/// Whether the lines of `before` are lines of `after` in the same order.
fn keeps_lines(before: &str, after: &str) -> bool {
    let mut left = after.lines();
    before.lines().all(|line| left.any(|other| other == line))
}
