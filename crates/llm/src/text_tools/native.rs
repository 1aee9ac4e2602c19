//! The answer of a model that was offered tools in its server's format.
//!
//! A call that the server did not recognize comes as text: where the whole answer is calls, they
//! are taken for what they are. Small models on this computer also write words around a call, so
//! their text is scanned for one. The text of other servers stays text when it has words around a
//! call: their models know the format, and explain calls. A thought before the answer is no part of
//! it. And a server may drop the tools without an error; then the prompt that it counts is far
//! shorter than the one that was sent.

use std::collections::VecDeque;
use std::sync::Arc;

use futures_util::{StreamExt, stream};
use protocol::TokenUsage;
use uuid::Uuid;

use super::TextToolProvider;
use super::call_formats::{self, WrittenCall};
use super::extract::{CallScanner, ExtractedPart};
use super::quoted::QuotableText;
use super::thoughts::{self, THOUGHT_END, THOUGHT_START, ThoughtState};
use crate::context::tokens;
use crate::model::{ModelError, ModelEvent, ModelRequest, StopReason, ToolCall, ToolSpec};
use crate::provider::ModelStream;
use crate::transport::decoder::cut_call;
use crate::transport::retry;

/// Text that may be a call is held back so far, in bytes.
const MAX_HELD_BYTES: usize = 64 * 1024;

/// Tools are taken for dropped when the server counts less than this part of what was sent, and no more
/// than [`WITHOUT_TOOLS_MARGIN`] times what there is without them. Estimates are off by less.
const DROPPED_TOOLS_RATIO: u32 = 3;
const WITHOUT_TOOLS_MARGIN: u32 = 2;

/// Whether the server passes tools on is not known: its first answer is held back until it is.
pub(super) struct SupportProbe {
    pub(super) calls: TextToolProvider,
    pub(super) request: ModelRequest,
}

/// Where a model may write words around a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CallPlace {
    /// A call is a whole answer.
    WholeAnswer,
    /// A call may stand anywhere in an answer.
    Anywhere,
}

pub(super) fn native_tool_stream(
    answer: ModelStream,
    tools: Vec<ToolSpec>,
    quotable: QuotableText,
    place: CallPlace,
    doubt: Option<SupportProbe>,
) -> ModelStream {
    let quotable = Arc::new(quotable);
    let scan = (place == CallPlace::Anywhere)
        .then(|| CallScanner::new(tools.clone()).with_quotable(&quotable));
    let listener = NativeToolStream {
        answer,
        tools,
        told: quotable,
        scan,
        written: None,
        has_native_call: false,
        doubt,
        held: Some(String::new()),
        thought: ThoughtState::Unknown,
        usage: TokenUsage::default(),
        ready: VecDeque::new(),
        over: false,
    };
    Box::pin(stream::unfold(listener, |mut listener| async move {
        let event = listener.next().await?;
        Some((event, listener))
    }))
}

struct NativeToolStream {
    answer: ModelStream,
    tools: Vec<ToolSpec>,
    told: Arc<QuotableText>,
    /// Looks for calls in text that is not made of calls alone; `None` where all of it is shown.
    scan: Option<CallScanner>,
    /// Such a call, until the end shows that the server found none itself: models also write a call down before
    /// they make it.
    written: Option<ModelEvent>,
    has_native_call: bool,
    doubt: Option<SupportProbe>,
    /// Text that is not given out yet; `None` once the answer is known to be no call in text.
    held: Option<String>,
    /// The thought that the answer begins with. Its text is given out before the rest is judged.
    thought: ThoughtState,
    /// The cost of an answer that was thrown away.
    usage: TokenUsage,
    ready: VecDeque<Result<ModelEvent, ModelError>>,
    over: bool,
}

