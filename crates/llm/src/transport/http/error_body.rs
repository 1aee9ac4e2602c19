//! Reads the error of a server, in any of the usual shapes.

use serde_json::Value;

/// A server's own account of an error. Parts that it did not give are empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ErrorBody {
    /// The kind of error as the provider names it: its code where it has one, else its type.
    pub(crate) kind: String,
    /// The message for a person.
    pub(crate) message: String,
    /// How many tokens the model reads, in an error about a prompt that is too long.
    pub(crate) window: Option<u32>,
    /// How many tokens that prompt has, where the server counted them.
    pub(crate) prompt: Option<u32>,
}

/// The class of an error: what can be done about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ErrorClass {
    BadKey,
    Forbidden,
    NoCredit,
    NoModel,
    NoTools,
    TooLong,
    Busy,
    Overloaded,
    Loading,
    Invalid,
    Other,
}

/// Kinds of error as the providers document them, and statuses, which some send as a code.
const CLASS_BY_KIND: [(&str, ErrorClass); 25] = [
    ("authentication_error", ErrorClass::BadKey),
    ("invalid_api_key", ErrorClass::BadKey),
    ("401", ErrorClass::BadKey),
    ("permission_error", ErrorClass::Forbidden),
    ("403", ErrorClass::Forbidden),
    ("insufficient_quota", ErrorClass::NoCredit),
    ("billing_error", ErrorClass::NoCredit),
    ("402", ErrorClass::NoCredit),
    ("not_found_error", ErrorClass::NoModel),
    ("model_not_found", ErrorClass::NoModel),
    ("404", ErrorClass::NoModel),
    ("request_too_large", ErrorClass::TooLong),
    ("context_length_exceeded", ErrorClass::TooLong),
    ("exceed_context_size_error", ErrorClass::TooLong),
    ("rate_limit_error", ErrorClass::Busy),
    ("rate_limit_exceeded", ErrorClass::Busy),
    ("429", ErrorClass::Busy),
    ("overloaded_error", ErrorClass::Overloaded),
    ("503", ErrorClass::Overloaded),
    ("529", ErrorClass::Overloaded),
    ("invalid_request_error", ErrorClass::Invalid),
    ("BadRequestError", ErrorClass::Invalid),
    ("invalid_prompt", ErrorClass::Invalid),
    ("400", ErrorClass::Invalid),
    ("422", ErrorClass::Invalid),
];

/// Sentences for which there is no kind. Those of Anthropic, OpenAI and vLLM, llama.cpp.
const TOO_LONG_PHRASES: [&str; 4] = [
    "prompt is too long",
    "maximum context length",
    "exceeds the available context size",
    "exceed context limit",
];

/// Before the size of the window, in a sentence about a prompt that is too long: OpenAI and vLLM.
const WINDOW_PREFIX: &str = "maximum context length is ";

/// Fewer tokens are no window that anybody started a server with.
const MIN_WINDOW: u32 = 256;

/// The message of llama.cpp with status 503 until it has read the model from the disk.
const LOADING_PHRASE: &str = "loading model";

/// How servers say that they, or a model of theirs, take no tools. All words of a line count.
const NO_TOOLS_PHRASES: [[&str; 2]; 7] = [
    ["tool", "support"],
    ["tool", "jinja"],
    ["tool", "--enable-auto-tool-choice"],
    ["tool", "not allowed"],
    ["tool", "not permitted"],
    ["tool", "unrecognized"],
    ["function", "not support"],
];

impl ErrorBody {
    /// The class, by its kind, and where that is too broad by its message.
    pub(super) fn classify(&self) -> ErrorClass {
        let known =
            CLASS_BY_KIND.iter().find(|(kind, _)| *kind == self.kind).map(|(_, sort)| *sort);
        match known {
            None
            | Some(
                ErrorClass::Invalid
                | ErrorClass::NoModel
                | ErrorClass::Overloaded
                | ErrorClass::Other,
            ) => self.classify_by_message().or(known).unwrap_or(ErrorClass::Other),
            Some(sort) => sort,
        }
    }

    fn classify_by_message(&self) -> Option<ErrorClass> {
        let words = self.message.to_lowercase();
        if TOO_LONG_PHRASES.iter().any(|sentence| words.contains(sentence)) {
            return Some(ErrorClass::TooLong);
        }
        if words.trim_start().starts_with(LOADING_PHRASE) {
            return Some(ErrorClass::Loading);
        }
        let all = |line: &[&str; 2]| line.iter().all(|word| words.contains(word));
        NO_TOOLS_PHRASES.iter().any(all).then_some(ErrorClass::NoTools)
    }

    /// Whether the server gave no reason at all.
    pub(super) fn is_empty(&self) -> bool {
        self.kind.is_empty() && self.message.trim().is_empty()
    }

    /// Reads the body of an error.
    pub(crate) fn parse(body: &[u8]) -> Self {
        serde_json::from_slice(body).map(|body| Self::find_in(&body)).unwrap_or_default()
    }

    /// `{"error": {…}}`, `{"error": "…"}`, the error alone, or a list of one of these.
    pub(crate) fn find_in(body: &Value) -> Self {
        let body = body.get(0).unwrap_or(body);
        match body.get("error") {
            Some(Value::String(message)) => {
                Self { message: message.clone(), window: parse_window(message), ..Self::default() }
            }
            Some(error @ Value::Object(_)) => Self::from_value(error),
            _ => Self::from_value(body),
        }
    }

