//! The whole catalog as a model is told it: every change of a prompt shows in review.

use std::fmt::Write as _;

use super::fixture::ToolFixture;

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

/// Whether a schema holds details of Rust: widths of numbers, and `null` for optional fields.
fn is_plain(schema: &serde_json::Value) -> bool {
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
    assert_eq!(
        specs[1].input_schema["required"],
        serde_json::json!(["path", "old_text", "new_text"])
    );
    // The short descriptions have them too.
    for specs in [
        tools.specs(&["read_file".to_owned(), "send_message".to_owned()]),
        tools.brief_specs(&["read_file".to_owned(), "send_message".to_owned()]),
    ] {
        let limit = |at: usize, path: &str| specs[at].input_schema.pointer(path).cloned();
        assert_eq!(limit(0, "/properties/start_line/minimum"), Some(serde_json::json!(1)));
        assert_eq!(limit(0, "/properties/end_line/minimum"), Some(serde_json::json!(1)));
        assert_eq!(limit(1, "/properties/options/maxItems"), Some(serde_json::json!(8)));
    }
    let former = serde_json::json!({ "type": ["string", "null"], "format": "uint16" });
    assert!(!is_plain(&former));
}
