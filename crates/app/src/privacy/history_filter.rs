//! Filters the messages of earlier turns for the model that reads them now.
//!
//! A turn that ran with the same view is sent whole, and so is one that ran under the same rules, unless it may tell
//! of a note that is hidden only since then. From the first other turn on that names or
//! holds hidden notes, or was told their text, everything is withheld except the user's own
//! messages: results, arguments and answers may repeat a note in other words. Text that a program
//! passed is the user's own only if the program said so. An option that a model worded is not, nor is the
//! title of another conversation ([`hidden_titles`]). Our own captures tell nothing of a hidden note, in whichever turn
//! ([`withheld_captures`]).

pub(super) mod hidden_titles;
mod mentioned_conversations;
pub(super) mod mentioned_turn_cache;
pub(super) mod model_titles;
mod withheld_captures;
mod withheld_results;

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};

use protocol::{Message, MessagePart, NotePath, Role, TurnId};
use serde_json::{Map, Value};
use vault::Vault;

use hidden_titles::HiddenTitles;
use withheld_captures::withhold_captures;
use withheld_results::WithheldResults;

use super::PrivacyView;
use super::hidden_names::{HiddenNames, REDACTED};
use super::planned_names::{NamesFilter, PlannedNames};
use super::turn_view_cache::KnownView;
use super::withheld_plans::TurnCall;
use crate::chat::prompt::{
    PASSED_CONTEXT_HEADING, REJECTED_END_TAG, REJECTED_TAG, SELECTION_TAG, without_question,
};
use crate::notes::mentions::chosen_option::OfferedTexts;

/// Replaces a withheld diff.
const WITHHELD_DIFF: &str = "<rejected>\n(a note that is private now)\n";

/// Replaces the diffs of changes that may repeat a private note.
const WITHHELD_DIFFS: &str =
    "<rejected>\n(withheld: it may come from notes that are private now)\n";

const WITHHELD_ANSWER: &str =
    "[This answer is withheld: it may come from notes that are private now.]";

const WITHHELD_PASSED_TEXT: &str =
    "[This text is withheld: it may come from notes that are private now.]";

/// Replaces the user's choice of an option that is withheld with the question.
const CHOSEN_OPTION: &str = "(chose one of the offered answers)";

/// The argument of a call that asks which holds the options.
const OPTIONS_ARGUMENT: &str = "options";

/// The tools whose arguments may be the bare name of a folder.
const FOLDER_TOOLS: [&str; 3] = ["create_folder", "move_file", "delete_file"];

/// Notes that are not to be heard of: those that a view hides, and those that are gone and may be hidden by now.
pub(super) struct Hidden<'a> {
    view: &'a PrivacyView,
    gone: HiddenNames,
    /// Those whose path another note has by now: its name may be told, but no text of before.
    replaced: HiddenNames,
    planned: &'a PlannedNames,
    titles: &'a HiddenTitles,
}

impl<'a> Hidden<'a> {
    pub(super) fn new(
        view: &'a PrivacyView,
        gone: &[NotePath],
        replaced: &[NotePath],
        planned: &'a PlannedNames,
        titles: &'a HiddenTitles,
    ) -> Self {
        let (gone, replaced) = (HiddenNames::new(gone, &[]), HiddenNames::new(replaced, &[]));
        Self { view, gone, replaced, planned, titles }
    }

    /// Whether the text names such a note.
    fn is_named_in(&self, text: &str) -> bool {
        self.view.hidden_names.occur_in(text) || self.gone.occur_in(text)
    }

    /// Whether a note is not to be heard of, or another one has its path by now.
    fn hides_note(&self, note: &NotePath) -> bool {
        self.view.rules.by_path(note) > self.view.max_privacy
            || self.is_named_in(note.as_str())
            || self.replaced.occur_in(note.as_str())
    }

    /// A context block without those names. Of a list of notes nothing is left of them: how many private
    /// notes link to one that was moved would be told otherwise.
    fn redacted(&self, block: &str) -> String {
        let redacted = self.view.hidden_names.redact(block);
        match self.gone.redact(&redacted) {
            Cow::Borrowed(same) if same == block => same.to_owned(),
            redacted => {
                redacted.replace(&format!("{REDACTED}, "), "").replace(&format!(", {REDACTED}"), "")
            }
        }
    }
}

impl PrivacyView {
    /// Whether a file that is no note is hidden by its text, while its name is shown.
    pub(super) fn hides_unnamed(&self, path: &NotePath, seen: &Vault) -> bool {
        self.rules.depend_on_content() && !self.rules.depend_on_content_of(path) && seen.hides(path)
    }

