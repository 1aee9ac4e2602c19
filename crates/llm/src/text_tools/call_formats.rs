//! Calls as models write them when nobody recognised them as calls. Pure.
//!
//! Ours are `{"tool", "parameters"}`; models fall back to what they were trained with: `{"name",
//! "arguments"}` bare, in a code block, in `<tool_call>` (Hermes, Qwen), after `[TOOL_CALLS]` (Mistral)
//! or after `<|python_tag|>` (Llama 3).

use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use super::schema::validate;
use crate::model::ToolSpec;

/// The marks that models write around calls.
pub(super) const CALL_MARKS: [&str; 6] = [
    "<tool_call>",
    "</tool_call>",
    "<function_call>",
    "</function_call>",
    "[TOOL_CALLS]",
    "<|python_tag|>",
];

/// The names that the tool and its arguments go by.
const NAME_KEYS: [&str; 3] = ["tool", "name", "function"];
const ARGUMENT_KEYS: [&str; 3] = ["parameters", "arguments", "args"];

/// An object that is meant as a call.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct WrittenCall {
    pub(super) tool: String,
    pub(super) arguments: Result<Value, CallProblem>,
}

/// Why the arguments of a call cannot be taken.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CallProblem {
    /// In words for the model.
    pub(super) text: String,
    pub(super) given: GivenArguments,
}

/// The arguments of a call that cannot be taken.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum GivenArguments {
    /// They are JSON and do not fit.
    Read(Value),
    /// The text from the beginning of the call, which is no JSON.
    Unreadable(String),
}

impl CallProblem {
    fn read(given: &Value, text: impl Into<String>) -> Self {
        Self { text: text.into(), given: GivenArguments::Read(given.clone()) }
    }

    /// The problem of a text that begins as a call and cannot be read.
    pub(super) fn unreadable(call: &str, text: impl Into<String>) -> Self {
        Self { text: text.into(), given: GivenArguments::Unreadable(call.to_owned()) }
    }
}

/// Reads an object as a call; `None` when it is none, such as an object that has a name and is no
/// call of a tool on offer.
pub(super) fn parse_call(object: &Value, tools: &[ToolSpec]) -> Option<WrittenCall> {
    let fields = object.as_object()?;
    // As on the wire of OpenAI: `{"type": "function", "function": {"name", "arguments"}}`.
    if let Some(call @ Value::Object(_)) = fields.get("function") {
        return parse_call(call, tools);
    }
    let (key, tool) = NAME_KEYS.iter().find_map(|key| Some((*key, fields.get(*key)?.as_str()?)))?;
    let given = ARGUMENT_KEYS.iter().find_map(|key| fields.get(*key));
    let written = |arguments| Some(WrittenCall { tool: tool.to_owned(), arguments });
    let Some(spec) = tools.iter().find(|spec| spec.name == tool) else {
        // Of other objects the field `name` is common; ours has `tool` first.
        let is_meant = given.is_some() && (key == "tool" || given.is_some_and(Value::is_object));
        let problem =
            CallProblem::read(given.unwrap_or(object), format!("there is no tool `{tool}`"));
        return is_meant.then(|| written(Err(problem)))?;
    };
    if given.is_none() && key != "tool" {
        return None;
    }
    let arguments = match given {
        None => Value::Object(Map::new()),
        // Some encode them once more, as on the wire.
        Some(Value::String(text)) => match serde_json::from_str(text) {
            Ok(value) => value,
            Err(error) => {
                let problem = format!("`parameters` are no JSON: {error}");
                return written(Err(CallProblem::unreadable(text, problem)));
            }
        },
        Some(value) => value.clone(),
    };
    written(match validate(&arguments, &spec.input_schema) {
        Ok(()) if arguments.is_object() => Ok(arguments),
        Ok(()) => Err(CallProblem::read(&arguments, "`parameters` must be an object")),
        Err(problem) => Err(CallProblem::read(&arguments, problem)),
    })
}

/// Whether `text` begins an object that is meant as a call, whatever comes of it.
pub(super) fn starts_call(text: &str, tools: &[ToolSpec]) -> bool {
    let Some(inside) = text.strip_prefix('{').map(str::trim_start) else { return false };
    if inside.starts_with("\"tool\"") {
        return true;
    }
    let name = inside.strip_prefix("\"name\"").or_else(|| inside.strip_prefix("\"function\""));
    let name = name.and_then(|rest| rest.trim_start().strip_prefix(':')).map(str::trim_start);
    let name = name.and_then(|rest| rest.strip_prefix('"')?.split('"').next());
    name.is_some_and(|name| tools.iter().any(|tool| tool.name == name))
}

