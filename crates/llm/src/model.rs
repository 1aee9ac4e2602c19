//! The provider-neutral vocabulary between the turn and a provider.

use std::borrow::Cow;
use std::time::Duration;

use protocol::error::user_text::UserText;
use protocol::{CallId, Speech, TokenUsage};
use serde_json::Value;
use thiserror::Error;

pub(crate) mod user_texts;

/// One request for one streamed answer.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ModelRequest {
    /// The model's id or alias.
    pub model: String,
    /// Instructions, stable from turn to turn.
    pub system: String,
    /// Tools on offer, in a stable order; empty for a closing request.
    pub tools: Vec<ToolSpec>,
    /// Alternating roles, beginning with the user; each call has its result in the next message,
    /// results first.
    pub messages: Vec<ModelMessage>,
    /// Output cap in tokens.
    pub max_tokens: u32,
}

/// The description of a tool for a model.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    /// The name by which the model calls it.
    pub name: String,
    /// Tells what it does and when to use it.
    pub description: String,
    /// JSON Schema of its input.
    pub input_schema: Value,
}

/// Whether an argument is as good as not given, where the tool has none of its name: some models fill
/// in the fields of other tools.
pub(crate) fn is_unset(value: &Value) -> bool {
    value.is_null() || value.as_str().is_some_and(|text| text.trim().is_empty())
}

/// One message of a request. The role alternates; the first is the user's.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelMessage {
    /// The author.
    pub role: protocol::Role,
    /// The pieces; results of calls come first.
    pub blocks: Vec<ContentBlock>,
}

/// A piece of a message.
#[derive(Debug, Clone, PartialEq)]
pub enum ContentBlock {
    /// Text that the model reads or wrote.
    Text(String),
    /// A call of the assistant.
    Call(ToolCall),
    /// The result of a call.
    Result {
        /// The call that it answers.
        call: CallId,
        /// Text for the model.
        output: String,
        /// Whether it reports a failure.
        is_error: bool,
        /// The words for the user, if the call talked. No provider sends them to a model.
        speech: Option<Speech>,
    },
    /// Content of the provider that is sent back exactly as it came.
    Verbatim(Value),
}

/// A call, whole: its block closed and its arguments parsed.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// The model's id for it.
    pub id: CallId,
    /// The tool's name.
    pub tool: String,
    /// The arguments, an object.
    pub arguments: Value,
}

/// How the ids of calls begin that the application makes in the place of the model. A turn gives a
/// call of a model another id if its own begins so.
pub const OWN_CALL_PREFIX: &str = "capture-";

/// Whether the application made the call in the place of the model. Holds for the ids that a turn gives, not for those
/// that a server sends.
#[must_use]
pub fn is_own_call(call: &CallId) -> bool {
    call.as_str().starts_with(OWN_CALL_PREFIX)
}

/// A tool's name that every provider accepts in a history: a model may have called a name that no
/// tool has, or an empty one.
pub(crate) fn callable_name(name: &str) -> Cow<'_, str> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if !name.is_empty() && name.len() <= 64 && name.chars().all(allowed) {
        return Cow::Borrowed(name);
    }
    let kept: String = name.chars().filter(|c| allowed(*c)).take(64).collect();
    if kept.is_empty() { Cow::Borrowed("no_such_tool") } else { Cow::Owned(kept) }
}

/// An event of an answer as it streams in.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelEvent {
    /// More text.
    Text(String),
    /// The text of an answer that broke off before it was given out: shown only if the request is not sent
    /// again.
    HeldText(String),
    /// A complete block of the provider's own (the thinking of the model, with its signature), to
    /// be sent back exactly so while the turn is open.
    Verbatim(Value),
    /// A call whose block closed and parsed whole.
    Call(ToolCall),
    /// A call that the application makes in the place of the model. Its id begins with
    /// [`OWN_CALL_PREFIX`].
    OwnCall(ToolCall),
    /// A call whose block closed but whose arguments are not a JSON object.
    BrokenCall {
        /// The model's id for it.
        id: CallId,
        /// The tool's name.
        tool: String,
        /// The problem of the arguments.
        problem: String,
    },
    /// The tokens of the answer until now, if it is stopped or breaks off: as the provider reported
    /// them, those of the answer estimated where it did not. The next one replaces it, and the end
    /// replaces all.
    Usage(TokenUsage),
    /// The answer takes another request, because the one before gave none that can be used. The tokens
    /// that are told from here on are those of all its requests.
    AnotherRequest,
    /// The answer ended; nothing follows.
    Stopped {
        /// The reason that the provider gave.
        reason: StopReason,
        /// The tokens of the answer.
        usage: TokenUsage,
    },
}

