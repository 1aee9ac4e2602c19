//! The tags that some models write around their thoughts in the text of an answer:
//! `<think>They only asked.</think>Milk is on the list.` Some chat templates write the opening tag
//! into the prompt, so an answer may hold the closing one alone.

pub(crate) const THOUGHT_START: &str = "<think>";
pub(crate) const THOUGHT_END: &str = "</think>";

/// Whether a closing tag would end a thought at this point of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ThoughtState {
    /// No tag came yet. The prompt may have opened a thought.
    Unknown,
    Open,
    Closed,
}

/// How many bytes the thought takes that `answer` begins with, its closing tag included; 0 if
/// there is none, or it does not end.
pub(super) fn leading_thought(answer: &str) -> usize {
    let end = answer.find(THOUGHT_END).map_or(0, |at| at + THOUGHT_END.len());
    if answer.trim_start().starts_with(THOUGHT_START) { end } else { 0 }
}

/// Where a closing tag begins that `text` ends within; else the end of `text`.
pub(super) fn partial_end(text: &str) -> usize {
    let begun = text
        .rfind('<')
        .filter(|from| text.get(*from..).is_some_and(|last| THOUGHT_END.starts_with(last)));
    begun.unwrap_or(text.len())
}
