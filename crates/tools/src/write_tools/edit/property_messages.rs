//! Texts for a model about the edit of a property: the summary of one that can be made, and why another one
//! cannot.

use markdown::{PropertyAction, PropertyEdit, PropertyEditError};
use protocol::NotePath;

use super::edited_text::EditResult;

/// Properties listed at most.
const MAX_LISTED: usize = 50;

/// Edits `text`, the text of the note at `path`; a failure is written for the model.
pub(super) fn edit_property(
    edit: &PropertyEdit<'_>,
    path: &NotePath,
    text: &str,
) -> Result<EditResult, String> {
    let name = edit.name.trim();
    match edit.apply(text) {
        Ok(text) => Ok(EditResult { text, summary: summary(edit.action, path, name) }),
        Err(error) => Err(failure(&error, path, name)),
    }
}

fn summary(action: PropertyAction<'_>, path: &NotePath, name: &str) -> String {
    match action {
        PropertyAction::Set(value) => format!("set the property {name} of `{path}` to {value}"),
        PropertyAction::Append(value) => format!("add {value} to the property {name} of `{path}`"),
        PropertyAction::Remove => format!("remove the property {name} of `{path}`"),
    }
}

fn failure(error: &PropertyEditError, path: &NotePath, wanted: &str) -> String {
    match error {
        PropertyEditError::Unclosed => format!(
            "Line 1 of `{path}` is `---`, which begins a frontmatter, and no line of just `---` \
             ends it.\nAdd that line with edit_file, then call again."
        ),
        PropertyEditError::BareReturns => format!(
            "Lines in the frontmatter of `{path}` end in a bare carriage return, so they cannot be \
             told apart here.\nUse write_file with overwrite to write the note with ordinary line \
             breaks, if the user wants that."
        ),
        PropertyEditError::Malformed { line, reason, text } => format!(
            "The frontmatter of `{path}` is not understood at line {line}: {reason}.\nCorrect this \
             line with edit_file first:\n{line}| {text}"
        ),
        PropertyEditError::InvalidName => {
            "property holds a quote, backslash or line break, or nothing. Give its name as one \
             line without them, such as `tags`."
                .to_owned()
        }
        PropertyEditError::InvalidValue => {
            "value is neither a text, a number, true or false, nor a list of these.\nGive for \
             example \"garden\" or [\"garden\", \"spring\"]."
                .to_owned()
        }
        PropertyEditError::Absent { names } => absent(names, path, wanted),
        PropertyEditError::Anchored { name, value } => format!(
            "The property {name} of `{path}` has an anchor, alias or tag (`{value}`), which is not \
             changed here.\nChange these lines with edit_file."
        ),
        PropertyEditError::HoldsComments { name } => format!(
            "The property {name} of `{path}` has comments among its lines, which would be lost.\n\
             Change these lines with edit_file."
        ),
        PropertyEditError::NotAList { name, value } => {
            let holds = if value.is_empty() { "other lines" } else { value.as_str() };
            format!(
                "The property {name} of `{path}` is not a list: it holds {holds}.\nTo make it one \
                 give action \"set\" and as value the whole list, such as [\"garden\", \"spring\"]."
            )
        }
        PropertyEditError::Duplicate { name, item } => format!(
            "{item} is in the property {name} of `{path}` already.\nLeave it out of value. If \
             nothing else is to be added, no change is needed."
        ),
    }
}

fn absent(names: &[String], path: &NotePath, wanted: &str) -> String {
    if names.is_empty() {
        return format!("`{path}` has no properties, so there is no {wanted} to take away.");
    }
    let listed = names.iter().take(MAX_LISTED).map(|name| format!("- `{name}`"));
    let listed: Vec<String> = listed.collect();
    format!("`{path}` has no property {wanted}.\nIts properties are:\n{}", listed.join("\n"))
}
