//! Keeps the words of a hub message when no model can be asked: appended, verbatim, to the inbox.
//!
//! It runs through the same turn, tools, change sets and ledger as a model's answer.

use async_trait::async_trait;
use futures_util::stream;
use llm::model::{Block, ModelError, ModelEvent, ModelRequest, StopReason, ToolCall};
use llm::provider::{ModelStream, Provider};
use protocol::{CallId, Question, Role, Usage};
use serde_json::{Value, json};
use tools::catalog::RESOLVES;
use tools::verdict::{self, Became};

use crate::submit::first_words;

/// Where the words go.
pub(crate) const INBOX: &str = "inbox/Inbox.md";

/// The tool that keeps them.
const APPEND: &str = "append_file";

/// Before words that answer the question that waits.
const ANSWER: &str = "answer:";

/// Appends what the user said and says that it is saved; words behind “answer:” answer the question
/// that waits, if one does.
pub(crate) struct Capture {
    pub(crate) asked: Option<Question>,
    /// Whether a model is missing because the settings file does not count; then that is said as well.
    pub(crate) without_settings: bool,
}

#[async_trait]
impl Provider for Capture {
    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        let asked = self.asked.as_ref().filter(|_| answers(&words(&request)));
        let events = match (last_result(&request), asked) {
            (None, Some(question)) => calls(&request, RESOLVES, answer(question)),
            (Some((RESOLVES, false, _)), Some(question)) => self.says(format!(
                "Noted as the answer to “{}”. No model was asked to go on with it.",
                first_words(&question.text)
            )),
            // What answers nothing is kept as it was said.
            (None | Some((RESOLVES, ..)), _) => {
                let item = item(&words(&request));
                calls(&request, APPEND, json!({ "path": INBOX, "content": item }))
            }
            (Some((_, true, why)), _) => {
                return Err(ModelError::InvalidRequest(format!("It could not be saved: {why}")));
            }
            (Some((_, false, output)), _) => self.says(match verdict::read(output) {
                Became::Applied => format!("Saved to {INBOX}."),
                Became::Waiting => format!("Kept for {INBOX}, which has changes that wait."),
            }),
        };
        Ok(Box::pin(stream::iter(events.into_iter().map(Ok))))
    }
}

/// The tool that was called last, whether it failed, and what it said.
fn last_result(request: &ModelRequest) -> Option<(&str, bool, &str)> {
    let [.., before, last] = request.messages.as_slice() else { return None };
    let [Block::Result { output, is_error, .. }] = last.blocks.as_slice() else { return None };
    let tool = before.blocks.iter().find_map(|block| match block {
        Block::Call(call) => Some(call.tool.as_str()),
        _ => None,
    })?;
    Some((tool, *is_error, output.as_str()))
}

/// What the user said last.
fn words(request: &ModelRequest) -> String {
    let said = request.messages.iter().rev().filter(|message| message.role == Role::User);
    let blocks = said.flat_map(|message| message.blocks.iter().rev());
    let mut texts = blocks.filter_map(|block| match block {
        Block::Text(text) => Some(text),
        _ => None,
    });
    texts.next().cloned().unwrap_or_default()
}

fn answers(words: &str) -> bool {
    let start = words.trim_start().get(..ANSWER.len());
    start.is_some_and(|start| start.eq_ignore_ascii_case(ANSWER))
}

fn answer(question: &Question) -> Value {
    json!({ "question_id": question.id.as_str(), "is_answer": true })
}

fn calls(request: &ModelRequest, tool: &str, arguments: Value) -> Vec<ModelEvent> {
    let before = request.messages.iter().flat_map(|message| &message.blocks);
    let before = before.filter(|block| matches!(block, Block::Call(_))).count();
    let id = CallId::from(format!("capture-{}", before + 1));
    let call = ToolCall { id, tool: tool.to_owned(), arguments };
    vec![ModelEvent::Call(call), stopped(StopReason::ToolUse)]
}

/// A list item; further lines are indented so that they stay part of it.
fn item(text: &str) -> String {
    format!("- {}", text.trim().lines().collect::<Vec<_>>().join("\n  "))
}

impl Capture {
    fn says(&self, text: String) -> Vec<ModelEvent> {
        let text = match self.without_settings {
            true => format!(
                "{text} No model was asked: the settings file cannot be used. Open Vaultmate and choose \
                 which settings count."
            ),
            false => text,
        };
        vec![ModelEvent::Text(text), stopped(StopReason::EndTurn)]
    }
}

fn stopped(reason: StopReason) -> ModelEvent {
    ModelEvent::Stopped { reason, usage: Usage::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::StreamExt as _;
    use llm::model::ModelMessage;

    async fn answered(asked: Option<Question>, messages: Vec<ModelMessage>) -> Vec<ModelEvent> {
        let request = ModelRequest {
            model: String::new(),
            system: String::new(),
            tools: Vec::new(),
            messages,
            max_tokens: 1,
        };
        let stream =
            Capture { asked, without_settings: false }.stream(request).await.expect("it answers");
        stream.map(|event| event.expect("an event")).collect().await
    }

    #[tokio::test]
    async fn the_words_are_appended_verbatim_as_one_item_and_then_called_saved() {
        let words = Block::Text("remember milk\nand eggs".into());
        let user = ModelMessage {
            role: Role::User,
            blocks: vec![Block::Text("<context>\n</context>".into()), words],
        };
        let events = answered(None, vec![user.clone()]).await;
        let Some(ModelEvent::Call(call)) = events.first() else { panic!("a call: {events:?}") };
        assert_eq!(
            call.arguments,
            json!({"path": INBOX, "content": "- remember milk\n  and eggs"})
        );
        let result =
            Block::Result { call: call.id.clone(), output: "done".into(), is_error: false };
        let after = answered(
            None,
            vec![
                user,
                ModelMessage { role: Role::Assistant, blocks: vec![Block::Call(call.clone())] },
                ModelMessage { role: Role::User, blocks: vec![result] },
            ],
        )
        .await;
        assert_eq!(after.first(), Some(&ModelEvent::Text(format!("Saved to {INBOX}."))));
    }

    #[tokio::test]
    async fn words_behind_answer_answer_the_question_that_waits_and_no_others() {
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
            blocks: vec![Block::Text("<context>".into()), Block::Text(text.into())],
        };
        let called = |events: &[ModelEvent]| match events.first() {
            Some(ModelEvent::Call(call)) => call.clone(),
            other => panic!("a call: {other:?}"),
        };
        for (asked, words, tool) in [
            (Some(&asked), " Answer: the blue one", RESOLVES),
            (Some(&asked), "the blue one", APPEND),
            (None, "answer: the blue one", APPEND),
        ] {
            let events = answered(asked.cloned(), vec![says(words)]).await;
            assert_eq!(called(&events).tool, tool, "{words}");
        }
        let said = says("answer: blue");
        let call = called(&answered(Some(asked.clone()), vec![said.clone()]).await);
        let after = async |is_error| {
            let calls =
                ModelMessage { role: Role::Assistant, blocks: vec![Block::Call(call.clone())] };
            let result = Block::Result { call: call.id.clone(), output: "…".into(), is_error };
            let result = ModelMessage { role: Role::User, blocks: vec![result] };
            answered(Some(asked.clone()), vec![said.clone(), calls, result]).await
        };
        let Some(ModelEvent::Text(text)) = after(false).await.first().cloned() else { panic!() };
        assert!(text.starts_with("Noted as the answer to “Which one?”."), "{text}");
        assert_eq!(called(&after(true).await).tool, APPEND, "what is refused is kept");
    }
}