    /// The files that some view since this epoch showed. One whose path hides it was never among those: the rules
    /// are the same.
    fn names_hidden_since(&self, epoch: u64) -> HiddenNames {
        let is_by_text = |path: &&NotePath| self.rules.by_path(path) <= self.max_privacy;
        let files: Vec<NotePath> =
            self.hidden.hidden_since(epoch).filter(is_by_text).cloned().collect();
        HiddenNames::new(&files, &[])
    }
}

/// Judges turns that ran under the present rules while fewer files were hidden.
pub(super) struct SameRulesTurns {
    /// The places of all turns, in the order of their rows.
    order: HashMap<TurnId, usize>,
    /// By epoch, the place of the first turn that tells of what is hidden only since then.
    first_telling: HashMap<u64, usize>,
}

impl SameRulesTurns {
    /// Of the rows, `known` tells under which views they were made. `was_told` says of a turn whether it was told
    /// something of notes with such names that need not name them.
    pub(super) fn new(
        rows: &[Message],
        view: &PrivacyView,
        known: impl Fn(&Message) -> KnownView,
        was_told: impl Fn(&TurnId, &HiddenNames) -> bool,
    ) -> Self {
        let epoch = |row: &Message| match known(row) {
            KnownView::SameRules { epoch } => Some(epoch),
            KnownView::Same | KnownView::Unknown => None,
        };
        let epochs: BTreeSet<u64> = rows.iter().filter_map(epoch).collect();
        let mut order = HashMap::new();
        for row in rows {
            let next = order.len();
            order.entry(row.turn.clone()).or_insert(next);
        }
        let first = |epoch: &u64| {
            let since = view.names_hidden_since(*epoch);
            let tells =
                |row: &&Message| row.parts.iter().any(|part| is_named(&since, row.role, part));
            let by_name = rows.iter().filter(tells).filter_map(|row| order.get(&row.turn));
            let by_source = order.iter().filter(|(turn, _)| was_told(turn, &since));
            let first = by_name.chain(by_source.map(|(_, place)| place)).min()?;
            Some((*epoch, *first))
        };
        let first_telling = epochs.iter().filter_map(first).collect();
        Self { order, first_telling }
    }

    /// Whether a message of the turn that was made under this view may be sent whole: neither the turn nor one
    /// before it tells of anything that is hidden and was not by then.
    pub(super) fn is_clean(&self, turn: &TurnId, view: KnownView) -> bool {
        let epoch = match view {
            KnownView::Same => return true,
            KnownView::Unknown => return false,
            KnownView::SameRules { epoch } => epoch,
        };
        let Some(first) = self.first_telling.get(&epoch) else { return true };
        self.order.get(turn).is_some_and(|place| place < first)
    }
}

/// Whether a part other than the user's own messages names one of these notes.
fn is_named(names: &HiddenNames, role: Role, part: &MessagePart) -> bool {
    match part {
        MessagePart::Result { output, .. } => names.occur_in(output),
        MessagePart::Context { text } if is_selection(text) => names.occur_in(text),
        MessagePart::Context { text } => {
            rejected_diffs(text).is_some_and(|diffs| names.occur_in(&without_diff_signs(diffs)))
        }
        MessagePart::Call { arguments, .. } => {
            argument_texts(arguments).any(|text| names.occur_in(text))
        }
        MessagePart::Text { text } if role == Role::Assistant => names.occur_in(text),
        _ => false,
    }
}

/// The rows without hidden text; `is_clean` knows those that were made without what is hidden now, and
/// `heard_private` the turns that were told text of hidden notes.
pub(super) fn filter_history(
    rows: Vec<Message>,
    hidden: &Hidden<'_>,
    is_clean: impl Fn(&Message) -> bool,
    heard_private: impl Fn(&TurnId) -> bool,
) -> Vec<Message> {
    let rows = withhold_captures(
        rows,
        |note| hidden.hides_note(note),
        |text| reveals_in_quotation(hidden, text),
    );
    let reveals = |row: &&Message| {
        row.parts.iter().any(|part| reveals(hidden, row.role, part))
            || heard_private(&row.turn)
            || hidden.planned.has_hidden_of(&row.turn)
            || hidden.titles.were_told_to(&row.turn)
    };
    let revealing: HashSet<TurnId> = rows
        .iter()
        .filter(|row| !is_clean(row))
        .filter(reveals)
        .map(|row| row.turn.clone())
        .collect();
    let withheld_calls = withheld_calls(&rows, &revealing, &is_clean);
    let results = WithheldResults::of_calls(&rows);
    let mut tainted = false;
    let mut options = WithheldOptions::default();
    let hear = |mut row: Message| {
        tainted |= revealing.contains(&row.turn);
        let withholds = tainted && !is_clean(&row);
        options.hear(&row, withholds);
        let answers = row.parts.iter().any(|part| matches!(part, MessagePart::Answers { .. }));
        let heard = MessageFilter {
            hidden,
            role: row.role,
            is_passed: row.parts.contains(&MessagePart::Passed),
            turn: &row.turn,
            results: &results,
            withholds,
            is_tainted: tainted,
            withheld_calls: &withheld_calls,
            options: &options,
        };
        row.parts = row.parts.into_iter().filter_map(|part| heard.filter_part(part)).collect();
        // At most one question waits at a time.
        if answers {
            options.0.clear();
        }
        row
    };
    rows.into_iter().map(hear).collect()
}

