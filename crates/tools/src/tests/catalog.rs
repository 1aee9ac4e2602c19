//! The whole catalog as a model is told it: every change of a prompt shows in review.

use std::fmt::Write as _;
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::StreamExt as _;
use llm::tool_api::tool::ToolOffer;
use llm::{
    Capabilities, ModelError, ModelEvent, ModelRequest, ModelStream, Provider, StopReason,
    TextToolProvider, ToolEffect, ToolSpec, ToollessModels,
};
use protocol::TokenUsage;
use serde_json::{Map, Value, json};

use super::fixture::ToolFixture;
use crate::catalog::{MINIMAL_TOOLS, SMALL_MODEL_TOOLS, is_repeatable};
use crate::text::numbered_page::{MAX_BYTES, MAX_LINES};

#[test]
fn the_catalog_tells_a_model_exactly_this() {
    let tools = ToolFixture::with(&[]).tools;
    let names: Vec<String> = tools.names().into_iter().map(str::to_owned).collect();
    let mut told = String::new();
    for spec in tools.specs(&names) {
        let schema = serde_json::to_string_pretty(&spec.input_schema).unwrap();
        writeln!(told, "## {}\n{}\n{schema}\n", spec.name, spec.description).unwrap();
    }
    insta::assert_snapshot!("catalog", told);
}

#[test]
fn only_tools_that_read_may_be_called_again() {
    let tools = ToolFixture::with(&[]).tools;
    for name in tools.names() {
        let reads = tools.effect(name) == Some(ToolEffect::Read);
        assert_eq!(is_repeatable(name), reads, "{name}");
    }
    assert!(!is_repeatable("a_tool_of_before"));
}

/// A model without tools that says one text.
struct TextModel(String);

#[async_trait]
impl Provider for TextModel {
    async fn stream(&self, _: ModelRequest) -> Result<ModelStream, ModelError> {
        let stop =
            ModelEvent::Stopped { reason: StopReason::EndTurn, usage: TokenUsage::default() };
        let events = [Ok(ModelEvent::Text(self.0.clone())), Ok(stop)];
        Ok(Box::pin(futures_util::stream::iter(events)))
    }

    async fn capabilities(&self, _: &str) -> Capabilities {
        Capabilities { tools: Some(false), ..Capabilities::default() }
    }
}

/// Whether a call that is written as JSON is taken for one.
async fn is_taken_for_a_call(spec: &ToolSpec, arguments: &Value) -> bool {
    let text = json!({ "tool": spec.name, "parameters": arguments }).to_string();
    let url = "http://127.0.0.1:9".to_owned();
    let provider = TextToolProvider::new(Arc::new(TextModel(text)), url, ToollessModels::default());
    provider.capabilities("m").await;
    let request =
        ModelRequest { model: "m".into(), tools: vec![spec.clone()], ..ModelRequest::default() };
    let events = provider.stream(request).await.unwrap().collect::<Vec<_>>().await;
    events.iter().any(|event| matches!(event, Ok(ModelEvent::Call(_))))
}

/// The least that a call must give, by the schema.
fn required_arguments(spec: &ToolSpec) -> Value {
    let required = spec.input_schema["required"].as_array().cloned().unwrap_or_default();
    let given = required.iter().filter_map(Value::as_str).map(|name| {
        let schema = &spec.input_schema["properties"][name];
        let value = match (schema["enum"].get(0), schema["type"].as_str()) {
            (Some(first), _) => first.clone(),
            (None, Some("integer")) => json!(1),
            (None, Some("boolean")) => json!(true),
            (None, Some("array")) => json!([]),
            (None, _) => json!("Plan"),
        };
        (name.to_owned(), value)
    });
    Value::Object(given.collect::<Map<_, _>>())
}

