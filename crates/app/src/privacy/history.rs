//! What was said before, as it may be heard now.
//!
//! A turn that ran while the same was hidden is heard whole. From the first other turn on that names or
//! holds hidden notes, or was told their words, everything is withheld that was not the user's own:
//! results, arguments and answers may tell in other words what they came from. The user's words stay.

use std::borrow::Cow;
use std::collections::HashSet;

use protocol::{Message, NotePath, Part, Role, TurnId};
use serde_json::{Map, Value};

use super::View;
use super::needles::{Needles, REDACTED};
use crate::context::{QUESTIONS, REJECTED, REJECTED_END, SELECTION};

const RESULT: &str = "This result held notes that are private now, so it is withheld. Call the tool \
                      again for what may be seen.";

/// What stands in the place of diffs.
const WITHHELD: &str = "<rejected>\n(a note that is private now)\n";

const ANSWER: &str = "[This answer is withheld: it may come from notes that are private now.]";

/// Notes that are not to be heard of: those that a view hides, and those that are gone and may be hidden by now.
pub(super) struct Hidden<'a> {
    view: &'a View,
    gone: Needles,
}

impl<'a> Hidden<'a> {
    pub(super) fn new(view: &'a View, gone: &[NotePath]) -> Self {
        Self { view, gone: Needles::new(gone, &[]) }
    }

    /// Whether the text names such a note.
    fn is_named_in(&self, text: &str) -> bool {
        self.view.needles.are_in(text) || self.gone.are_in(text)
    }

    /// A context block without those names. Of a list of notes nothing is left of them: how many private
    /// notes link to one that was moved would be told otherwise.
    fn redacted(&self, block: &str) -> String {
        let redacted = self.view.needles.redact(block);
        match self.gone.redact(&redacted) {
            Cow::Borrowed(same) if same == block => same.to_owned(),
            redacted => {
                redacted.replace(&format!("{REDACTED}, "), "").replace(&format!(", {REDACTED}"), "")
            }
        }
    }
}

/// The rows without what is hidden; `is_clean` knows those that were made while the same was hidden, and
/// `heard_private` the turns that were told words of hidden notes.
pub(super) fn filtered(
    rows: Vec<Message>,
    hidden: &Hidden<'_>,
    is_clean: impl Fn(&Message) -> bool,
    heard_private: impl Fn(&TurnId) -> bool,
) -> Vec<Message> {
    let reveals = |row: &&Message| {
        row.parts.iter().any(|part| reveals(hidden, row.role, part)) || heard_private(&row.turn)
    };
    let revealing: HashSet<TurnId> = rows
        .iter()
        .filter(|row| !is_clean(row))
        .filter(reveals)
        .map(|row| row.turn.clone())
        .collect();
    let mut tainted = false;
    let hear = |mut row: Message| {
        tainted |= revealing.contains(&row.turn);
        let heard = Heard {
            hidden,
            role: row.role,
            withholds: tainted && !is_clean(&row),
            is_tainted: tainted,
        };
        row.parts = row.parts.into_iter().filter_map(|part| heard.part(part)).collect();
        row
    };
    rows.into_iter().map(hear).collect()
}

/// How one message is heard.
struct Heard<'a> {
    hidden: &'a Hidden<'a>,
    role: Role,
    /// Whether its answers may tell of hidden notes.
    withholds: bool,
    /// Whether an earlier turn, or this one, looked at hidden notes.
    is_tainted: bool,
}

impl Heard<'_> {
    fn part(&self, part: Part) -> Option<Part> {
        Some(match part {
            Part::Context { text } if is_selection(&text) && tells(self.hidden, &text) => {
                return None;
            }
            Part::Context { text } => {
                let mut text = without_rejected(self.hidden, text);
                if self.is_tainted {
                    text = without_question(&text);
                }
                Part::Context { text: self.hidden.redacted(&text) }
            }
            _ if !self.withholds => part,
            Part::Text { .. } if self.role == Role::Assistant => {
                Part::Text { text: ANSWER.to_owned() }
            }
            Part::Verbatim { .. } => return None,
            Part::Call { id, tool, .. } => {
                Part::Call { id, tool, arguments: Value::Object(Map::new()) }
            }
            Part::Result { call, is_error, .. } => {
                Part::Result { call, output: RESULT.to_owned(), is_error }
            }
            part => part,
        })
    }
}

