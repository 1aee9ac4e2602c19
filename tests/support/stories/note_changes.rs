//! The stories of the crash tests: the notes before, the model's part, and the notes after.

use serde_json::{Value, json};

use crate::scripted_model::{Reply, last_message_text, tool_results};

/// The notes that every story begins with.
pub const NOTES: [(&str, &str); 4] = [
    ("Alpha.md", "# Alpha\n\nThe first line of alpha.\nThe second line of alpha.\n"),
    ("Beta.md", "# Beta\r\n\r\nA note with other line ends.\r\n"),
    ("Deep/Gamma.md", "---\ntags: [list]\n---\n- one\n- two\n"),
    ("List.md", "# List\n\n- bread\n"),
];

/// The notes that are edited, as they shall be.
pub const EDITED: [(&str, &str); 3] = [
    ("Alpha.md", "# Alpha\n\nThe first line of ALPHA.\nThe second line of alpha.\n"),
    ("Beta.md", "# Beta\r\n\r\nA note with CHANGED line ends.\r\n"),
    ("Deep/Gamma.md", "---\ntags: [list]\n---\n- one\n- TWO\n"),
];

/// Notes that a story makes, or adds to, as they shall be.
pub const ADDED: [(&str, &str); 2] =
    [("List.md", "# List\n\n- bread\n- milk\n"), ("New/Folder/Delta.md", "# Delta\n\nnew\n")];

/// Which notes a story changes.
#[must_use]
pub fn outcome(story: &str) -> Vec<(&'static str, &'static str)> {
    match story {
        "auto" => EDITED.iter().take(1).copied().collect(),
        "review" | "naive" => EDITED.to_vec(),
        "add" => ADDED.to_vec(),
        _ => Vec::new(),
    }
}

/// The model's part in every story: decided by the request alone, so that it continues after a
/// crash. After results, or to anything but a story's first message, it only answers with text.
#[must_use]
pub fn reply(request: &Value) -> Reply {
    let words = last_message_text(request);
    if !tool_results(request).is_empty() {
        return Reply::text("All of it is done.");
    }
    let edit = |path: &str, old: &str, new: &str| {
        ("edit_file", json!({"path": path, "old_text": old, "new_text": new}))
    };
    let alpha = edit("Alpha.md", "line of alpha.\nThe", "line of ALPHA.\nThe");
    match words.rsplit("play ").next().unwrap_or_default().trim() {
        "auto" => Reply::text_and_calls(
            "I look first.",
            vec![("read_file", json!({"path": "Alpha.md"})), alpha],
        ),
        "review" => Reply::calls(vec![
            alpha,
            edit("Beta.md", "other", "CHANGED"),
            edit("Deep/Gamma.md", "- two", "- TWO"),
        ]),
        "add" => Reply::calls(vec![
            ("append_file", json!({"path": "List.md", "content": "- milk"})),
            ("write_file", json!({"path": "New/Folder/Delta.md", "content": "# Delta\n\nnew\n"})),
        ]),
        "ask" => Reply::calls(vec![
            ("read_file", json!({"path": "Alpha.md"})),
            (
                "send_message",
                json!({"message": "Which one?", "is_question": true, "options": ["a", "b"]}),
            ),
        ]),
        _ => Reply::text("I am here."),
    }
}
