//! The capabilities of a model as self-hosted servers report them, each in its own place: llama.cpp
//! in the list of models and at `/props`, LM Studio at `/api/v0/models`, Ollama at `/api/tags`,
//! `/api/show` and `/api/ps`.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use super::model_list;
use crate::provider::{CAPABILITIES_TTL, Capabilities};
use crate::providers::chat_template;
use crate::providers::ollama::model_list as tags;
use crate::transport::http::{ApiClient, OptionalReply};

/// A server that computes may be slow to say what it can.
const PROBE_TIMEOUT: Duration = Duration::from_secs(3);

/// Where an Ollama lists its models.
const TAGS: &str = "/api/tags";

/// Where an Ollama describes one of them.
const SHOW: &str = "/api/show";

/// Where it lists those that are loaded.
const LOADED: &str = "/api/ps";

/// The smallest window that an Ollama gives to a model for which nobody sets one.
const OLLAMA_WINDOW: u32 = 4_096;

/// Caches the capabilities of the models of one server.
#[derive(Debug, Default)]
pub(super) struct CapabilityCache(Mutex<BTreeMap<String, CachedCapabilities>>);

#[derive(Debug, Clone, Copy, Default)]
struct CachedCapabilities {
    listed: Capabilities,
    /// When the server reported it.
    asked_at: Option<Instant>,
    /// The window in a refusal, and the one that was listed then: a server that lists another one
    /// by now was restarted.
    refused: Option<(u32, Option<u32>)>,
    /// Whether the server is an Ollama: no other one hands on what it is sent.
    is_ollama: bool,
}

impl CachedCapabilities {
    fn capabilities(self) -> Capabilities {
        let refused = self.refused.filter(|(_, listed)| *listed == self.listed.window);
        let window = match (self.listed.window, refused) {
            (Some(listed), Some((window, _))) => Some(listed.min(window)),
            (listed, refused) => listed.or(refused.map(|(window, _)| window)),
        };
        Capabilities { window, ..self.listed }
    }
}

impl CapabilityCache {
    /// The capabilities that `server` reports for the model, not older than half a minute. If it
    /// does not answer in a few seconds, they stay as known before; but where the model runs is
    /// unknown then, which counts as elsewhere until the server reports it.
    pub(super) async fn get(&self, server: &ApiClient, model: &str) -> Capabilities {
        let told = self.entries().get(model).copied().unwrap_or_default();
        if told.asked_at.is_some_and(|at| at.elapsed() < CAPABILITIES_TTL) {
            return told.capabilities();
        }
        let models = server.optional_reply("/models", PROBE_TIMEOUT).await;
        // A server that loads the model says more a moment later.
        let is_loading = models == OptionalReply::Loading;
        let asked = match models {
            // It would not answer the next question either.
            OptionalReply::Unknown => None,
            models => probe(server, model, &models.value()).await,
        };
        let holds = asked.is_some() && !is_loading;
        let is_ollama = matches!(asked, Some(Probed::Ollama(_)));
        let asked = match asked {
            Some(Probed::Ollama(asked) | Probed::Other(asked)) => asked,
            None => Capabilities { runs_elsewhere: true, ..Capabilities::default() },
        };
        let known = asked.or(told.listed);
        // It cuts a longer prompt without an error, so the window is never learned from a refusal.
        let assumed = (is_ollama && !asked.runs_elsewhere).then_some(OLLAMA_WINDOW);
        let listed = Capabilities {
            window: known.window.or(assumed),
            runs_elsewhere: asked.runs_elsewhere,
            parameters: known.parameters.or_else(|| parameters_in_name(model)),
            ..known
        };
        let mut known = self.entries();
        let told = known.entry(model.to_owned()).or_default();
        (told.listed, told.asked_at) = (listed, holds.then(Instant::now));
        told.is_ollama = is_ollama;
        told.capabilities()
    }

    /// Whether `server` hands what is sent for the model on to a server elsewhere, or may do so, at this
    /// moment. An Ollama is asked; of others it is known.
    pub(super) async fn runs_elsewhere(&self, server: &ApiClient, model: &str) -> bool {
        let known = self.entries().get(model).is_some_and(|told| told.is_ollama);
        if !known {
            return self.get(server, model).await.runs_elsewhere;
        }
        let tags = server.optional_reply_at_root(TAGS, PROBE_TIMEOUT).await.value();
        let runs_elsewhere = is_tagged_elsewhere(&tags, model);
        if let Some(told) = self.entries().get_mut(model) {
            told.listed.runs_elsewhere = runs_elsewhere;
        }
        runs_elsewhere
    }

    /// Takes in that a prompt was refused because the model reads no more than `window` tokens.
    pub(super) fn refused(&self, model: &str, window: u32) {
        let mut known = self.entries();
        let told = known.entry(model.to_owned()).or_default();
        told.refused = Some((window, told.listed.window));
    }

