//! Whether a plan of a hub turn adds nothing but a phrase of the hub's message, such as `- [ ] Buy oat milk`
//! after “buy oat milk”.
//!
//! A choice of single words, of their order, of signs, capitals or blank lines could spell a note that the
//! turn has read. So the phrase is one piece, and it stands as in the message. Which phrase it is remains a
//! choice; the fewer words the message has, the less that tells.

use jiff::civil::Date;
use protocol::{Change, ChangeKind, ChangeSet, NotePath};

use crate::hub::writable_notes::WritableNotes;

/// A message of more words has too many phrases to choose from.
const MAX_WORDS: usize = 60;

/// The signs before a list item, the longer ones first.
const LIST_MARKS: [&str; 6] = ["- [ ] ", "* [ ] ", "+ [ ] ", "- ", "* ", "+ "];

/// Blank lines before an added line, and behind it.
const MAX_BLANK_LINES: usize = 2;

/// A message of the hub, with what decides how its turn may answer it with a note.
#[derive(Debug)]
pub(crate) struct HubRequest<'a> {
    pub(crate) message: &'a str,
    /// Where it may add to notes.
    pub(crate) places: &'a WritableNotes,
    pub(crate) today: Date,
    /// Whether its turn has changed a note before, or planned to.
    pub(crate) has_changed_notes: bool,
}

impl HubRequest<'_> {
    /// Whether the plan is the first of the turn, and adds one line to one note that is a phrase of the
    /// message. A new note may be called by a phrase, by today's date, or by both.
    pub(super) fn is_quoted_by(&self, plan: &ChangeSet) -> bool {
        let mut changes = plan.changes();
        let (Some(change), None) = (changes.next(), changes.next()) else { return false };
        !self.has_changed_notes
            && (change.kind() != ChangeKind::Create || self.allows_name(&change.path))
            && inserted_text(change).is_some_and(|text| self.has_line(&text))
    }

    fn allows_name(&self, path: &NotePath) -> bool {
        let today = self.today.to_string();
        let name = path.title();
        let rest = name.strip_prefix(today.as_str()).unwrap_or(name);
        let rest = rest.strip_prefix(' ').unwrap_or(rest);
        self.places.lists(path) || rest.is_empty() || self.has_phrase(rest)
    }

    fn has_line(&self, text: &str) -> bool {
        let mut line = text;
        for _ in 0..MAX_BLANK_LINES {
            line = line.strip_prefix('\n').unwrap_or(line);
            line = line.strip_suffix('\n').unwrap_or(line);
        }
        let item = LIST_MARKS.iter().find_map(|mark| line.strip_prefix(mark));
        self.has_phrase(item.unwrap_or(line))
    }

    /// Whether the message has this phrase, with the signs between its words or with none of them.
    fn has_phrase(&self, phrase: &str) -> bool {
        let words = self.message.split(|c: char| !c.is_alphanumeric());
        let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
        let whole = self.message.split_whitespace().collect::<Vec<_>>().join(" ");
        words.len() <= MAX_WORDS
            && [whole, words.join(" ")].iter().any(|text| contains_phrase(text, phrase))
    }
}

/// Whether the phrase stands in the text from the beginning of a word to the end of one, with its first
/// letter in either case.
fn contains_phrase(text: &str, phrase: &str) -> bool {
    let mut letters = phrase.chars();
    let Some(first) = letters.next() else { return false };
    let rest = letters.as_str();
    text.match_indices(rest).any(|(at, _)| {
        let (before, from) = text.split_at_checked(at).unwrap_or_default();
        let behind = from.get(rest.len()..).unwrap_or_default();
        let mut before = before.chars();
        let begins = before.next_back().is_some_and(|letter| is_same_letter(letter, first));
        let is_inside = before.next_back().is_some_and(char::is_alphanumeric);
        begins && !is_inside && !behind.starts_with(char::is_alphanumeric)
    })
}

fn is_same_letter(one: char, other: char) -> bool {
    one.to_lowercase().eq(other.to_lowercase())
}