/// Whether `text`, which was cut off, begins an object that is meant as a call and does not name its tool yet.
pub(super) fn is_cut_in_name(text: &str, tools: &[ToolSpec]) -> bool {
    let inside = text.strip_prefix('{').and_then(|inside| inside.trim_start().strip_prefix('"'));
    let after_key = inside.and_then(|inside| {
        NAME_KEYS.iter().find_map(|key| inside.strip_prefix(*key)?.strip_prefix('"'))
    });
    let Some(rest) = after_key.map(str::trim_start) else { return false };
    let value = rest.strip_prefix(':').map_or(rest, str::trim_start);
    value.is_empty()
        || value
            .strip_prefix('"')
            .is_some_and(|name| tools.iter().any(|tool| tool.name.starts_with(name)))
}

/// The calls that a whole answer consists of; `None` when it has anything else in it. An answer
/// that begins as a call and cannot be read is one with a problem, and so is an object after a call that
/// is none: models write arguments alone, or are cut.
pub(super) fn parse_all(answer: &str, tools: &[ToolSpec]) -> Option<Vec<WrittenCall>> {
    let mut calls = Vec::new();
    let mut rest = strip_marks(answer);
    let is_marked = CALL_MARKS.iter().any(|mark| answer.trim_start().starts_with(mark));
    while !rest.is_empty() {
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        match values.next() {
            Some(Ok(Value::Array(values))) => {
                for value in &values {
                    calls.push(parse_next(value, &calls, tools)?);
                }
            }
            Some(Ok(value)) => calls.push(parse_next(&value, &calls, tools)?),
            Some(Err(error))
                if starts_call(first_of_list(rest), tools)
                    || (is_marked || !calls.is_empty()) && may_begin_call(first_of_list(rest)) =>
            {
                let problem = CallProblem::unreadable(rest, format!("it is no JSON: {error}"));
                calls.push(WrittenCall { tool: named_tool(rest, tools), arguments: Err(problem) });
                break;
            }
            Some(Err(_)) | None => return None,
        }
        rest = strip_marks(rest.get(values.byte_offset()..).unwrap_or_default());
    }
    (!calls.is_empty()).then_some(calls)
}

/// Reads an object after these calls: then it is meant as one too, and some write arguments alone.
fn parse_next(value: &Value, calls: &[WrittenCall], tools: &[ToolSpec]) -> Option<WrittenCall> {
    parse_call(value, tools).or_else(|| {
        let arguments = Err(CallProblem::read(value, "the object names no tool"));
        let is_meant = !calls.is_empty() && value.is_object();
        is_meant.then(|| WrittenCall { tool: String::new(), arguments })
    })
}

/// The text without the beginning of a list of calls.
fn first_of_list(text: &str) -> &str {
    text.strip_prefix('[').map_or(text, str::trim_start)
}

/// The calls of an answer that was cut off; `None` when it has anything else in it. It may also end within a list
/// of calls, or within the name of the first tool.
pub(super) fn parse_cut(answer: &str, tools: &[ToolSpec]) -> Option<Vec<WrittenCall>> {
    parse_all(answer, tools).or_else(|| {
        let rest = strip_marks(answer);
        let first = first_of_list(rest);
        let is_cut = serde_json::from_str::<IgnoredAny>(rest).is_err_and(|error| error.is_eof());
        let is_in_list = first.len() < rest.len() && starts_call(first, tools);
        let is_call = is_in_list || is_cut_in_name(first, tools);
        let arguments = Err(CallProblem::unreadable(first, "it does not end"));
        (is_cut && is_call).then(|| vec![WrittenCall { tool: named_tool(first, tools), arguments }])
    })
}

/// Whether text after a call is the beginning of another one, even where it is cut before it names its tool.
fn may_begin_call(text: &str) -> bool {
    text.starts_with('{') || CALL_MARKS.iter().any(|mark| mark.starts_with(text))
}

/// The tool that a text names which cannot be read; empty if it names none.
pub(super) fn named_tool(text: &str, tools: &[ToolSpec]) -> String {
    let named = tools.iter().find(|tool| text.contains(&format!("\"{}\"", tool.name)));
    named.map(|tool| tool.name.clone()).unwrap_or_default()
}

/// Whether an answer that begins with `text` may still consist of calls.
pub(super) fn may_be_calls(text: &str) -> bool {
    let rest = strip_marks(text);
    let list = rest.strip_prefix('[').map(str::trim_start);
    rest.is_empty()
        || rest.starts_with('{')
        || list.is_some_and(|list| list.is_empty() || list.starts_with('{'))
        || CALL_MARKS.iter().any(|mark| mark.starts_with(rest))
        || rest.bytes().all(|byte| byte == b'`') && rest.len() < 3
        || fence(rest).is_some_and(|(language, after)| after.is_none() && language.len() <= 16)
}

