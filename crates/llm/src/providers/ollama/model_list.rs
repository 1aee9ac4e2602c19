//! Reads Ollama's descriptions of its models.

use protocol::ModelInfo;
use serde::Serialize;
use serde_json::Value;

use crate::provider::Capabilities;
use crate::providers::chat_template;

/// Asks about one model.
#[derive(Debug, Serialize)]
pub(crate) struct ShowRequest<'a> {
    pub(crate) model: &'a str,
}

/// How many tokens the model reads, out of the answer to [`ShowRequest`].
pub(crate) fn window(told: &Value) -> Option<u32> {
    let info = told.get("model_info")?.as_object()?;
    let length = info.iter().find(|(name, _)| name.ends_with(".context_length"))?;
    u32::try_from(length.1.as_u64()?).ok()
}

/// The models out of the list of tags. They cost nothing.
pub(super) fn models(tags: &Value) -> Vec<ModelInfo> {
    let names = entries(tags).filter_map(|model| model.get("name")?.as_str());
    let model = |id: &str| ModelInfo {
        id: id.to_owned(),
        price: Some(protocol::chat::model::Price::default()),
        ..ModelInfo::default()
    };
    names.map(model).collect()
}

/// The capabilities in the answer to [`ShowRequest`], for a model that runs with a window of at
/// most `usual` tokens unless its own file sets another.
pub(crate) fn capabilities(told: &Value, usual: u32) -> Capabilities {
    let listed = told.get("capabilities").and_then(Value::as_array);
    let most = window(told);
    let set = told.get("parameters").and_then(Value::as_str).and_then(num_ctx);
    let most = most.map(|most| set.unwrap_or(usual).min(most)).or(set);
    let count = told.pointer("/model_info/general.parameter_count").and_then(Value::as_u64);
    // Older servers list no capabilities.
    let template = told.get("template").and_then(Value::as_str).filter(|text| !text.is_empty());
    let tools = listed.map(|listed| listed.iter().any(|capability| capability == "tools"));
    Capabilities {
        window: most.filter(|tokens| *tokens > 0),
        tools: tools.or_else(|| template.map(chat_template::takes_tools)),
        parameters: count.or_else(|| size(told)),
        runs_elsewhere: runs_elsewhere(told),
    }
}

/// The window that the model's own file sets, out of the answer to [`ShowRequest`]: no more than the
/// model reads.
pub(crate) fn set_window(told: &Value) -> Option<u32> {
    let set = told.get("parameters").and_then(Value::as_str).and_then(num_ctx)?;
    let most = window(told).unwrap_or(set);
    Some(set.min(most)).filter(|tokens| *tokens > 0)
}

/// The window that a model runs with, out of the list of those that are loaded.
pub(crate) fn loaded_window(loaded: &Value, model: &str) -> Option<u32> {
    let tokens = entry(loaded, model)?.get("context_length")?.as_u64()?;
    u32::try_from(tokens).ok().filter(|tokens| *tokens > 0)
}

/// Whether the model runs on a server elsewhere, whatever it is called here: an entry of the list of
/// tags or the answer to [`ShowRequest`] has the name of that server or of the model there.
pub(crate) fn runs_elsewhere(told: &Value) -> bool {
    let names =
        |field| told.get(field).and_then(Value::as_str).is_some_and(|name| !name.is_empty());
    names("remote_host") || names("remote_model")
}

/// The entry of a model in the list of tags, or of the models that are loaded.
pub(crate) fn entry<'a>(tags: &'a Value, model: &str) -> Option<&'a Value> {
    let latest = format!("{model}:latest");
    entries(tags).find(|tagged| {
        let name = tagged.get("name").and_then(Value::as_str);
        name == Some(model) || name == Some(&latest)
    })
}

/// The window that the model's own file sets: `num_ctx 8192`, one parameter a line.
fn num_ctx(parameters: &str) -> Option<u32> {
    let mut lines = parameters.lines().map(str::split_ascii_whitespace);
    lines.find_map(|mut words| (words.next()? == "num_ctx").then(|| words.next()?.parse().ok())?)
}

/// How many parameters the model has, out of the list of tags.
pub(super) fn parameter_count(tags: &Value, model: &str) -> Option<u64> {
    entry(tags, model).and_then(size)
}

fn size(model: &Value) -> Option<u64> {
    parse_parameter_count(model.pointer("/details/parameter_size")?.as_str()?)
}

fn entries(tags: &Value) -> impl Iterator<Item = &Value> {
    tags.get("models").and_then(Value::as_array).into_iter().flatten()
}