/// The text that a change puts into a note in one piece, between whole lines or at the end; `None` if it does
/// anything else. Line ends are those of Unix.
fn inserted_text(change: &Change) -> Option<String> {
    let text = |bytes: &[u8]| Some(std::str::from_utf8(bytes).ok()?.replace("\r\n", "\n"));
    let (before, after) = (text(change.before().unwrap_or_default())?, text(change.after()?)?);
    if let Some(appended) = after.strip_prefix(before.as_str()) {
        return Some(appended.to_owned());
    }
    let same = before.bytes().zip(after.bytes()).take_while(|(old, new)| old == new).count();
    let shared = before.as_bytes().get(..same)?;
    let line = shared.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let (kept, moved) = before.split_at_checked(line)?;
    Some(after.strip_prefix(kept)?.strip_suffix(moved)?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const INBOX: &str = "inbox/Inbox.md";
    const ALPHABET: &str = "Spell it with a b c d e f g h i j k l m n o p q r s t u v w x y z";

    fn path(text: &str) -> NotePath {
        NotePath::parse(text).expect("a path")
    }

    fn is_quoted(message: &str, change: Change) -> bool {
        let places = WritableNotes::default();
        let today = jiff::civil::date(2026, 11, 25);
        let request = HubRequest { message, places: &places, today, has_changed_notes: false };
        request.is_quoted_by(&std::iter::once(change).collect())
    }

    fn appended(text: &str) -> Change {
        Change::replace(path(INBOX), "- tea\n", format!("- tea\n{text}"))
    }

    #[test]
    fn a_line_that_is_a_phrase_of_the_message_is_quoted() {
        for (message, text) in [
            ("Remember oat milk!", "- [ ] Oat milk\n"),
            ("Remember oat milk!", "Remember oat milk!\n"),
            ("Remember oat milk!", "\n* milk\n"),
            ("please call  Ann,\nthen Ben", "- call Ann, then Ben"),
            ("please call  Ann,\nthen Ben", "- Call Ann then Ben\n"),
            ("Äpfel kaufen", "- äpfel kaufen\n"),
            (ALPHABET, "- a b c\n"),
        ] {
            assert!(is_quoted(message, appended(text)), "{message}: {text}");
        }
    }

    #[test]
    fn words_that_are_chosen_reordered_or_marked_are_not_quoted() {
        let long = "milk ".repeat(MAX_WORDS + 1);
        for (message, text) in [
            ("Remember oat milk!", "- Ann is pregnant\n"),
            ("Remember oat milk!", "- milk oat\n"),
            ("Remember oat milk!", "- oat  milk\n"),
            ("Remember oat milk!", "- oat milk .- -. -.\n"),
            ("Remember oat milk!", "- oaT milk\n"),
            ("Remember oat milk!", "- at milk\n"),
            ("Remember oat milk!", "- oat\n- milk\n"),
            ("Remember oat milk!", "- oat milk\n\n\n\n"),
            ("Remember oat milk!", "- \n"),
            ("Remember oat milk!", "- tea\n"),
            (ALPHABET, "- A n n i s p r e g n a n t\n"),
            (long.as_str(), "- milk\n"),
        ] {
            assert!(!is_quoted(message, appended(text)), "{message}: {text}");
        }
    }

    #[test]
    fn a_line_is_quoted_wherever_it_is_put_and_only_where_all_else_stays() {
        let before = "# A\n\n- x\n- y\n\n# B\n";
        for (after, expected) in [
            ("# A\n\n- x\n- y\n- oat milk\n\n# B\n", true),
            ("# A\n\n- x\n- y\n\n- oat milk\n\n# B\n", true),
            ("# A\n\n- x\n- oat milk\n- y\n\n# B\n", true),
            ("- oat milk\n# A\n\n- x\n- y\n\n# B\n", true),
            ("# A\n\n- x\n- oat milk\n\n# B\n", false),
            ("# A\n\n- x\n- y\n- oat milk\n\n# B\n- y\n", false),
            ("# A\n\n- x oat milk\n- y\n\n# B\n", false),
        ] {
            let change = Change::replace(path(INBOX), before, after);
            assert_eq!(is_quoted("oat milk", change), expected, "{after}");
        }
        // The line ends of the note are the tool's choice.
        let change = Change::replace(path(INBOX), "- x\r\n", "- x\r\n- oat milk\r\n");
        assert!(is_quoted("oat milk", change));
        assert!(!is_quoted("oat milk", Change::trash(path(INBOX), "- x\n")));
    }

    #[test]
    fn a_new_note_is_called_by_the_message_or_by_the_date() {
        for (name, expected) in [
            ("inbox/Oat milk.md", true),
            ("inbox/2026-11-25.md", true),
            ("inbox/2026-11-25 oat milk.md", true),
            ("inbox/Bus 42.md", true),
            ("inbox/2026-11-26.md", false),
            ("inbox/4711.md", false),
            ("inbox/2026-11-25 4711.md", false),
            ("inbox/Ann is pregnant.md", false),
        ] {
            let change = Change::create(path(name), "milk\n");
            assert_eq!(is_quoted("oat milk from bus 42", change), expected, "{name}");
        }
    }

    #[test]
    fn a_turn_quotes_its_message_once() {
        let places = WritableNotes::default();
        let today = jiff::civil::date(2026, 11, 25);
        let plan: ChangeSet = std::iter::once(appended("- milk\n")).collect();
        let both = [appended("- milk\n"), Change::create(path("inbox/milk.md"), "milk\n")];
        let both: ChangeSet = both.into_iter().collect();
        for (has_changed_notes, plan, expected) in
            [(false, &plan, true), (true, &plan, false), (false, &both, false)]
        {
            let request = HubRequest { message: "milk", places: &places, today, has_changed_notes };
            assert_eq!(request.is_quoted_by(plan), expected);
        }
    }
}
