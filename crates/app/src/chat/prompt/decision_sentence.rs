//! The sentence of a context block about a decision of the user, written and read again.

use std::fmt;

/// How the sentence begins.
pub(crate) const DECISION_START: &str = "After your last answer, the user ";

const APPLIED: &str = "applied the changes to ";
const APPLIED_IN_PART: &str = "applied some of the changes to ";
const REST_REJECTED: &str = " and rejected the rest";
const REJECTED: &str = "rejected the changes to ";
const AS_THEY_WERE: &str = "; those notes are as they were";
const EDITED: &str = ". The user edited some lines in ";
const READ_AGAIN: &str = ". Read each note again before you change it.";
const AND: &str = " and ";

/// The lists of notes in the sentence, as text; one that is empty is not mentioned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DecisionSentence {
    /// Notes to which all changes were applied.
    pub(crate) applied: String,
    /// Those to which only a part of the changes was applied.
    pub(crate) applied_in_part: String,
    /// Those that stay as they were.
    pub(crate) rejected: String,
    /// Changed notes in which the user wrote some of the lines.
    pub(crate) edited: String,
}

impl fmt::Display for DecisionSentence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let clauses = [
            (APPLIED, &self.applied, ""),
            (APPLIED_IN_PART, &self.applied_in_part, REST_REJECTED),
            (REJECTED, &self.rejected, AS_THEY_WERE),
        ];
        let said = clauses.into_iter().filter(|(_, list, _)| !list.is_empty());
        let said: Vec<String> =
            said.map(|(begins, list, ends)| format!("{begins}{list}{ends}")).collect();
        write!(f, "{DECISION_START}{}", said.join(AND))?;
        match self.edited.as_str() {
            "" => write!(f, "."),
            edited => write!(f, "{EDITED}{edited}{READ_AGAIN}"),
        }
    }
}

impl DecisionSentence {
    /// Reads a line that holds such a sentence. Whatever is not of the sentence itself is in one of the lists;
    /// `None` where that cannot be.
    pub(crate) fn parse(line: &str) -> Option<Self> {
        let said = line.strip_prefix(DECISION_START)?;
        let (said, edited) = match said.split_once(EDITED) {
            Some((said, rest)) => (said, rest.strip_suffix(READ_AGAIN)?),
            None => (said.strip_suffix('.')?, ""),
        };
        let (said, rejected) = split_last_clause(said, REJECTED, AS_THEY_WERE);
        let (said, applied_in_part) = split_last_clause(said, APPLIED_IN_PART, REST_REJECTED);
        let (said, applied) = split_last_clause(said, APPLIED, "");
        said.is_empty().then(|| Self {
            applied: applied.to_owned(),
            applied_in_part: applied_in_part.to_owned(),
            rejected: rejected.to_owned(),
            edited: edited.to_owned(),
        })
    }

    /// The sentence with each list that it has put through `change`.
    pub(crate) fn map_lists(self, change: impl Fn(&str) -> String) -> Self {
        let change = |list: String| if list.is_empty() { list } else { change(&list) };
        Self {
            applied: change(self.applied),
            applied_in_part: change(self.applied_in_part),
            rejected: change(self.rejected),
            edited: change(self.edited),
        }
    }
}

/// The clauses before the last one, and the list in that; an empty list where the last clause is another.
fn split_last_clause<'a>(said: &'a str, begins: &str, ends: &str) -> (&'a str, &'a str) {
    let clause = said.strip_suffix(ends).and_then(|said| said.split_once(begins));
    let split = clause.and_then(|(before, list)| {
        let before = if before.is_empty() { before } else { before.strip_suffix(AND)? };
        Some((before, list))
    });
    split.unwrap_or((said, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentence([applied, applied_in_part, rejected, edited]: [&str; 4]) -> DecisionSentence {
        DecisionSentence {
            applied: applied.to_owned(),
            applied_in_part: applied_in_part.to_owned(),
            rejected: rejected.to_owned(),
            edited: edited.to_owned(),
        }
    }

    #[test]
    fn a_sentence_is_read_as_it_was_written() {
        for lists in [
            ["a.md", "", "", ""],
            ["", "b.md", "", ""],
            ["", "", "c.md, Salt and pepper.md", ""],
            ["a.md, d.md", "b.md", "c.md", "a.md, b.md"],
            ["a.md", "", "c.md", ""],
            ["a.md", "b.md", "", "b.md"],
            [
                "a.md, and other notes",
                "b.md, and other notes",
                "and other private notes",
                "a.md, and other notes",
            ],
        ] {
            let written = sentence(lists);
            assert_eq!(DecisionSentence::parse(&written.to_string()), Some(written), "{lists:?}");
        }
    }

    #[test]
    fn another_sentence_is_not_read() {
        for line in [
            "After your last answer, the user left.",
            "After your last answer, the user applied the changes to a.md",
            "Then the user applied the changes to a.md.",
            "After your last answer, the user saw this and applied the changes to a.md.",
        ] {
            assert_eq!(DecisionSentence::parse(line), None, "{line}");
        }
    }
}
