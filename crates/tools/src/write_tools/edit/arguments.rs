//! Which edit a call means: one place, and the fields that go with it.

use std::fmt::Write as _;

use serde_json::Value;

use super::delete_lines::DeleteLines;
use super::insert_lines::InsertLines;
use super::property::{PropertyAction, PropertyEdit};
use super::replace_text::TextReplacement;
use super::section::{SectionEdit, SectionPart};
use super::{Action, NoteEdit};
use crate::write_tools::edit_file::EditFileInput;

/// What may be combined, for a call that combined something else.
const USAGE: &str = "Give path and exactly one of:\n\
    - old_text, new_text\n\
    - line, action (before or after), text\n\
    - start_line, end_line\n\
    - heading, action (replace, append or prepend), text\n\
    - property, action (set, remove or append), value";

impl<'a> NoteEdit<'a> {
    /// The edit that the fields of `input` name together.
    pub(crate) fn from_input(input: &'a EditFileInput) -> Result<Self, String> {
        let place = EditTarget::from_input(input)?;
        place.refuse_other_fields(input)?;
        match place {
            EditTarget::Text => text(input),
            EditTarget::Line(line) => insert_lines(input, line),
            EditTarget::Lines { first, last } => {
                Ok(Self::DeleteLines(DeleteLines { first: number(first), last: number(last) }))
            }
            EditTarget::Heading(heading) => section(input, heading),
            EditTarget::Property(name) => property(input, name),
        }
    }
}

/// Where the edit is.
#[derive(Clone, Copy)]
enum EditTarget<'a> {
    Text,
    Line(u32),
    Lines { first: u32, last: u32 },
    Heading(&'a str),
    Property(&'a str),
}

impl<'a> EditTarget<'a> {
    fn from_input(input: &'a EditFileInput) -> Result<Self, String> {
        let mut places = Vec::new();
        if non_empty(input.old_text.as_deref()).is_some() {
            places.push(Self::Text);
        }
        places.extend(input.line.map(Self::Line));
        match (input.start_line, input.end_line) {
            (Some(first), last) => {
                places.push(Self::Lines { first, last: last.unwrap_or(first) });
            }
            (None, Some(last)) => {
                return Err(format!(
                    "end_line {last} needs a start_line: the first line to delete.\nTo delete just \
                     that line give start_line {last}."
                ));
            }
            (None, None) => {}
        }
        places.extend(non_empty(input.heading.as_deref()).map(Self::Heading));
        places.extend(non_empty(input.property.as_deref()).map(Self::Property));
        match places.as_slice() {
            [place] => Ok(*place),
            [] if input.old_text.is_some() => Err(
                "old_text is empty, so there is nothing to replace.\nTo add lines use append_file; \
                 to write a whole note use write_file."
                    .to_owned(),
            ),
            [] => Err(format!("The call does not say where to edit.\n{USAGE}")),
            several => {
                let names: Vec<&str> = several.iter().map(|place| place.field()).collect();
                Err(format!(
                    "{} are different edits, and a call makes one. Make one call for each.\n{USAGE}",
                    names.join(" and ")
                ))
            }
        }
    }

    const fn field(self) -> &'static str {
        match self {
            Self::Text => "old_text",
            Self::Line(_) => "line",
            Self::Lines { .. } => "start_line",
            Self::Heading(_) => "heading",
            Self::Property(_) => "property",
        }
    }

    /// The fields that go with the place, and the one that holds what is new.
    const fn companion_fields(self) -> (&'static [&'static str], Option<&'static str>) {
        match self {
            Self::Text => (&["new_text", "replace_all"], Some("new_text")),
            Self::Line(_) | Self::Heading(_) => (&["action", "text"], Some("text")),
            Self::Lines { .. } => (&[], None),
            Self::Property(_) => (&["action", "value"], Some("value")),
        }
    }

    /// Refuses fields that say something the edit would not do.
    fn refuse_other_fields(self, input: &EditFileInput) -> Result<(), String> {
        let (company, news) = self.companion_fields();
        let given = [
            ("new_text", non_empty(input.new_text.as_deref()).is_some()),
            ("text", non_empty(input.text.as_deref()).is_some()),
            ("value", input.value.as_ref().is_some_and(|value| !is_blank(value))),
            ("replace_all", input.replace_all),
        ];
        let strange = given.iter().find(|(name, given)| *given && !company.contains(name));
        let Some((strange, _)) = strange else { return Ok(()) };
        let mut words = format!("{strange} does not go with {}.", self.field());
        match news.filter(|_| *strange != "replace_all") {
            Some(news) => {
                let _ = write!(words, " Give {news} instead of {strange}.");
            }
            None => {
                let _ = write!(words, " Leave out {strange}.");
            }
        }
        if matches!(self, Self::Lines { .. }) {
            words.push_str(" start_line and end_line only delete; to replace text use old_text.");
        }
        Err(format!("{words}\n{USAGE}"))
    }
}

