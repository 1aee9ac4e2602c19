//! Terms that the glossary has replaced are in no source file, doc, message or error.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use super::sources::source_files;
use super::{assert_none, root};

/// Words and phrases with one word of the glossary in their place. A phrase matches words that follow each
/// other, in text and in names alike: `taken back` is in “It was taken back.”, `taken_back` and `takenBack`,
/// and, with a pronoun between, in “take it back”; a line break in a comment does not part them.
const RETIRED: [(&str, &str); 46] = [
    ("anew", "again"),
    ("auftrag", "Antwort"),
    ("beside the vault", "outside the vault"),
    ("bring back", "restore"),
    ("bringing back", "restoring"),
    ("brought back", "restored"),
    ("ceiling", "limit"),
    ("dead link", "broken link"),
    ("dead links", "broken links"),
    ("folder of notes", "vault"),
    ("goes along", "is sent with"),
    ("journeys", "end-to-end tests"),
    ("lead nowhere", "broken link"),
    ("leads nowhere", "broken link"),
    ("longest answer", "max output tokens"),
    ("needs you", "needs attention"),
    ("note of the day", "daily note"),
    ("notebook", "vault"),
    ("picked", "chosen"),
    ("picture", "image"),
    ("pictures", "images"),
    ("purse", "spending limit"),
    ("put away", "archived"),
    ("put back", "restored"),
    ("put in again", "reapplied"),
    ("puts back", "restores"),
    ("puts in again", "reapplies"),
    ("putting away", "archiving"),
    ("sum up", "summarize"),
    ("summed up", "summarized"),
    ("sums up", "summarizes"),
    ("take along", "attach"),
    ("take back", "undo"),
    ("taken back", "undone"),
    ("takes back", "undoes"),
    ("takes in more", "has a larger context window"),
    ("taking back", "undoing"),
    ("took back", "undid"),
    ("vendor", "provider"),
    ("vendors", "providers"),
    ("verdict", "decision"),
    ("verdicts", "decisions"),
    ("waits for you", "needs attention"),
    ("waits its turn", "is queued"),
    ("what waits", "pending changes"),
    ("who answers", "model or provider"),
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

/// A word, lower-case, with the number of its line; an empty one stands for a sign between words.
type NumberedWord = (usize, String);

/// The words of a text. Names are split where their case changes and at `_` and `-`. A line goes on in the
/// next one, behind the marks of a comment.
fn words(text: &str) -> Vec<NumberedWord> {
    let mut all = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim_start();
        let goes_on =
            ["///", "//!", "//", "* ", "#"].iter().find_map(|mark| line.strip_prefix(mark));
        let of_line = line_words(goes_on.unwrap_or(line));
        all.extend(of_line.into_iter().map(|word| (number + 1, word)));
    }
    all
}

/// The words of a line, lower-case; an empty one stands for a sign between words.
pub(super) fn line_words(line: &str) -> Vec<String> {
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

/// Whether the words begin with the term, perhaps with a pronoun behind its first word.
fn begins_with(words: &[NumberedWord], term: &[&str]) -> bool {
    let Some(((_, first), rest)) = words.split_first() else { return false };
    let pronoun = rest.first().is_some_and(|(_, word)| ["it", "them"].contains(&word.as_str()));
    let follows = |rest: &[NumberedWord]| {
        rest.len() >= term.len() - 1
            && rest.iter().zip(&term[1..]).all(|((_, word), it)| word == it)
    };
    first == term[0] && (follows(rest) || (term.len() > 1 && pronoun && follows(&rest[1..])))
}

/// The numbers of the lines in which the term begins.
fn lines_with(words: &[NumberedWord], term: &str) -> Vec<usize> {
    let term: Vec<&str> = term.split(' ').collect();
    let begins = |at: &usize| begins_with(&words[*at..], &term);
    (0..words.len()).filter(begins).map(|at| words[at].0).collect()
}

fn retired_in(path: &Path, text: &str) -> Vec<String> {
    let words = words(text);
    let is_excused = |term| {
        EXCEPTIONS.iter().any(|(place, excused, _)| *excused == term && path.starts_with(place))
    };
    let mut complaints = Vec::new();
    for (term, instead) in RETIRED.into_iter().filter(|(term, _)| !is_excused(*term)) {
        for number in lines_with(&words, term) {
            let place = format!("{}:{number}", path.display());
            complaints.push(format!("{place} says “{term}”, the glossary “{instead}”"));
        }
    }
    complaints
}

/// Texts for users that are no source files: manual pages, the desktop entry, and the sample notes.
fn other_texts(root: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for folder in ["packaging", "vault-fixtures/sample"] {
        for entry in fs::read_dir(root.join(folder)).expect("a readable folder") {
            let path = entry.expect("a readable entry").path();
            let kinds = ["1", "xml", "desktop", "md"];
            if path.extension().and_then(OsStr::to_str).is_some_and(|it| kinds.contains(&it)) {
                let text = fs::read_to_string(&path).expect("a text is UTF-8");
                found.push((path.strip_prefix(root).expect("below the root").to_owned(), text));
            }
        }
    }
    found
}

#[test]
fn retired_terms_are_in_no_file() {
    let mut files = source_files(&root());
    let others = other_texts(&root());
    assert!(others.len() > 5, "only {} other texts were found", others.len());
    files.extend(others);
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
        !files
            .iter()
            .filter(|(path, _)| path.starts_with(place))
            .any(|(_, text)| !lines_with(&words(text), term).is_empty())
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
        "Where one can take it back.",
        "/// It was taken\n/// back.",
    ] {
        assert_eq!(retired_in(path, line).len(), 1, "{line}");
    }
    for line in [
        "/// The decision.",
        "It was taken aback.",
        "take the back door",
        "pictured",
        ".take(back)",
        "It was taken.\nBack at home",
        "take the note back",
    ] {
        assert!(retired_in(path, line).is_empty(), "{line}");
    }
}
