//! The answer of a model that was given no tools, with the call in its text.

use std::collections::VecDeque;
use std::sync::Arc;

use futures_util::{StreamExt, stream};
use protocol::TokenUsage;
use uuid::Uuid;

use super::extract::{CallScanner, ExtractedPart};
use super::prompt::repair_request;
use super::quoted::QuotableText;
use crate::context::request_usage::RequestUsage;
use crate::context::tokens;
use crate::model::{ModelError, ModelEvent, ModelRequest, StopReason, ToolCall, ToolSpec};
use crate::provider::{ModelStream, Provider};
use crate::transport::retry;

/// Reads `answer`, which was given to `request`, for calls of `tools` that the model was not `told`. An answer that was meant
/// as a call and is none is sent back once; after that it is a failure.
pub(super) fn text_tool_stream(
    provider: Arc<dyn Provider>,
    request: ModelRequest,
    tools: Vec<ToolSpec>,
    quotable: Arc<QuotableText>,
    answer: ModelStream,
) -> ModelStream {
    let scan = CallScanner::new(tools.clone()).with_quotable(&quotable);
    let repairs = RepairAttempt::May { provider, request };
    let ready = VecDeque::new();
    let listener = TextToolStream {
        answer,
        scan,
        tools,
        told: quotable,
        repairs,
        usage: TokenUsage::default(),
        current: RequestUsage::default(),
        called: false,
        has_spoken: false,
        ready,
        over: false,
    };
    Box::pin(stream::unfold(listener, |mut listener| async move {
        let event = listener.next().await?;
        Some((event, listener))
    }))
}

struct TextToolStream {
    answer: ModelStream,
    scan: CallScanner,
    tools: Vec<ToolSpec>,
    told: Arc<QuotableText>,
    repairs: RepairAttempt,
    /// The usage of the answers before this one.
    usage: TokenUsage,
    /// That of this one until now.
    current: RequestUsage,
    called: bool,
    /// Whether text was given out.
    has_spoken: bool,
    ready: VecDeque<Result<ModelEvent, ModelError>>,
    over: bool,
}

enum RepairAttempt {
    May {
        provider: Arc<dyn Provider>,
        request: ModelRequest,
    },
    /// The problem of the call that was sent back.
    Made {
        problem: String,
    },
}

impl TextToolStream {
    async fn next(&mut self) -> Option<Result<ModelEvent, ModelError>> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(event);
            }
            if self.over {
                return None;
            }
            match self.answer.next().await {
                Some(Ok(ModelEvent::Text(text))) => {
                    for found in self.scan.feed(&text) {
                        self.emit(found);
                    }
                }
                Some(Ok(ModelEvent::Stopped { reason, usage })) => self.stop(reason, usage).await,
                Some(Ok(event @ ModelEvent::Usage(_))) => {
                    self.current.observe(&event);
                    self.tell_usage();
                }
                // A wire that was offered no tools has no calls to tell of.
                Some(Ok(
                    ModelEvent::Verbatim(_)
                    | ModelEvent::HeldText(_)
                    | ModelEvent::Call(_)
                    | ModelEvent::OwnCall(_)
                    | ModelEvent::BrokenCall { .. }
                    | ModelEvent::AnotherRequest,
                )) => {}
                Some(Err(error)) => {
                    // Without text that was given out the request is sent again.
                    if self.has_spoken || !retry::is_retryable(&error) {
                        self.flush_as_text();
                    }
                    self.fail(error);
                }
                None => {
                    if self.has_spoken {
                        self.flush_as_text();
                    }
                    self.over = true;
                }
            }
        }
    }

    /// The answer broke off: its text is shown, nothing of it is a call any more.
    fn flush_as_text(&mut self) {
        let scan = std::mem::replace(&mut self.scan, CallScanner::new(Vec::new()));
        for found in scan.end(false) {
            if let ExtractedPart::Text(text) = found {
                self.ready.push_back(Ok(ModelEvent::Text(text)));
            }
        }
    }

    async fn stop(&mut self, reason: StopReason, usage: TokenUsage) {
        self.usage += usage;
        self.current = RequestUsage::default();
        let scan = std::mem::replace(
            &mut self.scan,
            CallScanner::new(self.tools.clone()).with_quotable(&self.told),
        );
        let whole = matches!(reason, StopReason::EndTurn | StopReason::StopSequence);
        for found in scan.end(reason == StopReason::MaxTokens) {
            match found {
                ExtractedPart::NoCall { text, problem } => {
                    if !whole {
                        return self.give_up("the answer was cut before its end");
                    }
                    let made = RepairAttempt::Made { problem: problem.clone() };
                    let repairs = std::mem::replace(&mut self.repairs, made);
                    let RepairAttempt::May { provider, request } = repairs else {
                        return self.give_up(&problem);
                    };
                    let request = repair_request(request, &text, &problem);
                    let repair = RequestUsage::sent(tokens::of_request(&request));
                    match provider.stream(request).await {
                        Ok(answer) => {
                            self.answer = answer;
                            self.current = repair;
                            self.ready.push_back(Ok(ModelEvent::AnotherRequest));
                            self.tell_usage();
                        }
                        Err(error) => {
                            self.ready.push_back(Ok(ModelEvent::AnotherRequest));
                            self.tell_usage();
                            self.fail(error);
                        }
                    }
                    return;
                }
                found => self.emit(found),
            }
        }
        let reason = if self.called && whole { StopReason::ToolUse } else { reason };
        self.ready.push_back(Ok(ModelEvent::Stopped { reason, usage: self.usage }));
        self.over = true;
    }

    /// Ends with `error`. With the wrong call and what is wrong with it, the request may be too long: it can be built
    /// again for a smaller window that the server tells, and otherwise it is the call that failed, since the
    /// conversation without it fits.
    fn fail(&mut self, error: ModelError) {
        let error = match (&self.repairs, error) {
            (
                RepairAttempt::Made { problem },
                ModelError::ContextExceeded { window, prompt, .. },
            ) => {
                let message = ModelError::unreadable_call_message(problem);
                ModelError::ContextExceeded { message, window, prompt }
            }
            (_, error) => error,
        };
        self.ready.push_back(Err(error));
        self.over = true;
    }

    /// The answer is meant as a call, and no repair made it one: nobody is shown its JSON.
    fn give_up(&mut self, problem: &str) {
        self.tell_usage();
        self.ready.push_back(Err(ModelError::unreadable_call(problem)));
        self.over = true;
    }

    /// Tells how many tokens all answers took until now.
    fn tell_usage(&mut self) {
        let mut usage = self.usage;
        usage += self.current.so_far();
        self.ready.push_back(Ok(ModelEvent::Usage(usage)));
    }

    fn emit(&mut self, found: ExtractedPart) {
        let event = match found {
            ExtractedPart::Text(text) | ExtractedPart::NoCall { text, .. } => {
                self.has_spoken |= !text.is_empty();
                ModelEvent::Text(text)
            }
            ExtractedPart::Call { tool, parameters: arguments } => {
                self.called = true;
                let id = format!("json_{}", Uuid::now_v7().simple()).into();
                ModelEvent::Call(ToolCall { id, tool, arguments })
            }
        };
        self.ready.push_back(Ok(event));
    }
}
