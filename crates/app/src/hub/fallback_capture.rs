//! Keeps the text of a hub message when no model can be asked, or when the model did nothing about
//! it: appended, verbatim, to the inbox note.
//!
//! It runs through the same turn, tools, change sets and ledger as a model's answer. The call is planned over all notes: the
//! inbox note may be one that no model sees. So models are not told its outcome
//! (`privacy::history_filter::withheld_captures`).

pub(crate) mod capture_call;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use async_trait::async_trait;
use futures_util::{StreamExt as _, stream};
use llm::model::{
    ContentBlock, ModelError, ModelEvent, ModelMessage, ModelRequest, OWN_CALL_PREFIX, StopReason,
    ToolCall,
};
use llm::provider::{ModelStream, Provider};
use llm::tool_api::tool::ToolEffect;
use llm::{Capabilities, ToolRegistry};
use protocol::notes::invisible::without_invisible;
use protocol::{CallId, ModelInfo, NotePath, Question, Role, TokenUsage};
use serde_json::{Value, json};
use tools::catalog::RESOLVE_QUESTION;
use tools::plan_outcome;

use crate::chat::user_message::title_from_text;
use crate::user_texts;
use capture_call::{
    APPEND_TOOL, captures_message, is_capture_call, saved_text, with_settings_notice,
};

/// Precedes text that answers the open question.
const ANSWER_PREFIX: &str = "answer:";

/// After this many failed turns a message is kept as it is; if that fails too, it is parked for the
/// user.
pub(crate) const MAX_TURN_ATTEMPTS: u32 = 3;

/// Appends the user's message and reports that it is saved; text behind “answer:” answers the open
/// question, if there is one.
pub(crate) struct FallbackCapture {
    /// The note to which messages are added.
    pub(crate) inbox: NotePath,
    /// Calls that an interruption kept from doing anything: such a capture is made again.
    pub(crate) ineffective_calls: Vec<CallId>,
    pub(crate) question: Option<Question>,
    /// Whether a model is missing because the settings file does not count; then the answer says so
    /// as well.
    pub(crate) without_settings: bool,
}

#[async_trait]
impl Provider for FallbackCapture {
    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        let asked = self.question.as_ref().filter(|_| is_answer(&last_user_text(&request)));
        if let Some(call) = cut_call(&request, &self.ineffective_calls) {
            let events = repeat(&request, call, &self.inbox, &last_user_text(&request));
            return Ok(Box::pin(stream::iter(events.into_iter().map(Ok))));
        }
        let events = match (last_result(&request), asked) {
            (None, Some(question)) => {
                call_events(&request, RESOLVE_QUESTION, answer_arguments(question))
            }
            (Some((RESOLVE_QUESTION, false, _)), Some(question)) => self.text_events(format!(
                "Noted as the answer to “{}”. No model was asked to go on with it.",
                title_from_text(&question.text)
            )),
            // A message that answers no question is kept as it was sent.
            (None | Some((RESOLVE_QUESTION, ..)), _) => {
                append(&request, &self.inbox, &last_user_text(&request))
            }
            (Some((_, true, why)), _) => {
                return Err(ModelError::InvalidRequest(user_texts::message_not_saved(why)));
            }
            (Some((_, false, output)), _) => {
                self.text_events(saved_text(&self.inbox, plan_outcome::parse(output)))
            }
        };
        Ok(Box::pin(stream::iter(events.into_iter().map(Ok))))
    }
}

/// Asks a model about a hub message, and keeps the message where the model ends its answer having
/// done nothing: it changed nothing and asked nothing, and found nothing for a question. A small model
/// answers “remember oat milk” with “Always remember to buy oat milk”, perhaps after a search, and
/// nothing would be saved.
pub(crate) struct CaptureIfIgnored {
    pub(crate) provider: Arc<dyn Provider>,
    /// The note to which they are added.
    pub(crate) inbox: NotePath,
    /// Calls that an interruption kept from doing anything: such a capture is made again.
    pub(crate) ineffective_calls: Vec<CallId>,
    /// The text of the message.
    pub(crate) message: String,
    /// Knows which tools only read, and which talk.
    pub(crate) registry: Arc<ToolRegistry>,
}

