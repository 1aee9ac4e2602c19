//! The body of one answer as a stream of our events, within the deadlines.

use std::collections::VecDeque;
use std::time::Duration;

use futures_util::stream;
use reqwest::Response;
use tokio::time::{Instant, timeout_at};

use super::decode::{Decoded, Decoder};
use super::failure::Failures;
use crate::model::{ModelError, ModelEvent};
use crate::provider::ModelStream;
use crate::sse::SseReader;

/// Reads `response`. Its first event must come before `deadline`, each other one within `idle` of
/// the one before. Ends after the stop, at the first error, or without either when the server
/// closes early.
pub(super) fn stream(
    response: Response,
    failures: Failures,
    deadline: Instant,
    idle: Duration,
) -> ModelStream {
    let answer = Answer {
        response,
        failures,
        deadline,
        idle,
        reader: SseReader::default(),
        decoder: Decoder::default(),
        ready: VecDeque::new(),
        over: false,
    };
    Box::pin(stream::unfold(answer, |mut answer| async move {
        let event = answer.next().await?;
        Some((event, answer))
    }))
}

struct Answer {
    response: Response,
    failures: Failures,
    deadline: Instant,
    idle: Duration,
    reader: SseReader,
    decoder: Decoder,
    ready: VecDeque<Result<ModelEvent, ModelError>>,
    over: bool,
}

impl Answer {
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
                Ok(Ok(None)) => return None,
                Ok(Err(_)) => self.fail(self.failures.network("broke off its answer")),
                Err(_) => self.fail(self.failures.network("went silent")),
            }
        }
    }

    fn take_in(&mut self, bytes: &[u8]) {
        let events = match self.reader.feed(bytes) {
            Ok(events) => events,
            Err(error) => return self.fail(self.failures.too_large(error)),
        };
        for event in events {
            match self.decoder.decode(&event) {
                Ok(Decoded::Progress(events)) => {
                    self.deadline = Instant::now() + self.idle;
                    self.ready.extend(events.into_iter().map(Ok));
                }
                Ok(Decoded::Ping) => {}
                Err(error) => return self.fail(self.failures.decode(error)),
            }
        }
        // Bytes that come without a pause never let the timer be asked.
        if self.ready.is_empty() && Instant::now() >= self.deadline {
            self.fail(self.failures.network("went silent"));
        }
    }

    fn fail(&mut self, error: ModelError) {
        self.ready.push_back(Err(error));
    }
}