/// Without the marks, fences and spaces at the beginning.
fn strip_marks(text: &str) -> &str {
    let mut rest = text.trim_start();
    loop {
        let mark = CALL_MARKS.iter().find_map(|mark| rest.strip_prefix(mark));
        // Small models put one before a call; a call that a note holds is found out elsewhere.
        let mark = mark.or_else(|| rest.strip_prefix('>'));
        let fenced = || fence(rest).and_then(|(_, after)| after);
        let Some(after) = mark.or_else(fenced) else { return rest };
        rest = after.trim_start();
    }
}

/// The language behind the marks of a code block, and what follows them; `None` for the latter while
/// the language may go on.
fn fence(text: &str) -> Option<(&str, Option<&str>)> {
    let rest = text.strip_prefix("```")?;
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    Some(match end {
        Some(end) => (rest.get(..end)?, Some(rest.get(end..)?)),
        None if rest.is_empty() => ("", Some("")),
        None => (rest, None),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tools() -> Vec<ToolSpec> {
        let input_schema = json!({ "type": "object", "properties": { "path": { "type": "string" } },
            "required": ["path"], "additionalProperties": false });
        vec![ToolSpec { name: "read".into(), description: String::new(), input_schema }]
    }

    fn read_a() -> Vec<WrittenCall> {
        vec![WrittenCall { tool: "read".into(), arguments: Ok(json!({ "path": "a" })) }]
    }

    #[test]
    fn calls_are_read_as_models_write_them() {
        for text in [
            r#"{"name": "read", "arguments": {"path": "a"}}"#,
            r#"{"name": "read", "parameters": {"path": "a"}}"#,
            r#"{"name": "read", "arguments": "{\"path\": \"a\"}"}"#,
            r#"{"tool": "read", "parameters": {"path": "a"}, "reasoning": "so"}"#,
            r#"{"function": "read", "args": {"path": "a"}}"#,
            "```json\n{\"name\": \"read\", \"arguments\": {\"path\": \"a\"}}\n```",
            "```\n{\"name\": \"read\", \"arguments\": {\"path\": \"a\"}}\n```\n",
            "<tool_call>\n{\"name\": \"read\", \"arguments\": {\"path\": \"a\"}}\n</tool_call>",
            "[TOOL_CALLS][{\"name\": \"read\", \"arguments\": {\"path\": \"a\"}}]",
            "<|python_tag|>{\"name\": \"read\", \"parameters\": {\"path\": \"a\"}}",
            ">{\"name\": \"read\", \"parameters\": {\"path\": \"a\"}}",
            r#"{"type": "function", "function": {"name": "read", "arguments": {"path": "a"}}}"#,
        ] {
            assert_eq!(parse_all(text, &tools()), Some(read_a()), "{text}");
            let mut ends = (0..=text.len()).filter(|end| text.is_char_boundary(*end));
            assert!(ends.all(|end| may_be_calls(&text[..end])), "{text}");
        }
        let one = r#"<tool_call>{"name": "read", "arguments": {"path": "a"}}</tool_call>"#;
        let two = [read_a(), read_a()].concat();
        assert_eq!(parse_all(&format!("{one}\n{one}"), &tools()), Some(two));
    }

    #[test]
    fn an_answer_with_anything_else_in_it_is_no_call() {
        for text in [
            "",
            "Plain words.",
            r#"{"name": "Alice", "age": 3}"#,
            r#"{"name": "read"}"#,
            r#"The call {"name": "read", "arguments": {"path": "a"}} reads."#,
            r#"{"name": "read", "arguments": {"path": "a"}} That is how."#,
            "```python\nprint(1)\n```",
            "[[Note]] says so.",
            "> [!note] {\"name\": \"read\", \"arguments\": {\"path\": \"a\"}}",
            "{{date}}",
            "`{`",
        ] {
            assert_eq!(parse_all(text, &tools()), None, "{text}");
        }
        for text in ["Plain", "```python\nprint", "[[Note", "``` hello", "<b>", "[x]"] {
            assert!(!may_be_calls(text), "{text}");
        }
    }

    #[test]
    fn a_call_that_was_cut_off_is_known_for_one_and_text_is_not() {
        for text in [
            r#"{"name": "read", "arguments": {"pa"#,
            "```json\n{\"name\": \"read\", \"arguments\": {\"path\": \"a",
            r#"<tool_call>{"name": "read", "arguments": {"path": "a"}}"#,
            r#"[TOOL_CALLS][{"name": "read", "arguments": {"path": "a"}}, {"na"#,
        ] {
            let found = parse_cut(text, &tools()).unwrap_or_default();
            assert!(found.len() == 1 && found[0].tool == "read", "{text}: {found:?}");
        }
        for text in [
            "Plain words",
            r#"{"name": "Alice", "age"#,
            r#"{"name": "read", "arguments": {"path": "a"}} That is"#,
            r#"[{"name": "read", "arguments": {"path": "a"}}] That is"#,
            "[[Note]] sa",
        ] {
            assert_eq!(parse_cut(text, &tools()), None, "{text}");
        }
    }

    #[test]
    fn a_call_that_was_cut_off_before_it_names_its_tool_is_known_for_one() {
        for text in [
            r#"{"name": "re"#,
            r#"{ "name":"#,
            r#"{"name""#,
            r#"{"function": "rea"#,
            r#"<tool_call>{"name": "re"#,
            r#"[{"name": ""#,
            "```json\n{\n  \"name\": \"r",
        ] {
            let found = parse_cut(text, &tools()).unwrap_or_default();
            assert!(found.len() == 1 && found[0].arguments.is_err(), "{text}: {found:?}");
            // The control: no mark says that it is one, and a whole answer may be anything.
            if !text.starts_with('<') {
                assert_eq!(parse_all(text, &tools()), None, "{text}");
            }
        }
        for text in [
            r#"{"name": "Alice", "age""#,
            r#"{"name": "Ali"#,
            r#"{"name": 3"#,
            r#"{"title": "re"#,
            r#"{"na"#,
            r#"{"name": "re"}"#,
        ] {
            assert_eq!(parse_cut(text, &tools()), None, "{text}");
        }
    }

    #[test]
    fn calls_are_known_though_the_last_one_is_cut_before_it_names_its_tool() {
        let call = r#"{"name": "read", "arguments": {"path": "a"}}"#;
        for cut in ["{", r#"{"na"#, r#"{"name": "re"#, "<tool_ca", "<tool_call>{\"na"] {
            let text = format!("{call}\n{call}\n{cut}");
            for found in [parse_all(&text, &tools()), parse_cut(&text, &tools())] {
                let found = found.unwrap_or_default();
                assert_eq!(found[..2], [read_a(), read_a()].concat(), "{cut}");
                assert!(found.len() == 3 && found[2].arguments.is_err(), "{cut}: {found:?}");
            }
            // The control: without a call or a mark before it, it is text.
            if !cut.contains(">{") {
                assert_eq!(parse_all(cut, &tools()), None, "{cut}");
            }
        }
        assert_eq!(
            parse_all(&format!("{call}\n{{{{date}}}}"), &tools()).map(|all| all.len()),
            Some(2)
        );
    }

    #[test]
    fn a_list_or_a_mark_that_begins_calls_is_told_with_its_problem() {
        for text in [
            r#"[TOOL_CALLS][{"name": "read", "arguments": {"path": 'a'}}]"#,
            r#"[{"name": "read", "arguments": {"path": "a"}}"#,
            r#"<tool_call>{"arguments": {"path": a}, "name": "read"}</tool_call>"#,
            r#"[{"name": "read", "arguments": {"path": "a"}}, {"path": "b"}]"#,
        ] {
            let found = parse_all(text, &tools()).unwrap_or_default();
            assert!(found.last().is_some_and(|call| call.arguments.is_err()), "{text}: {found:?}");
        }
        // The controls: lists and marks of an answer in words.
        for text in ["[{\"a\": 1}, {\"b\": 'c'}]", "<tool_call> is a tag", "[TOOL_CALLS] is, too"] {
            assert_eq!(parse_all(text, &tools()), None, "{text}");
        }
    }

    #[test]
    fn an_object_after_a_call_that_names_no_tool_is_told_with_its_problem() {
        let call = r#"{"name": "read", "arguments": {"path": "a"}}"#;
        let found =
            parse_all(&format!("{call}\n{{\"path\": \"a\"}}"), &tools()).unwrap_or_default();
        assert_eq!(found.first(), read_a().first());
        assert!(found.len() == 2 && found[1].arguments.is_err(), "{found:?}");
        // The controls: in front of a call, and alone, it is an answer.
        for text in [format!("{{\"path\": \"a\"}}\n{call}"), "{\"path\": \"a\"}".to_owned()] {
            assert_eq!(parse_all(&text, &tools()), None, "{text}");
        }
    }

    #[test]
    fn what_was_meant_as_a_call_is_told_with_its_problem() {
        for (text, problem) in [
            (r#"{"name": "read", "arguments": {}}"#, "`parameters.path` is missing"),
            (r#"{"name": "raed", "arguments": {"path": "a"}}"#, "there is no tool `raed`"),
            (r#"{"name": "read", "arguments": {"path": 'a'}}"#, "it is no JSON"),
            (r#"{"name": "read", "arguments": {"path": "a""#, "it is no JSON"),
            (r#"{"name": "read", "arguments": "path"}"#, "`parameters` are no JSON"),
        ] {
            let found = parse_all(text, &tools()).unwrap_or_default();
            let [WrittenCall { arguments: Err(said), .. }] = &found[..] else {
                panic!("{text}: {found:?}")
            };
            assert!(said.text.starts_with(problem), "{text}: {said:?}");
        }
    }
}
