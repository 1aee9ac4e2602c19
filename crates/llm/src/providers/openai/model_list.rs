//! Reads a server's list of models, in the dialects of the servers with this API.

use protocol::ModelInfo;
use protocol::chat::model::Price;
use serde_json::Value;

/// The models out of a list; `None` when it is no list.
pub(crate) fn models(list: &Value) -> Option<Vec<ModelInfo>> {
    let data = list.get("data")?.as_array()?;
    Some(data.iter().filter_map(model).collect())
}

fn model(entry: &Value) -> Option<ModelInfo> {
    let id = entry.get("id")?.as_str()?;
    Some(ModelInfo {
        id: id.to_owned(),
        name: name(entry, id),
        window: window(entry),
        max_output: number(entry, &["/top_provider/max_completion_tokens"]),
        price: entry.get("pricing").and_then(price),
    })
}

/// The display name, as Anthropic and OpenRouter give it.
fn name(entry: &Value, id: &str) -> Option<String> {
    let mut names = ["display_name", "name"].into_iter().filter_map(|key| entry.get(key)?.as_str());
    let name = names.find(|name| !name.trim().is_empty())?;
    (name != id).then(|| name.trim().to_owned())
}

/// How many tokens a listed model reads and writes: as llama.cpp, LM Studio, OpenRouter and vLLM say it.
/// The window of the training (`n_ctx_train`) is not the one that the server was started with.
pub(super) fn window(entry: &Value) -> Option<u32> {
    let names = ["/meta/n_ctx", "/loaded_context_length", "/context_length", "/max_model_len"];
    number(entry, &names)
}

fn number(entry: &Value, pointers: &[&str]) -> Option<u32> {
    let found = pointers.iter().find_map(|pointer| entry.pointer(pointer)?.as_u64());
    found.and_then(|number| u32::try_from(number).ok()).filter(|number| *number > 0)
}

/// OpenRouter's prices are dollars per token, as text. Its prices below zero mean "it depends".
fn price(pricing: &Value) -> Option<Price> {
    let of = |name: &str| {
        let dollars: f64 = pricing.get(name)?.as_str()?.parse().ok()?;
        let billionths = (dollars * 1e9).round();
        // Checked just before: it is whole and in range.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "see above")]
        (0.0..=f64::from(u32::MAX)).contains(&billionths).then_some(billionths as u32)
    };
    let input = of("prompt")?;
    Some(Price {
        input,
        output: of("completion")?,
        cache_read: of("input_cache_read").unwrap_or(input),
        cache_write: of("input_cache_write").unwrap_or(input),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_list_is_read_in_each_dialect() {
        let list = json!({ "object": "list", "data": [
            { "id": "bare", "object": "model" },
            { "id": "routed", "name": "Maker: Routed", "context_length": 200_000,
              "top_provider": { "max_completion_tokens": 64_000 },
              "pricing": { "prompt": "0.000001", "completion": "0.000005",
                  "input_cache_read": "0.0000001" } },
            { "id": "odd", "pricing": { "prompt": "-1", "completion": "-1" } },
            { "id": "claude", "type": "model", "display_name": "Claude" },
            { "id": "same", "name": "same", "display_name": "" },
            { "id": "vllm", "max_model_len": 8_192 },
            { "id": "cpp", "meta": { "n_ctx": 4_096, "n_ctx_train": 8_192 } },
            { "id": "older cpp", "meta": { "n_ctx_train": 8_192 } },
            { "id": "studio", "loaded_context_length": 2_048, "max_context_length": 32_768 },
            { "name": "without an id" },
        ] });
        let bare = |id: &str| ModelInfo { id: id.into(), ..ModelInfo::default() };
        let price = Price { input: 1_000, output: 5_000, cache_read: 100, cache_write: 1_000 };
        let routed = ModelInfo {
            window: Some(200_000),
            max_output: Some(64_000),
            price: Some(price),
            name: Some("Maker: Routed".into()),
            ..bare("routed")
        };
        let expected = vec![
            bare("bare"),
            routed,
            bare("odd"),
            ModelInfo { name: Some("Claude".into()), ..bare("claude") },
            bare("same"),
            ModelInfo { window: Some(8_192), ..bare("vllm") },
            ModelInfo { window: Some(4_096), ..bare("cpp") },
            bare("older cpp"),
            ModelInfo { window: Some(2_048), ..bare("studio") },
        ];
        assert_eq!(models(&list), Some(expected));
        assert_eq!(models(&json!({ "hello": 1 })), None);
    }
}
