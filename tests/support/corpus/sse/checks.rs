//! Checks a turn against its expectation.

use std::time::Duration;

use protocol::TurnStatus;
use serde_json::Value;

use super::case::{SseCase, SseExpectation, SseProvider};
use super::fixture::{DEFAULT_TEXT, ExecutedCall, ObservedTurn};
use super::server::SseRequest;
use crate::scripted_model::request_violations;

/// So many calls of one message run.
const MAX_PARALLEL_CALLS: usize = 16;

/// A request is sent so often at most.
const MAX_ATTEMPTS: usize = 3;

/// A paused answer is sent back so often at most.
const MAX_PAUSE_RESUMES: usize = 5;

/// A turn asks so often at most, the last time to close.
const MAX_REQUESTS: usize = 11;

/// A violation that is none where an answer was paused.
const LAST_NOT_USER: &str = "the last message is not the user's";

/// Whether the request was repeated, and no more often than allowed.
fn is_retry_count(requests: usize) -> bool {
    (2..=MAX_ATTEMPTS).contains(&requests)
}

fn asks_for_too_long_a_wait(case: &SseCase) -> bool {
    let seconds =
        case.response.headers.get("retry-after").and_then(|wait| wait.parse::<f64>().ok());
    seconds.is_some_and(|seconds| seconds > llm::transport::retry::MAX_WAIT.as_secs_f64())
}

/// One sentence; `None` when all is as it should be. `clock` divides the times.
pub(super) fn complaint(
    case: &SseCase,
    expect: SseExpectation,
    told: &ObservedTurn,
    clock: u32,
) -> Option<String> {
    if !told.left_notes_alone {
        return Some("a note was changed".to_owned());
    }
    let requests = told.requests.len();
    let holds = match expect {
        SseExpectation::Answer => told.is_completed() && told.text() == "Hello world",
        // Differences between them are found by the comparison.
        SseExpectation::Ends | SseExpectation::SameForAnyChunking => told.is_completed(),
        SseExpectation::ToolsRun => {
            told.is_completed()
                && told.executed_count() == told.calls.len()
                && told.executed_count() > 0
        }
        SseExpectation::ToolError => {
            told.is_completed() && told.executed_count() == 0 && !told.calls.is_empty()
        }
        SseExpectation::NoRun => {
            told.executed_count() == 0
                && (told.has_error_message() || told.is_marked_cut() || told.is_retried())
        }
        SseExpectation::Error => told.executed_count() == 0 && told.has_error_message(),
        SseExpectation::ErrorOrSkip => {
            told.executed_count() == 0 && (told.has_error_message() || told.is_completed())
        }
        SseExpectation::MarkedCut => told.executed_count() == 0 && told.is_marked_cut(),
        SseExpectation::DiscardedRetried => {
            told.executed_count() == 0
                && told.is_completed()
                && requests == 2
                && told.text() == DEFAULT_TEXT
        }
        // A wait beyond the limit is not waited for: the error says when to try again.
        SseExpectation::Retried if asks_for_too_long_a_wait(case) => {
            told.has_error_message() && requests == 1
        }
        SseExpectation::Retried => told.has_error_message() && is_retry_count(requests),
        SseExpectation::RetryAfter => {
            let asked = case.response.headers.get("retry-after").and_then(|wait| wait.parse().ok());
            let wait = Duration::from_secs(asked.unwrap_or_default()) / clock;
            told.has_error_message() && is_retry_count(requests) && told.waited_at_least(wait)
        }
        SseExpectation::NotRetried | SseExpectation::NotFollowed => {
            told.has_error_message() && requests == 1
        }
        SseExpectation::Bounded => told.has_error_message() || told.is_completed(),
        SseExpectation::FirstRunsOnce => {
            told.calls.iter().map(|call| call.is_error).collect::<Vec<_>>() == [false, true]
        }
        SseExpectation::Cap16 => {
            told.executed_count() == MAX_PARALLEL_CALLS
                && told.calls.iter().all(|call| call.output.is_some())
        }
        SseExpectation::RepeatGuard => {
            requests <= MAX_REQUESTS && ran_twice_then_refused(&told.calls)
        }
        SseExpectation::PauseResumed => {
            requests > 1
                && requests <= 1 + MAX_PAUSE_RESUMES
                && told.requests.iter().skip(1).all(is_resumed)
        }
    };
    (!holds).then(|| told.describe())
}