/// A tool that looks at no note, and so does nothing about a message.
const CLOCK_TOOL: &str = "get_current_time";

/// The question marks of Latin, East Asian, Arabic and Greek script.
const QUESTION_MARKS: [char; 4] = ['?', '？', '؟', '\u{37e}'];

/// What the addresses of pages contain.
const ADDRESS_MARKS: [&str; 2] = ["://", "www."];

/// How the results of searches begin that found nothing.
const EMPTY_RESULT_PREFIXES: [&str; 2] = ["No ", "Nothing "];

#[async_trait]
impl Provider for CaptureIfIgnored {
    fn server_id(&self) -> String {
        self.provider.server_id()
    }

    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        let cut = cut_call(&request, &self.ineffective_calls);
        if let Some(call) = cut.filter(|_| !request.tools.is_empty()) {
            let events = repeat(&request, call, &self.inbox, &self.message);
            return Ok(Box::pin(stream::iter(events.into_iter().map(Ok))));
        }
        match last_call(&request) {
            Some((call, true, why)) if is_capture(call) => {
                return Err(ModelError::InvalidRequest(user_texts::message_not_saved(why)));
            }
            Some((call, false, output)) if is_capture(call) => {
                return Ok(Box::pin(stream::iter(
                    saved_events(&self.inbox, output).into_iter().map(Ok),
                )));
            }
            _ => {}
        }
        let effect = |tool: &str| self.registry.effect(tool);
        if has_acted(&request, &self.message, effect) {
            return self.provider.stream(request).await;
        }
        // The model was told to close, and no call is run any more: the next try keeps the message.
        let is_closing = request.tools.is_empty();
        let ending = append(&request, &self.inbox, &self.message);
        let has_talked = has_talked(&request, &self.message, effect);
        let answer = self.provider.stream(request).await?;
        Ok(match is_closing {
            true => fail_at_end(answer),
            false => replace_end_unless_called(answer, ending, has_talked),
        })
    }

    async fn models(&self) -> Result<Vec<ModelInfo>, ModelError> {
        self.provider.models().await
    }

    async fn capabilities(&self, model: &str) -> Capabilities {
        self.provider.capabilities(model).await
    }

    async fn runs_elsewhere(&self, model: &str) -> Result<bool, ModelError> {
        self.provider.runs_elsewhere(model).await
    }
}

/// The answer, with an error in the place of its end, whatever it says: it may claim to have saved
/// the message.
fn fail_at_end(answer: ModelStream) -> ModelStream {
    let did_nothing = || ModelError::InvalidRequest(user_texts::model_did_nothing());
    Box::pin(answer.map(move |event| match event {
        Ok(ModelEvent::Stopped { .. }) => Err(did_nothing()),
        event => event,
    }))
}

/// The answer, with `ending` in the place of its end if it has no calls and has text, or is empty after a model
/// that `has_talked`: then the turn would end with it.
fn replace_end_unless_called(
    answer: ModelStream,
    ending: Vec<ModelEvent>,
    has_talked: bool,
) -> ModelStream {
    let (mut has_called, mut has_spoken, mut ending) = (false, false, Some(ending));
    let events = answer.flat_map(move |event| {
        let events = match event {
            Ok(ModelEvent::Stopped { usage, reason })
                if !has_called && (has_spoken || (has_talked && is_end(reason))) =>
            {
                let instead = ending.take().unwrap_or_default();
                instead.into_iter().map(|event| Ok(with_usage(event, usage))).collect()
            }
            event => {
                match &event {
                    Ok(ModelEvent::Text(text)) => has_spoken |= !text.trim().is_empty(),
                    Ok(
                        ModelEvent::Call(_)
                        | ModelEvent::OwnCall(_)
                        | ModelEvent::BrokenCall { .. },
                    ) => has_called = true,
                    _ => {}
                }
                vec![event]
            }
        };
        stream::iter(events)
    });
    Box::pin(events)
}

/// Whether an answer without calls that stops so is whole.
const fn is_end(reason: StopReason) -> bool {
    matches!(reason, StopReason::EndTurn | StopReason::StopSequence | StopReason::ToolUse)
}

