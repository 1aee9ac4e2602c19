//! The names of hidden notes, to be found in any text.

use std::borrow::Cow;
use std::sync::OnceLock;

use protocol::NotePath;
use regex::{Regex, RegexBuilder};

/// What stands in the place of a hidden name.
const REDACTED: &str = "(a private note)";

/// More names than this make an engine of another size.
const ENGINE: usize = 64 << 20;

/// Paths of hidden files, and the places under which everything is hidden.
pub(super) struct Needles {
    files: Vec<String>,
    places: Vec<String>,
    /// Made when it is needed first; none when it cannot be made.
    engine: OnceLock<Option<Regex>>,
}

impl Needles {
    pub(super) fn new(files: &[NotePath], places: Vec<String>) -> Self {
        let files = files.iter().map(|path| path.as_str().to_owned()).collect();
        Self { files, places, engine: OnceLock::new() }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.files.is_empty() && self.places.is_empty()
    }

    /// Whether the text names a hidden note. In doubt it does.
    pub(super) fn are_in(&self, text: &str) -> bool {
        if self.is_empty() {
            return false;
        }
        self.engine()
            .is_none_or(|engine| engine.find_iter(text).any(|at| is_whole(text, at.start())))
    }

    /// The text without those names; nothing of it where they cannot be looked for.
    pub(super) fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.is_empty() {
            return Cow::Borrowed(text);
        }
        let Some(engine) = self.engine() else { return Cow::Borrowed(REDACTED) };
        engine.replace_all(text, |found: &regex::Captures<'_>| {
            let whole = found.get_match();
            if is_whole(text, whole.start()) { REDACTED } else { whole.as_str() }.to_owned()
        })
    }

    fn engine(&self) -> Option<&Regex> {
        self.engine
            .get_or_init(|| {
                let one_of = |texts: &[String]| {
                    let escaped: Vec<String> =
                        texts.iter().map(|text| regex::escape(text)).collect();
                    escaped.join("|")
                };
                let mut ways = Vec::new();
                if !self.files.is_empty() {
                    ways.push(format!(r"(?:{})\b{{end-half}}", one_of(&self.files)));
                }
                if !self.places.is_empty() {
                    ways.push(format!(
                        r"(?:{})(?:/[^`”\x22\n,]*|\.md\b{{end-half}})",
                        one_of(&self.places)
                    ));
                }
                RegexBuilder::new(&format!(r"\b{{start-half}}(?:{})", ways.join("|")))
                    .case_insensitive(true)
                    .size_limit(ENGINE)
                    .build()
                    .inspect_err(
                        |error| tracing::warn!(%error, "private names cannot be looked for"),
                    )
                    .ok()
            })
            .as_ref()
    }
}

/// Whether the path begins here, and is not the end of a longer one.
fn is_whole(text: &str, start: usize) -> bool {
    !text.get(..start).is_some_and(|before| before.ends_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn needles(files: &[&str], places: &[&str]) -> Needles {
        let files: Vec<_> = files.iter().map(|f| NotePath::parse(f).expect("a path")).collect();
        Needles::new(&files, places.iter().map(|place| (*place).to_owned()).collect())
    }

    #[test]
    fn names_are_found_as_whole_paths_in_any_case() {
        let needles = needles(&["a.md", "People/Ann (x).md"], &["diary"]);
        for text in ["`a.md`", "see A.md.", "people/ann (X).md", "Diary/2026/gone.md", "diary.md"] {
            assert!(needles.are_in(text), "{text}");
        }
        for text in ["data.md", "sub/a.md", "a.mdx", "my diary", "old/diary/x", "diary-2/x"] {
            assert!(!needles.are_in(text), "{text}");
        }
        let told = needles.redact("Open note: Diary/x y.md\nwaiting: a.md, b.md");
        assert_eq!(told, "Open note: (a private note)\nwaiting: (a private note), b.md");
        assert!(!Needles::new(&[], Vec::new()).are_in("a.md"));
    }
}
