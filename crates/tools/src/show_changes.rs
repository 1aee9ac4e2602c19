//! `show_changes`: puts the list of changes in front of the user.

use async_trait::async_trait;
use llm::tool_api::tool::{Tool, ToolContext, ToolEffect, ToolOutcome};
use protocol::ToolEvent;
use schemars::JsonSchema;
use serde::Deserialize;

/// Shows the user the list of changes that were made to notes, where each one can be looked at and undone.
/// Use it when the user wants to see or undo what was changed.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ShowChangesInput {
    /// True for the changes of all conversations. Leave out for those of this conversation.
    all: Option<bool>,
}

pub(crate) struct ShowChanges;

#[async_trait]
impl Tool for ShowChanges {
    const NAME: &'static str = "show_changes";
    const EFFECT: ToolEffect = ToolEffect::Read;
    type Input = ShowChangesInput;

    async fn run(&self, input: ShowChangesInput, context: &ToolContext) -> ToolOutcome {
        let of_this = !input.all.unwrap_or_default();
        let conversation = of_this.then(|| context.conversation.clone());
        ToolOutcome {
            reactions: vec![ToolEvent::ShowChanges { conversation }],
            ..ToolOutcome::ok(SHOWN).labeled()
        }
    }
}

const SHOWN: &str = "The list of changes is shown to the user.";
