//! The answer of a model that was offered tools as its server takes them.
//!
//! A call that the server did not recognise comes as words: where the whole answer is calls, they are
//! taken for what they are. Words with a call in them stay words, for a note that is quoted may hold one.
//! And a server may drop the tools in silence; then the prompt that it counts is far shorter than the one
//! that was sent.

use std::collections::VecDeque;

use futures_util::{StreamExt, stream};
use protocol::Usage;
use uuid::Uuid;

use super::JsonCalls;
use super::quoted::Told;
use super::written::{self, Written};
use crate::model::{ModelError, ModelEvent, ModelRequest, StopReason, ToolCall, ToolSpec};
use crate::provider::ModelStream;
use crate::tokens;

/// Words that may be a call are held back so far, in bytes.
const LONGEST: usize = 64 * 1024;

/// Tools are taken for dropped when the server counts less than this part of what was sent, and no more
/// than [`ALONE`] times what there is without them. Estimates are off by less.
const FAR_SHORTER: u32 = 3;
const ALONE: u32 = 2;

/// Whether the server passes tools on is not known: its first answer is held back until it is.
pub(super) struct Doubt {
    pub(super) calls: JsonCalls,
    pub(super) request: ModelRequest,
}

pub(super) fn listen(
    answer: ModelStream,
    tools: Vec<ToolSpec>,
    told: Told,
    doubt: Option<Doubt>,
) -> ModelStream {
    let listener = Listener {
        answer,
        tools,
        told,
        doubt,
        held: Some(String::new()),
        usage: Usage::default(),
        ready: VecDeque::new(),
        over: false,
    };
    Box::pin(stream::unfold(listener, |mut listener| async move {
        let event = listener.next().await?;
        Some((event, listener))
    }))
}

struct Listener {
    answer: ModelStream,
    tools: Vec<ToolSpec>,
    told: Told,
    doubt: Option<Doubt>,
    /// Words that are not given out yet; `None` once the answer is known to be no call in words.
    held: Option<String>,
    /// The cost of an answer that was thrown away.
    usage: Usage,
    ready: VecDeque<Result<ModelEvent, ModelError>>,
    over: bool,
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
                Some(Ok(ModelEvent::Text(words))) => self.hear(words),
                Some(Ok(ModelEvent::Stopped { reason, usage })) => self.stop(reason, usage).await,
                Some(Ok(event)) => {
                    self.settle();
                    self.ready.push_back(Ok(event));
                }
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

    fn hear(&mut self, words: String) {
        let Some(held) = &mut self.held else {
            return self.ready.push_back(Ok(ModelEvent::Text(words)));
        };
        held.push_str(&words);
        let may_be = held.len() <= LONGEST && written::may_be(held);
        if !may_be && self.doubt.is_none() {
            self.let_go();
        }
    }

    /// The model called a tool as its server takes it, or the vendor's own content came: there is nothing
    /// to doubt.
    fn settle(&mut self) {
        self.let_go();
        if let Some(Doubt { calls, request }) = self.doubt.take() {
            calls.no_tools.takes(&calls.address, &request.model);
        }
    }

    fn let_go(&mut self) {
        let held = self.held.take().filter(|held| !held.is_empty());
        self.ready.extend(held.map(|held| Ok(ModelEvent::Text(held))));
    }

    async fn stop(&mut self, reason: StopReason, usage: Usage) {
        self.usage += usage;
        if let Some(Doubt { calls, request }) = self.doubt.take() {
            if drops_tools(&request, usage) {
                return self.ask_in_words(calls, request).await;
            }
            // Nothing speaks against it, so no other answer is held back.
            calls.no_tools.takes(&calls.address, &request.model);
        }
        let held = self.held.take().unwrap_or_default();
        let whole = matches!(reason, StopReason::EndTurn | StopReason::StopSequence);
        let is_repeated = |call: &Written| {
            call.arguments.as_ref().is_ok_and(|given| self.told.holds(&call.tool, given))
        };
        let found = whole.then(|| written::all_of(&held, &self.tools)).flatten();
        let found = found.filter(|calls| !calls.iter().any(is_repeated));
        let called = found.is_some();
        match found {
            Some(calls) => self.ready.extend(calls.into_iter().map(|call| Ok(event(call)))),
            None if held.is_empty() => {}
            None => self.ready.push_back(Ok(ModelEvent::Text(held))),
        }
        let reason = if called { StopReason::ToolUse } else { reason };
        self.ready.push_back(Ok(ModelEvent::Stopped { reason, usage: self.usage }));
        self.over = true;
    }

    /// The tools did not reach the model: what it said without them is thrown away.
    async fn ask_in_words(&mut self, calls: JsonCalls, request: ModelRequest) {
        calls.no_tools.learn(&calls.address, &request.model).await;
        match calls.speak(request).await {
            Ok(answer) => {
                self.answer = answer;
                self.held = None;
                self.tools.clear();
            }
            Err(error) => {
                self.ready.push_back(Err(error));
                self.over = true;
            }
        }
    }
}

/// Whether the server counted about as many tokens as there are without the tools, where these are most of
/// the request. A long conversation that was cut says nothing of tools.
fn drops_tools(request: &ModelRequest, usage: Usage) -> bool {
    let counted = [usage.input, usage.cache_read, usage.cache_write];
    let counted = counted.into_iter().fold(0, u32::saturating_add);
    let all = tokens::of_request(request);
    let tools = request.tools.iter().map(tokens::of_tool).fold(0, u32::saturating_add);
    let alone = all.saturating_sub(tools);
    counted > 0
        && counted.saturating_mul(FAR_SHORTER) < all
        && counted <= alone.saturating_mul(ALONE)
}

fn event(Written { tool, arguments }: Written) -> ModelEvent {
    let id = format!("written_{}", Uuid::now_v7().simple()).into();
    match arguments {
        Ok(arguments) => ModelEvent::Call(ToolCall { id, tool, arguments }),
        Err(problem) => ModelEvent::BrokenCall { id, tool, problem },
    }
}