/// The calls that are not heard: from the first turn that reveals something on.
fn withheld_calls(
    rows: &[Message],
    revealing: &HashSet<TurnId>,
    is_clean: impl Fn(&Message) -> bool,
) -> BTreeSet<TurnCall> {
    let mut tainted = false;
    let mut withheld = BTreeSet::new();
    for row in rows {
        tainted |= revealing.contains(&row.turn);
        if tainted && !is_clean(row) {
            withheld.extend(row.parts.iter().filter_map(|part| match part {
                MessagePart::Call { id, .. } => Some((row.turn.clone(), id.clone())),
                _ => None,
            }));
        }
    }
    withheld
}

/// How one message is heard.
struct MessageFilter<'a> {
    hidden: &'a Hidden<'a>,
    role: Role,
    turn: &'a TurnId,
    results: &'a WithheldResults,
    /// Whether a program passed its text, from other sources than the user.
    is_passed: bool,
    /// Whether its answers may tell of hidden notes.
    withholds: bool,
    /// Whether an earlier turn, or this one, looked at hidden notes.
    is_tainted: bool,
    withheld_calls: &'a BTreeSet<TurnCall>,
    options: &'a WithheldOptions,
}

impl MessageFilter<'_> {
    fn filter_part(&self, part: MessagePart) -> Option<MessagePart> {
        Some(match part {
            MessagePart::Context { text }
                if is_selection(&text) && reveals_in_quotation(self.hidden, &text) =>
            {
                return None;
            }
            MessagePart::Context { text } if self.withholds && is_passed_context(&text) => {
                MessagePart::Context { text: WITHHELD_PASSED_TEXT.to_owned() }
            }
            MessagePart::Context { text } => MessagePart::Context { text: self.filter_block(text) },
            MessagePart::Text { .. } if self.withholds && self.role == Role::Assistant => {
                MessagePart::Text { text: WITHHELD_ANSWER.to_owned() }
            }
            MessagePart::Text { .. } if self.withholds && self.is_passed => {
                MessagePart::Text { text: WITHHELD_PASSED_TEXT.to_owned() }
            }
            MessagePart::Text { text } if self.role == Role::User => {
                MessagePart::Text { text: self.filter_users_text(&text) }
            }
            _ if !self.withholds => part,
            MessagePart::Verbatim { .. } => return None,
            MessagePart::Call { id, tool, .. } => {
                MessagePart::Call { id, tool, arguments: Value::Object(Map::new()) }
            }
            MessagePart::Result { call, is_error, .. } => {
                let output = self.results.text(self.turn, &call, is_error).to_owned();
                MessagePart::Result { call, output, is_error, speech: None }
            }
            part => part,
        })
    }

    /// The text without what a model worded in it, also where the turn that it opened is heard: the
    /// model of that turn did not word it.
    fn filter_users_text(&self, text: &str) -> String {
        match self.options.0.rest_behind(text) {
            Some(rest) => format!("{CHOSEN_OPTION}{}", self.hidden.titles.cut(rest)),
            None => self.hidden.titles.cut(text),
        }
    }

    fn filter_block(&self, block: String) -> String {
        let names = NamesFilter {
            names: self.hidden.planned,
            view: self.hidden.view,
            gone: &self.hidden.gone,
            withheld: self.withheld_calls,
            is_tainted: self.is_tainted,
        };
        // First of all: a question may hold the tags of a diff.
        let block = if self.is_tainted { without_question(&block) } else { block };
        let named = names.filter_block(&block);
        let is_named_whole = named.is_none();
        let mut block = without_rejected(self.hidden, named.unwrap_or(block));
        if self.is_tainted || !is_named_whole {
            block = without_any_rejected(&block);
        }
        self.hidden.redacted(&block)
    }
}

/// Options of questions that are withheld: a model worded them, so they may repeat a note as its answers
/// may.
#[derive(Default)]
struct WithheldOptions(OfferedTexts);

impl WithheldOptions {
    /// Takes in what a message offers. An option that is offered again where it is heard may be told.
    fn hear(&mut self, message: &Message, withholds: bool) {
        for option in message.parts.iter().flat_map(offered_options) {
            if withholds {
                self.0.insert(option);
            } else {
                self.0.remove(option);
            }
        }
    }
}