    /// Reads an error itself.
    pub(crate) fn from_value(error: &Value) -> Self {
        let word = |name: &str| match error.get(name) {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Number(number)) => number.to_string(),
            _ => String::new(),
        };
        let kind = Some(word("code")).filter(|code| !code.is_empty());
        let message = Some(word("message")).filter(|message| !message.is_empty());
        let message = message.unwrap_or_else(|| word("detail"));
        // llama.cpp gives the numbers beside the sentence.
        let number = |name: &str| error.get(name)?.as_u64().and_then(|n| u32::try_from(n).ok());
        Self {
            kind: kind.unwrap_or_else(|| word("type")),
            prompt: number("n_prompt_tokens"),
            window: number("n_ctx")
                .or_else(|| parse_window(&message))
                .filter(|window| *window >= MIN_WINDOW),
            message,
        }
    }
}

fn parse_window(message: &str) -> Option<u32> {
    let (_, rest) = message.split_once(WINDOW_PREFIX)?;
    let digits = rest.split(|c: char| !c.is_ascii_digit() && c != ',').next()?;
    digits.replace(',', "").parse().ok().filter(|window| *window >= MIN_WINDOW)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_refusal_tells_how_much_the_model_reads() {
        let llama = json!({ "error": { "code": 400, "type": "exceed_context_size_error", "message":
            "request (6031 tokens) exceeds the available context size (4096 tokens)",
            "n_prompt_tokens": 6_031, "n_ctx": 4_096 } });
        let vllm = json!({ "object": "error", "code": 400, "type": "BadRequestError", "message":
            "This model's maximum context length is 8192 tokens. However, you requested 9000." });
        let silent = json!({ "error": { "code": "context_length_exceeded", "message": "no" } });
        for (body, window, prompt) in
            [(llama, Some(4_096), Some(6_031)), (vllm, Some(8_192), None), (silent, None, None)]
        {
            let trouble = ErrorBody::find_in(&body);
            assert_eq!(
                (trouble.classify(), trouble.window, trouble.prompt),
                (ErrorClass::TooLong, window, prompt),
                "{body}"
            );
        }
    }

    #[test]
    fn a_server_that_loads_its_model_is_not_overloaded() {
        let loading = json!({ "error": { "code": 503, "message": "Loading model",
            "type": "unavailable_error" } });
        assert_eq!(ErrorBody::find_in(&loading).classify(), ErrorClass::Loading);
        let busy = json!({ "error": { "code": 503, "message": "busy" } });
        assert_eq!(ErrorBody::find_in(&busy).classify(), ErrorClass::Overloaded);
    }

    #[test]
    fn messages_of_servers_that_take_no_tools_are_understood() {
        for (body, sort) in [
            (
                json!({"error": {"code": 404, "message":
                "No endpoints found that support tool use."}}),
                ErrorClass::NoTools,
            ),
            (
                json!({"error": {"code": 500, "type": "server_error", "message":
                "tools param requires --jinja flag"}}),
                ErrorClass::NoTools,
            ),
            (
                json!({"object": "error", "type": "BadRequestError", "code": 400, "message":
                "\"auto\" tool choice requires --enable-auto-tool-choice"}),
                ErrorClass::NoTools,
            ),
            (json!({"error": "registry/gemma:2b does not support tools"}), ErrorClass::NoTools),
            (json!({"error": {"code": 404, "message": "no such model"}}), ErrorClass::NoModel),
            (
                json!({"error": {"type": "invalid_request_error", "message": "odd"}}),
                ErrorClass::Invalid,
            ),
            (
                json!({"error": {"code": 400, "message":
                "This model's maximum context length is 8192 tokens."}}),
                ErrorClass::TooLong,
            ),
            (
                json!({"error": {"type": "authentication_error", "message":
                "tools are not supported"}}),
                ErrorClass::BadKey,
            ),
        ] {
            assert_eq!(ErrorBody::find_in(&body).classify(), sort, "{body}");
        }
    }

    #[test]
    fn an_error_is_read_in_every_usual_shape() {
        for (body, kind, message) in [
            (json!({"type": "error", "error": {"type": "a", "message": "b"}}), "a", "b"),
            (json!({"error": {"message": "b", "type": "t", "param": null, "code": "a"}}), "a", "b"),
            (json!({"error": {"message": "b", "code": 429}}), "429", "b"),
            (json!({"error": {"message": "b", "type": "t", "code": null}}), "t", "b"),
            (json!({"error": "b"}), "", "b"),
            (json!([{"error": {"code": 400, "message": "b"}}]), "400", "b"),
            (json!({"object": "error", "message": "b", "type": "a"}), "a", "b"),
            (json!({"detail": "b"}), "", "b"),
            (json!({"error": null}), "", ""),
            (json!("odd"), "", ""),
        ] {
            let expected =
                ErrorBody { kind: kind.into(), message: message.into(), ..ErrorBody::default() };
            assert_eq!(ErrorBody::parse(body.to_string().as_bytes()), expected, "{body}");
        }
        assert_eq!(ErrorBody::parse(b"<html>"), ErrorBody::default());
    }
}
