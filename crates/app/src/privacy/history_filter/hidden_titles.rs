//! Titles of other conversations in the messages of the user.
//!
//! The window writes a mention of a conversation with its title, which a model may have made of text
//! that is withheld by now. Such a title is left out. The id stays: a model looks the conversation up
//! by it.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::Range;

use protocol::{ConversationId, Message, MessagePart, Role, TurnId};

/// The beginning of a mention. Its id, `|`, the title and `]]` follow. The window writes it so
/// (`ui/src/state/composer/mentions.ts`).
const MENTION_START: &str = "[[conversation:";

/// Signs that no title in a mention has.
const TITLE_ENDS: [char; 3] = ['[', ']', '\n'];

/// A title behind the id of its conversation.
pub(super) struct TitledMention<'t> {
    pub(super) id: &'t str,
    pub(super) title: &'t str,
    /// Where the title is in the text, with the `|` before it.
    place: Range<usize>,
}

/// The mentions in a text, but for those without a title.
pub(super) fn titled_mentions(text: &str) -> impl Iterator<Item = TitledMention<'_>> {
    text.match_indices(MENTION_START).filter_map(move |(at, start)| {
        let from = at + start.len();
        let rest = text.get(from..)?;
        let inside = rest.split(TITLE_ENDS).next()?;
        let (id, title) = inside.split_once('|')?;
        Some(TitledMention { id, title, place: from + id.len()..from + inside.len() })
    })
}

/// The texts of a message of the user.
pub(super) fn users_texts(row: &Message) -> impl Iterator<Item = &str> {
    let is_users = row.role == Role::User;
    row.parts.iter().filter_map(move |part| match part {
        MessagePart::Text { text } if is_users => Some(text.as_str()),
        _ => None,
    })
}

/// The conversations whose titles the messages of the user hold.
pub(super) fn titled_in(rows: &[Message]) -> BTreeSet<ConversationId> {
    let mentions = rows.iter().flat_map(users_texts).flat_map(titled_mentions);
    mentions.map(|mention| ConversationId::from(mention.id)).collect()
}

/// How much somebody may hear of a conversation that another one mentions.
#[derive(Debug)]
pub(super) struct MentionedConversation {
    /// Whether some of it is withheld.
    pub(super) is_withheld: bool,
    /// The conversations whose titles it holds.
    pub(super) mentions: BTreeSet<ConversationId>,
}

/// Titles that somebody may not hear.
#[derive(Debug, Default)]
pub(in crate::privacy) struct HiddenTitles {
    conversations: BTreeSet<ConversationId>,
    /// The turns that were told such a title.
    told: HashSet<TurnId>,
}

impl HiddenTitles {
    /// Titles of those of the conversations of which some is withheld, and of those that mention one of
    /// these: a title may repeat the other one.
    pub(super) fn new(mentioned: BTreeMap<ConversationId, MentionedConversation>) -> Self {
        let withheld = mentioned.iter().filter(|(_, one)| one.is_withheld);
        let mut hidden: BTreeSet<ConversationId> = withheld.map(|(id, _)| id.clone()).collect();
        loop {
            let mentioning = mentioned.iter().filter(|(_, one)| !one.mentions.is_disjoint(&hidden));
            let more: Vec<ConversationId> = mentioning.map(|(id, _)| id.clone()).collect();
            let before = hidden.len();
            hidden.extend(more);
            if hidden.len() == before {
                break;
            }
        }
        Self { conversations: hidden, told: HashSet::new() }
    }