/// One sentence; `None` when the failure says what it should.
pub(super) fn missing_text(case: &SseCase, told: &ObservedTurn) -> Option<String> {
    let text = case.error_text.as_deref()?;
    let said = told.error_message().unwrap_or_default();
    (!said.contains(text)).then(|| format!("the failure does not say `{text}`: {said:?}"))
}

/// Errors of the requests themselves: a provider would refuse them, or the key stands in a wrong
/// place.
pub(super) fn violations(
    provider: SseProvider,
    expect: SseExpectation,
    requests: &[SseRequest],
    key: &str,
) -> Vec<String> {
    let mut found = Vec::new();
    for request in requests {
        found.extend(match provider {
            SseProvider::Anthropic => {
                let mut found = request_violations(&request.body);
                // A paused answer is sent back as it came.
                found.retain(|why| {
                    expect != SseExpectation::PauseResumed || !why.contains(LAST_NOT_USER)
                });
                found
            }
            SseProvider::OpenAi => unpaired_calls(&request.body),
        });
        let first = request.head.lines().next().unwrap_or_default();
        if first.contains(key) || request.body.to_string().contains(key) {
            found.push("the key is sent outside of its header".to_owned());
        }
    }
    found
}

/// Calls of an OpenAI request without exactly one result right behind them.
fn unpaired_calls(request: &Value) -> Vec<String> {
    let mut open: Vec<&Value> = Vec::new();
    let mut found = Vec::new();
    for message in request["messages"].as_array().into_iter().flatten() {
        if message["role"] == "tool" {
            match open.iter().position(|id| **id == message["tool_call_id"]) {
                Some(at) => drop(open.remove(at)),
                None => found.push(format!("a result without its call: {message}")),
            }
            continue;
        }
        if !open.is_empty() {
            found.push(format!("calls without a result: {open:?}"));
        }
        let calls = message["tool_calls"].as_array().into_iter().flatten();
        open = calls.map(|call| &call["id"]).collect();
    }
    found
}

/// The same failing call runs twice, and is refused from then on.
fn ran_twice_then_refused(calls: &[ExecutedCall]) -> bool {
    let first = calls.first().and_then(|call| call.output.as_ref());
    calls.len() > 2
        && calls.iter().all(|call| call.is_error)
        && calls.iter().filter(|call| call.output.as_ref() == first).count() <= 2
}

/// Whether the request gives the assistant its own content back.
fn is_resumed(request: &SseRequest) -> bool {
    let messages = request.body["messages"].as_array();
    messages.and_then(|messages| messages.last()).is_some_and(|last| last["role"] == "assistant")
}

impl ObservedTurn {
    fn is_completed(&self) -> bool {
        self.ended.is_none()
    }

    /// The error message with which it ended.
    fn error_message(&self) -> Option<&str> {
        match &self.ended {
            Some((TurnStatus::Failed, Some(error))) if !error.message.is_empty() => {
                Some(&error.message)
            }
            _ => None,
        }
    }

    fn has_error_message(&self) -> bool {
        self.error_message().is_some()
    }

    fn is_marked_cut(&self) -> bool {
        self.texts.iter().any(|(text, cut)| *cut && !text.is_empty())
    }

    fn is_retried(&self) -> bool {
        self.is_completed() && self.requests.len() > 1
    }

    /// How many calls did something.
    fn executed_count(&self) -> usize {
        self.calls.iter().filter(|call| !call.is_error).count()
    }

    pub(super) fn text(&self) -> String {
        self.texts.iter().map(|(text, _)| text.as_str()).collect()
    }

    fn waited_at_least(&self, wait: Duration) -> bool {
        self.requests.windows(2).all(|two| match two {
            [first, second] => second.at.duration_since(first.at) >= wait,
            _ => true,
        })
    }

    fn describe(&self) -> String {
        let text: String = self.text().chars().take(60).collect();
        format!(
            "requests={} ended={:?} text={text:?} cut={} calls={} ran={}",
            self.requests.len(),
            self.ended,
            self.is_marked_cut(),
            self.calls.len(),
            self.executed_count()
        )
    }
}
