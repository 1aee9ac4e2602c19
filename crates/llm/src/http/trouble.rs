//! What a server says is wrong, in whichever of the usual shapes.

use serde_json::Value;

/// A server's own account of an error. Parts that it did not give are empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Trouble {
    /// The kind of error, in the vendor's words: its code where it has one, else its type.
    pub(crate) kind: String,
    /// What a person is told.
    pub(crate) message: String,
    /// How many tokens the model reads, in an error about a prompt that is too long.
    pub(crate) window: Option<u32>,
}

/// What can be done about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sort {
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

/// Kinds of error as the vendors document them, and statuses, which some send as a code.
const KINDS: [(&str, Sort); 25] = [
    ("authentication_error", Sort::BadKey),
    ("invalid_api_key", Sort::BadKey),
    ("401", Sort::BadKey),
    ("permission_error", Sort::Forbidden),
    ("403", Sort::Forbidden),
    ("insufficient_quota", Sort::NoCredit),
    ("billing_error", Sort::NoCredit),
    ("402", Sort::NoCredit),
    ("not_found_error", Sort::NoModel),
    ("model_not_found", Sort::NoModel),
    ("404", Sort::NoModel),
    ("request_too_large", Sort::TooLong),
    ("context_length_exceeded", Sort::TooLong),
    ("exceed_context_size_error", Sort::TooLong),
    ("rate_limit_error", Sort::Busy),
    ("rate_limit_exceeded", Sort::Busy),
    ("429", Sort::Busy),
    ("overloaded_error", Sort::Overloaded),
    ("503", Sort::Overloaded),
    ("529", Sort::Overloaded),
    ("invalid_request_error", Sort::Invalid),
    ("BadRequestError", Sort::Invalid),
    ("invalid_prompt", Sort::Invalid),
    ("400", Sort::Invalid),
    ("422", Sort::Invalid),
];

/// Sentences for which there is no kind. Those of Anthropic, OpenAI and vLLM, llama.cpp.
const TOO_LONG: [&str; 4] = [
    "prompt is too long",
    "maximum context length",
    "exceeds the available context size",
    "exceed context limit",
];

/// Before the size of the window, in a sentence about a prompt that is too long: OpenAI and vLLM.
const WINDOW_IS: &str = "maximum context length is ";

/// Fewer tokens are no window that anybody started a server with.
const SMALLEST_WINDOW: u32 = 256;

/// The words of llama.cpp with status 503 until it has read the model from the disk.
const LOADING: &str = "loading model";

/// How servers say that they, or a model of theirs, take no tools. All words of a line count.
const NO_TOOLS: [[&str; 2]; 7] = [
    ["tool", "support"],
    ["tool", "jinja"],
    ["tool", "--enable-auto-tool-choice"],
    ["tool", "not allowed"],
    ["tool", "not permitted"],
    ["tool", "unrecognized"],
    ["function", "not support"],
];

impl Trouble {
    /// What can be done about it, by its kind, and where that is too broad by its words.
    pub(super) fn sort(&self) -> Sort {
        let known = KINDS.iter().find(|(kind, _)| *kind == self.kind).map(|(_, sort)| *sort);
        match known {
            None | Some(Sort::Invalid | Sort::NoModel | Sort::Overloaded | Sort::Other) => {
                self.sort_by_words().or(known).unwrap_or(Sort::Other)
            }
            Some(sort) => sort,
        }
    }

    fn sort_by_words(&self) -> Option<Sort> {
        let words = self.message.to_lowercase();
        if TOO_LONG.iter().any(|sentence| words.contains(sentence)) {
            return Some(Sort::TooLong);
        }
        if words.trim_start().starts_with(LOADING) {
            return Some(Sort::Loading);
        }
        let all = |line: &[&str; 2]| line.iter().all(|word| words.contains(word));
        NO_TOOLS.iter().any(all).then_some(Sort::NoTools)
    }

    /// Whether the server gave no reason at all.
    pub(super) fn is_silent(&self) -> bool {
        self.kind.is_empty() && self.message.trim().is_empty()
    }

