//! The sixty notes of the week: a word that changes in forty, a move that eighteen links follow, and
//! one that goes; and the model that plans all of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use crate::TempVault;
use crate::scripted_model::{Reply, ScriptedModel, last_message_text, tool_results};
use crate::stories::multi_call::completed_calls_in;
use crate::vaults::temp_vault::Files;

/// The user's message.
pub(super) const USER_MESSAGE: &str = "Close the plans of the falcon";
/// The answer of the model when all is planned.
pub(super) const PLANNED_TEXT: &str = "All of it needs your review.";
/// The beginning of a capture over the hub.
pub(super) const CAPTURE_PREFIX: &str = "remember thing number";
pub(super) const INBOX: &str = "inbox/Inbox.md";

const PLANS: usize = 40;
const LETTERS: usize = 18;
const FALCON: &str = "Falcon.md";
const HERON: &str = "Birds/Heron.md";
const DELETED_NOTE: &str = "Plans/Old plan.md";
/// Where it lies meanwhile. What was put there is never taken away, also when the note comes back.
const TRASHED_NOTE: &str = ".trash/Old plan.md";
/// So many calls a model makes at once.
const CALLS_PER_ANSWER: usize = 15;

pub(super) fn plan_path(n: usize) -> String {
    format!("Plans/Plan {n:02}.md")
}

fn letter_path(n: usize) -> String {
    format!("Letters/Letter {n:02}.md")
}

/// Puts the notes into the folder as they are before.
pub(super) fn write_notes(vault: &TempVault) {
    for n in 0..PLANS {
        vault.write(
            &plan_path(n),
            format!("# Plan {n}\n\nStatus: draft\n\n- think\n- begin\n\n## Log\n\nBegun.\n"),
        );
    }
    for n in 0..LETTERS {
        vault.write(&letter_path(n), format!("# Letter {n}\n\nWhat [[Falcon]] says.\n"));
    }
    vault.write(FALCON, "# Falcon\n\nA bird.\n");
    vault.write(DELETED_NOTE, "# Old plan\n\nOver.\n");
}

/// How many of the changes stand in the folder.
pub(super) fn count_changed(vault: &TempVault) -> usize {
    let has = |path: &str, words: &str| vault.try_read(path).is_some_and(|it| it.contains(words));
    let plans = (0..PLANS).filter(|n| has(&plan_path(*n), "Status: final")).count();
    let letters = (0..LETTERS).filter(|n| has(&letter_path(*n), "[[Heron]]")).count();
    let gone =
        vault.try_read(DELETED_NOTE).is_none() && vault.try_read("Plans/Plan 00.md").is_some();
    plans + letters + usize::from(has(HERON, "A bird.")) + usize::from(gone)
}

type WeekCall = (&'static str, Value);

fn all_calls() -> Vec<WeekCall> {
    let close = |n| {
        let change = json!({
            "path": plan_path(n), "old_text": "Status: draft", "new_text": "Status: final",
        });
        ("edit_file", change)
    };
    let moved = ("move_file", json!({ "source": FALCON, "destination": HERON }));
    let gone = ("delete_file", json!({ "path": DELETED_NOTE }));
    (0..PLANS).map(close).chain([moved, gone]).collect()
}

/// Plans the sixty in several answers, and keeps hub messages. While `silent` is set it sends no
/// text after the first answer.
pub(super) async fn start_model(silent: &Arc<AtomicBool>) -> ScriptedModel {
    let silent = Arc::clone(silent);
    ScriptedModel::responder(move |request: &Value| {
        let words = last_message_text(request);
        if request["messages"].to_string().contains(USER_MESSAGE) {
            return next_planning_reply(request, &silent);
        }
        match words.rsplit_once(CAPTURE_PREFIX) {
            Some((_, number)) if tool_results(request).is_empty() => {
                let line = format!("- thing {}", number.trim());
                Reply::calls(vec![("append_file", json!({ "path": INBOX, "content": line }))])
            }
            _ => Reply::text("Noted."),
        }
    })
    .await
}

fn next_planning_reply(request: &Value, silent: &AtomicBool) -> Reply {
    let done = completed_calls_in(request["messages"].as_array().into_iter().flatten());
    let is_open = |call: &WeekCall| !done.contains(&(call.0.to_owned(), call.1.to_string()));
    let open: Vec<WeekCall> =
        all_calls().into_iter().filter(is_open).take(CALLS_PER_ANSWER).collect();
    if open.is_empty() {
        return Reply::text(PLANNED_TEXT);
    }
    if !done.is_empty() && silent.load(Ordering::SeqCst) {
        return Reply::hang();
    }
    Reply::calls(open)
}

/// The one that the editor has open after it was changed.
pub(super) const EDITED_OUTSIDE: &str = "Plans/Plan 01.md";
/// Written in by the user below and above what was changed.
const USER_EDITED: [usize; 3] = [3, 4, 9];
/// The paths of notes that the user renamed: before, and after.
const USER_RENAMED: [(&str, &str); 3] = [
    ("Plans/Plan 05.md", "Plans/My plan.md"),
    ("Plans/Plan 09.md", "Done/Plan nine.md"),
    ("Letters/Letter 02.md", "Letters/Post.md"),
];
/// Here the user changed the very line.
const CONFLICTING_NOTE: usize = 6;

/// The user's edits on the first days: on the first one they write, on the second rename.
pub(super) fn edit_as_user(vault: &TempVault, number: usize) {
    let change = |path: &str, old: &str, new: &str| {
        vault.write(path, vault.read(path).replace(old, new));
    };
    if number == 0 {
        for n in USER_EDITED {
            change(&plan_path(n), "Begun.\n", "Begun.\n\nBy hand: it is done.\n");
        }
        change(&plan_path(CONFLICTING_NOTE), "Status: final", "Status: final, signed");
    }
    if number == 1 {
        for (from, to) in USER_RENAMED {
            let [from, to] = [from, to].map(|path| vault.root().join(path));
            std::fs::create_dir_all(to.parent().expect("a folder")).expect("made");
            std::fs::rename(from, to).expect("renamed");
        }
    }
}

/// The expected place and content of each of the sixty in the end: as before, with the user's own
/// edits. Text of the editor is omitted.
pub(super) fn expected_files(before: &Files) -> Files {
    let mut wanted = before.clone();
    for n in USER_EDITED {
        let text = wanted.get_mut(&plan_path(n)).expect("one of the sixty");
        text.extend(b"\nBy hand: it is done.\n");
    }
    let signed = String::from_utf8_lossy(&before[&plan_path(CONFLICTING_NOTE)]);
    let signed = signed.replace("Status: draft", "Status: final, signed");
    wanted.insert(plan_path(CONFLICTING_NOTE), signed.into_bytes());
    wanted.insert(TRASHED_NOTE.to_owned(), before[DELETED_NOTE].clone());
    for (from, to) in USER_RENAMED {
        let text = wanted.remove(from).expect("one of the sixty");
        wanted.insert(to.to_owned(), text);
    }
    wanted
}
