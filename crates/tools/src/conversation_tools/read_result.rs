//! `read_result`: the rest of a result that was too long.

use std::sync::Arc;

use async_trait::async_trait;
use llm::context::truncate::{READ_RESULT, split_into_parts};
use llm::tool_api::page_marks::PART_END;
use llm::tool_api::tool::{Tool, ToolContext, ToolEffect, ToolOutcome};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::ports::conversation_archive::{ArchivedResult, ConversationArchive};

/// Reads another part of a long result of an earlier call. The result names its handle and how many
/// parts it has.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReadResultInput {
    /// The handle, such as `result-0123456789ab`.
    handle: String,
    /// Which part, counted from 1. Part 1 is in the result itself.
    #[schemars(range(min = 1))]
    part: u32,
}

pub(crate) struct ReadResult(pub(crate) Arc<dyn ConversationArchive>);

#[async_trait]
impl Tool for ReadResult {
    const NAME: &'static str = READ_RESULT;
    const EFFECT: ToolEffect = ToolEffect::Read;
    type Input = ReadResultInput;

    async fn run(&self, input: ReadResultInput, context: &ToolContext) -> ToolOutcome {
        let handle = input.handle.trim().trim_matches('`');
        let whole = match self.0.full_result(&context.conversation, handle).await {
            Ok(Some(ArchivedResult { text, sources })) => {
                sources.into_iter().for_each(|source| context.sources.record(source));
                text
            }
            Ok(None) => {
                return ToolOutcome::failed(format!(
                    "No result of this conversation has the handle `{handle}`.\nTake it from the \
                     end of the shortened result, or make the call again."
                ))
                .labeled();
            }
            Err(error) => return ToolOutcome::failed(error.to_string()),
        };
        let parts = split_into_parts(&whole);
        let all = parts.len();
        let number = usize::try_from(input.part).unwrap_or(usize::MAX);
        let Some(part) = number.checked_sub(1).and_then(|at| parts.get(at)) else {
            return ToolOutcome::failed(format!(
                "There is no part {number}: `{handle}` has the parts 1 to {all}."
            ))
            .labeled();
        };
        let next = number + 1;
        let end =
            if number < all { format!(", next: part {next}") } else { ", the last".to_owned() };
        ToolOutcome::ok(format!("{}\n\n{PART_END}{number} of {all}{end}.]", part.trim_end()))
            .labeled()
    }
}