/// The options in a call that asks.
fn offered_options(part: &MessagePart) -> impl Iterator<Item = &str> {
    let options = match part {
        MessagePart::Call { arguments, .. } => {
            arguments.get(OPTIONS_ARGUMENT).and_then(Value::as_array)
        }
        _ => None,
    };
    options.into_iter().flatten().filter_map(Value::as_str)
}

/// Whether a part names or holds a hidden note. The user's own messages do not count.
fn reveals(hidden: &Hidden<'_>, role: Role, part: &MessagePart) -> bool {
    match part {
        MessagePart::Result { output, .. } => reveals_in_text(hidden, output),
        // Selections and rejected diffs are text of a note as much as a result is.
        MessagePart::Context { text } if is_selection(text) => reveals_in_quotation(hidden, text),
        MessagePart::Context { text } => rejected_diffs(text)
            .is_some_and(|diffs| reveals_in_quotation(hidden, &without_diff_signs(diffs))),
        MessagePart::Call { tool, arguments, .. } => {
            let is_about_folders = FOLDER_TOOLS.contains(&tool.as_str());
            argument_texts(arguments).any(|text| {
                hidden.is_named_in(text)
                    || (is_about_folders && hidden.view.hidden_names.occur_in_folders(text))
            })
        }
        MessagePart::Text { text } if role == Role::Assistant => hidden.is_named_in(text),
        MessagePart::Text { .. }
        | MessagePart::Answers { .. }
        | MessagePart::Repeated
        | MessagePart::Passed
        | MessagePart::OpenNote { .. }
        | MessagePart::Verbatim { .. } => false,
    }
}

/// Whether text of notes names or holds a hidden one.
fn reveals_in_text(hidden: &Hidden<'_>, text: &str) -> bool {
    let view = hidden.view;
    hidden.is_named_in(text)
        || markdown::privacy(&view.rules, without_line_numbers(text).as_bytes()) > view.max_privacy
}

/// The same for text of one note that names it: a note whose path another one has by now counts.
fn reveals_in_quotation(hidden: &Hidden<'_>, text: &str) -> bool {
    hidden.replaced.occur_in(text) || reveals_in_text(hidden, text)
}

fn is_selection(context: &str) -> bool {
    context.starts_with(SELECTION_TAG)
}

/// Whether a program passed it, from other sources than the user.
fn is_passed_context(context: &str) -> bool {
    context.starts_with(PASSED_CONTEXT_HEADING)
}

/// The diffs in a context block of what the user rejected, from the first to the last: a line of a
/// note may look like the end of one.
fn rejected_diffs(context: &str) -> Option<&str> {
    let start = context.find(REJECTED_TAG)?;
    let end = context.rfind(REJECTED_END_TAG).filter(|end| *end > start)?;
    context.get(start..end)
}

/// The block without the diffs, if they tell of a hidden note.
fn without_rejected(hidden: &Hidden<'_>, context: String) -> String {
    match rejected_diffs(&context) {
        Some(diffs) if reveals_in_quotation(hidden, &without_diff_signs(diffs)) => {
            context.replace(diffs, WITHHELD_DIFF)
        }
        _ => context,
    }
}

/// The block without all diffs: the changes may have been planned by a turn that heard of hidden notes.
fn without_any_rejected(context: &str) -> String {
    match rejected_diffs(context) {
        Some(diffs) if diffs != WITHHELD_DIFF => context.replace(diffs, WITHHELD_DIFFS),
        _ => context.to_owned(),
    }
}

/// Diffs as text: paths whole, lines without the signs before them.
fn without_diff_signs(diff: &str) -> String {
    let line = |line: &str| {
        let path = line.strip_prefix("--- a/").or_else(|| line.strip_prefix("+++ b/"));
        let bare = line.strip_prefix(['+', '-', ' ']).unwrap_or(line);
        path.unwrap_or(bare).to_owned()
    };
    diff.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// All texts in a call's arguments.
fn argument_texts(value: &Value) -> Box<dyn Iterator<Item = &str> + '_> {
    match value {
        Value::String(text) => Box::new(std::iter::once(text.as_str())),
        Value::Array(values) => Box::new(values.iter().flat_map(argument_texts)),
        Value::Object(fields) => Box::new(fields.values().flat_map(argument_texts)),
        Value::Null | Value::Bool(_) | Value::Number(_) => Box::new(std::iter::empty()),
    }
}

/// A result without line numbers, from the first fence on if there is one, so that a note's
/// properties are read as such, also when the note was renamed since.
fn without_line_numbers(output: &str) -> String {
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