/// A value that a model gives where it means none.
fn is_blank(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(values) => values.is_empty(),
        _ => false,
    }
}

fn text(input: &EditFileInput) -> Result<NoteEdit<'_>, String> {
    let old = input.old_text.as_deref().unwrap_or_default();
    let Some(new) = input.new_text.as_deref() else {
        return Err("new_text is missing: the text to put in place of old_text.\nTo delete \
                    old_text give new_text \"\"."
            .to_owned());
    };
    Ok(NoteEdit::Text(TextReplacement { old, new, replace_all: input.replace_all }))
}

fn insert_lines(input: &EditFileInput, line: u32) -> Result<NoteEdit<'_>, String> {
    let above = match input.action {
        Some(Action::Before) => true,
        Some(Action::After) => false,
        _ => return Err(wrong_action("line", "before or after")),
    };
    let text = required(input.text.as_deref())?;
    let line = number(line);
    // Before a line is after the one above it.
    let after = if above { line.checked_sub(1) } else { Some(line).filter(|line| *line > 0) };
    let Some(after) = after else {
        return Err("line 0 is no line: lines are counted from 1. Give line 1.".to_owned());
    };
    Ok(NoteEdit::InsertLines(InsertLines { line, after, text }))
}

fn section<'a>(input: &'a EditFileInput, heading: &'a str) -> Result<NoteEdit<'a>, String> {
    let part = match input.action {
        Some(Action::Replace) => SectionPart::Whole,
        Some(Action::Append) => SectionPart::End,
        Some(Action::Prepend) => SectionPart::Beginning,
        _ => return Err(wrong_action("heading", "replace, append or prepend")),
    };
    let text = match (part, input.text.as_deref()) {
        (SectionPart::Whole, Some(text)) => text,
        (_, text) => required(text)?,
    };
    Ok(NoteEdit::Section(SectionEdit { heading, part, text }))
}

fn property<'a>(input: &'a EditFileInput, name: &'a str) -> Result<NoteEdit<'a>, String> {
    let value = || {
        input.value.as_ref().ok_or_else(|| {
            "value is missing: what the property shall hold.\nTo take the property away give \
             action \"remove\"."
                .to_owned()
        })
    };
    let act = match input.action {
        Some(Action::Set) => PropertyAction::Set(value()?),
        Some(Action::Append) => PropertyAction::Append(value()?),
        Some(Action::Remove) => PropertyAction::Remove,
        _ => return Err(wrong_action("property", "set, remove or append")),
    };
    Ok(NoteEdit::Property(PropertyEdit { name, action: act }))
}

fn wrong_action(place: &str, allowed: &str) -> String {
    format!("With {place}, action is one of: {allowed}.")
}

fn required(text: Option<&str>) -> Result<&str, String> {
    text.filter(|text| !text.is_empty())
        .ok_or_else(|| "text is missing: the lines to put there, as Markdown.".to_owned())
}

/// A field that says something. Some models send every field, the unused ones empty.
fn non_empty(field: Option<&str>) -> Option<&str> {
    field.filter(|text| !text.is_empty())
}

fn number(line: u32) -> usize {
    usize::try_from(line).unwrap_or(usize::MAX)
}
