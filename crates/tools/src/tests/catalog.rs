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
