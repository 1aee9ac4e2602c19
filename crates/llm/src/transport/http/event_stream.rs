//! The body of one answer as a stream of our events, within the deadlines.

use std::collections::VecDeque;
use std::time::Duration;

use futures_util::stream;
use protocol::TokenUsage;
use reqwest::Response;
use tokio::time::{Instant, timeout_at};
use uuid::Uuid;

use super::error::RequestErrors;
use super::prompt_speed::PromptTimer;
use crate::model::{ModelError, ModelEvent, ToolCall};
use crate::provider::ModelStream;
use crate::transport::decoder::{Decoded, Decoder, Framing};

/// How long is waited for the events of an answer.
pub(super) struct StreamDeadlines {
    /// When the first event must have come.
    pub(super) deadline: Instant,
    /// The initial value of that. While a server on this computer reads the prompt, any bytes
    /// before the first part of the answer are a sign of life, and the wait starts again.
    pub(super) first: Duration,
    /// From each event that brings the answer on to the next.
    pub(super) idle: Duration,
    /// A prompt that is read on this computer.
    pub(super) reading: Option<PromptTimer>,
}

/// Reads `response`. Its first event must come before the deadline, each other one that brings the
/// answer on within `idle` of the one before; the length of an answer is limited, so the stream
/// ends. It ends after the stop, at the first error, or without either when the server closes
/// early.
pub(super) fn stream<D: Decoder + 'static>(
    response: Response,
    failures: RequestErrors,
    waits: StreamDeadlines,
    decoder: D,
) -> ModelStream {
    let answer = AnswerStream {
        response,
        failures,
        waits,
        framing: D::Framing::default(),
        decoder,
        has_begun: false,
        received: 0,
        told: TokenUsage::default(),
        ready: VecDeque::new(),
        over: false,
    };
    Box::pin(stream::unfold(answer, |mut answer| async move {
        let event = answer.next().await?;
        Some((event, answer))
    }))
}

struct AnswerStream<D: Decoder> {
    response: Response,
    failures: RequestErrors,
    waits: StreamDeadlines,
    framing: D::Framing,
    decoder: D,
    /// Whether its first event came.
    has_begun: bool,
    /// How many bytes of the answer came.
    received: usize,
    /// The tokens that were told last.
    told: TokenUsage,
    ready: VecDeque<Result<ModelEvent, ModelError>>,
    over: bool,
}

impl<D: Decoder> AnswerStream<D> {
    async fn next(&mut self) -> Option<Result<ModelEvent, ModelError>> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                self.over |= matches!(event, Err(_) | Ok(ModelEvent::Stopped { .. }));
                return Some(event);
            }
            if self.over {
                return None;
            }
            match timeout_at(self.waits.deadline, self.response.chunk()).await {
                Ok(Ok(Some(bytes))) => self.take_in(&bytes),
                Ok(Ok(None)) => self.end(None),
                Ok(Err(_)) => self.end(Some(self.failures.network("cut off its answer"))),
                Err(_) => self.end(Some(self.failures.silent("stopped responding"))),
            }
        }
    }

    fn take_in(&mut self, bytes: &[u8]) {
        if self.waits.reading.as_ref().is_some_and(PromptTimer::has_time_left) {
            self.waits.deadline = Instant::now() + self.waits.first;
        }
        let frames = match self.framing.feed(bytes) {
            Ok(frames) => frames,
            Err(error) => return self.fail(self.failures.too_large(error)),
        };
        for frame in frames {
            match self.decoder.decode(&frame) {
                Ok(Decoded::Progress(events)) => {
                    let received = self.decoder.received();
                    let brings_on = received > self.received || !events.is_empty();
                    self.received = received;
                    // While a prompt is read here, an empty event is a sign of life as any bytes are.
                    let is_first = !std::mem::replace(&mut self.has_begun, true);
                    if brings_on || (is_first && self.waits.reading.is_none()) {
                        self.waits.deadline = Instant::now() + self.waits.idle;
                    }
                    if brings_on && let Some(reading) = self.waits.reading.take() {
                        reading.end();
                    }
                    self.pass_on(events);
                }
                Ok(Decoded::Ping) => {}
                Err(error) => return self.fail(self.failures.decode(error)),
            }
        }
        self.tell_usage();
        // Bytes that come without a pause never let the timer be asked.
        let brings_nothing = |event: &Result<_, _>| matches!(event, Ok(ModelEvent::Usage(_)));
        if self.ready.iter().all(brings_nothing) && Instant::now() >= self.waits.deadline {
            self.end(Some(self.failures.silent("stopped responding")));
        }
    }

    /// Tells how many tokens it took until now, unless it has ended: the end tells it then.
    fn tell_usage(&mut self) {
        let usage = self.decoder.usage();
        let has_ended = matches!(self.ready.back(), Some(Ok(ModelEvent::Stopped { .. })));
        if usage != self.told && !has_ended {
            self.told = usage;
            self.ready.push_back(Ok(ModelEvent::Usage(usage)));
        }
    }

    /// Nothing more comes. An answer that was whole already is whole whatever went wrong after.
    fn end(&mut self, trouble: Option<ModelError>) {
        self.over = true;
        let rest = self.decoder.end();
        match trouble {
            Some(trouble) if rest.is_empty() => self.fail(trouble),
            _ => self.pass_on(rest),
        }
    }

    /// An answer whose server reports no tokens at its end is told with the estimated ones.
    fn pass_on(&mut self, events: Vec<ModelEvent>) {
        let estimated = self.decoder.usage();
        let complete = |event| match with_call_id(event) {
            ModelEvent::Stopped { reason, usage } if usage == TokenUsage::default() => {
                ModelEvent::Stopped { reason, usage: estimated }
            }
            event => event,
        };
        self.ready.extend(events.into_iter().map(|event| Ok(complete(event))));
    }

    fn fail(&mut self, error: ModelError) {
        self.tell_usage();
        self.ready.push_back(Err(error));
    }
}

/// A call that came without an id gets one that no other call has.
fn with_call_id(event: ModelEvent) -> ModelEvent {
    let new = || format!("call_{}", Uuid::now_v7().simple()).into();
    match event {
        ModelEvent::Call(call) if call.id.as_str().is_empty() => {
            ModelEvent::Call(ToolCall { id: new(), ..call })
        }
        ModelEvent::BrokenCall { id, tool, problem } if id.as_str().is_empty() => {
            ModelEvent::BrokenCall { id: new(), tool, problem }
        }
        event => event,
    }
}
