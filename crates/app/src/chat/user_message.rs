//! A message before it is prepared for a turn, and the title that a conversation gets from one.

use protocol::{NotePath, Origin, QuestionId, Timestamp, TurnId};
use store::TurnPlace;

/// Whether a message is new.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MessageAge {
    /// The message is new.
    Now,
    /// The message is in the chat already: the turn before could not work on it.
    Before,
}

/// The text of a message, and the channel through which it came.
pub(crate) struct UserMessage {
    pub(crate) text: String,
    pub(crate) origin: Origin,
    pub(crate) answers: Option<QuestionId>,
    /// The turn that it stands in for, in a branch of its own.
    pub(crate) instead_of: Option<TurnId>,
    /// Whether it is refused while a turn of the conversation runs or is queued.
    pub(crate) only_when_idle: bool,
    pub(crate) age: MessageAge,
    /// When they came, if it was over the hub.
    pub(crate) received_at: Option<Timestamp>,
    /// Which open note is sent with them.
    pub(crate) open_note: WithNote,
}

/// Which open note is sent with a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum WithNote {
    /// No note, and none is mentioned: the user is not in the window.
    Never,
    /// The note that is open in the window.
    Active,
    /// The one that the composer showed; `None` where it showed none.
    Shown(Option<NotePath>),
    /// The one that was sent with the message of this turn, with the same selection.
    AsIn(TurnId),
}

impl UserMessage {
    /// A new message that answers no question.
    pub(crate) const fn new(text: String, origin: Origin, open_note: WithNote) -> Self {
        Self {
            text,
            origin,
            answers: None,
            instead_of: None,
            only_when_idle: false,
            age: MessageAge::Now,
            received_at: None,
            open_note,
        }
    }

    /// The place of its turn in the conversation.
    pub(crate) fn place(&self) -> TurnPlace<'_> {
        match (&self.instead_of, &self.answers) {
            (Some(turn), _) => TurnPlace::InsteadOf(turn),
            (None, Some(question)) => TurnPlace::Answer(question),
            (None, None) => TurnPlace::End,
        }
    }
}

/// A title from the beginning of the text: one line, at most 60 characters, cut at a word.
pub(crate) fn title_from_text(text: &str) -> String {
    const LONGEST: usize = 60;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= LONGEST {
        return line;
    }
    let cut: String = line.chars().take(LONGEST).collect();
    let whole_words = cut.rsplit_once(' ').map_or(cut.as_str(), |(words, _)| words);
    format!("{whole_words}…")
}

#[cfg(test)]
mod tests {
    use super::title_from_text;

    #[test]
    fn a_name_is_one_line_cut_at_a_word() {
        assert_eq!(title_from_text("buy\n milk"), "buy milk");
        let long = "Marta and Luca come on Sunday, so four of us. What did we cook last time?";
        assert_eq!(
            title_from_text(long),
            "Marta and Luca come on Sunday, so four of us. What did we…"
        );
    }
}
