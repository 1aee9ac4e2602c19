//! `resolve_question`: whether the user's message answers the open question.

use std::sync::Arc;

use async_trait::async_trait;
use llm::tool_api::tool::{Tool, ToolBrief, ToolContext, ToolEffect, ToolOutcome};
use protocol::QuestionId;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::ports::question_resolver::{QuestionResolution, QuestionResolver};

/// Records whether the user's message answers your open question. Call this before anything else, then
/// continue with what you asked about, or with the message as a new request.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ResolveQuestionInput {
    /// The id of the question, as the context names it.
    question_id: String,
    /// True if the message answers it. False if it is about something else, or if you are not sure.
    is_answer: bool,
}

pub(crate) struct ResolveQuestion(pub(crate) Arc<dyn QuestionResolver>);

#[async_trait]
impl Tool for ResolveQuestion {
    const NAME: &'static str = "resolve_question";
    const EFFECT: ToolEffect = ToolEffect::Speak;
    type Input = ResolveQuestionInput;
    const BRIEF: Option<ToolBrief> = Some(ToolBrief {
        description: "Records whether the message answers your open question.",
        required: &["question_id", "is_answer"],
        optional: &[],
    });

    async fn run(&self, input: ResolveQuestionInput, context: &ToolContext) -> ToolOutcome {
        let question = QuestionId::from(input.question_id.trim());
        let (resolution, told) = match input.is_answer {
            true => (QuestionResolution::Answer, "Noted: the question is answered. Go on with it."),
            false => (
                QuestionResolution::NoAnswer,
                "The question stays open. Treat the message as a new request.",
            ),
        };
        match self.0.resolve(&context.turn, &question, resolution).await {
            Ok(()) => ToolOutcome::ok(told).labeled(),
            Err(why) => ToolOutcome::failed(why.to_string()).labeled(),
        }
    }
}
