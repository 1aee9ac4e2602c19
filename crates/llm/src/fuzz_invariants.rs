//! What holds of any bytes that a model or its server may send: held by the tests here over made-up
//! ones, and by the fuzzer (`./dev fuzz`) over those that it finds.
#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a property that does not hold is told by a panic"
)]

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::model::{ModelEvent, ToolSpec};
use crate::providers::{anthropic, ollama, openai};
use crate::text_tools;
use crate::tool_api::registry;
use crate::transport::decoder::{Decoder, read_all};

/// The answer of a server gives the same events however it is cut, on each wire, and none after the
/// one that ends it.
pub fn check_answer(bytes: &[u8]) {
    check_any_cut(anthropic::decoder, bytes);
    check_any_cut(openai::decoder, bytes);
    check_any_cut(ollama::decoder, bytes);
}

fn check_any_cut<D: Decoder>(decoder: impl Fn() -> D, bytes: &[u8]) {
    let whole = read_all(decoder(), [bytes]);
    let stop = whole.0.iter().position(|event| matches!(event, ModelEvent::Stopped { .. }));
    assert!(stop.is_none_or(|stop| stop + 1 == whole.0.len()), "it goes on after its end");
    assert_eq!(read_all(decoder(), bytes.chunks(1)), whole, "byte by byte");
    // The bytes themselves say where else to cut.
    let mut rest = bytes;
    let pieces = std::iter::from_fn(|| {
        let size = usize::from(*rest.first()? % 31) + 1;
        let (piece, after) = rest.split_at(size.min(rest.len()));
        rest = after;
        Some(piece)
    });
    assert_eq!(read_all(decoder(), pieces), whole, "in pieces");
}

/// A call that is found in words is a JSON object that stands there and fits its tool.
pub fn check_text(text: &str) {
    if let Some((tool, parameters)) = text_tools::find_call(text, tools()) {
        let stands = objects(text).any(|object| {
            let given = object.get("parameters").cloned().unwrap_or_else(|| json!({}));
            object.get("tool").and_then(Value::as_str) == Some(&tool) && given == parameters
        });
        assert!(stands, "nothing in the words is this call: {tool} {parameters}");
    }
}

/// Each object that a plain parser reads, from each brace.
fn objects(text: &str) -> impl Iterator<Item = Value> {
    text.match_indices('{').filter_map(|(at, _)| {
        let from = text.get(at..)?;
        serde_json::Deserializer::from_str(from).into_iter::<Value>().next()?.ok()
    })
}

fn tools() -> Vec<ToolSpec> {
    let path = json!({ "type": "object", "properties": { "path": { "type": "string" } },
        "required": ["path"] });
    let tool = |name: &str, input_schema| ToolSpec {
        name: name.into(),
        description: String::new(),
        input_schema,
    };
    vec![tool("read", path), tool("list", json!({ "type": "object" }))]
}

/// Arguments of a tool with one of each kind of field.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    #[expect(dead_code, reason = "only read from arguments")]
    path: String,
    #[expect(dead_code, reason = "only read from arguments")]
    line: Option<u32>,
    #[expect(dead_code, reason = "only read from arguments")]
    #[serde(default)]
    tags: Vec<String>,
    #[expect(dead_code, reason = "only read from arguments")]
    edit: Option<SampleEdit>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[expect(dead_code, reason = "only read from arguments")]
enum SampleEdit {
    Replace { find: String, replace: String },
    Delete { from: u32, to: u32 },
}

/// A lesson about arguments is no longer than this and four times what it is about.
const MAX_ERROR_BYTES: usize = 8 * 1024;