impl NativeToolStream {
    async fn next(&mut self) -> Option<Result<ModelEvent, ModelError>> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(event);
            }
            if self.over {
                return None;
            }
            match self.answer.next().await {
                Some(Ok(ModelEvent::Text(text))) => self.receive_text(text),
                Some(Ok(ModelEvent::Stopped { reason, usage })) => self.stop(reason, usage).await,
                Some(Ok(ModelEvent::Usage(usage))) => self.tell_usage(usage),
                Some(Ok(event)) => {
                    self.confirm_support();
                    self.has_native_call |=
                        matches!(event, ModelEvent::Call(_) | ModelEvent::BrokenCall { .. });
                    self.ready.push_back(Ok(event));
                }
                Some(Err(error)) => {
                    match retry::is_retryable(&error) {
                        true => self.tell_held(),
                        false => self.flush_as_text(),
                    }
                    self.end_scan_as_text();
                    self.ready.push_back(Err(error));
                    self.over = true;
                }
                // The answer broke off, which is a reason to send the request again.
                None => {
                    self.tell_held();
                    self.end_scan_as_text();
                    self.over = true;
                }
            }
        }
    }

    fn receive_text(&mut self, text: String) {
        let Some(held) = &mut self.held else { return self.show(text) };
        held.push_str(&text);
        if self.doubt.is_some() {
            return;
        }
        self.show_leading_thought();
        let held = self.held.as_deref().unwrap_or_default();
        let may_be = call_formats::may_be_calls(held)
            || THOUGHT_START.starts_with(held.trim_start())
            || self.thought == ThoughtState::Open;
        if !may_be || held.len() > MAX_HELD_BYTES {
            self.flush_as_text();
        }
    }

    /// Gives out what came of a thought at the beginning of the held text: the text after it may
    /// still consist of calls.
    fn show_leading_thought(&mut self) {
        let Some(held) = &mut self.held else { return };
        let begins = held.trim_start().starts_with(THOUGHT_START);
        if begins && self.thought == ThoughtState::Unknown {
            self.thought = ThoughtState::Open;
        }
        if self.thought != ThoughtState::Open {
            return;
        }
        let until = match held.find(THOUGHT_END) {
            Some(at) => {
                self.thought = ThoughtState::Closed;
                at + THOUGHT_END.len()
            }
            None => thoughts::partial_end(held),
        };
        let rest = held.split_off(until);
        let thought = std::mem::replace(held, rest);
        self.show(thought);
    }

    /// The model called a tool in its server's format, or verbatim content came: the model supports
    /// tools.
    fn confirm_support(&mut self) {
        self.flush_as_text();
        self.end_scan_as_text();
        if let Some(SupportProbe { calls, request }) = self.doubt.take() {
            calls.toolless.mark_supported(&calls.base_url, &request.model);
        }
    }

    /// Text that was never given out does not keep the request from being sent again. Nobody is shown the JSON of
    /// a call.
    fn tell_held(&mut self) {
        let mut held = self.held.take().unwrap_or_default();
        let answer = thoughts::leading_thought(&held);
        if held.get(answer..).is_some_and(call_formats::may_be_calls) {
            held.truncate(answer);
        }
        if !held.is_empty() {
            self.ready.push_back(Ok(ModelEvent::HeldText(held)));
        }
    }

    fn flush_as_text(&mut self) {
        if let Some(held) = self.held.take() {
            self.show(held);
        }
    }

    /// Gives out text, and a call that stands in it where one may.
    fn show(&mut self, text: String) {
        match &mut self.scan {
            None if text.is_empty() => {}
            None => self.ready.push_back(Ok(ModelEvent::Text(text))),
            Some(scan) => {
                for part in scan.feed(&text) {
                    self.emit(part);
                }
            }
        }
    }

    /// The text goes no further: what the scan holds of it is shown, except for the JSON of a call. A
    /// call that fits is kept for the end of the answer.
    fn end_scan_as_text(&mut self) {
        for part in self.take_scan().into_iter().flat_map(|scan| scan.end(false)) {
            if !matches!(part, ExtractedPart::NoCall { .. }) {
                self.emit(part);
            }
        }
    }

    /// The scan with what it holds; another one takes its place.
    fn take_scan(&mut self) -> Option<CallScanner> {
        let next = CallScanner::new(self.tools.clone()).with_quotable(&self.told);
        self.scan.as_mut().map(|scan| std::mem::replace(scan, next))
    }

    fn emit(&mut self, part: ExtractedPart) {
        match part {
            ExtractedPart::Text(text) => self.ready.push_back(Ok(ModelEvent::Text(text))),
            ExtractedPart::Call { tool, parameters: arguments } => {
                let call = ToolCall { id: new_call_id().into(), tool, arguments };
                self.written = Some(ModelEvent::Call(call));
            }
            ExtractedPart::NoCall { text, problem } => {
                let tool = call_formats::named_tool(&text, &self.tools);
                if tool.is_empty() {
                    // The words around it speak for an example of something else.
                    self.ready.push_back(Ok(ModelEvent::Text(text)));
                } else {
                    let id = new_call_id().into();
                    self.written = Some(ModelEvent::BrokenCall { id, tool, problem });
                }
            }
        }
    }

    async fn stop(&mut self, reason: StopReason, usage: TokenUsage) {
        self.usage += usage;
        if let Some(SupportProbe { calls, request }) = self.doubt.take() {
            if drops_tools(&request, usage) {
                return self.restart_as_text(calls, request).await;
            }
            // Nothing speaks against it, so no other answer is held back.
            calls.toolless.mark_supported(&calls.base_url, &request.model);
        }
        self.show_leading_thought();
        let held = self.held.take().unwrap_or_default();
        let found = match reason {
            StopReason::EndTurn | StopReason::StopSequence => {
                call_formats::parse_all(&held, &self.tools)
            }
            StopReason::MaxTokens => call_formats::parse_cut(&held, &self.tools),
            _ => None,
        };
        let found = found.filter(|calls| !calls.iter().any(|call| self.told.repeats(call)));
        let reason = match (found, reason) {
            (Some(calls), StopReason::MaxTokens) => {
                let cut = |call: WrittenCall| Ok(cut_call(new_call_id(), call.tool));
                self.ready.extend(calls.into_iter().map(cut));
                reason
            }
            (Some(calls), _) => {
                self.ready.extend(calls.into_iter().map(|call| Ok(event(call))));
                StopReason::ToolUse
            }
            (None, _) => self.end_text(held, reason),
        };
        self.ready.push_back(Ok(ModelEvent::Stopped { reason, usage: self.usage }));
        self.over = true;
    }

    /// Gives out the end of an answer that is not made of calls alone. Returns why it ended: a call may stand in it.
    fn end_text(&mut self, held: String, reason: StopReason) -> StopReason {
        self.show(held);
        let is_cut = reason == StopReason::MaxTokens;
        for part in self.take_scan().into_iter().flat_map(|scan| scan.end(is_cut)) {
            match part {
                ExtractedPart::NoCall { text, .. } if is_cut => {
                    let tool = call_formats::named_tool(&text, &self.tools);
                    self.written = Some(cut_call(new_call_id(), tool));
                }
                part => self.emit(part),
            }
        }
        let Some(call) = self.written.take().filter(|_| !self.has_native_call) else {
            return reason;
        };
        self.ready.push_back(Ok(call));
        let is_whole = matches!(reason, StopReason::EndTurn | StopReason::StopSequence);
        if is_whole { StopReason::ToolUse } else { reason }
    }

    /// The tools did not reach the model: its answer without them is thrown away.
    async fn restart_as_text(&mut self, calls: TextToolProvider, request: ModelRequest) {
        calls.toolless.insert(&calls.base_url, &request.model).await;
        match calls.stream_as_text(request).await {
            Ok(answer) => {
                self.answer = answer;
                self.held = None;
                // Its calls are found before they come here.
                self.scan = None;
                self.tools.clear();
                self.ready.push_back(Ok(ModelEvent::AnotherRequest));
            }
            Err(error) => {
                self.tell_usage(TokenUsage::default());
                self.ready.push_back(Err(error));
                self.over = true;
            }
        }
    }

    /// Tells the tokens of the answer until now: `usage` and those of the requests before.
    fn tell_usage(&mut self, mut usage: TokenUsage) {
        usage += self.usage;
        self.ready.push_back(Ok(ModelEvent::Usage(usage)));
    }
}

/// Whether the server counted about as many tokens as there are without the tools, where these are most of
/// the request. A long conversation that was cut says nothing of tools.
fn drops_tools(request: &ModelRequest, usage: TokenUsage) -> bool {
    let counted = [usage.input, usage.cache_read, usage.cache_write];
    let counted = counted.into_iter().fold(0, u32::saturating_add);
    let all = tokens::of_request(request);
    let tools = request.tools.iter().map(tokens::of_tool).fold(0, u32::saturating_add);
    let alone = all.saturating_sub(tools);
    counted > 0
        && counted.saturating_mul(DROPPED_TOOLS_RATIO) < all
        && counted <= alone.saturating_mul(WITHOUT_TOOLS_MARGIN)
}

fn event(WrittenCall { tool, arguments }: WrittenCall) -> ModelEvent {
    let id = new_call_id().into();
    match arguments {
        Ok(arguments) => ModelEvent::Call(ToolCall { id, tool, arguments }),
        Err(problem) => ModelEvent::BrokenCall { id, tool, problem: problem.text },
    }
}

fn new_call_id() -> String {
    format!("written_{}", Uuid::now_v7().simple())
}
