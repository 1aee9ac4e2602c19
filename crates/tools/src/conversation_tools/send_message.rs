//! `send_message`: a message for the user, or a question that ends the turn.

use async_trait::async_trait;
use llm::tool_api::tool::{Tool, ToolBrief, ToolContext, ToolEffect, ToolOutcome};
use protocol::{Speech, ToolEvent};
use schemars::JsonSchema;
use serde::Deserialize;

/// Ready answers at most.
const MAX_OPTIONS: usize = 8;

/// Asks the user a question, with `is_question`, or says something before your work is done. After a
/// question, stop: the answer arrives as the next message. Do not send your final answer with this tool:
/// just write it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SendMessageInput {
    /// The question or message, in Markdown.
    message: String,
    /// True if this is a question that you need answered to go on.
    #[serde(default)]
    is_question: bool,
    /// Short answers to choose from, only with is_question. The user may also answer freely.
    #[serde(default)]
    #[schemars(length(max = MAX_OPTIONS))]
    options: Vec<String>,
}

pub(crate) struct SendMessage;

#[async_trait]
impl Tool for SendMessage {
    const NAME: &'static str = "send_message";
    const EFFECT: ToolEffect = ToolEffect::Speak;
    type Input = SendMessageInput;
    const BRIEF: Option<ToolBrief> = Some(ToolBrief {
        description: "Asks the user, with is_question, or says something.",
        required: &["message"],
        optional: &["is_question", "options"],
    });

    async fn run(&self, input: SendMessageInput, _: &ToolContext) -> ToolOutcome {
        deliver(input).labeled()
    }
}

/// The outcome for this message; the text is the call's own.
fn deliver(input: SendMessageInput) -> ToolOutcome {
    let message = input.message.trim();
    if message.is_empty() {
        return ToolOutcome::failed("message is empty. Say something, or call another tool.");
    }
    if !input.is_question && input.options.is_empty() {
        return with_speech("Delivered.", Speech::Say { text: message.to_owned() });
    }
    if !input.is_question {
        return ToolOutcome::failed(
            "options are answers to a question. Set is_question to true, or leave them out.",
        );
    }
    let mut options: Vec<String> = Vec::new();
    for option in input.options.iter().map(|option| option.trim()) {
        if !option.is_empty() && !options.iter().any(|earlier| earlier == option) {
            options.push(option.to_owned());
        }
    }
    if options.len() > MAX_OPTIONS {
        return ToolOutcome::failed(format!(
            "{} options are too many. Give at most {MAX_OPTIONS}, the likeliest ones. The user \
                 may also answer freely.",
            options.len()
        ));
    }
    let asked = ToolEvent::QuestionAsked { question: message.to_owned() };
    let ask = Speech::Ask { text: message.to_owned(), options };
    ToolOutcome {
        reactions: vec![asked],
        ..with_speech("Delivered. The question waits for the user's answer.", ask)
    }
}

fn with_speech(output: &str, speech: Speech) -> ToolOutcome {
    ToolOutcome { speech: Some(speech), ..ToolOutcome::ok(output) }
}
