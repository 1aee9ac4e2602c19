//! What Ollama says of its models.

use protocol::ModelInfo;
use serde::Serialize;
use serde_json::Value;

use crate::provider::ToolSet;

/// A model with at most this many parameters loses its way among many tools.
const SMALL: f64 = 4e9;

/// Asks about one model.
#[derive(Debug, Serialize)]
pub(super) struct Show<'a> {
    pub(super) model: &'a str,
}

/// How many tokens the model reads, out of the answer to [`Show`].
pub(super) fn window(told: &Value) -> Option<u32> {
    let info = told.get("model_info")?.as_object()?;
    let length = info.iter().find(|(name, _)| name.ends_with(".context_length"))?;
    u32::try_from(length.1.as_u64()?).ok()
}

/// The models out of the list of tags. They cost nothing.
pub(super) fn models(tags: &Value) -> Vec<ModelInfo> {
    let names = tagged(tags).filter_map(|model| model.get("name")?.as_str());
    let model = |id: &str| ModelInfo {
        id: id.to_owned(),
        price: Some(protocol::model::Price::default()),
        ..ModelInfo::default()
    };
    names.map(model).collect()
}

/// Which tools the model is offered, by its size.
pub(super) fn tool_set(tags: &Value, model: &str) -> ToolSet {
    let latest = format!("{model}:latest");
    let is_it = |tagged: &&Value| {
        let name = tagged.get("name").and_then(Value::as_str);
        name == Some(model) || name == Some(&latest)
    };
    let size =
        tagged(tags).find(is_it).and_then(|tagged| tagged.pointer("/details/parameter_size"));
    match size.and_then(Value::as_str).and_then(parameters) {
        Some(parameters) if parameters <= SMALL => ToolSet::Small,
        _ => ToolSet::All,
    }
}

fn tagged(tags: &Value) -> impl Iterator<Item = &Value> {
    tags.get("models").and_then(Value::as_array).into_iter().flatten()
}

/// `3.2B`, `137M`, `8x7B`.
fn parameters(size: &str) -> Option<f64> {
    let size = size.trim();
    let (number, unit) = match size.split_at_checked(size.len().checked_sub(1)?)? {
        (number, "B" | "b") => (number, 1e9),
        (number, "M" | "m") => (number, 1e6),
        (number, "K" | "k") => (number, 1e3),
        _ => (size, 1.0),
    };
    number
        .split('x')
        .map(|part| part.parse::<f64>().ok())
        .product::<Option<f64>>()
        .map(|n| n * unit)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_model_is_small_by_its_parameters() {
        let tags = |size: &str| {
            json!({ "models": [{ "name": "other:70b", "details": { "parameter_size": "70B" } },
                { "name": "llama:latest", "details": { "parameter_size": size } }] })
        };
        for (size, expected) in [
            ("3.2B", ToolSet::Small),
            ("4B", ToolSet::Small),
            ("137M", ToolSet::Small),
            ("4.3B", ToolSet::All),
            ("8x7B", ToolSet::All),
            ("", ToolSet::All),
            ("many", ToolSet::All),
        ] {
            assert_eq!(tool_set(&tags(size), "llama"), expected, "{size}");
            assert_eq!(tool_set(&tags(size), "llama:latest"), expected, "{size}");
            assert_eq!(tool_set(&tags(size), "unknown"), ToolSet::All, "{size}");
        }
        assert_eq!(tool_set(&json!({}), "llama"), ToolSet::All);
    }

    #[test]
    fn the_list_and_the_window_are_read() {
        let tags = json!({ "models": [{ "name": "a:latest" }, { "odd": 1 }, { "name": "b" }] });
        let ids: Vec<_> = models(&tags).into_iter().map(|model| model.id).collect();
        assert_eq!(ids, ["a:latest", "b"]);
        let told = json!({ "model_info": { "general.size": 1, "llama.context_length": 131_072 } });
        assert_eq!(window(&told), Some(131_072));
        assert_eq!(window(&json!({})), None);
    }
}