/// `3.2B`, `137M`, `8x7B`.
fn parse_parameter_count(size: &str) -> Option<u64> {
    let size = size.trim();
    let (number, unit) = match size.split_at_checked(size.len().checked_sub(1)?)? {
        (number, "B" | "b") => (number, 1e9),
        (number, "M" | "m") => (number, 1e6),
        (number, "K" | "k") => (number, 1e3),
        _ => (size, 1.0),
    };
    let parts = number.split('x').map(|part| part.parse::<f64>().ok());
    let count = parts.product::<Option<f64>>()? * unit;
    // Checked just before: it is whole and in range.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "see above")]
    (1.0..=1e18).contains(&count).then_some(count.round() as u64)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_parameters_are_counted_by_the_size_that_is_listed() {
        let tags = |size: &str| {
            json!({ "models": [{ "name": "other:70b", "details": { "parameter_size": "70B" } },
                { "name": "llama:latest", "details": { "parameter_size": size } }] })
        };
        for (size, expected) in [
            ("3.2B", Some(3_200_000_000)),
            ("137M", Some(137_000_000)),
            ("8x7B", Some(56_000_000_000)),
            ("", None),
            ("many", None),
            ("-1B", None),
        ] {
            assert_eq!(parameter_count(&tags(size), "llama"), expected, "{size}");
            assert_eq!(parameter_count(&tags(size), "llama:latest"), expected, "{size}");
            assert_eq!(parameter_count(&tags(size), "unknown"), None, "{size}");
        }
        assert_eq!(parameter_count(&json!({}), "llama"), None);
    }

    #[test]
    fn what_a_model_can_do_is_what_the_server_shows() {
        let info = json!({ "llama.context_length": 131_072, "general.parameter_count": 8_030_261_312_u64 });
        let shown = json!({ "capabilities": ["completion", "tools"], "model_info": info });
        let all = capabilities(&shown, 32_768);
        let expected = Capabilities {
            window: Some(32_768),
            tools: Some(true),
            parameters: Some(8_030_261_312),
            runs_elsewhere: false,
        };
        assert_eq!(all, expected);
        let set = json!({ "capabilities": ["completion"], "model_info": info,
            "parameters": "stop  \"<|eot|>\"\nnum_ctx                        8192" });
        let set = capabilities(&set, 32_768);
        assert_eq!((set.window, set.tools), (Some(8_192), Some(false)));
        let short = json!({ "model_info": { "llama.context_length": 2_048 },
            "details": { "parameter_size": "1.1B" } });
        let expected = Capabilities {
            window: Some(2_048),
            parameters: Some(1_100_000_000),
            ..Capabilities::default()
        };
        assert_eq!(capabilities(&short, 32_768), expected);
        assert_eq!(capabilities(&json!({}), 32_768), Capabilities::default());
    }

    #[test]
    fn the_template_says_whether_a_model_takes_tools_where_the_server_does_not() {
        let with_tools = "{{ if .Tools }}{{ range .Tools }}{{ . }}{{ end }}{{ end }}{{ .Prompt }}";
        let without = "{{ if .System }}{{ .System }}{{ end }}{{ .Prompt }}";
        for (shown, expected) in [
            (json!({ "template": with_tools }), Some(true)),
            (json!({ "template": without }), Some(false)),
            (json!({ "template": "" }), None),
            // The server knows better than its template.
            (json!({ "template": with_tools, "capabilities": ["completion"] }), Some(false)),
            (json!({ "template": without, "capabilities": ["completion", "tools"] }), Some(true)),
        ] {
            assert_eq!(capabilities(&shown, 32_768).tools, expected, "{shown}");
        }
    }

    #[test]
    fn the_window_of_a_loaded_model_is_its_own() {
        let loaded = |window: Value| {
            json!({ "models": [{ "name": "other:latest", "context_length": 9 },
                { "name": "llama:latest", "model": "llama:latest", "context_length": window }] })
        };
        for name in ["llama", "llama:latest"] {
            assert_eq!(loaded_window(&loaded(json!(4_096)), name), Some(4_096), "{name}");
        }
        for none in [json!(0), json!("many"), json!(null)] {
            assert_eq!(loaded_window(&loaded(none.clone()), "llama"), None, "{none}");
        }
        assert_eq!(loaded_window(&loaded(json!(4_096)), "unknown"), None);
    }

    #[test]
    fn a_model_of_another_server_is_known_by_what_the_server_says_and_not_by_its_name() {
        for (told, expected) in [
            (json!({ "remote_host": "https://ollama.com:443", "remote_model": "big" }), true),
            (json!({ "remote_model": "big" }), true),
            (json!({ "remote_host": "", "remote_model": "" }), false),
            (json!({ "details": { "family": "llama" } }), false),
        ] {
            assert_eq!(capabilities(&told, 32_768).runs_elsewhere, expected, "{told}");
        }
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
