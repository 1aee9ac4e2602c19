//! Which notes the user's words name.

use protocol::NotePath;
use unicode_normalization::UnicodeNormalization as _;

/// Whether the user's words name the note: by a link to its title, or by its path as whole words
/// (without `.md` only when it has a folder). Compared without regard to case and Unicode form.
pub(crate) fn names(text: &str, path: &NotePath) -> bool {
    let (text, spelled) = (folded(text), folded(path.as_str()));
    let bare = spelled.strip_suffix(".md").unwrap_or(&spelled);
    links_to(&text, &folded(path.title()))
        || whole_words(&text, &spelled)
        || (bare.contains('/') && (links_to(&text, bare) || whole_words(&text, bare)))
}

fn folded(text: &str) -> String {
    text.nfc().collect::<String>().to_lowercase()
}

/// `[[target]]`, `[[target#heading]]` or `[[target|alias]]`.
fn links_to(text: &str, target: &str) -> bool {
    text.match_indices("[[").any(|(at, open)| {
        let inside = text.get(at + open.len()..).unwrap_or_default().trim_start();
        let rest = inside.strip_prefix(target).map(str::trim_start);
        rest.is_some_and(|rest| rest.starts_with(['#', '|']) || rest.starts_with("]]"))
    })
}

fn whole_words(text: &str, needle: &str) -> bool {
    let goes_on = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || "/-_".contains(c));
    text.match_indices(needle).any(|(at, found)| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        let after = text.get(at + found.len()..).and_then(|after| after.chars().next());
        !goes_on(before) && !goes_on(after)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> NotePath {
        NotePath::parse(text).expect("a path")
    }

    #[test]
    fn a_note_is_named_by_link_or_by_path_and_not_by_chance() {
        let note = path("Projects/Harbour.md");
        for text in [
            "fix [[Harbour]]",
            "fix [[harbour#Opening|it]]",
            "see Projects/Harbour.md",
            "see projects/harbour, please",
        ] {
            assert!(names(text, &note), "{text}");
        }
        for text in [
            "the harbour is cold",
            "Projects/Harbours",
            "my/projects/harbour",
            "fix [[Harbour Master]]",
            "projects/harbour-old",
            "[[Harbour",
            "old-Projects/Harbour.md",
        ] {
            assert!(!names(text, &note), "{text}");
        }
    }

    #[test]
    fn a_short_name_is_not_found_inside_a_longer_one_and_the_unicode_form_does_not_matter() {
        assert!(names("change A.md", &path("a.md")));
        for text in ["change Data.md", "change Sub/a.md", "change a.mdx", "[[ab]]"] {
            assert!(!names(text, &path("a.md")), "{text}");
        }
        let (composed, decomposed) = ("Caf\u{e9}", "Cafe\u{301}");
        assert!(names(&format!("[[{composed}]]"), &path(&format!("{decomposed}.md"))));
        assert!(names(&format!("{decomposed}.md"), &path(&format!("{composed}.md"))));
    }
}