/// Whether a part names or holds a hidden note. The user's own words do not count.
fn reveals(hidden: &Hidden<'_>, role: Role, part: &Part) -> bool {
    match part {
        Part::Result { output, .. } => tells(hidden, output),
        // What was selected, and what was rejected, is words of a note as much as a result is.
        Part::Context { text } if is_selection(text) => tells(hidden, text),
        Part::Context { text } => rejected(text).is_some_and(|diffs| tells(hidden, &bare(diffs))),
        Part::Call { arguments, .. } => texts(arguments).any(|text| hidden.is_named_in(text)),
        Part::Text { text } if role == Role::Assistant => hidden.is_named_in(text),
        Part::Text { .. }
        | Part::Answers { .. }
        | Part::Repeated
        | Part::OpenNote { .. }
        | Part::Verbatim { .. } => false,
    }
}

/// Whether words of notes name or hold a hidden one.
fn tells(hidden: &Hidden<'_>, text: &str) -> bool {
    let view = hidden.view;
    hidden.is_named_in(text)
        || markdown::privacy(&view.rules, unnumbered(text).as_bytes()) > view.most
}

fn is_selection(context: &str) -> bool {
    context.starts_with(SELECTION)
}

/// The diffs in a context block of what the user rejected, from the first to the last: a line of a
/// note may look like the end of one.
fn rejected(context: &str) -> Option<&str> {
    let start = context.find(REJECTED)?;
    let end = context.rfind(REJECTED_END).filter(|end| *end > start)?;
    context.get(start..end)
}

/// The block without the diffs, if they tell of a hidden note.
fn without_rejected(hidden: &Hidden<'_>, context: String) -> String {
    match rejected(&context) {
        Some(diffs) if tells(hidden, &bare(diffs)) => context.replace(diffs, WITHHELD),
        _ => context,
    }
}

/// The block without the words of a question that a model asked: from the quotation mark on, with the
/// options behind it. Where a later line has quotation marks too, what is between goes as well.
fn without_question(context: &str) -> String {
    let Some(start) = QUESTIONS.iter().find_map(|said| {
        let at = context.find(said)?;
        context.get(at..)?.find('“').map(|quote| at + quote)
    }) else {
        return context.to_owned();
    };
    let end = context.rfind('”').map_or(context.len(), |end| end + '”'.len_utf8());
    let (before, rest) =
        (context.get(..start).unwrap_or_default(), context.get(end..).unwrap_or_default());
    let rest = match rest.strip_prefix(" (") {
        Some(options) => {
            options.find('\n').and_then(|line| options.get(line..)).unwrap_or_default()
        }
        None => rest,
    };
    format!("{before}(withheld){rest}")
}

/// Diffs as text: paths whole, lines without the signs before them.
fn bare(diff: &str) -> String {
    let line = |line: &str| {
        let path = line.strip_prefix("--- a/").or_else(|| line.strip_prefix("+++ b/"));
        let bare = line.strip_prefix(['+', '-', ' ']).unwrap_or(line);
        path.unwrap_or(bare).to_owned()
    };
    diff.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// All texts in a call's arguments.
fn texts(value: &Value) -> Box<dyn Iterator<Item = &str> + '_> {
    match value {
        Value::String(text) => Box::new(std::iter::once(text.as_str())),
        Value::Array(values) => Box::new(values.iter().flat_map(texts)),
        Value::Object(fields) => Box::new(fields.values().flat_map(texts)),
        Value::Null | Value::Bool(_) | Value::Number(_) => Box::new(std::iter::empty()),
    }
}

/// A result without line numbers, from the first fence on if there is one: so that a note's
/// properties are read as such, also when the note has another name by now.
fn unnumbered(output: &str) -> String {
    let bare = |line: &str| {
        let line = line.trim_start_matches(['>', ' ']);
        let text = line.trim_start_matches(|c: char| c.is_ascii_digit());
        let numbered = text.len() < line.len();
        let text = text.trim_start_matches([' ', '\t']);
        match text.strip_prefix(['|', '→', ':']) {
            Some(text) if numbered => text.strip_prefix(' ').unwrap_or(text).to_owned(),
            _ => line.to_owned(),
        }
    };
    let lines: Vec<String> = output.lines().map(bare).collect();
    let fence = lines.iter().position(|line| line.trim_end() == "---").unwrap_or_default();
    let (before, from) = lines.split_at(fence);
    // The fence first, what was before it behind: tags count there as well.
    format!("{}\n{}\n", from.join("\n"), before.join("\n"))
}
