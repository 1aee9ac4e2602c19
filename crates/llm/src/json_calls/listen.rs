//! The answer of a model that was given no tools, with the call that stands in its words.

use std::collections::VecDeque;
use std::sync::Arc;

use futures_util::{StreamExt, stream};
use protocol::Usage;
use uuid::Uuid;

use super::quoted::Told;
use super::scan::{Found, Scan};
use super::words::repair;
use crate::model::{ModelError, ModelEvent, ModelRequest, StopReason, ToolCall, ToolSpec};
use crate::provider::{ModelStream, Provider};

/// Reads `answer`, which was given to `request`, for calls of `tools` that the model was not `told`. An answer that was meant
/// as a call and is none is sent back once; after that it is a failure.
pub(super) fn listen(
    provider: Arc<dyn Provider>,
    request: ModelRequest,
    tools: Vec<ToolSpec>,
    told: Arc<Told>,
    answer: ModelStream,
) -> ModelStream {
    let scan = Scan::new(tools.clone()).told(&told);
    let repairs = Repairs::May { provider, request };
    let ready = VecDeque::new();
    let listener = Listener {
        answer,
        scan,
        tools,
        told,
        repairs,
        usage: Usage::default(),
        called: false,
        ready,
        over: false,
    };
    Box::pin(stream::unfold(listener, |mut listener| async move {
        let event = listener.next().await?;
        Some((event, listener))
    }))
}

struct Listener {
    answer: ModelStream,
    scan: Scan,
    tools: Vec<ToolSpec>,
    told: Arc<Told>,
    repairs: Repairs,
    /// What the answers before this one cost.
    usage: Usage,
    called: bool,
    ready: VecDeque<Result<ModelEvent, ModelError>>,
    over: bool,
}

enum Repairs {
    May { provider: Arc<dyn Provider>, request: ModelRequest },
    Done,
}

impl Listener {
    async fn next(&mut self) -> Option<Result<ModelEvent, ModelError>> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(event);
            }
            if self.over {
                return None;
            }
            match self.answer.next().await {
                Some(Ok(ModelEvent::Text(words))) => {
                    for found in self.scan.feed(&words) {
                        self.take(found);
                    }
                }
                Some(Ok(ModelEvent::Stopped { reason, usage })) => self.stop(reason, usage).await,
                // A wire that was offered no tools has no calls to tell of.
                Some(Ok(
                    ModelEvent::Verbatim(_) | ModelEvent::Call(_) | ModelEvent::BrokenCall { .. },
                )) => {}
                Some(Err(error)) => {
                    self.let_go();
                    self.ready.push_back(Err(error));
                    self.over = true;
                }
                None => {
                    self.let_go();
                    self.over = true;
                }
            }
        }
    }

    /// The answer broke off: its words are shown, nothing of it is a call any more.
    fn let_go(&mut self) {
        let scan = std::mem::replace(&mut self.scan, Scan::new(Vec::new()));
        for found in scan.end() {
            if let Found::Words(words) = found {
                self.ready.push_back(Ok(ModelEvent::Text(words)));
            }
        }
    }

    async fn stop(&mut self, reason: StopReason, usage: Usage) {
        self.usage += usage;
        let scan =
            std::mem::replace(&mut self.scan, Scan::new(self.tools.clone()).told(&self.told));
        let whole = matches!(reason, StopReason::EndTurn | StopReason::StopSequence);
        for found in scan.end() {
            match found {
                Found::NoCall { words, problem } => {
                    let repairs = std::mem::replace(&mut self.repairs, Repairs::Done);
                    let Repairs::May { provider, request } = repairs else {
                        return self.give_up(&problem);
                    };
                    if !whole {
                        return self.give_up("the answer was cut before its end");
                    }
                    match provider.stream(repair(request, &words, &problem)).await {
                        Ok(answer) => self.answer = answer,
                        Err(error) => {
                            self.ready.push_back(Err(error));
                            self.over = true;
                        }
                    }
                    return;
                }
                found => self.take(found),
            }
        }
        let reason = if self.called && whole { StopReason::ToolUse } else { reason };
        self.ready.push_back(Ok(ModelEvent::Stopped { reason, usage: self.usage }));
        self.over = true;
    }

    /// The answer is meant as a call, and no repair made it one: nobody is shown its JSON.
    fn give_up(&mut self, problem: &str) {
        self.ready.push_back(Err(ModelError::unreadable_call(problem)));
        self.over = true;
    }

    fn take(&mut self, found: Found) {
        let event = match found {
            Found::Words(words) | Found::NoCall { words, .. } => ModelEvent::Text(words),
            Found::Call { tool, parameters: arguments } => {
                self.called = true;
                let id = format!("json_{}", Uuid::now_v7().simple()).into();
                ModelEvent::Call(ToolCall { id, tool, arguments })
            }
        };
        self.ready.push_back(Ok(event));
    }
}