#[tokio::test]
async fn a_call_with_only_what_is_required_is_taken() {
    let mut bench = ToolFixture::with(&[]);
    let names: Vec<String> = bench.tools.names().into_iter().map(str::to_owned).collect();
    let specs = [bench.tools.specs(&names), bench.tools.brief_specs(&names)].concat();
    for spec in specs {
        let arguments = required_arguments(&spec);
        assert!(is_taken_for_a_call(&spec, &arguments).await, "{}: {arguments}", spec.name);
        let told = bench.call(&spec.name, arguments.clone()).await.text;
        assert!(!told.contains("Wrong arguments"), "{}: {arguments}: {told}", spec.name);
    }
    // The control: a field that is required and missing is noticed by both.
    let find = &bench.tools.specs(&["read_file".to_owned()])[0];
    assert!(!is_taken_for_a_call(find, &json!({})).await);
    let told = bench.call("read_file", json!({})).await.text;
    assert!(told.contains("Wrong arguments"), "{told}");
}

/// Calls with a mistake whose failure may send the model to another tool.
fn mistaken_calls() -> Vec<(&'static str, Value)> {
    let edit = |field: &str| {
        let mut call = json!({ "path": "Plan", "old_text": "plan", "new_text": "x" });
        call[field] = json!("1");
        ("edit_file", call)
    };
    vec![
        ("read_file", json!({ "path": "Nothing like it" })),
        ("read_file", json!({ "path": "Garden" })),
        ("read_file", json!({ "path": "Gardn/" })),
        ("read_file", json!({ "path": "Plan", "start_line": 0 })),
        ("read_file", json!({ "path": "Plan", "start_line": 9 })),
        ("find_notes", json!({ "query": "xylophone" })),
        ("find_notes", json!({ "query": "x", "folder": "Xylophones" })),
        ("find_notes", json!({ "query": "x", "folder": "Gardn" })),
        ("list_files", json!({ "path": "Xylophones" })),
        ("list_files", json!({ "pattern": "*.xyl" })),
        ("append_file", json!({ "path": "New", "content": "x", "heading": "Beds" })),
        ("append_file", json!({ "path": "Garden", "content": "x", "heading": "Beds" })),
        ("append_file", json!({ "path": "Plan", "content": "x", "heading": "Beds" })),
        ("append_file", json!({ "path": "today", "content": "x" })),
        ("write_file", json!({ "path": "Plan.md", "content": "x" })),
        ("write_file", json!({ "path": "Plan.md", "content": "x", "overwrite": true })),
        ("write_file", json!({ "path": "Garden", "content": "x" })),
        ("edit_file", json!({ "path": "Plan", "old_text": "", "new_text": "x" })),
        ("edit_file", json!({ "path": "Plan", "old_text": "gone", "new_text": "x" })),
        edit("heading"),
        edit("property"),
        edit("line"),
        ("send_message", json!({ "message": "" })),
    ]
}

/// The tools that the results of the mistaken calls name.
async fn named_tools(offered: &[&str], offer: ToolOffer) -> Vec<String> {
    let notes: [(&str, &[u8]); 2] = [("Plan.md", b"# Plan\nplan\n"), ("Garden/Bed.md", b"bed\n")];
    let mut bench = ToolFixture::with(&notes);
    bench.offered = offer;
    let all: Vec<String> = bench.tools.names().into_iter().map(str::to_owned).collect();
    let mut named = Vec::new();
    for (tool, arguments) in mistaken_calls() {
        if offered.contains(&tool) {
            let told = bench.call(tool, arguments).await.text;
            named.extend(all.iter().filter(|name| told.contains(name.as_str())).cloned());
        }
    }
    named
}

#[tokio::test]
async fn failures_name_only_tools_that_are_offered() {
    for offered in [&SMALL_MODEL_TOOLS[..], &MINIMAL_TOOLS[..]] {
        let names: Vec<String> = offered.iter().map(|name| (*name).to_owned()).collect();
        for named in named_tools(offered, ToolOffer::only(&names)).await {
            assert!(offered.contains(&named.as_str()), "{named} is not offered");
        }
        // The control: where all are offered, others are named.
        let named = named_tools(offered, ToolOffer::default()).await;
        assert!(named.iter().any(|name| !offered.contains(&name.as_str())), "{named:?}");
    }
}

