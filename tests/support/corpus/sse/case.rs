//! The file of answers, and the words in it.

use std::collections::BTreeMap;

use serde::Deserialize;

/// A file of answers.
#[derive(Debug, Deserialize)]
pub struct SseCorpus {
    pub(super) cases: Vec<SseCase>,
}

/// One answer of a provider, and what must come of it.
#[derive(Debug, Clone, Deserialize)]
pub struct SseCase {
    pub(super) id: String,
    pub(super) expect: String,
    pub(super) wire: String,
    pub(super) response: ResponseSpec,
    /// How the connection ends; by default after the whole answer.
    pub(super) end: Option<String>,
    /// How the bytes are cut.
    pub(super) chunking: Option<String>,
    /// Part of the message with which the turn fails.
    pub(super) error_text: Option<String>,
}

/// The answer of the server.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ResponseSpec {
    pub(super) status: u16,
    #[serde(default)]
    pub(super) headers: BTreeMap<String, String>,
    #[serde(default)]
    pub(super) body: String,
    /// A body too large to stand in the file.
    pub(super) generate: Option<GeneratedBody>,
}

/// Content that is too large to stand in the file.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum GeneratedBody {
    /// One `data:` line, this many bytes long.
    DataLineBytes(usize),
    /// Data that is nested so deep.
    Nest(usize),
    /// So many pieces of text, a byte each.
    Deltas(usize),
    /// A call with arguments of so many bytes.
    ArgBytes(usize),
    /// So many calls in one message.
    ToolCalls(usize),
}

/// The provider whose wire format it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SseProvider {
    Anthropic,
    OpenAi,
}

/// How the bytes are cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Chunking {
    /// In two, at each place in turn.
    EveryByteOffset,
    OneByte,
    /// In two, at each place inside a character in turn.
    InsideUtf8,
}

/// The expected result of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SseExpectation {
    Answer,
    Ends,
    SameForAnyChunking,
    ToolsRun,
    ToolError,
    NoRun,
    Error,
    ErrorOrSkip,
    MarkedCut,
    DiscardedRetried,
    Retried,
    RetryAfter,
    NotRetried,
    NotFollowed,
    Bounded,
    FirstRunsOnce,
    Cap16,
    RepeatGuard,
    PauseResumed,
}

/// A word that the runner does not know.
#[derive(Debug)]
pub(super) struct UnknownSseWord(pub(super) String);

impl SseCorpus {
    /// Reads the file's text.
    pub fn parse(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }
}

impl SseCase {
    pub(super) fn provider(&self) -> Result<SseProvider, UnknownSseWord> {
        match self.wire.as_str() {
            "anthropic" => Ok(SseProvider::Anthropic),
            "openai" => Ok(SseProvider::OpenAi),
            other => Err(UnknownSseWord(format!("wire {other}"))),
        }
    }

    pub(super) fn chunking(&self) -> Result<Option<Chunking>, UnknownSseWord> {
        Ok(match self.chunking.as_deref() {
            None => None,
            Some("every_byte_offset") => Some(Chunking::EveryByteOffset),
            Some("one_byte") => Some(Chunking::OneByte),
            Some("inside_utf8") => Some(Chunking::InsideUtf8),
            Some(other) => return Err(UnknownSseWord(format!("chunking {other}"))),
        })
    }

    pub(super) fn expectation(&self) -> Result<SseExpectation, UnknownSseWord> {
        Ok(match self.expect.as_str() {
            "answer" => SseExpectation::Answer,
            "ends" => SseExpectation::Ends,
            "same_for_any_chunking" => SseExpectation::SameForAnyChunking,
            "tools_run" => SseExpectation::ToolsRun,
            "tool_error" => SseExpectation::ToolError,
            "no_run" => SseExpectation::NoRun,
            "error" => SseExpectation::Error,
            "error_or_skip" => SseExpectation::ErrorOrSkip,
            "marked_cut" => SseExpectation::MarkedCut,
            "discarded_retried" => SseExpectation::DiscardedRetried,
            "retried" => SseExpectation::Retried,
            "retry_after" => SseExpectation::RetryAfter,
            "not_retried" => SseExpectation::NotRetried,
            "not_followed" => SseExpectation::NotFollowed,
            "bounded" => SseExpectation::Bounded,
            "first_runs_once" => SseExpectation::FirstRunsOnce,
            "cap_16" => SseExpectation::Cap16,
            "repeat_guard" => SseExpectation::RepeatGuard,
            "pause_resumed" => SseExpectation::PauseResumed,
            other => return Err(UnknownSseWord(format!("expect {other}"))),
        })
    }
}

impl SseExpectation {
    /// Whether each request is answered alike.
    pub(super) const fn repeats_response(self) -> bool {
        matches!(
            self,
            Self::Retried
                | Self::RetryAfter
                | Self::NotRetried
                | Self::PauseResumed
                | Self::RepeatGuard
        )
    }
}
