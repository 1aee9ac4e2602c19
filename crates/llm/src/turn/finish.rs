//! How a turn ends, and the sentences that tell the user why.

use protocol::{CallId, CallResult, ErrorCode, TokenUsage, TurnStatus, UserError};

use crate::model::{ModelError, StopReason, user_texts};

/// An ending without ids and times, which the driver adds.
#[derive(Debug, Clone, PartialEq)]
pub struct Finish {
    /// The terminal status.
    pub status: TurnStatus,
    /// Results of the stored calls that had none stored, in call order.
    pub results: Vec<CallResult>,
    /// The model's last text that no step holds.
    pub text: Option<String>,
    /// Whether the answer was cut off.
    pub cut: bool,
    /// The question it ends with.
    pub question: Option<TurnQuestion>,
    /// Whether the conversation ends with it.
    pub ends_conversation: bool,
    /// The error, if the turn failed.
    pub error: Option<UserError>,
    /// The usage that no step holds: of the last answer, and of requests that broke off.
    pub usage: TokenUsage,
}

/// A question without id and time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnQuestion {
    /// The call that asked.
    pub call: CallId,
    /// The question.
    pub message: String,
    /// Ready answers.
    pub options: Vec<String>,
    /// Calls of the turn that ran before it.
    pub calls_before: u32,
}

impl Finish {
    pub(crate) fn done() -> Self {
        Self::with_status(TurnStatus::Done)
    }

    pub(crate) fn cancelled() -> Self {
        Self::with_status(TurnStatus::Cancelled)
    }

    pub(crate) fn failed(error: UserError) -> Self {
        Self { error: Some(error), ..Self::with_status(TurnStatus::Failed) }
    }

    pub(super) fn asked(question: TurnQuestion) -> Self {
        Self { question: Some(question), ..Self::with_status(TurnStatus::Asked) }
    }

    pub(super) fn at_limit(self) -> Self {
        Self { status: TurnStatus::Limit, ..self }
    }

    pub(super) fn with_text(self, text: Option<String>) -> Self {
        Self { text, ..self }
    }

    pub(super) fn with_cut_text(self, text: Option<String>) -> Self {
        Self { cut: text.is_some(), text, ..self }
    }

    pub(super) fn with_results(self, results: Vec<CallResult>) -> Self {
        Self { results, ..self }
    }

    pub(super) fn ending_the_conversation(self) -> Self {
        Self { ends_conversation: true, ..self }
    }

    pub(super) fn with_usage(self, usage: TokenUsage) -> Self {
        Self { usage, ..self }
    }

    fn with_status(status: TurnStatus) -> Self {
        Self {
            status,
            results: Vec::new(),
            text: None,
            cut: false,
            question: None,
            ends_conversation: false,
            error: None,
            usage: TokenUsage::default(),
        }
    }
}

impl From<ModelError> for UserError {
    fn from(error: ModelError) -> Self {
        let code = match &error {
            ModelError::Auth(_) | ModelError::KeyFailed(_) => ErrorCode::Key,
            ModelError::NoModel(_) => ErrorCode::Model,
            ModelError::RateLimit { .. }
            | ModelError::Overloaded { .. }
            | ModelError::Network(_)
            | ModelError::Silent(_)
            | ModelError::Loading(_)
            | ModelError::Unknown { retryable: true, .. } => ErrorCode::Network,
            ModelError::ContextExceeded { .. } => ErrorCode::TooLarge,
            ModelError::InvalidRequest(_)
            | ModelError::NoTools(_)
            | ModelError::NotSent(_)
            | ModelError::Outdated(_)
            | ModelError::Unknown { retryable: false, .. } => ErrorCode::Other,
        };
        Self::new(code, error.into_text())
    }
}

/// The error for an answer that was cut by a limit or filter and holds nothing that can stand
/// alone.
pub(super) fn stopped_by(reason: StopReason) -> UserError {
    UserError::other(match reason {
        StopReason::Refusal => user_texts::model_declined(),
        StopReason::ContextExceeded => user_texts::context_window_full(),
        StopReason::MaxTokens => user_texts::length_limit_before_text(),
        StopReason::EndTurn
        | StopReason::ToolUse
        | StopReason::StopSequence
        | StopReason::PauseTurn
        | StopReason::Unknown => user_texts::stopped_for_unknown_reason(),
    })
}

pub(super) fn empty_twice() -> UserError {
    UserError::other(user_texts::no_answer_twice())
}

pub(super) fn paused_too_often() -> UserError {
    UserError::other(user_texts::paused_too_often())
}

pub(super) fn cut_in_calls() -> UserError {
    UserError::other(user_texts::length_limit_before_calls())
}
