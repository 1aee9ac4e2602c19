//! How large a window a prompt needs, and whether it was read whole. Pure.

use crate::model::{ContentBlock, ModelError, ModelRequest, user_texts};

/// The smallest window that is asked for. Loading a model again for each longer prompt would cost
/// more than the memory does.
const MIN_WINDOW: u32 = 8_192;

/// The largest window that a model is taken to have when nobody says what it reads, and that a
/// conversation fills unless the user gives it more: a larger one costs memory on this computer.
pub(super) const DEFAULT_WINDOW: u32 = 32_768;

/// How much of the window is kept for the answer, at most.
const MAX_ANSWER_RESERVE: u32 = 2_048;

/// How much of a request there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PromptSize {
    bytes: usize,
}

impl PromptSize {
    /// More tokens than it probably has.
    fn max_tokens_estimate(self) -> u32 {
        u32::try_from(self.bytes / 3).unwrap_or(u32::MAX)
    }

    /// Fewer tokens than any honest text of this length has.
    pub(super) fn min_tokens_estimate(self) -> u32 {
        u32::try_from(self.bytes / 6).unwrap_or(u32::MAX)
    }
}

/// Counts the text and schemas of a request.
pub(super) fn prompt_size(request: &ModelRequest) -> PromptSize {
    let blocks = request.messages.iter().flat_map(|message| &message.blocks);
    let said: usize = blocks
        .map(|block| match block {
            ContentBlock::Text(text) => text.len(),
            ContentBlock::Call(call) => call.tool.len() + call.arguments.to_string().len(),
            ContentBlock::Result { output, .. } => output.len(),
            ContentBlock::Verbatim(_) => 0,
        })
        .sum();
    let tools: usize = request
        .tools
        .iter()
        .map(|tool| tool.name.len() + tool.description.len() + tool.input_schema.to_string().len())
        .sum();
    PromptSize { bytes: said + tools + request.system.len() }
}

/// The window to ask for: room for the prompt and an answer, in powers of two so that the server
/// seldom reloads the model, within what the model reads.
pub(super) fn choose_window(
    prompt_size: &PromptSize,
    max_tokens: u32,
    longest: Option<u32>,
) -> Result<u32, ModelError> {
    let longest = longest.unwrap_or(DEFAULT_WINDOW);
    if prompt_size.min_tokens_estimate() >= longest {
        let tokens = prompt_size.min_tokens_estimate();
        let message = user_texts::prompt_over_window(tokens.to_string(), longest.to_string());
        return Err(ModelError::ContextExceeded { message, window: Some(longest), prompt: None });
    }
    let wanted =
        prompt_size.max_tokens_estimate().saturating_add(max_tokens.min(MAX_ANSWER_RESERVE));
    let rounded = wanted.checked_next_power_of_two().unwrap_or(u32::MAX);
    Ok(rounded.max(MIN_WINDOW).min(longest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_holds_the_prompt_and_an_answer_and_grows_in_steps() {
        let window = |bytes, longest| choose_window(&PromptSize { bytes }, 8_192, longest).unwrap();
        assert_eq!(window(0, None), 8_192);
        assert_eq!(window(18_000, None), 8_192);
        assert_eq!(window(19_000, None), 16_384);
        assert_eq!(window(150_000, None), 32_768);
        assert_eq!(window(150_000, Some(131_072)), 65_536);
        assert_eq!(window(0, Some(2_048)), 2_048);
    }

    #[test]
    fn what_cannot_fit_is_not_sent() {
        let error = choose_window(&PromptSize { bytes: 60_000 }, 100, Some(8_192)).unwrap_err();
        assert!(matches!(&error, ModelError::ContextExceeded { message, window: Some(8_192), .. }
            if message.english().contains("10000")));
    }
}
