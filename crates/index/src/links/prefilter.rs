//! Which notes may link to some files, told without taking the notes apart.

use protocol::NotePath;
use regex::bytes::{Regex, RegexBuilder};
use unicode_normalization::UnicodeNormalization;

/// A test of bytes: false only when no link in them can name one of the files.
pub(super) struct LinkPrefilter(Option<Regex>);

/// The number of names from which on it is faster to take every note apart.
const MAX_NAMES: usize = 200;

/// Signs by which a link may spell a letter without writing it: entities, percent signs for
/// letters and digits, escapes of YAML and JSON.
const ESCAPES: &str = r"&#|&[a-z]+;|%[3-7]|\\[uUx]";

/// Percent signs for non-ASCII characters.
const NON_ASCII_ESCAPES: &str = r"|%[c-f]";

impl LinkPrefilter {
    /// Built from the names of `files`, without their folders.
    pub(super) fn for_files<'a>(files: impl Iterator<Item = &'a NotePath>) -> Self {
        let mut runs: Vec<Option<String>> =
            files.map(|file| longest_plain_run(file.title())).collect();
        runs.sort();
        runs.dedup();
        let beyond = runs.iter().flatten().any(|run| !run.is_ascii());
        let runs: Option<Vec<String>> =
            if runs.len() > MAX_NAMES { None } else { runs.into_iter().collect() };
        let pattern = runs.map(|runs| {
            let runs: Vec<String> = runs.iter().map(|run| regex::escape(run)).collect();
            format!("{}|{ESCAPES}{}", runs.join("|"), if beyond { NON_ASCII_ESCAPES } else { "" })
        });
        let regex = pattern
            .and_then(|pattern| RegexBuilder::new(&pattern).case_insensitive(true).build().ok());
        Self(regex)
    }

    /// Whether `bytes` may link to one of the files.
    pub(super) fn may_match(&self, bytes: &[u8]) -> bool {
        self.0.as_ref().is_none_or(|regex| regex.is_match(bytes))
    }
}

/// The longest part of a name that is spelled the same in every Unicode form and needs no escape.
/// `None` when there is none: then any note may link to it.
fn longest_plain_run(title: &str) -> Option<String> {
    let title: String = title.nfc().collect();
    let runs = title.split(|sign: char| !is_plain(sign));
    runs.max_by_key(|run| run.len()).filter(|run| !run.is_empty()).map(str::to_owned)
}

/// Letters and digits that have no other Unicode form, nor one that they share with another.
fn is_plain(sign: char) -> bool {
    let is_whole = sign.is_ascii() || std::iter::once(sign).nfd().eq(std::iter::once(sign));
    sign.is_alphanumeric() && is_whole && !unicode_normalization::char::is_combining_mark(sign)
}
