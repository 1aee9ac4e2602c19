//! The body of one answer as a stream of our events, within the deadlines.

use std::collections::VecDeque;
use std::time::Duration;

use futures_util::stream;
use reqwest::Response;
use tokio::time::{Instant, timeout_at};
use uuid::Uuid;

use super::failure::Failures;
use crate::decoding::{Decoded, Decoder, Framing};
use crate::model::{ModelError, ModelEvent, ToolCall};
use crate::provider::ModelStream;

/// Reads `response`. Its first event must come before `deadline`, each other one within `idle` of
/// the one before. Ends after the stop, at the first error, or without either when the server
/// closes early.
pub(super) fn stream<D: Decoder + 'static>(
    response: Response,
    failures: Failures,
    deadline: Instant,
    idle: Duration,
    decoder: D,
) -> ModelStream {
    let answer = Answer {
        response,
        failures,
        deadline,
        idle,
        framing: D::Framing::default(),
        decoder,
        ready: VecDeque::new(),
        over: false,
    };
    Box::pin(stream::unfold(answer, |mut answer| async move {
        let event = answer.next().await?;
        Some((event, answer))
    }))
}

struct Answer<D: Decoder> {
    response: Response,
    failures: Failures,
    deadline: Instant,
    idle: Duration,
    framing: D::Framing,
    decoder: D,
    ready: VecDeque<Result<ModelEvent, ModelError>>,
    over: bool,
}

impl<D: Decoder> Answer<D> {
    async fn next(&mut self) -> Option<Result<ModelEvent, ModelError>> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                self.over |= matches!(event, Err(_) | Ok(ModelEvent::Stopped { .. }));
                return Some(event);
            }
            if self.over {
                return None;
            }
            match timeout_at(self.deadline, self.response.chunk()).await {
                Ok(Ok(Some(bytes))) => self.take_in(&bytes),
                Ok(Ok(None)) => self.end(None),
                Ok(Err(_)) => self.end(Some(self.failures.network("broke off its answer"))),
                Err(_) => self.end(Some(self.failures.silent("went silent"))),
            }
        }
    }

    fn take_in(&mut self, bytes: &[u8]) {
        let frames = match self.framing.feed(bytes) {
            Ok(frames) => frames,
            Err(error) => return self.fail(self.failures.too_large(error)),
        };
        for frame in frames {
            match self.decoder.decode(&frame) {
                Ok(Decoded::Progress(events)) => {
                    self.deadline = Instant::now() + self.idle;
                    self.ready.extend(events.into_iter().map(|event| Ok(named(event))));
                }
                Ok(Decoded::Ping) => {}
                Err(error) => return self.fail(self.failures.decode(error)),
            }
        }
        // Bytes that come without a pause never let the timer be asked.
        if self.ready.is_empty() && Instant::now() >= self.deadline {
            self.end(Some(self.failures.silent("went silent")));
        }
    }

    /// Nothing more comes. An answer that was whole already is whole whatever went wrong after.
    fn end(&mut self, trouble: Option<ModelError>) {
        self.over = true;
        let rest = self.decoder.end();
        match trouble {
            Some(trouble) if rest.is_empty() => self.fail(trouble),
            _ => self.ready.extend(rest.into_iter().map(|event| Ok(named(event)))),
        }
    }

    fn fail(&mut self, error: ModelError) {
        self.ready.push_back(Err(error));
    }
}

/// A call that came without an id gets one that no other call has.
fn named(event: ModelEvent) -> ModelEvent {
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