    /// Reads the body of an error.
    pub(crate) fn read(body: &[u8]) -> Self {
        serde_json::from_slice(body).map(|body| Self::find(&body)).unwrap_or_default()
    }

    /// `{"error": {…}}`, `{"error": "…"}`, the error alone, or a list of one of these.
    pub(crate) fn find(body: &Value) -> Self {
        let body = body.get(0).unwrap_or(body);
        match body.get("error") {
            Some(Value::String(message)) => {
                Self { message: message.clone(), window: window_in(message), ..Self::default() }
            }
            Some(error @ Value::Object(_)) => Self::of(error),
            _ => Self::of(body),
        }
    }

    /// Reads an error itself.
    pub(crate) fn of(error: &Value) -> Self {
        let word = |name: &str| match error.get(name) {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Number(number)) => number.to_string(),
            _ => String::new(),
        };
        let kind = Some(word("code")).filter(|code| !code.is_empty());
        let message = Some(word("message")).filter(|message| !message.is_empty());
        let message = message.unwrap_or_else(|| word("detail"));
        // llama.cpp gives the number beside the sentence.
        let window = error.get("n_ctx").and_then(Value::as_u64);
        let window = window.and_then(|window| u32::try_from(window).ok());
        Self {
            kind: kind.unwrap_or_else(|| word("type")),
            window: window
                .or_else(|| window_in(&message))
                .filter(|window| *window >= SMALLEST_WINDOW),
            message,
        }
    }
}

fn window_in(message: &str) -> Option<u32> {
    let (_, rest) = message.split_once(WINDOW_IS)?;
    let digits = rest.split(|c: char| !c.is_ascii_digit() && c != ',').next()?;
    digits.replace(',', "").parse().ok().filter(|window| *window >= SMALLEST_WINDOW)
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
        for (body, window) in [(llama, Some(4_096)), (vllm, Some(8_192)), (silent, None)] {
            let trouble = Trouble::find(&body);
            assert_eq!((trouble.sort(), trouble.window), (Sort::TooLong, window), "{body}");
        }
    }

    #[test]
    fn a_server_that_loads_its_model_is_not_overloaded() {
        let loading = json!({ "error": { "code": 503, "message": "Loading model",
            "type": "unavailable_error" } });
        assert_eq!(Trouble::find(&loading).sort(), Sort::Loading);
        let busy = json!({ "error": { "code": 503, "message": "busy" } });
        assert_eq!(Trouble::find(&busy).sort(), Sort::Overloaded);
    }

    #[test]
    fn servers_that_take_no_tools_are_understood_in_their_own_words() {
        for (body, sort) in [
            (
                json!({"error": {"code": 404, "message":
                "No endpoints found that support tool use."}}),
                Sort::NoTools,
            ),
            (
                json!({"error": {"code": 500, "type": "server_error", "message":
                "tools param requires --jinja flag"}}),
                Sort::NoTools,
            ),
            (
                json!({"object": "error", "type": "BadRequestError", "code": 400, "message":
                "\"auto\" tool choice requires --enable-auto-tool-choice"}),
                Sort::NoTools,
            ),
            (json!({"error": "registry/gemma:2b does not support tools"}), Sort::NoTools),
            (json!({"error": {"code": 404, "message": "no such model"}}), Sort::NoModel),
            (json!({"error": {"type": "invalid_request_error", "message": "odd"}}), Sort::Invalid),
            (
                json!({"error": {"code": 400, "message":
                "This model's maximum context length is 8192 tokens."}}),
                Sort::TooLong,
            ),
            (
                json!({"error": {"type": "authentication_error", "message":
                "tools are not supported"}}),
                Sort::BadKey,
            ),
        ] {
            assert_eq!(Trouble::find(&body).sort(), sort, "{body}");
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
            let expected = Trouble { kind: kind.into(), message: message.into(), window: None };
            assert_eq!(Trouble::read(body.to_string().as_bytes()), expected, "{body}");
        }
        assert_eq!(Trouble::read(b"<html>"), Trouble::default());
    }
}
