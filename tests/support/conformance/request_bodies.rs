//! The request bodies that tests produce, kept for the check against the providers' own types.
#![allow(clippy::disallowed_methods, reason = "what is written is the tests' own, and no note")]
#![allow(unreachable_pub, reason = "the tests of a crate below the testkit include this file")]

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::Path;

use serde_json::Value;

/// Names the folder that gets the bodies; where it is not set, nothing is kept.
const FOLDER_VARIABLE: &str = "VAULTMATE_KEEP_BODIES";

/// Endpoints by how their paths end, and their wire format.
const PROVIDER_ENDPOINTS: [(&str, &str); 3] =
    [("/messages", "anthropic"), ("/chat/completions", "openai"), ("/api/chat", "ollama")];

/// A longer text is nobody's fixed word.
const MAX_KEYWORD_LENGTH: usize = 24;

/// Keeps the body of a request that came to `path`, unless one of the same shape is kept already.
pub fn record(path: &str, body: &str) {
    let Some(folder) = std::env::var_os(FOLDER_VARIABLE) else { return };
    let endpoint = PROVIDER_ENDPOINTS.iter().find(|(end, _)| path.ends_with(end));
    let (Some((_, wire)), Ok(value)) = (endpoint, serde_json::from_str(body)) else { return };
    let mut shape = DefaultHasher::new();
    schema_of(&value).to_string().hash(&mut shape);
    let file = Path::new(&folder).join(format!("{wire}-{:016x}.json", shape.finish()));
    if !file.exists() {
        std::fs::write(file, body).expect("the folder takes a body");
    }
}

/// The parts of a body that the types describe: names, kinds of values and fixed words, of equal
/// items one.
fn schema_of(value: &Value) -> Value {
    let is_word = |text: &str| {
        text.len() <= MAX_KEYWORD_LENGTH
            && text.bytes().all(|c| c.is_ascii_lowercase() || c == b'_')
    };
    match value {
        Value::String(text) if is_word(text) => value.clone(),
        Value::String(_) => "…".into(),
        Value::Number(_) => 0.into(),
        Value::Array(items) => {
            let mut shapes: Vec<Value> = items.iter().map(schema_of).collect();
            shapes.sort_by_key(Value::to_string);
            shapes.dedup();
            shapes.into()
        }
        Value::Object(fields) => {
            let shape = |(name, part): (&String, &Value)| (name.clone(), schema_of(part));
            Value::Object(fields.iter().map(shape).collect())
        }
        Value::Null | Value::Bool(_) => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn bodies_of_other_names_kinds_or_words_have_other_shapes() {
        let shape = |role: &str, text: &str| {
            schema_of(&json!([{ "role": role, "text": text }, { "role": role, "text": text }]))
        };
        assert_eq!(shape("user", "One thing."), shape("user", "Another thing."));
        assert_ne!(shape("user", "One thing."), shape("assistant", "One thing."));
        assert_ne!(schema_of(&json!({ "a": 1 })), schema_of(&json!({ "b": 1 })));
        assert_ne!(schema_of(&json!({ "a": 1 })), schema_of(&json!({ "a": "1" })));
    }
}
