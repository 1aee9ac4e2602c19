//! Stories of one to six calls and of sixty, each towards a goal that a model reaches also when it
//! is cut on its way: what it has done it reads from the results, what failed it calls again.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::scripted_model::Reply;
use crate::stories::note_changes::NOTES;

/// The stories, by how many calls they make.
pub const MULTI_CALL_STORIES: [&str; 7] = ["t1", "t2", "t3", "t4", "t5", "t6", "t60"];

type MultiCall = (&'static str, Value);

/// The notes that a story begins with.
#[must_use]
pub fn initial_notes(story: &str) -> Vec<(String, String)> {
    if story == "t60" {
        return (0..60).map(|n| (numbered_note(n), format!("# Note {n}\n\nold words\n"))).collect();
    }
    NOTES.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
}

fn numbered_note(n: usize) -> String {
    format!("Many/Note {n:02}.md")
}

/// The calls of a story, answer by answer.
fn batches(story: &str) -> Vec<Vec<MultiCall>> {
    let read = |path: &str| ("read_file", json!({ "path": path }));
    let milk = || ("append_file", json!({ "path": "List.md", "content": "- milk" }));
    let new = || ("write_file", json!({ "path": "New/Delta.md", "content": "# Delta\n\nnew\n" }));
    let edit = |path: &str, old: &str, new: &str| {
        ("edit_file", json!({ "path": path, "old_text": old, "new_text": new }))
    };
    let beta = || edit("Beta.md", "other", "CHANGED");
    let gamma = || edit("Deep/Gamma.md", "- two", "- TWO");
    let says = ("send_message", json!({ "message": "I am at it." }));
    let asks = json!({ "message": "Which one?", "is_question": true, "options": ["a", "b"] });
    let asks = ("send_message", asks);
    let ends = ("end_conversation", json!({ "reason": "all is done" }));
    match story {
        "t1" => vec![vec![milk()]],
        "t2" => vec![vec![read("Alpha.md"), new()]],
        "t3" => vec![vec![read("Alpha.md"), read("Beta.md")], vec![beta()]],
        "t4" => vec![vec![milk(), new()], vec![beta(), gamma()]],
        "t5" => vec![vec![read("List.md"), says], vec![milk()], vec![gamma(), asks]],
        "t6" => vec![vec![read("Alpha.md"), milk(), new()], vec![beta(), gamma()], vec![ends]],
        _ => {
            let edits: Vec<MultiCall> =
                (0..60).map(|n| edit(&numbered_note(n), "old words", "new words")).collect();
            edits.chunks(15).map(<[MultiCall]>::to_vec).collect()
        }
    }
}

/// The model of all stories: makes the calls that the user's first message names and that have no
/// good result yet, answer by answer, and reports then that all is done.
#[must_use]
pub fn reply(request: &Value) -> Reply {
    let all = request["messages"].to_string();
    let story =
        MULTI_CALL_STORIES.iter().rev().find(|story| all.contains(&format!("play {story}\"")));
    let Some(story) = story else { return Reply::text("I am here.") };
    let done = completed_calls(request);
    let is_open = |call: &MultiCall| !done.contains(&(call.0.to_owned(), call.1.to_string()));
    for batch in batches(story) {
        let open: Vec<MultiCall> = batch.into_iter().filter(is_open).collect();
        if !open.is_empty() {
            return Reply::calls(open);
        }
    }
    Reply::text("All of it is done.")
}

/// The calls that have a result that is no error: tool and arguments.
fn completed_calls(request: &Value) -> Vec<(String, String)> {
    completed_calls_in(request["messages"].as_array().into_iter().flatten())
}

/// The same in some messages alone.
pub(crate) fn completed_calls_in<'a>(
    messages: impl Iterator<Item = &'a Value>,
) -> Vec<(String, String)> {
    let blocks = messages.flat_map(|message| message["content"].as_array().into_iter().flatten());
    let mut called: BTreeMap<&str, (String, String)> = BTreeMap::new();
    let mut done = Vec::new();
    for block in blocks {
        match block["type"].as_str() {
            Some("tool_use") => {
                let tool = block["name"].as_str().unwrap_or_default().to_owned();
                let id = block["id"].as_str().unwrap_or_default();
                called.insert(id, (tool, block["input"].to_string()));
            }
            Some("tool_result") if block["is_error"] != true => {
                let id = block["tool_use_id"].as_str().unwrap_or_default();
                done.extend(called.get(id).cloned());
            }
            _ => {}
        }
    }
    done
}
