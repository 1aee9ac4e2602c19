//! Keeps the text of a hub message when no model can be asked, or when the model did nothing about
//! it: appended, verbatim, to the inbox note.
//!
//! It runs through the same turn, tools, change sets and ledger as a model's answer.

use std::sync::Arc;

use async_trait::async_trait;
use futures_util::{StreamExt as _, stream};
use llm::Capabilities;
use llm::model::{
    ContentBlock, ModelError, ModelEvent, ModelMessage, ModelRequest, StopReason, ToolCall,
};
use llm::provider::{ModelStream, Provider};
use protocol::{CallId, ModelInfo, NotePath, Question, Role, TokenUsage};
use serde_json::{Value, json};
use tools::catalog::RESOLVE_QUESTION;
use tools::plan_outcome::{self, PlanOutcome};

use crate::chat::send::title_from_text;

/// The tool that keeps them.
const APPEND_TOOL: &str = "append_file";

/// How the ids of its calls begin.
const CALL_ID_PREFIX: &str = "capture-";

/// Precedes text that answers the open question.
const ANSWER_PREFIX: &str = "answer:";

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
        let events = match (last_result(&request), asked) {
            _ if was_cut_without_effect(&request, &self.ineffective_calls) => {
                append(&request, &self.inbox, &last_user_text(&request))
            }
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
                return Err(ModelError::InvalidRequest(format!(
                    "Couldn’t save this message: {why}"
                )));
            }
            (Some((_, false, output)), _) => self.text_events(saved_text(&self.inbox, output)),
        };
        Ok(Box::pin(stream::iter(events.into_iter().map(Ok))))
    }
}

/// Asks a model about a hub message, and keeps the message where the model ends its answer having
/// done nothing: it changed nothing, found nothing and asked nothing. A small model answers
/// “remember oat milk” with “Always remember to buy oat milk”, and nothing would be saved.
pub(crate) struct CaptureIfIgnored {
    pub(crate) provider: Arc<dyn Provider>,
    /// The note to which they are added.
    pub(crate) inbox: NotePath,
    /// Calls that an interruption kept from doing anything: such a capture is made again.
    pub(crate) ineffective_calls: Vec<CallId>,
    /// The text of the message.
    pub(crate) message: String,
}

/// Tools that do nothing about a message.
const SPEECH_TOOLS: [&str; 3] = ["send_message", "end_conversation", "get_current_time"];

/// How the results of searches begin that found nothing.
const EMPTY_RESULT_PREFIXES: [&str; 2] = ["No ", "Nothing "];

/// The error when the model ended and did nothing.
const DID_NOTHING: &str = "The model did nothing about the message.";