    /// The turns of these messages to which such a title may have been told: from the first message that holds one on.
    /// The history of a later turn has that message.
    pub(super) fn turns_since_title<'r>(&self, rows: &'r [Message]) -> BTreeSet<&'r TurnId> {
        let lacks = |row: &&Message| {
            !users_texts(row).flat_map(titled_mentions).any(|mention| self.hide(&mention))
        };
        rows.iter().skip_while(lacks).map(|row| &row.turn).collect()
    }

    /// The same titles, of which the models of these turns were told.
    pub(super) fn told_to(self, turns: HashSet<TurnId>) -> Self {
        Self { told: turns, ..self }
    }

    /// Whether the model of some turn was told such a title.
    pub(super) fn were_told(&self) -> bool {
        !self.told.is_empty()
    }

    /// Whether the model of a turn was told such a title.
    pub(super) fn were_told_to(&self, turn: &TurnId) -> bool {
        self.told.contains(turn)
    }

    /// A text of the user without these titles.
    pub(super) fn cut(&self, text: &str) -> String {
        let (mut told, mut kept) = (String::new(), 0);
        for mention in titled_mentions(text).filter(|mention| self.hide(mention)) {
            told.push_str(text.get(kept..mention.place.start).unwrap_or_default());
            kept = mention.place.end;
        }
        told.push_str(text.get(kept..).unwrap_or_default());
        told
    }

    fn hide(&self, mention: &TitledMention<'_>) -> bool {
        self.conversations.contains(&ConversationId::from(mention.id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapters::stored_conversations::message;

    /// For conversations by id: whether some of it is withheld, and the id of another one that it mentions.
    fn hidden(mentioned: &[(&str, bool, Option<&str>)]) -> HiddenTitles {
        let one = |(id, is_withheld, other): &(&str, bool, Option<&str>)| {
            let mentions = other.iter().map(|id| ConversationId::from(*id)).collect();
            let known = MentionedConversation { is_withheld: *is_withheld, mentions };
            (ConversationId::from(*id), known)
        };
        HiddenTitles::new(mentioned.iter().map(one).collect())
    }

    #[test]
    fn only_titles_of_hidden_conversations_are_cut_from_a_text() {
        let titles = hidden(&[("a", true, None), ("b", false, None)]);
        for (text, told) in [
            (
                "from [[conversation:a|Ann is ill]] to [[conversation:b|Boats]].",
                "from [[conversation:a]] to [[conversation:b|Boats]].",
            ),
            ("[[conversation:a|Ann|is ill]][[x]]", "[[conversation:a]][[x]]"),
            ("[[conversation:a|Ann is ill\nand so on", "[[conversation:a\nand so on"),
            ("[[conversation:a]] and [[a|Ann]]", "[[conversation:a]] and [[a|Ann]]"),
        ] {
            assert_eq!(titles.cut(text), told);
        }
        let text = "from [[conversation:a|Ann is ill]]";
        assert_eq!(HiddenTitles::default().cut(text), text, "the control: nothing is hidden");
    }

    #[test]
    fn a_title_is_hidden_with_that_of_a_conversation_that_its_own_one_mentions() {
        let titles = hidden(&[
            ("a", true, None),
            ("b", false, Some("a")),
            ("c", false, Some("b")),
            ("d", false, Some("e")),
            ("e", false, Some("d")),
        ]);
        let text = "[[conversation:b|x]] [[conversation:c|x]] [[conversation:d|x]]";
        assert_eq!(titles.cut(text), "[[conversation:b]] [[conversation:c]] [[conversation:d|x]]");
    }

    #[test]
    fn a_title_may_be_told_to_each_turn_from_its_message_on() {
        let titles = hidden(&[("a", true, None), ("b", false, None)]);
        let row = |turn: &str, text: &str| message("c", turn, Role::User, text);
        let rows = [
            row("one", "see [[conversation:b|Boats]]"),
            row("two", "see [[conversation:a|Ann is ill]]"),
            message("c", "two", Role::Assistant, "I see."),
            row("three", "go on"),
        ];
        let (two, three) = (TurnId::from("two"), TurnId::from("three"));
        assert_eq!(titles.turns_since_title(&rows), BTreeSet::from([&two, &three]));
        let none = HiddenTitles::default();
        assert_eq!(none.turns_since_title(&rows), BTreeSet::new(), "the control");
    }
}
