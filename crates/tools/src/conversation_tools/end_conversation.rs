//! `end_conversation`: ends the conversation.

use async_trait::async_trait;
use llm::tool_api::tool::{Tool, ToolContext, ToolEffect, ToolOutcome};
use protocol::{Speech, ToolEvent};
use schemars::JsonSchema;
use serde::Deserialize;

/// Ends this conversation. Only when the user says that they are done, never to finish an answer.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EndConversationInput {
    /// Why, in a few words.
    reason: Option<String>,
}

pub(crate) struct EndConversation;

#[async_trait]
impl Tool for EndConversation {
    const NAME: &'static str = "end_conversation";
    const EFFECT: ToolEffect = ToolEffect::End;
    type Input = EndConversationInput;

    async fn run(&self, input: EndConversationInput, _: &ToolContext) -> ToolOutcome {
        let reason = input.reason.map(|reason| reason.trim().to_owned());
        let reason = reason.filter(|reason| !reason.is_empty());
        ToolOutcome {
            reactions: vec![ToolEvent::ConversationEnded { reason: reason.clone() }],
            speech: Some(Speech::End { reason }),
            ..ToolOutcome::ok("The conversation has ended.").labeled()
        }
    }
}