    /// The map is whole after each statement, so a panic elsewhere does not spoil it.
    fn entries(&self) -> MutexGuard<'_, BTreeMap<String, CachedCapabilities>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The capabilities that a server reports, by its kind.
enum Probed {
    Ollama(Capabilities),
    Other(Capabilities),
}

/// The capabilities told beside the list of `models`; `None` if they leave open where the model runs.
async fn probe(server: &ApiClient, model: &str, models: &Value) -> Option<Probed> {
    let entry = entry(models, model);
    let listed = entry.map(from_entry).unwrap_or_default();
    if entry.is_some_and(is_llama_cpp) {
        let props = server.optional_reply_at_root("/props", PROBE_TIMEOUT).await;
        return Some(Probed::Other(from_props(&props.value()).or(listed)));
    }
    let tags = match server.optional_reply_at_root(TAGS, PROBE_TIMEOUT).await {
        OptionalReply::Unknown => return None,
        tags => tags.value(),
    };
    if entry.is_some_and(is_ollama) || tags.get("models").is_some_and(Value::is_array) {
        let runs_elsewhere = is_tagged_elsewhere(&tags, model);
        let shown = show(server, model).await.or(listed);
        return Some(Probed::Ollama(Capabilities { runs_elsewhere, ..shown }));
    }
    if listed.window.is_some() {
        return Some(Probed::Other(listed));
    }
    let studio = server.optional_reply_at_root("/api/v0/models", PROBE_TIMEOUT).await.value();
    let studio = self::entry(&studio, model).map(from_entry).unwrap_or_default();
    Some(Probed::Other(listed.or(studio)))
}

/// The capabilities that an Ollama shows. At an OpenAI URL nobody asks it for a window, so it takes the
/// one that the model's own file sets, else its own default, and cuts what is longer without an error. The
/// default is told only of a model that is loaded.
async fn show(server: &ApiClient, model: &str) -> Capabilities {
    let request = tags::ShowRequest { model };
    let shown = server.optional_reply_to(SHOW, &request, PROBE_TIMEOUT).await;
    let OptionalReply::Value(shown) = shown else { return Capabilities::default() };
    let window = match tags::set_window(&shown) {
        // A model elsewhere is not loaded here.
        None if !tags::runs_elsewhere(&shown) => {
            let all = server.optional_reply_at_root(LOADED, PROBE_TIMEOUT).await.value();
            let most = tags::window(&shown).filter(|most| (1..OLLAMA_WINDOW).contains(most));
            tags::loaded_window(&all, model).or(most)
        }
        set => set,
    };
    Capabilities { window, ..tags::capabilities(&shown, u32::MAX) }
}

/// Whether the model runs elsewhere by Ollama's list; of a model that is not in it nobody knows.
fn is_tagged_elsewhere(tags: &Value, model: &str) -> bool {
    tags::entry(tags, model).is_none_or(tags::runs_elsewhere)
}

/// The model's entry in a list; the only one, where a server answers with its one model whatever the
/// request calls it.
fn entry<'a>(models: &'a Value, model: &str) -> Option<&'a Value> {
    let all = models.get("data")?.as_array()?;
    let is_it = |entry: &&Value| entry.get("id").and_then(Value::as_str) == Some(model);
    match all.as_slice() {
        [only] if is_llama_cpp(only) => Some(only),
        all => all.iter().find(is_it),
    }
}

/// Ollama answers at an OpenAI URL, too; there its own library owns most of its models.
fn is_ollama(entry: &Value) -> bool {
    entry.get("owned_by").and_then(Value::as_str) == Some("library")
}

fn is_llama_cpp(entry: &Value) -> bool {
    entry.get("owned_by").and_then(Value::as_str) == Some("llamacpp")
}

fn from_entry(entry: &Value) -> Capabilities {
    // LM Studio names what a model can do.
    let named = entry.get("capabilities").and_then(Value::as_array);
    Capabilities {
        window: model_list::window(entry),
        tools: named.map(|named| named.iter().any(|capability| capability == "tool_use")),
        parameters: entry
            .pointer("/meta/n_params")
            .and_then(Value::as_u64)
            .or_else(|| parameters_in_name(entry.get("id")?.as_str()?)),
        runs_elsewhere: false,
    }
}

/// How many parameters the name of a model claims: `qwen2.5-3b-instruct`, `gemma3:270m`. LM Studio
/// and other servers report it in no other place.
fn parameters_in_name(name: &str) -> Option<u64> {
    // `-1m` at the end of a name is a context window.
    counted_in_name(name, ['b', 'B'], 1e9, 0.01..=10_000.0)
        .or_else(|| counted_in_name(name, ['m', 'M'], 1e6, 10.0..=999.0))
}

/// The last number in `range` that stands in a name before one of these letters, times `unit`.
fn counted_in_name(
    name: &str,
    letters: [char; 2],
    unit: f64,
    range: RangeInclusive<f64>,
) -> Option<u64> {
    let parts = name.split(['-', '_', '/', ':', ' ', '@']);
    let mut numbers = parts.filter_map(|part| {
        let number = part.strip_suffix(letters)?;
        number.parse::<f64>().ok().filter(|number| range.contains(number))
    });
    // Whole and in range: checked just before.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "see above")]
    numbers.next_back().map(|number| (number * unit).round() as u64)
}