#[async_trait]
impl Provider for CaptureIfIgnored {
    fn server_id(&self) -> String {
        self.provider.server_id()
    }

    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        match last_call(&request) {
            Some(_)
                if was_cut_without_effect(&request, &self.ineffective_calls)
                    && !request.tools.is_empty() =>
            {
                let call = append(&request, &self.inbox, &self.message);
                return Ok(Box::pin(stream::iter(call.into_iter().map(Ok))));
            }
            Some((call, true, why)) if is_capture_call(&call.id) => {
                return Err(ModelError::InvalidRequest(format!(
                    "Couldn’t save this message: {why}"
                )));
            }
            Some((call, false, output)) if is_capture_call(&call.id) => {
                return Ok(Box::pin(stream::iter(
                    saved_events(&self.inbox, output).into_iter().map(Ok),
                )));
            }
            _ => {}
        }
        if has_acted(&request, &self.message) {
            return self.provider.stream(request).await;
        }
        let ending = match request.tools.is_empty() {
            // The model was told to close, and no call is run any more: the next try keeps the
            // message.
            true => vec![Err(ModelError::InvalidRequest(DID_NOTHING.to_owned()))],
            false => append(&request, &self.inbox, &self.message).into_iter().map(Ok).collect(),
        };
        let answer = self.provider.stream(request).await?;
        Ok(replace_end_unless_called(answer, ending))
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

/// The answer, with `ending` in the place of its end if it has text and no calls.
fn replace_end_unless_called(
    answer: ModelStream,
    ending: Vec<Result<ModelEvent, ModelError>>,
) -> ModelStream {
    let (mut has_called, mut has_spoken, mut ending) = (false, false, Some(ending));
    let events = answer.flat_map(move |event| {
        let events = match event {
            Ok(ModelEvent::Stopped { usage, .. }) if has_spoken && !has_called => {
                let instead = ending.take().unwrap_or_default();
                instead
                    .into_iter()
                    .map(|event| event.map(|event| with_usage(event, usage)))
                    .collect()
            }
            event => {
                match &event {
                    Ok(ModelEvent::Text(text)) => has_spoken |= !text.trim().is_empty(),
                    Ok(ModelEvent::Call(_) | ModelEvent::BrokenCall { .. }) => has_called = true,
                    _ => {}
                }
                vec![event]
            }
        };
        stream::iter(events)
    });
    Box::pin(events)
}

fn with_usage(event: ModelEvent, usage: TokenUsage) -> ModelEvent {
    match event {
        ModelEvent::Stopped { reason, .. } => ModelEvent::Stopped { reason, usage },
        event => event,
    }
}

/// Whether a call since the message did something about it: changed or planned to change a note, found or
/// read something, or settled the question that waited.
fn has_acted(request: &ModelRequest, message: &str) -> bool {
    let is_message =
        |block: &ContentBlock| matches!(block, ContentBlock::Text(text) if text == message);
    let is_text = |block: &ContentBlock| matches!(block, ContentBlock::Text(_));
    let last = |is: &dyn Fn(&ContentBlock) -> bool| {
        let is_said =
            |message: &ModelMessage| message.role == Role::User && message.blocks.iter().any(is);
        request.messages.iter().rposition(is_said)
    };
    let sent = last(&is_message).or_else(|| last(&is_text));
    let own = request.messages.get(sent.unwrap_or_default()..).unwrap_or_default();
    let blocks = || own.iter().flat_map(|message| &message.blocks);
    let does = |call: &ToolCall| !SPEECH_TOOLS.contains(&call.tool.as_str());
    blocks().any(|block| match block {
        ContentBlock::Result { call: id, output, is_error: false } => {
            let is_call =
                |block: &ContentBlock| matches!(block, ContentBlock::Call(call) if call.id == *id && does(call));
            blocks().any(is_call) && !EMPTY_RESULT_PREFIXES.iter().any(|start| output.starts_with(start))
        }
        _ => false,
    })
}

/// Whether the call keeps a message, and no model made it.
pub(crate) fn is_capture_call(call: &CallId) -> bool {
    call.as_str().starts_with(CALL_ID_PREFIX)
}

/// Whether the call that was made last is a capture that was cut before it did anything.
fn was_cut_without_effect(request: &ModelRequest, undone: &[CallId]) -> bool {
    last_call(request).is_some_and(|(call, is_error, _)| {
        is_error && is_capture_call(&call.id) && undone.contains(&call.id)
    })
}

/// The events once the message is in the inbox note.
fn saved_events(inbox: &NotePath, output: &str) -> Vec<ModelEvent> {
    vec![ModelEvent::Text(saved_text(inbox, output)), stop_event(StopReason::EndTurn)]
}

fn saved_text(inbox: &NotePath, output: &str) -> String {
    match plan_outcome::parse(output) {
        PlanOutcome::Applied => format!("Saved to {inbox}."),
        PlanOutcome::Pending => format!("Added to {inbox} as a change to review."),
    }
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
    let id = CallId::from(format!("{CALL_ID_PREFIX}{}", before + 1));
    let call = ToolCall { id, tool: tool.to_owned(), arguments };
    vec![ModelEvent::Call(call), stop_event(StopReason::ToolUse)]
}

/// The call that adds the message to the inbox note.
fn append(request: &ModelRequest, inbox: &NotePath, message: &str) -> Vec<ModelEvent> {
    call_events(request, APPEND_TOOL, json!({ "path": inbox, "content": list_item(message) }))
}

/// A list item; further lines are indented so that they stay part of it.
fn list_item(text: &str) -> String {
    format!("- {}", text.trim().lines().collect::<Vec<_>>().join("\n  "))
}

impl FallbackCapture {
    fn text_events(&self, text: String) -> Vec<ModelEvent> {
        let text = match self.without_settings {
            true => format!(
                "{text} No model was asked: the settings file can’t be used. Open Vaultmate and \
                 choose which settings count."
            ),
            false => text,
        };
        vec![ModelEvent::Text(text), stop_event(StopReason::EndTurn)]
    }
}

fn stop_event(reason: StopReason) -> ModelEvent {
    ModelEvent::Stopped { reason, usage: TokenUsage::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inbox() -> NotePath {
        NotePath::parse("In.md").expect("a path")
    }

    async fn answered(asked: Option<Question>, messages: Vec<ModelMessage>) -> Vec<ModelEvent> {
        let request = ModelRequest {
            model: String::new(),
            system: String::new(),
            tools: Vec::new(),
            messages,
            max_tokens: 1,
        };
        let stream = FallbackCapture {
            inbox: inbox(),
            ineffective_calls: Vec::new(),
            question: asked,
            without_settings: false,
        }
        .stream(request)
        .await
        .expect("it answers");
        stream.map(|event| event.expect("an event")).collect().await
    }

    #[tokio::test]
    async fn the_message_is_appended_verbatim_as_one_item_and_then_called_saved() {
        let text = ContentBlock::Text("remember milk\nand eggs".into());
        let user = ModelMessage {
            role: Role::User,
            blocks: vec![ContentBlock::Text("<context>\n</context>".into()), text],
        };
        let events = answered(None, vec![user.clone()]).await;
        let Some(ModelEvent::Call(call)) = events.first() else { panic!("a call: {events:?}") };
        assert_eq!(
            call.arguments,
            json!({"path": "In.md", "content": "- remember milk\n  and eggs"})
        );
        let result =
            ContentBlock::Result { call: call.id.clone(), output: "done".into(), is_error: false };
        let after = answered(
            None,
            vec![
                user,
                ModelMessage {
                    role: Role::Assistant,
                    blocks: vec![ContentBlock::Call(call.clone())],
                },
                ModelMessage { role: Role::User, blocks: vec![result] },
            ],
        )
        .await;
        assert_eq!(after.first(), Some(&ModelEvent::Text("Saved to In.md.".to_owned())));
    }

    #[tokio::test]
    async fn a_capture_that_was_cut_before_it_did_anything_is_made_once_more() {
        let user =
            ModelMessage { role: Role::User, blocks: vec![ContentBlock::Text("milk".into())] };
        let call = ToolCall {
            id: CallId::from("capture-1"),
            tool: APPEND_TOOL.to_owned(),
            arguments: json!({ "path": "In.md", "content": "- milk" }),
        };
        let result =
            ContentBlock::Result { call: call.id.clone(), output: "Cut.".into(), is_error: true };
        let request = || ModelRequest {
            model: String::new(),
            system: String::new(),
            tools: Vec::new(),
            messages: vec![
                user.clone(),
                ModelMessage {
                    role: Role::Assistant,
                    blocks: vec![ContentBlock::Call(call.clone())],
                },
                ModelMessage { role: Role::User, blocks: vec![result.clone()] },
            ],
            max_tokens: 1,
        };
        let with = |undone: &[&str]| FallbackCapture {
            inbox: inbox(),
            ineffective_calls: undone.iter().map(|id| CallId::from(*id)).collect(),
            question: None,
            without_settings: false,
        };
        let events: Vec<_> =
            with(&["capture-1"]).stream(request()).await.expect("it calls").collect().await;
        let again = ToolCall { id: CallId::from("capture-2"), ..call.clone() };
        assert_eq!(events.first(), Some(&Ok(ModelEvent::Call(again))));
        for others in [&[][..], &["capture-2"]] {
            let refused = with(others).stream(request()).await.err();
            let why = ModelError::InvalidRequest("Couldn’t save this message: Cut.".to_owned());
            assert_eq!(refused, Some(why), "{others:?}");
        }
    }

    #[tokio::test]
    async fn text_behind_answer_answers_the_open_question_and_no_other() {
        let asked = Question {
            id: "q".into(),
            conversation: "c".into(),
            turn: "asker".into(),
            call: "call".into(),
            original_message: "m".into(),
            text: "Which one?".into(),
            options: Vec::new(),
            tool_calls_completed: 0,
            asked_at: protocol::Timestamp(0),
        };
        let says = |text: &str| ModelMessage {
            role: Role::User,
            blocks: vec![ContentBlock::Text("<context>".into()), ContentBlock::Text(text.into())],
        };
        let called = |events: &[ModelEvent]| match events.first() {
            Some(ModelEvent::Call(call)) => call.clone(),
            other => panic!("a call: {other:?}"),
        };
        for (asked, text, tool) in [
            (Some(&asked), " Answer: the blue one", RESOLVE_QUESTION),
            (Some(&asked), "the blue one", APPEND_TOOL),
            (None, "answer: the blue one", APPEND_TOOL),
        ] {
            let events = answered(asked.cloned(), vec![says(text)]).await;
            assert_eq!(called(&events).tool, tool, "{text}");
        }
        let said = says("answer: blue");
        let call = called(&answered(Some(asked.clone()), vec![said.clone()]).await);
        let after = async |is_error| {
            let calls = ModelMessage {
                role: Role::Assistant,
                blocks: vec![ContentBlock::Call(call.clone())],
            };
            let result =
                ContentBlock::Result { call: call.id.clone(), output: "…".into(), is_error };
            let result = ModelMessage { role: Role::User, blocks: vec![result] };
            answered(Some(asked.clone()), vec![said.clone(), calls, result]).await
        };
        let Some(ModelEvent::Text(text)) = after(false).await.first().cloned() else { panic!() };
        assert!(text.starts_with("Noted as the answer to “Which one?”."), "{text}");
        assert_eq!(called(&after(true).await).tool, APPEND_TOOL, "what is refused is kept");
    }
}
