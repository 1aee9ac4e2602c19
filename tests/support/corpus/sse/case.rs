//! The file of answers, and the words in it.

use std::collections::BTreeMap;

use serde::Deserialize;

/// A file of answers.
#[derive(Debug, Deserialize)]
pub struct Corpus {
    pub(super) cases: Vec<Case>,
}

/// One answer of a provider, and what must come of it.
#[derive(Debug, Clone, Deserialize)]
pub struct Case {
    pub(super) id: String,
    pub(super) expect: String,
    pub(super) wire: String,
    pub(super) response: Response,
    /// How the connection ends; whole when nothing is said.
    pub(super) end: Option<String>,
    /// How the bytes are cut.
    pub(super) chunking: Option<String>,
}

/// What is answered.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Response {
    pub(super) status: u16,
    #[serde(default)]
    pub(super) headers: BTreeMap<String, String>,
    #[serde(default)]
    pub(super) body: String,
    /// A body too large to stand in the file.
    pub(super) generate: Option<Generate>,
}

/// What is too large to stand in the file.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Generate {
    /// One line of data of so many bytes.
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

/// Whose wire it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Vendor {
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

/// What must come of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expect {
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
pub(super) struct Unknown(pub(super) String);

impl Corpus {
    /// Reads the file's text.
    pub fn parse(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }
}

impl Case {
    pub(super) fn vendor(&self) -> Result<Vendor, Unknown> {
        match self.wire.as_str() {
            "anthropic" => Ok(Vendor::Anthropic),
            "openai" => Ok(Vendor::OpenAi),
            other => Err(Unknown(format!("wire {other}"))),
        }
    }

    pub(super) fn chunking(&self) -> Result<Option<Chunking>, Unknown> {
        Ok(match self.chunking.as_deref() {
            None => None,
            Some("every_byte_offset") => Some(Chunking::EveryByteOffset),
            Some("one_byte") => Some(Chunking::OneByte),
            Some("inside_utf8") => Some(Chunking::InsideUtf8),
            Some(other) => return Err(Unknown(format!("chunking {other}"))),
        })
    }

    pub(super) fn expect(&self) -> Result<Expect, Unknown> {
        Ok(match self.expect.as_str() {
            "answer" => Expect::Answer,
            "ends" => Expect::Ends,
            "same_for_any_chunking" => Expect::SameForAnyChunking,
            "tools_run" => Expect::ToolsRun,
            "tool_error" => Expect::ToolError,
            "no_run" => Expect::NoRun,
            "error" => Expect::Error,
            "error_or_skip" => Expect::ErrorOrSkip,
            "marked_cut" => Expect::MarkedCut,
            "discarded_retried" => Expect::DiscardedRetried,
            "retried" => Expect::Retried,
            "retry_after" => Expect::RetryAfter,
            "not_retried" => Expect::NotRetried,
            "not_followed" => Expect::NotFollowed,
            "bounded" => Expect::Bounded,
            "first_runs_once" => Expect::FirstRunsOnce,
            "cap_16" => Expect::Cap16,
            "repeat_guard" => Expect::RepeatGuard,
            "pause_resumed" => Expect::PauseResumed,
            other => return Err(Unknown(format!("expect {other}"))),
        })
    }
}

impl Expect {
    /// Whether each request is answered alike.
    pub(super) const fn repeats(self) -> bool {
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