/// Arguments of a tool are taken, or refused in words that are not longer than they have to be.
pub fn check_arguments(bytes: &[u8]) {
    let Ok(value) = serde_json::from_slice::<Value>(bytes) else { return };
    let (spec, parsed) = registry::parse_as::<Input>("edit", value.clone());
    let fits = text_tools::fits_schema(&value, &spec.input_schema);
    for lesson in [parsed.err(), fits.err()].into_iter().flatten() {
        assert!(!lesson.trim().is_empty(), "a refusal says what is wrong");
        assert!(lesson.len() <= MAX_ERROR_BYTES + 4 * bytes.len(), "{} bytes", lesson.len());
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Parts of all three wires, whole and broken.
    const PARTS: [&str; 22] = [
        "data: ",
        "event: ping\n",
        "\n",
        "\n\n",
        "\r\n",
        r#"{"type":"message_start","message":{"usage":{"input_tokens":5}}}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"1","name":"read","input":{}}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"ö"}}"#,
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{}"}}"#,
        r#"{"type":"content_block_stop","index":1}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"}}"#,
        r#"{"type":"message_stop"}"#,
        r#"{"type":"error","error":{"type":"overloaded_error","message":"x"}}"#,
        r#"{"choices":[{"index":0,"delta":{"content":"x"}}]}"#,
        r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"1","function":{"name":"read","arguments":"{}"}}]}}]}"#,
        r#"{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}"#,
        "[DONE]",
        r#"{"message":{"content":"x"},"done":false}"#,
        r#"{"message":{"tool_calls":[{"function":{"name":"read","arguments":{}}}]}}"#,
        r#"{"done":true,"done_reason":"stop","prompt_eval_count":5}"#,
        "\u{feff}",
    ];

    fn answers() -> impl Strategy<Value = Vec<u8>> {
        let part = prop_oneof![
            4 => proptest::sample::select(&PARTS[..]).prop_map(|part| part.as_bytes().to_vec()),
            2 => proptest::sample::select(&PARTS[5..]).prop_map(|part| {
                format!("data: {part}\n\n").into_bytes()
            }),
            1 => prop::collection::vec(any::<u8>(), 0..6),
        ];
        prop::collection::vec(part, 0..24).prop_map(|parts| parts.concat())
    }

    fn json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            "\\PC{0,8}".prop_map(Value::from),
            Just(json!({ "tool": "list" })),
            Just(json!({ "tool": "read", "parameters": { "path": "a {b}" } })),
        ];
        leaf.prop_recursive(3, 16, 4, |inner| {
            let name = proptest::sample::select(
                &["path", "line", "tags", "edit", "kind", "find", "tool", "parameters", "x"][..],
            );
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec((name.prop_map(String::from), inner), 0..4)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn an_answer_reads_the_same_however_it_is_cut(bytes in answers()) {
            check_answer(&bytes);
        }

        #[test]
        fn a_call_that_is_found_stands_there(text in any::<String>(), object in json()) {
            check_text(&text);
            check_text(&format!("{text}{object}{text}"));
        }

        #[test]
        fn among_plain_words_the_scan_finds_what_a_parser_finds(
            values in prop::collection::vec(json(), 0..4), between in "[a-z .]{0,8}",
        ) {
            let calls = |value: &Value| {
                let tool = value.get("tool").and_then(Value::as_str)?;
                let parameters = value.get("parameters").cloned().unwrap_or_else(|| json!({}));
                let spec = tools().into_iter().find(|spec| spec.name == tool)?;
                let fits = text_tools::fits_schema(&parameters, &spec.input_schema).is_ok();
                (fits && parameters.is_object()).then_some((tool.to_owned(), parameters))
            };
            let text: String =
                values.iter().map(|value| format!("{between}{value}")).collect();
            let first = objects(&text).find(|value| {
                // What is meant as a call and is none ends the search.
                value.get("tool").is_some_and(Value::is_string)
            });
            if let Some(expected) = first.as_ref().and_then(calls) {
                prop_assert_eq!(text_tools::find_call(&text, tools()), Some(expected));
            }
        }

        #[test]
        fn any_arguments_are_taken_or_refused_in_words(value in json(), bytes in any::<Vec<u8>>()) {
            check_arguments(value.to_string().as_bytes());
            check_arguments(&bytes);
        }
    }
}