/// Whether a schema holds details of Rust: widths of numbers, and `null` for optional fields.
fn is_plain(schema: &Value) -> bool {
    let text = schema.to_string();
    !text.contains("\"format\"") && !text.contains("null") && !text.contains("65535")
}

#[test]
fn schemas_have_real_limits_and_optional_parameters_may_be_omitted() {
    let tools = ToolFixture::with(&[]).tools;
    let names: Vec<String> = tools.names().into_iter().map(str::to_owned).collect();
    for spec in tools.specs(&names) {
        assert!(is_plain(&spec.input_schema), "{}: {}", spec.name, spec.input_schema);
    }
    let specs = tools.specs(&["find_notes".to_owned(), "edit_file".to_owned()]);
    let find = &specs[0].input_schema;
    assert_eq!(find["properties"]["limit"]["maximum"], 50);
    assert_eq!(find.get("required"), None, "filters are enough");
    assert_eq!(specs[1].input_schema["required"], json!(["path", "old_text", "new_text"]));
    // The short descriptions have them too.
    for specs in [
        tools.specs(&["read_file".to_owned(), "send_message".to_owned()]),
        tools.brief_specs(&["read_file".to_owned(), "send_message".to_owned()]),
    ] {
        let limit = |at: usize, path: &str| specs[at].input_schema.pointer(path).cloned();
        assert_eq!(limit(0, "/properties/start_line/minimum"), Some(json!(1)));
        assert_eq!(limit(0, "/properties/end_line/minimum"), Some(json!(1)));
        assert_eq!(limit(1, "/properties/options/maxItems"), Some(json!(8)));
    }
    let former = json!({ "type": ["string", "null"], "format": "uint16" });
    assert!(!is_plain(&former));
}

fn has_line_break(spec: &ToolSpec) -> bool {
    spec.description.contains('\n') || spec.input_schema.to_string().contains("\\n")
}

#[test]
fn no_description_has_a_line_break() {
    let tools = ToolFixture::with(&[]).tools;
    let names: Vec<String> = tools.names().into_iter().map(str::to_owned).collect();
    for spec in [tools.specs(&names), tools.brief_specs(&names)].concat() {
        assert!(!has_line_break(&spec), "{}: {}", spec.description, spec.input_schema);
    }
    let mut former = tools.specs(&["edit_section".to_owned()]).remove(0);
    former.input_schema["properties"]["action"]["description"] = json!("Under the\nheading.");
    assert!(has_line_break(&former));
}

/// Numbers that are places in a text, or parts of one: what is beyond the end is refused by name.
const PLACES: [&str; 4] = ["end_line", "line_offset", "part", "start_line"];

/// The number parameters that have no maximum.
fn unbounded_numbers(schema: &Value) -> Vec<&str> {
    let parameters = schema["properties"].as_object().into_iter().flatten();
    let is_unbounded = |schema: &Value| schema["type"] == "integer" && schema["maximum"].is_null();
    parameters.filter(|(_, schema)| is_unbounded(schema)).map(|(name, _)| name.as_str()).collect()
}

#[test]
fn numbers_have_their_maximum_in_the_schema_and_texts_name_the_limits_in_force() {
    let tools = ToolFixture::with(&[]).tools;
    let names: Vec<String> = tools.names().into_iter().map(str::to_owned).collect();
    for spec in tools.specs(&names) {
        for name in unbounded_numbers(&spec.input_schema) {
            assert!(PLACES.contains(&name), "{}: {name} has no maximum", spec.name);
        }
    }
    let former = json!({ "properties": { "limit": { "type": "integer", "minimum": 1 } } });
    assert_eq!(unbounded_numbers(&former), ["limit"]);
    let read = &tools.specs(&["read_file".to_owned()])[0];
    let (thousands, rest, kilobytes) = (MAX_LINES / 1_000, MAX_LINES % 1_000, MAX_BYTES / 1_000);
    let limits = format!("at most {thousands},{rest:03} lines or {kilobytes} kB at a time");
    assert!(read.description.contains(&limits), "{limits}: {}", read.description);
}
