//! What is wrong with a turn, given what was expected of it.

use std::time::Duration;

use protocol::TurnStatus;
use serde_json::Value;

use super::case::{Case, Expect, Vendor};
use super::server::Request;
use super::stage::{PLAIN, Ran, Told};
use crate::scripted_model::request_violations;

/// So many calls of one message run.
const AT_ONCE: usize = 16;

/// A request is sent so often at most.
const ATTEMPTS: usize = 3;

/// A paused answer is sent back so often at most.
const PAUSES: usize = 5;

/// A turn asks so often at most, the last time to close.
const ROUNDS: usize = 11;

/// A violation that is none where an answer was paused.
const LAST: &str = "the last message is not the user's";

/// One sentence; `None` when all is as it should be. `clock` divides the times.
pub(super) fn complaint(case: &Case, expect: Expect, told: &Told, clock: u32) -> Option<String> {
    if !told.left_notes_alone {
        return Some("a note was changed".to_owned());
    }
    let requests = told.requests.len();
    let holds = match expect {
        Expect::Answer => told.is_done() && told.text() == "Hello world",
        // What they have in common is told by who compares them.
        Expect::Ends | Expect::SameForAnyChunking => told.is_done(),
        Expect::ToolsRun => told.is_done() && told.ran() == told.calls.len() && told.ran() > 0,
        Expect::ToolError => told.is_done() && told.ran() == 0 && !told.calls.is_empty(),
        Expect::NoRun => told.ran() == 0 && (told.is_told() || told.is_cut() || told.is_retried()),
        Expect::Error => told.ran() == 0 && told.is_told(),
        Expect::ErrorOrSkip => told.ran() == 0 && (told.is_told() || told.is_done()),
        Expect::MarkedCut => told.ran() == 0 && told.is_cut(),
        Expect::DiscardedRetried => {
            told.ran() == 0 && told.is_done() && requests == 2 && told.text() == PLAIN
        }
        Expect::Retried => told.is_told() && requests > 1 && requests <= ATTEMPTS,
        Expect::RetryAfter => {
            let asked = case.response.headers.get("retry-after").and_then(|wait| wait.parse().ok());
            let wait = Duration::from_secs(asked.unwrap_or_default()) / clock;
            told.is_told() && requests > 1 && requests <= ATTEMPTS && told.waited(wait)
        }
        Expect::NotRetried | Expect::NotFollowed => told.is_told() && requests == 1,
        Expect::Bounded => told.is_told() || told.is_done(),
        Expect::FirstRunsOnce => {
            told.calls.iter().map(|call| call.is_error).collect::<Vec<_>>() == [false, true]
        }
        Expect::Cap16 => {
            told.ran() == AT_ONCE && told.calls.iter().all(|call| call.output.is_some())
        }
        Expect::RepeatGuard => requests <= ROUNDS && runs_twice(&told.calls),
        Expect::PauseResumed => {
            requests > 1 && requests <= 1 + PAUSES && told.requests.iter().skip(1).all(is_resumed)
        }
    };
    (!holds).then(|| told.in_words())
}

/// What is wrong with the requests themselves: a provider would refuse them, or the key stands
/// where it has no business.
pub(super) fn violations(
    vendor: Vendor,
    expect: Expect,
    requests: &[Request],
    key: &str,
) -> Vec<String> {
    let mut found = Vec::new();
    for request in requests {
        found.extend(match vendor {
            Vendor::Anthropic => {
                let mut found = request_violations(&request.body);
                // What was paused is sent back as it came.
                found.retain(|why| expect != Expect::PauseResumed || !why.contains(LAST));
                found
            }
            Vendor::OpenAi => unpaired(&request.body),
        });
        let first = request.head.lines().next().unwrap_or_default();
        if first.contains(key) || request.body.to_string().contains(key) {
            found.push("the key is sent outside of its header".to_owned());
        }
    }
    found
}

/// Calls of an OpenAI request without exactly one result right behind them.
fn unpaired(request: &Value) -> Vec<String> {
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
fn runs_twice(calls: &[Ran]) -> bool {
    let first = calls.first().and_then(|call| call.output.as_ref());
    calls.len() > 2
        && calls.iter().all(|call| call.is_error)
        && calls.iter().filter(|call| call.output.as_ref() == first).count() <= 2
}

/// Whether the request gives the assistant its own content back.
fn is_resumed(request: &Request) -> bool {
    let messages = request.body["messages"].as_array();
    messages.and_then(|messages| messages.last()).is_some_and(|last| last["role"] == "assistant")
}

impl Told {
    fn is_done(&self) -> bool {
        self.ended.is_none()
    }

    /// Whether it ended with an error in words.
    fn is_told(&self) -> bool {
        matches!(&self.ended, Some((TurnStatus::Failed, Some(error))) if !error.message.is_empty())
    }

    fn is_cut(&self) -> bool {
        self.said.iter().any(|(text, cut)| *cut && !text.is_empty())
    }

    fn is_retried(&self) -> bool {
        self.is_done() && self.requests.len() > 1
    }

    /// How many calls did something.
    fn ran(&self) -> usize {
        self.calls.iter().filter(|call| !call.is_error).count()
    }

    pub(super) fn text(&self) -> String {
        self.said.iter().map(|(text, _)| text.as_str()).collect()
    }

    fn waited(&self, wait: Duration) -> bool {
        self.requests.windows(2).all(|two| match two {
            [first, second] => second.at.duration_since(first.at) >= wait,
            _ => true,
        })
    }

    fn in_words(&self) -> String {
        let text: String = self.text().chars().take(60).collect();
        format!(
            "requests={} ended={:?} text={text:?} cut={} calls={} ran={}",
            self.requests.len(),
            self.ended,
            self.is_cut(),
            self.calls.len(),
            self.ran()
        )
    }
}