/// llama.cpp's `/props`: the window of one request, which is a part of the whole where several are
/// answered at once, and whether the model's template has a place for tools. Older servers leave
/// the latter to be read from the template, or from a second one that is used where tools are.
fn from_props(props: &Value) -> Capabilities {
    let window = props.pointer("/default_generation_settings/n_ctx").and_then(Value::as_u64);
    let told = props.pointer("/chat_template_caps/supports_tools").and_then(Value::as_bool);
    let templates = ["chat_template", "chat_template_tool_use"];
    let in_templates = || {
        let texts = templates.iter().filter_map(|name| props.get(name)?.as_str());
        texts.filter(|text| !text.is_empty()).map(chat_template::takes_tools).reduce(|a, b| a || b)
    };
    Capabilities {
        window: window.and_then(|n| u32::try_from(n).ok()).filter(|tokens| *tokens > 0),
        tools: told.or_else(in_templates),
        ..Capabilities::default()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_name_says_how_many_parameters_a_model_has() {
        for (name, count) in [
            ("qwen2.5-3b-instruct", Some(3_000_000_000)),
            ("SmolLM2-1.7B-Instruct", Some(1_700_000_000)),
            ("lmstudio-community/Llama-3.2-1B-Instruct-GGUF", Some(1_000_000_000)),
            ("gemma3:270m", Some(270_000_000)),
            ("SmolLM2-135M-Instruct", Some(135_000_000)),
            ("Qwen2.5-7B-Instruct-1M", Some(7_000_000_000)),
            ("some-model-1m", None),
            ("mixtral-8x7b", None),
            ("gpt-4o", None),
            ("b", None),
        ] {
            assert_eq!(parameters_in_name(name), count, "{name}");
        }
        let studio = json!({ "id": "qwen2.5-3b-instruct", "loaded_context_length": 32_768 });
        assert_eq!(from_entry(&studio).parameters, Some(3_000_000_000));
    }

    #[test]
    fn each_server_says_it_in_its_own_place() {
        let list = json!({ "data": [{ "id": "qwen", "owned_by": "llamacpp",
            "meta": { "n_ctx": 8_192, "n_ctx_train": 32_768, "n_params": 494_032_768 } }] });
        // The model is found under any name of the request.
        let listed = entry(&list, "gpt-4").map(from_entry).expect("the only model");
        let props = json!({ "default_generation_settings": { "n_ctx": 4_096 },
            "chat_template_caps": { "supports_tools": false } });
        let told = from_props(&props).or(listed);
        let parameters = Some(494_032_768);
        let expected = Capabilities {
            window: Some(4_096),
            tools: Some(false),
            parameters,
            ..Capabilities::default()
        };
        assert_eq!(told, expected);
        assert_eq!(from_props(&json!({ "error": "not found" })).or(listed), listed);

        let studio = json!({ "data": [{ "id": "other", "loaded_context_length": 9 },
            { "id": "qwen", "loaded_context_length": 4_096, "max_context_length": 32_768,
              "capabilities": ["tool_use"] }] });
        let told = entry(&studio, "qwen").map(from_entry).expect("it is listed");
        assert_eq!((told.window, told.tools), (Some(4_096), Some(true)));
        assert_eq!(entry(&studio, "gone"), None);
        assert_eq!(from_entry(&json!({ "id": "bare" })), Capabilities::default());
    }

    #[test]
    fn the_template_says_whether_a_model_takes_tools_where_the_server_does_not() {
        let with_tools = "{% if tools %}{{ tools | tojson }}{% endif %}{{ messages }}";
        let without = "{% for message in messages %}{{ message.content }}{% endfor %}";
        for (props, expected) in [
            (json!({ "chat_template": with_tools }), Some(true)),
            (json!({ "chat_template": without }), Some(false)),
            (json!({ "chat_template": without, "chat_template_tool_use": with_tools }), Some(true)),
            // The server knows better than its template.
            (
                json!({ "chat_template": without, "chat_template_caps": { "supports_tools": true } }),
                Some(true),
            ),
            (
                json!({ "chat_template": with_tools, "chat_template_caps": { "supports_tools": false } }),
                Some(false),
            ),
            (json!({ "chat_template": "" }), None),
            (json!({ "total_slots": 1 }), None),
        ] {
            assert_eq!(from_props(&props).tools, expected, "{props}");
        }
    }

    #[test]
    fn a_refusal_counts_until_the_server_lists_another_window() {
        let listing = |window| Capabilities { window, ..Capabilities::default() };
        let told = CachedCapabilities {
            listed: listing(Some(8_192)),
            asked_at: None,
            refused: Some((4_096, Some(8_192))),
            is_ollama: false,
        };
        assert_eq!(told.capabilities().window, Some(4_096));
        let updated = CachedCapabilities { listed: listing(Some(16_384)), ..told };
        assert_eq!(updated.capabilities().window, Some(16_384));
        let unlisted = CachedCapabilities {
            listed: listing(None),
            asked_at: None,
            refused: Some((4_096, None)),
            is_ollama: false,
        };
        assert_eq!(unlisted.capabilities().window, Some(4_096));
    }
}