/// Why an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StopReason {
    /// It is complete.
    EndTurn,
    /// It wants its calls run.
    ToolUse,
    /// The output cap.
    MaxTokens,
    /// It met a stop sequence of the request.
    StopSequence,
    /// Paused by the provider: send the content back.
    PauseTurn,
    /// The model will not answer.
    Refusal,
    /// The prompt does not fit.
    ContextExceeded,
    /// A reason we do not know.
    Unknown,
}

/// Why there is no (whole) answer. Variants are what a caller can act on.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ModelError {
    /// Missing or refused key.
    #[error("{0}")]
    Auth(UserText),
    /// This key will not do, and another one is ready.
    #[error("{0}")]
    KeyFailed(UserText),
    /// Too many requests; `retry_after` as the server asked.
    #[error("{message}")]
    RateLimit {
        /// The error of the server.
        message: UserText,
        /// The wait that the server asked for.
        retry_after: Option<Duration>,
    },
    /// The server has too much to do.
    #[error("{message}")]
    Overloaded {
        /// The error of the server.
        message: UserText,
        /// The wait that the server asked for.
        retry_after: Option<Duration>,
    },
    /// Not reached, or cut off.
    #[error("{0}")]
    Network(UserText),
    /// Reached, and silent past the deadline.
    #[error("{0}")]
    Silent(UserText),
    /// The request is not acceptable.
    #[error("{0}")]
    InvalidRequest(UserText),
    /// The provider does not know the model: it was retired, or its name is wrong.
    #[error("{0}")]
    NoModel(UserText),
    /// The model or its server takes no tools.
    #[error("{0}")]
    NoTools(UserText),
    /// The prompt does not fit the model's window.
    #[error("{message}")]
    ContextExceeded {
        /// The error of the server.
        message: UserText,
        /// How many tokens the model reads, where the server reports it.
        window: Option<u32>,
        /// How many tokens the prompt has, where the server counted them.
        prompt: Option<u32>,
    },
    /// The server has begun to load the model, and answers once it has.
    #[error("{0}")]
    Loading(UserText),
    /// The application lets no request be sent at this moment.
    #[error("{0}")]
    NotSent(UserText),
    /// Not sent: what the request was built by has changed since, so it has to be built again.
    #[error("{0}")]
    Outdated(UserText),
    /// Anything else; `retryable` inside a stream and for 5xx.
    #[error("{message}")]
    Unknown {
        /// The error of the server.
        message: UserText,
        /// Whether sending it again may help.
        retryable: bool,
    },
}

impl ModelError {
    /// The text for the user.
    #[must_use]
    pub fn into_text(self) -> UserText {
        match self {
            Self::Auth(text)
            | Self::KeyFailed(text)
            | Self::Network(text)
            | Self::Silent(text)
            | Self::InvalidRequest(text)
            | Self::NoModel(text)
            | Self::NoTools(text)
            | Self::Loading(text)
            | Self::NotSent(text)
            | Self::Outdated(text)
            | Self::RateLimit { message: text, .. }
            | Self::Overloaded { message: text, .. }
            | Self::ContextExceeded { message: text, .. }
            | Self::Unknown { message: text, .. } => text,
        }
    }

    /// The kind of error, for logs. The message may quote the server, and with it a note or an answer of the
    /// model, so no log may hold it.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Auth(_) => "key_refused",
            Self::KeyFailed(_) => "key_failed_next_ready",
            Self::RateLimit { .. } => "rate_limit",
            Self::Overloaded { .. } => "server_overloaded",
            Self::Network(_) => "network",
            Self::Silent(_) => "no_answer_in_time",
            Self::InvalidRequest(_) => "request_refused",
            Self::NoModel(_) => "unknown_model",
            Self::NoTools(_) => "no_tool_support",
            Self::ContextExceeded { .. } => "context_window_exceeded",
            Self::Loading(_) => "model_loading",
            Self::NotSent(_) => "not_sent",
            Self::Outdated(_) => "request_outdated",
            Self::Unknown { retryable: true, .. } => "server_error",
            Self::Unknown { retryable: false, .. } => "final_error",
        }
    }

    /// An answer that was meant as a call, and that no repair made one. Its JSON is for nobody's eyes.
    pub(crate) fn unreadable_call(problem: &str) -> Self {
        Self::Unknown { message: Self::unreadable_call_message(problem), retryable: false }
    }

    pub(crate) fn unreadable_call_message(problem: &str) -> UserText {
        user_texts::call_unreadable(problem)
    }
}
