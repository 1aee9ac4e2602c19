//! The JSON that Chat Completions and Ollama's `/api/chat` have in common: tools and their results.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::Value;

use crate::model::ToolSpec;

/// An offered tool; its input is described as JSON Schema.
#[derive(Debug, Serialize)]
#[serde(tag = "type", content = "function", rename_all = "snake_case")]
pub(super) enum FunctionTool<'a> {
    Function { name: &'a str, description: &'a str, parameters: &'a Value },
}

impl<'a> From<&'a ToolSpec> for FunctionTool<'a> {
    fn from(spec: &'a ToolSpec) -> Self {
        let ToolSpec { name, description, input_schema: parameters } = spec;
        Self::Function { name, description, parameters }
    }
}

/// The text of a result. Neither format has a mark for a failure.
pub(super) fn result_text(output: &str, is_error: bool) -> Cow<'_, str> {
    if is_error { Cow::Owned(format!("Error: {output}")) } else { Cow::Borrowed(output) }
}
