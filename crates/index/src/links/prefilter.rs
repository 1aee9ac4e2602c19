//! Which notes may link to some files, told without taking the notes apart.

use std::collections::HashMap;
use std::sync::LazyLock;

use protocol::NotePath;
use regex::bytes::{Regex, RegexBuilder};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

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
            let runs: Vec<String> = runs.iter().map(|run| run_pattern(run)).collect();
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

/// The longest part of a name that is spelled the same in every Unicode form, but for characters with
/// [`OTHER_SPELLINGS`], and needs no escape. `None` when there is none: then any note may link to it.
fn longest_plain_run(title: &str) -> Option<String> {
    let title: Vec<char> = title.nfc().collect();
    let next = title.iter().skip(1).copied().map(Some).chain([None]);
    // A letter with a mark may be one character in another form, also where the composed form has two.
    let plain = title.iter().copied().zip(next).map(|(sign, next)| {
        if is_plain(sign) && !next.is_some_and(is_combining_mark) { sign } else { '\0' }
    });
    let plain: String = plain.collect();
    let runs = plain.split('\0');
    runs.max_by_key(|run| run.len()).filter(|run| !run.is_empty()).map(str::to_owned)
}

/// Letters and digits that are one character in every Unicode form.
fn is_plain(sign: char) -> bool {
    let is_whole = std::iter::once(sign).nfd().eq(std::iter::once(sign));
    sign.is_alphanumeric() && is_whole && !is_combining_mark(sign)
}

/// The pattern of a run in all its spellings.
fn run_pattern(run: &str) -> String {
    let of_sign = |sign: char| match OTHER_SPELLINGS.get(&sign) {
        Some(others) => format!("[{sign}{others}]"),
        None => regex::escape(sign.encode_utf8(&mut [0; 4])),
    };
    run.chars().map(of_sign).collect()
}

/// The characters whose only canonical form is one other character, by that character: compatibility
/// ideographs by ideographs, the sign for ohm by omega. New ones are added to the two blocks of compatibility
/// ideographs; a test compares with all characters.
static OTHER_SPELLINGS: LazyLock<HashMap<char, String>> = LazyLock::new(|| {
    let blocks = ['\u{340}'..='\u{232A}', '\u{F900}'..='\u{FAFF}', '\u{2F800}'..='\u{2FA1F}'];
    let mut spellings: HashMap<char, String> = HashMap::new();
    for sign in blocks.into_iter().flatten() {
        let mut decomposed = std::iter::once(sign).nfd();
        if let (Some(other), None) = (decomposed.next(), decomposed.next())
            && other != sign
        {
            spellings.entry(other).or_default().push(sign);
        }
    }
    spellings
});

#[cfg(test)]
mod tests {
    use std::iter::once;

    use super::*;

    /// Whether a text may link to the note `title`.
    #[track_caller]
    fn check(title: &str, text: &str, expected: bool) {
        let file = NotePath::parse(&format!("{title}.md")).unwrap();
        let prefilter = LinkPrefilter::for_files(once(&file));
        assert!(prefilter.0.is_some(), "any note may link to {title:?}");
        assert_eq!(prefilter.may_match(text.as_bytes()), expected, "{text:?} for {title:?}");
    }

    #[test]
    fn a_name_is_found_where_a_letter_has_a_mark_that_no_composed_form_has() {
        // Bengali ya with nukta, and Devanagari qa: one character or two.
        for title in ["সম\u{9df}", "সম\u{9af}\u{9bc}"] {
            check(title, "[[সম\u{9df}]]", true);
            check(title, "[[সম\u{9af}\u{9bc}]]", true);
            check(title, "[[কথা]]", false);
        }
        check("लम\u{958}", "[[लम\u{915}\u{93c}]]", true);
        check("लम\u{915}\u{93c}", "[[लम\u{958}]]", true);
        check("लम\u{958}", "[[कागज]]", false);
        // A small letter has one character for what is two with the capital.
        check("wH\u{331}", "[[w\u{1e96}]]", true);
        check("wH\u{331}", "[[h]]", false);
    }

    #[test]
    fn a_name_is_found_by_its_compatibility_characters() {
        check("\u{6a02}", "[[\u{f914}]]", true);
        check("\u{f914}", "[[\u{6a02}]]", true);
        check("\u{6a02}\u{91d1}", "[[\u{f9bf}\u{f90a}]]", true);
        check("\u{6a02}", "[[\u{91d1}]]", false);
        check("3 \u{2126}", "[[3 \u{3c9}]]", true);
    }

    #[test]
    fn a_name_of_one_character_is_found_in_each_spelling_that_unicode_has() {
        let mut respelled = 0;
        for sign in ('\0'..=char::MAX).filter(|sign| !once(*sign).nfd().eq([*sign])) {
            let Ok(file) = NotePath::parse(&format!("{sign}.md")) else { continue };
            let prefilter = LinkPrefilter::for_files(once(&file));
            respelled += usize::from(prefilter.0.is_some());
            let composed: String = once(sign).nfc().collect();
            let decomposed: String = once(sign).nfd().collect();
            for spelled in [sign.to_string(), composed, decomposed] {
                assert!(prefilter.may_match(spelled.as_bytes()), "{spelled:?} for {sign:?}");
            }
        }
        assert!(respelled > 900, "{respelled} characters are another one");
    }
}
