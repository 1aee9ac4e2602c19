//! Every sentence the turn and the registry tell a model. An error teaches: it says what was
//! wrong and what to do next.

use protocol::{CallId, CallResult, QuestionId};
use serde_json::Value;

use crate::model::ToolSpec;

pub(crate) const CANCELLED: &str = "Cancelled: the user stopped the turn before this call ran.";
pub(crate) const WAITING_FOR_USER: &str = "Not run: waiting for the user's answer.";
pub(crate) const SECOND_QUESTION: &str =
    "Not run: a question is already open. Ask one question at a time.";
pub(crate) const CONVERSATION_ENDED: &str = "Not run: the conversation has ended.";
pub(crate) const CUT_CALL: &str = "Not run: the answer reached its length limit inside or after \
     this call. Make smaller calls, one at a time.";
pub(crate) const TWICE_FAILED: &str = "Not run: the same call with the same arguments already \
     failed twice. Change the arguments or try another way.";
pub(crate) const DUPLICATE_ID: &str =
    "Not run: another call of this message has the same id. Give each call its own id.";
pub(crate) const REPEATED_CALL: &str = "Not run: this message has the same call with the same \
     arguments already. To do it twice, call again after its result.";
pub(crate) const TOO_MANY_CALLS: &str =
    "Not run: this turn has used all its calls. Say what is done and what is left.";
pub(crate) const TOOL_FAILED: &str =
    "The tool failed unexpectedly. Try another way, or tell the user what could not be done.";
pub(crate) const NO_RESULT: &str =
    "No result: this call was broken off. Check what is there before you try again.";
pub(crate) const CLOSE_NOW: &str = "The limit of this turn is reached and no more tools can be \
     called. In a few sentences, say what is done and what is left; the user can let you continue.";
pub(crate) const SAY_SOMETHING: &str =
    "Your last answer was empty. Answer the user, or call a tool.";
pub(crate) const TRUNCATED_RESULT: &str = "[Cut: there is no room for more. Ask for less at once.]";
pub(crate) const DROPPED_RESULT: &str =
    "[Left out to make room. Call again for what you still need of it.]";
pub(crate) const OMITTED_MESSAGES: &str =
    "(Earlier messages of this conversation are left out here.)";
/// Stands for a text that only a model could read.
pub(crate) const NOTHING_VISIBLE: &str = "(There is nothing here that a person could see.)";
pub(crate) const BEGINNING_MISSING: &str = "(The beginning of this conversation is missing.)";

pub(crate) fn refused(call: CallId, output: impl Into<String>) -> CallResult {
    CallResult {
        call,
        output: output.into(),
        is_error: true,
        speech: None,
        reactions: Vec::new(),
        seen: Vec::new(),
        sources: Vec::new(),
        whole: None,
    }
}

pub(crate) fn too_many_in_message(cap: u32) -> String {
    format!("Not run: at most {cap} calls per message. Repeat this one in your next message.")
}

pub(crate) fn broken_call(tool: &str, problem: &str) -> String {
    format!(
        "Not run: the arguments of `{tool}` are not a JSON object ({problem}). Send them again."
    )
}

pub(crate) fn delivered(question: &QuestionId) -> String {
    format!("Delivered as question {question}. The user's answer comes with the next message.")
}

pub(crate) fn no_such_tool(name: &str, known: &[&str]) -> String {
    let mut near: Vec<(f64, &str)> =
        known.iter().map(|known| (similarity(name, known), *known)).collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    let near: Vec<String> = near
        .iter()
        .filter(|(likeness, _)| *likeness > 0.6)
        .take(3)
        .map(|(_, known)| format!("`{known}`"))
        .collect();
    if near.is_empty() {
        format!("There is no tool `{name}`. The tools are: {}.", known.join(", "))
    } else {
        format!("There is no tool `{name}`. Did you mean {}?", near.join(" or "))
    }
}

/// By letters in order, and by pairs of letters wherever they stand: `make_folder` is more like
/// `create_folder` than like `move_file`.
fn similarity(name: &str, known: &str) -> f64 {
    f64::midpoint(strsim::jaro_winkler(name, known), strsim::sorensen_dice(name, known))
}

pub(crate) fn bad_arguments(spec: &ToolSpec, field: &str, problem: &str) -> String {
    let place = if field == "." { String::new() } else { format!(" at `{field}`") };
    let fields = fields(&spec.input_schema);
    format!("Wrong arguments for `{}`{place}: {problem}. It takes {fields}.", spec.name)
}

/// The fields of an object schema in one line: "`query` (string, required), `limit` (integer)".
/// Those that are required come first, in the order in which a person would give them.
fn fields(schema: &Value) -> String {
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .map(|names| names.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return "no arguments".to_owned();
    };
    let first = required.iter().filter_map(|name| {
        let schema = properties.get(*name)?;
        Some(format!("`{name}` ({}, required)", kind(schema)))
    });
    let others = properties.iter().filter(|(name, _)| !required.contains(&name.as_str()));
    let others = others.map(|(name, schema)| format!("`{name}` ({})", kind(schema)));
    first.chain(others).collect::<Vec<_>>().join(", ")
}

fn kind(schema: &Value) -> String {
    match schema.get("type") {
        Some(Value::String(kind)) => kind.clone(),
        Some(Value::Array(kinds)) => {
            kinds.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or ")
        }
        _ => "value".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_that_is_not_there_is_taken_for_the_one_with_the_most_of_its_name() {
        let known =
            ["read_file", "find_notes", "move_file", "create_folder", "list_files", "get_links"];
        for (name, meant) in [
            ("make_folder", "create_folder"),
            ("create_directory", "create_folder"),
            ("read_note", "read_file"),
            ("readFile", "read_file"),
            ("list_notes", "list_files"),
            ("get_backlinks", "get_links"),
        ] {
            let words = no_such_tool(name, &known);
            let first = format!("There is no tool `{name}`. Did you mean `{meant}`");
            assert!(words.starts_with(&first), "{words}");
        }
    }

    #[test]
    fn required_fields_come_first_in_their_own_order() {
        let schema = serde_json::json!({
            "properties": {
                "count": { "type": "integer" },
                "destination": { "type": "string" },
                "source": { "type": "string" },
            },
            "required": ["source", "destination"],
        });
        assert_eq!(
            fields(&schema),
            "`source` (string, required), `destination` (string, required), `count` (integer)"
        );
    }
}
