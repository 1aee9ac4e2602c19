//! Tells a text that the user only chose, such as an option of a question, from what is attached to it.

use std::collections::{BTreeSet, HashSet};

/// Stands between a chosen option and what the user attached to it. The window joins them so
/// (`withMentions` in `ui/src/state/composer/mentions.ts`).
const PARAGRAPH_BREAK: &str = "\n\n";

/// Texts of others that the user may send. Spaces and capitals make no other text.
#[derive(Debug, Default)]
pub(crate) struct OfferedTexts(HashSet<String>);

impl OfferedTexts {
    /// Adds a text; one without a word is none.
    pub(crate) fn insert(&mut self, text: &str) {
        let words = plain(text);
        if !words.is_empty() {
            self.0.insert(words);
        }
    }

    /// Takes a text out again, however it is spelled.
    pub(crate) fn remove(&mut self, text: &str) {
        self.0.remove(&plain(text));
    }

    /// Takes out all of them.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// The rest of a message that begins with one of these texts, from the empty line behind it on;
    /// empty where the message is that text alone. `None` where the message begins with none of them.
    /// Of several the longest counts.
    pub(crate) fn rest_behind<'m>(&self, message: &'m str) -> Option<&'m str> {
        let lengths: BTreeSet<usize> = self.0.iter().map(String::len).collect();
        let longest = *lengths.last()?;
        let (mut so_far, mut at, mut rest) = (String::new(), 0, None);
        for paragraph in message.split(PARAGRAPH_BREAK) {
            let (words, end) = (plain(paragraph), at + paragraph.len());
            if !so_far.is_empty() && !words.is_empty() {
                so_far.push(' ');
            }
            so_far.push_str(&words);
            // An attached file may be long.
            if so_far.len() > longest {
                break;
            }
            if lengths.contains(&so_far.len()) && self.0.contains(&so_far) {
                rest = message.get(end..);
            }
            at = end + PARAGRAPH_BREAK.len();
        }
        rest
    }
}

fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offered(texts: &[&str]) -> OfferedTexts {
        let mut offered = OfferedTexts::default();
        texts.iter().for_each(|text| offered.insert(text));
        offered
    }

    #[test]
    fn behind_a_chosen_option_only_what_is_attached_is_left() {
        let options = offered(&["Yes, tidy [[Budget]]", "Yes", "First:\n\nthis one", " "]);
        for (message, rest) in [
            ("Yes, tidy [[Budget]]", Some("")),
            ("  yes,  TIDY [[budget]] ", Some("")),
            ("Yes, tidy [[Budget]]\n\n[[Plan]]", Some("\n\n[[Plan]]")),
            ("Yes\n\n\n[[Plan]]", Some("\n\n\n[[Plan]]")),
            ("first: this one\n\n[[Plan]]", Some("\n\n[[Plan]]")),
            ("First:\n\nthis one\n\na\n\nb", Some("\n\na\n\nb")),
            ("Yes\n[[Plan]]", None),
            ("Yes, tidy", None),
            ("No\n\nYes", None),
            ("", None),
        ] {
            assert_eq!(options.rest_behind(message), rest, "{message:?}");
        }
    }

    #[test]
    fn of_options_that_begin_alike_the_longest_is_the_chosen_one() {
        let options = offered(&["Yes", "Yes\n\ntidy [[Budget]]"]);
        let rest = options.rest_behind("Yes\n\ntidy [[Budget]]\n\n[[Plan]]");
        assert_eq!(rest, Some("\n\n[[Plan]]"));
        assert_eq!(options.rest_behind("Yes\n\n[[Plan]]"), Some("\n\n[[Plan]]"));
        assert_eq!(offered(&[]).rest_behind("Yes"), None);
    }
}