fn with_usage(event: ModelEvent, usage: TokenUsage) -> ModelEvent {
    match event {
        ModelEvent::Stopped { reason, .. } => ModelEvent::Stopped { reason, usage },
        event => event,
    }
}

/// Whether a call since the message did something about it: changed or planned to change a note, found or
/// read something for a question, or answered the question that waited. That the message is no answer
/// leaves it to be worked on. `effect` tells what a tool does.
fn has_acted(
    request: &ModelRequest,
    message: &str,
    effect: impl Fn(&str) -> Option<ToolEffect>,
) -> bool {
    let does = |call: &ToolCall| match (call.tool.as_str(), effect(&call.tool)) {
        (RESOLVE_QUESTION, _) => {
            call.arguments.get("is_answer").and_then(Value::as_bool) == Some(true)
        }
        (CLOCK_TOOL, _) | (_, Some(ToolEffect::Speak | ToolEffect::End)) => false,
        (_, Some(ToolEffect::Read)) => is_question(message),
        _ => true,
    };
    successful_calls(since_message(request, message)).any(|(call, output)| {
        does(call) && !EMPTY_RESULT_PREFIXES.iter().any(|start| output.starts_with(start))
    })
}

/// Whether the message is a question by its punctuation. A question without a question mark is answered, and
/// kept as well.
fn is_question(message: &str) -> bool {
    message.split_whitespace().any(has_question_end)
}

/// Whether a question ends in the word, or with it. A question mark inside an address begins its query.
fn has_question_end(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    let is_address = ADDRESS_MARKS.iter().any(|mark| lower.contains(mark));
    word.match_indices(QUESTION_MARKS).any(|(at, mark)| {
        let rest = word.get(at + mark.len()..).unwrap_or_default();
        match is_address {
            true => !rest.contains(is_in_query),
            false => !rest.starts_with(|next: char| is_in_query(next) && !is_unspaced(next)),
        }
    })
}

/// Whether the character goes on with the query of an address.
fn is_in_query(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '=' | '&')
}

/// Whether the letter is of a script that sets no spaces: the next sentence follows a question mark at once.
const fn is_unspaced(letter: char) -> bool {
    matches!(letter,
        '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' // Kana, Han
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{323af}')
}

/// Whether a model has talked by a call since the message: then an empty answer may end its turn, at least
/// after a restart.
fn has_talked(
    request: &ModelRequest,
    message: &str,
    effect: impl Fn(&str) -> Option<ToolEffect>,
) -> bool {
    let talks = |call: &ToolCall| effect(&call.tool) == Some(ToolEffect::Speak);
    successful_calls(since_message(request, message)).any(|(call, _)| talks(call))
}

/// The messages from the one of the user on.
fn since_message<'a>(request: &'a ModelRequest, message: &str) -> &'a [ModelMessage] {
    // A request may lack the characters that nobody sees.
    let message = without_invisible(message);
    let is_message = |block: &ContentBlock| matches!(block, ContentBlock::Text(text) if without_invisible(text) == message);
    let is_text = |block: &ContentBlock| matches!(block, ContentBlock::Text(_));
    let last = |is: &dyn Fn(&ContentBlock) -> bool| {
        let is_said =
            |message: &ModelMessage| message.role == Role::User && message.blocks.iter().any(is);
        request.messages.iter().rposition(is_said)
    };
    let sent = last(&is_message).or_else(|| last(&is_text));
    request.messages.get(sent.unwrap_or_default()..).unwrap_or_default()
}

/// The calls in these messages that did not fail, with their outputs.
fn successful_calls(messages: &[ModelMessage]) -> impl Iterator<Item = (&ToolCall, &str)> {
    let blocks = move || messages.iter().flat_map(|message| &message.blocks);
    blocks().filter_map(move |block| match block {
        ContentBlock::Result { call: id, output, is_error: false, .. } => {
            let mut calls = blocks().filter_map(|block| match block {
                ContentBlock::Call(call) => Some(call),
                _ => None,
            });
            calls.find(|call| call.id == *id).map(|call| (call, output.as_str()))
        }
        _ => None,
    })
}

/// Whether the call keeps a message, and no model made it.
fn is_capture(call: &ToolCall) -> bool {
    captures_message(&call.id, &call.tool)
}

