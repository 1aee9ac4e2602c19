//! Terms that the glossary has replaced are in no source file, doc, message or error.

use std::path::{Path, PathBuf};

use super::sources::source_files;
use super::{assert_none, root};

/// Words and phrases with one word of the glossary in their place. A phrase matches words that follow each
/// other, in text and in names alike: `taken back` is in “It was taken back.”, `taken_back` and `takenBack`.
const RETIRED: [(&str, &str); 32] = [
    ("anew", "again"),
    ("beside the vault", "outside the vault"),
    ("bring back", "restore"),
    ("brought back", "restored"),
    ("ceiling", "limit"),
    ("dead link", "broken link"),
    ("dead links", "broken links"),
    ("folder of notes", "vault"),
    ("goes along", "is sent with"),
    ("journeys", "end-to-end tests"),
    ("note of the day", "daily note"),
    ("notebook", "vault"),
    ("picked", "chosen"),
    ("picture", "image"),
    ("pictures", "images"),
    ("purse", "spending limit"),
    ("put away", "archived"),
    ("put back", "restored"),
    ("put in again", "reapplied"),
    ("sum up", "summarize"),
    ("summed up", "summarized"),
    ("take along", "attach"),
    ("take back", "undo"),
    ("taken back", "undone"),
    ("takes back", "undoes"),
    ("took back", "undid"),
    ("vendor", "provider"),
    ("vendors", "providers"),
    ("verdict", "decision"),
    ("verdicts", "decisions"),
    ("waits for you", "needs attention"),
    ("what waits", "pending changes"),
];

/// Where a term must stay, by the beginning of the path, each with the reason.
const EXCEPTIONS: [(&str, &str, &str); 5] = [
    ("crates/protocol/src/chat/message.rs", "vendor", "a field that is stored under this name"),
    ("crates/store/src/db/open.rs", "taken back", "the name of a migration"),
    ("tests/support/gui/x11.rs", "vendor", "a field of the X11 protocol"),
    ("ui/tests", "notebook", "the name of a vault in the stories"),
    ("ui/tests/shared/markdown/hostile-markdown.json", "picture", "an element of HTML"),
];

/// Files that name retired terms because they are about them, or that are never edited.
const SKIPPED: [&str; 5] = [
    "crates/store/migrations",
    "docs/glossary.md",
    "tests/it/architecture/naming.rs",
    "tests/it/architecture/retired_terms.rs",
    "ui/tests/messages.test.ts",
];

/// The words of a line, lower-case, with an empty one for each other character; names are split where their
/// case changes and at `_` and `-`.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut was_lower = false;
    for c in line.chars() {
        if !c.is_alphanumeric() || (was_lower && c.is_uppercase()) {
            words.extend((!word.is_empty()).then(|| std::mem::take(&mut word)));
        }
        if !c.is_alphanumeric() && !" _-".contains(c) {
            words.push(String::new());
        }
        was_lower = c.is_lowercase();
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
    }
    words.extend((!word.is_empty()).then_some(word));
    words
}

fn retired_in(path: &Path, text: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let words = words(line);
        for (term, instead) in RETIRED {
            let term_words: Vec<&str> = term.split(' ').collect();
            let occurs = words.windows(term_words.len()).any(|window| window == term_words);
            let is_excused = EXCEPTIONS
                .iter()
                .any(|(place, excused, _)| *excused == term && path.starts_with(place));
            if occurs && !is_excused {
                let place = format!("{}:{}", path.display(), number + 1);
                complaints.push(format!("{place} says “{term}”, the glossary “{instead}”: {line}"));
            }
        }
    }
    complaints
}

#[test]
fn retired_terms_are_in_no_file() {
    let files = source_files(&root());
    let skipped = |path: &Path| SKIPPED.iter().any(|place| path.starts_with(place));
    let complaints: Vec<String> = files
        .iter()
        .filter(|(path, _)| !skipped(path))
        .flat_map(|(path, text)| retired_in(path, text))
        .collect();
    assert_none(&complaints);
}

#[test]
fn an_exception_that_nothing_needs_is_complained_about() {
    let files: Vec<(PathBuf, String)> = source_files(&root());
    let unneeded = EXCEPTIONS.iter().filter(|(place, term, _)| {
        let term: Vec<&str> = term.split(' ').collect();
        !files.iter().filter(|(path, _)| path.starts_with(place)).any(|(_, text)| {
            text.lines().any(|line| words(line).windows(term.len()).any(|window| window == term))
        })
    });
    assert_none(&unneeded.map(|(place, term, _)| format!("{place}: {term}")).collect::<Vec<_>>());
}

#[test]
fn a_retired_term_is_complained_about_in_text_and_in_names() {
    let path = Path::new("crates/app/src/review.rs");
    for line in [
        "/// The verdict of the user.",
        "let user_verdict = 1;",
        "struct ReviewVerdict;",
        "It was taken back.",
        "fn is_taken_back()",
        "const takenBack = 1;",
    ] {
        assert_eq!(retired_in(path, line).len(), 1, "{line}");
    }
    for line in [
        "/// The decision.",
        "It was taken aback.",
        "take the back door",
        "pictured",
        ".take(back)",
    ] {
        assert!(retired_in(path, line).is_empty(), "{line}");
    }
}
