//! A choice of notes in a failure: written for the model, and read back by the commands.

use llm::tool_api::tool::ToolOffer;
use protocol::NotePath;

use crate::text::similar_lines;

/// The alternatives for a name that cannot be used as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NameSuggestions {
    /// Several notes have this name.
    Several(Vec<String>),
    /// No note has it; these are near.
    Near(Vec<String>),
}

/// Folders offered at most.
const MAX_FOLDERS: usize = 3;
/// From this likeness on (0 to 1) a folder is offered as the one that was meant.
const MIN_SIMILARITY: f64 = 0.4;

const SEVERAL_PREFIX: &str = "Several notes are called ";
const NONE_PREFIX: &str = "There is no note ";

/// The failure for a name that several notes have.
pub(crate) fn ambiguous_name(asked: &str, candidates: &[NotePath]) -> String {
    format!(
        "{SEVERAL_PREFIX}“{asked}”. Call again with the whole path of the one you mean:\n{}",
        list(candidates)
    )
}

/// The failure for a name that no note has.
pub(crate) fn no_note(asked: &str, nearest: &[NotePath], offered: &ToolOffer) -> String {
    if nearest.is_empty() {
        return format!(
            "{NONE_PREFIX}“{asked}”, and none with a name like it.\nLook for it with find_notes{}.",
            offered.hint(&["list_files"], ", or list the notes with list_files")
        );
    }
    format!(
        "{NONE_PREFIX}“{asked}”. The nearest names are below; if it is none of them, look for it with \
         find_notes.\n{}",
        list(nearest)
    )
}

/// The few folders whose names are most like the one that was asked for.
pub(crate) fn similar_folders(asked: &str, folders: Vec<NotePath>) -> Vec<NotePath> {
    let asked = asked.trim().trim_end_matches('/');
    let likeness = |folder: &NotePath| {
        similar_lines::similarity(folder.as_str(), asked)
            .max(similar_lines::similarity(folder.name(), asked))
    };
    let mut near: Vec<_> = folders.into_iter().map(|folder| (likeness(&folder), folder)).collect();
    near.retain(|(likeness, _)| *likeness >= MIN_SIMILARITY);
    near.sort_by(|(a, at), (b, bt)| b.total_cmp(a).then_with(|| at.cmp(bt)));
    near.into_iter().take(MAX_FOLDERS).map(|(_, folder)| folder).collect()
}

/// The failure for a name that nothing has, with the folders that have one like it.
pub(crate) fn no_folder(asked: &str, near: &[NotePath], offered: &ToolOffer) -> String {
    let asked = asked.trim().trim_end_matches('/');
    let lines: Vec<_> = near.iter().map(|folder| format!("- `{folder}/`")).collect();
    format!(
        "There is no folder “{asked}”. The nearest names are below{}.\n{}",
        offered.hint(&["list_files"], "; if it is none of them, look for it with list_files"),
        lines.join("\n")
    )
}

/// The failure for a name that a folder has and no note.
pub(crate) fn not_a_note(asked: &str, offered: &ToolOffer) -> String {
    let advice = match offered.has_all(&["list_files"]) {
        true => "List it with list_files, then give the path of a note in it.",
        false => "Give the path of a note in it.",
    };
    format!("{NONE_PREFIX}“{asked}”, but a folder of that name.\n{advice}")
}

/// Reads a failure back; `None` when it is about something else.
pub(crate) fn parse(output: &str) -> Option<NameSuggestions> {
    let paths = || {
        output
            .lines()
            .filter_map(|line| Some(line.strip_prefix("- `")?.strip_suffix('`')?.to_owned()))
            .collect()
    };
    if output.starts_with(SEVERAL_PREFIX) {
        Some(NameSuggestions::Several(paths()))
    } else if output.starts_with(NONE_PREFIX) {
        Some(NameSuggestions::Near(paths()))
    } else {
        None
    }
}

fn list(paths: &[NotePath]) -> String {
    paths.iter().map(|path| format!("- `{path}`")).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_are_read_back_as_they_were_written() {
        let paths = [NotePath::parse("a/X.md").unwrap(), NotePath::parse("b/X.md").unwrap()];
        let names = vec!["a/X.md".to_owned(), "b/X.md".to_owned()];
        let all = ToolOffer::default();
        assert_eq!(
            parse(&ambiguous_name("X", &paths)),
            Some(NameSuggestions::Several(names.clone()))
        );
        assert_eq!(parse(&no_note("Xx", &paths, &all)), Some(NameSuggestions::Near(names)));
        assert_eq!(parse(&no_note("Xx", &[], &all)), Some(NameSuggestions::Near(Vec::new())));
        assert_eq!(parse(&not_a_note("Xx", &all)), Some(NameSuggestions::Near(Vec::new())));
        assert_eq!(parse("The disk is full."), None);
    }
}