/// The call that was made last, if no model made it and it was cut before it changed a note.
fn cut_call<'a>(request: &'a ModelRequest, undone: &[CallId]) -> Option<&'a ToolCall> {
    let (call, is_error, _) = last_call(request)?;
    (is_error && is_capture_call(&call.id) && undone.contains(&call.id)).then_some(call)
}

/// A call that was cut, once more. No ledger tells whether an answer was stored; the same answer of a message
/// is stored once.
fn repeat(
    request: &ModelRequest,
    call: &ToolCall,
    inbox: &NotePath,
    message: &str,
) -> Vec<ModelEvent> {
    match is_capture(call) {
        true => append(request, inbox, message),
        false => call_events(request, &call.tool, call.arguments.clone()),
    }
}

/// The events once the message is in the inbox note.
fn saved_events(inbox: &NotePath, output: &str) -> Vec<ModelEvent> {
    let text = saved_text(inbox, plan_outcome::parse(output));
    vec![ModelEvent::Text(text), stop_event(StopReason::EndTurn)]
}

/// The tool that was called last, whether it failed, and its output.
fn last_result(request: &ModelRequest) -> Option<(&str, bool, &str)> {
    last_call(request).map(|(call, is_error, output)| (call.tool.as_str(), is_error, output))
}

fn last_call(request: &ModelRequest) -> Option<(&ToolCall, bool, &str)> {
    let [.., before, last] = request.messages.as_slice() else { return None };
    let [ContentBlock::Result { output, is_error, .. }] = last.blocks.as_slice() else {
        return None;
    };
    let call = before.blocks.iter().find_map(|block| match block {
        ContentBlock::Call(call) => Some(call),
        _ => None,
    })?;
    Some((call, *is_error, output.as_str()))
}

/// The last message of the user.
fn last_user_text(request: &ModelRequest) -> String {
    let own = request.messages.iter().rev().filter(|message| message.role == Role::User);
    let blocks = own.flat_map(|message| message.blocks.iter().rev());
    let mut texts = blocks.filter_map(|block| match block {
        ContentBlock::Text(text) => Some(text),
        _ => None,
    });
    texts.next().cloned().unwrap_or_default()
}

fn is_answer(text: &str) -> bool {
    let start = text.trim_start().get(..ANSWER_PREFIX.len());
    start.is_some_and(|start| start.eq_ignore_ascii_case(ANSWER_PREFIX))
}

fn answer_arguments(question: &Question) -> Value {
    json!({ "question_id": question.id.as_str(), "is_answer": true })
}

fn call_events(request: &ModelRequest, tool: &str, arguments: Value) -> Vec<ModelEvent> {
    let before = request.messages.iter().flat_map(|message| &message.blocks);
    let before = before.filter(|block| matches!(block, ContentBlock::Call(_))).count();
    let id = CallId::from(format!("{OWN_CALL_PREFIX}{}", before + 1));
    let call = ToolCall { id, tool: tool.to_owned(), arguments };
    vec![ModelEvent::OwnCall(call), stop_event(StopReason::ToolUse)]
}

/// The call that adds the message to the inbox note.
fn append(request: &ModelRequest, inbox: &NotePath, message: &str) -> Vec<ModelEvent> {
    // The tool takes text without a slash for a name, and would look through the vault for notes of that name.
    let path = match inbox.folder() {
        Some(_) => inbox.to_string(),
        None => format!("./{inbox}"),
    };
    call_events(request, APPEND_TOOL, json!({ "path": path, "content": list_item(message) }))
}

/// A list item; further lines are indented so that they stay part of it.
fn list_item(text: &str) -> String {
    format!("- {}", text.trim().lines().collect::<Vec<_>>().join("\n  "))
}

impl FallbackCapture {
    fn text_events(&self, text: String) -> Vec<ModelEvent> {
        let text = match self.without_settings {
            true => with_settings_notice(&text),
            false => text,
        };
        vec![ModelEvent::Text(text), stop_event(StopReason::EndTurn)]
    }
}

fn stop_event(reason: StopReason) -> ModelEvent {
    ModelEvent::Stopped { reason, usage: TokenUsage::default() }
}
