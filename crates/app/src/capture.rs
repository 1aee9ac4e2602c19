//! Keeps the words of a hub message when no model can be asked: appended, verbatim, to the inbox.
//!
//! It runs through the same turn, tools, change sets and ledger as a model's answer.

use async_trait::async_trait;
use futures_util::stream;
use llm::model::{Block, ModelError, ModelEvent, ModelRequest, StopReason, ToolCall};
use llm::provider::{ModelStream, Provider};
use protocol::{CallId, Role, Usage};
use serde_json::json;
use tools::verdict::{self, Became};

/// Where the words go.
pub(crate) const INBOX: &str = "inbox/Inbox.md";

/// Appends what the user said and says that it is saved.
pub(crate) struct Capture;

#[async_trait]
impl Provider for Capture {
    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        let events = match last_result(&request) {
            None => calls_append(&request),
            Some((true, why)) => {
                return Err(ModelError::InvalidRequest(format!("It could not be saved: {why}")));
            }
            Some((false, output)) => says(match verdict::read(output) {
                Became::Applied => format!("Saved to {INBOX}."),
                Became::Waiting => format!("Kept for {INBOX}, which has changes that wait."),
            }),
        };
        Ok(Box::pin(stream::iter(events.into_iter().map(Ok))))
    }
}

fn last_result(request: &ModelRequest) -> Option<(bool, &str)> {
    let last = request.messages.last()?;
    last.blocks.iter().find_map(|block| match block {
        Block::Result { output, is_error, .. } if last.blocks.len() == 1 => {
            Some((*is_error, output.as_str()))
        }
        _ => None,
    })
}

fn calls_append(request: &ModelRequest) -> Vec<ModelEvent> {
    let words = request.messages.iter().rev().find(|message| message.role == Role::User);
    let text = words
        .and_then(|message| {
            message.blocks.iter().rev().find_map(|block| match block {
                Block::Text(text) => Some(text.clone()),
                _ => None,
            })
        })
        .unwrap_or_default();
    let calls: usize = request
        .messages
        .iter()
        .flat_map(|message| &message.blocks)
        .filter(|block| matches!(block, Block::Call(_)))
        .count();
    let call = ToolCall {
        id: CallId::from(format!("capture-{}", calls + 1)),
        tool: "append_file".to_owned(),
        arguments: json!({ "path": INBOX, "content": item(&text) }),
    };
    vec![ModelEvent::Call(call), stopped(StopReason::ToolUse)]
}

/// A list item; further lines are indented so that they stay part of it.
fn item(text: &str) -> String {
    format!("- {}", text.trim().lines().collect::<Vec<_>>().join("\n  "))
}

fn says(text: String) -> Vec<ModelEvent> {
    vec![ModelEvent::Text(text), stopped(StopReason::EndTurn)]
}

fn stopped(reason: StopReason) -> ModelEvent {
    ModelEvent::Stopped { reason, usage: Usage::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::StreamExt as _;
    use llm::model::ModelMessage;

    async fn answer(messages: Vec<ModelMessage>) -> Vec<ModelEvent> {
        let request = ModelRequest {
            model: String::new(),
            system: String::new(),
            tools: Vec::new(),
            messages,
            max_tokens: 1,
        };
        let stream = Capture.stream(request).await.expect("it answers");
        stream.map(|event| event.expect("an event")).collect().await
    }

    #[tokio::test]
    async fn the_words_are_appended_verbatim_as_one_item_and_then_called_saved() {
        let words = Block::Text("remember milk\nand eggs".into());
        let user = ModelMessage {
            role: Role::User,
            blocks: vec![Block::Text("<context>\n</context>".into()), words],
        };
        let events = answer(vec![user.clone()]).await;
        let Some(ModelEvent::Call(call)) = events.first() else { panic!("a call: {events:?}") };
        assert_eq!(
            call.arguments,
            json!({"path": INBOX, "content": "- remember milk\n  and eggs"})
        );
        let result =
            Block::Result { call: call.id.clone(), output: "done".into(), is_error: false };
        let after = answer(vec![
            user,
            ModelMessage { role: Role::Assistant, blocks: vec![Block::Call(call.clone())] },
            ModelMessage { role: Role::User, blocks: vec![result] },
        ])
        .await;
        assert_eq!(after.first(), Some(&ModelEvent::Text(format!("Saved to {INBOX}."))));
    }
}
