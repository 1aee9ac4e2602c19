//! The parameters of a request to a model, in the format of each wire.

use protocol::chat::model::{Effort, ModelParameters};
use serde_json::{Map, Value};

/// Parameters that are sent with each request about one model.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RequestParameters {
    pub(crate) temperature: Option<f64>,
    pub(crate) top_p: Option<f64>,
    pub(crate) effort: Option<Effort>,
    pub(crate) extra: Map<String, Value>,
}

/// The fields that a request sets itself, on every wire; the user's own additions never change
/// them.
const RESERVED_FIELDS: [&str; 17] = [
    "model",
    "messages",
    "system",
    "tools",
    "tool_choice",
    "stream",
    "stream_options",
    "max_tokens",
    "max_completion_tokens",
    "temperature",
    "top_p",
    "reasoning_effort",
    "output_config",
    "options",
    "think",
    "functions",
    "function_call",
];

impl RequestParameters {
    /// `Err` says what of it cannot be sent.
    pub fn parse(given: &ModelParameters) -> Result<Self, String> {
        let range = |name: &str, value: Option<f64>, most: f64| match value {
            Some(value) if !(0.0..=most).contains(&value) => {
                Err(format!("The {name} of `{}` must be between 0 and {most}.", given.model))
            }
            value => Ok(value),
        };
        let extra = match given.extra.trim() {
            "" => Map::new(),
            text => serde_json::from_str(text).map_err(|error| {
                format!(
                    "The extra parameters for `{}` aren’t a valid JSON object ({error}). Fix them \
                     in Settings.",
                    given.model
                )
            })?,
        };
        let ours = extra.keys().find(|name| RESERVED_FIELDS.contains(&name.as_str()));
        if let Some(name) = ours {
            return Err(format!(
                "The extra parameters for `{}` contain `{name}`, which Vaultmate sets itself. \
                 Remove it in Settings.",
                given.model
            ));
        }
        Ok(Self {
            temperature: range("temperature", given.temperature, 2.0)?,
            top_p: range("top-p", given.top_p, 1.0)?,
            effort: given.effort,
            extra,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given() -> ModelParameters {
        ModelParameters { model: "m".into(), ..ModelParameters::default() }
    }

    #[test]
    fn what_can_be_sent_is_kept() {
        let extra = r#"{ "top_k": 5 }"#.to_owned();
        let given = ModelParameters { temperature: Some(0.5), extra, ..given() };
        let parsed = RequestParameters::parse(&given).unwrap();
        assert_eq!((parsed.temperature, parsed.extra["top_k"].clone()), (Some(0.5), 5.into()));
        assert_eq!(RequestParameters::parse(&self::given()), Ok(RequestParameters::default()));
    }

    #[test]
    fn what_cannot_be_sent_is_named() {
        let extra = |text: &str| ModelParameters { extra: text.into(), ..given() };
        for (given, problem) in [
            (ModelParameters { temperature: Some(2.5), ..given() }, "The temperature of `m`"),
            (ModelParameters { top_p: Some(f64::NAN), ..given() }, "The top-p of `m`"),
            (extra("[1]"), "aren’t a valid JSON object"),
            (extra("{"), "aren’t a valid JSON object"),
            (extra(r#"{"messages": []}"#), "contain `messages`"),
            (extra(r#"{"stream": false}"#), "contain `stream`"),
        ] {
            let error = RequestParameters::parse(&given).unwrap_err();
            assert!(error.contains(problem), "{error}");
        }
    }
}
