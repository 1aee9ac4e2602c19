//! Words as they may stand in a notification: one or a few lines, bounded, and never markup.

use protocol::notes::invisible::without_invisible;

/// Whether a server reads `<b>` and `&amp;` as markup, as it says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MarkupSupport {
    Markup,
    Text,
}

/// One line of at most `most` characters, cut at a word where there is one; without characters that
/// nobody sees and without controls.
pub(crate) fn single_line(text: &str, most: usize) -> String {
    let shown = without_invisible(text);
    let words: Vec<&str> = shown
        .split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|w| !w.is_empty())
        .collect();
    let whole = words.join(" ");
    if whole.chars().count() <= most {
        return whole;
    }
    let cut: String = whole.chars().take(most.saturating_sub(1)).collect();
    let at_a_word = cut.rsplit_once(' ').map(|(before, _)| before);
    let kept = at_a_word.filter(|before| before.len() * 2 > cut.len()).unwrap_or(&cut);
    format!("{}…", kept.trim_end())
}

/// The same words, for a place where a server may read markup. One that says it does not is not
/// believed either: it gets signs that only look alike.
pub(crate) fn escape_markup(words: &str, reads: MarkupSupport) -> String {
    let sign = |c: char| match (c, reads) {
        ('&', MarkupSupport::Markup) => "&amp;".to_owned(),
        ('<', MarkupSupport::Markup) => "&lt;".to_owned(),
        ('>', MarkupSupport::Markup) => "&gt;".to_owned(),
        ('<', MarkupSupport::Text) => "‹".to_owned(),
        ('>', MarkupSupport::Text) => "›".to_owned(),
        (other, _) => other.to_string(),
    };
    words.chars().map(sign).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_one_line_of_what_is_seen_and_ends_at_a_word() {
        assert_eq!(single_line("  two\n words\u{7}\u{202e} here ", 80), "two words here");
        assert_eq!(single_line("a line that is too long by far", 20), "a line that is too…");
        assert_eq!(single_line(&"x".repeat(50), 10), format!("{}…", "x".repeat(9)));
        assert_eq!(single_line("exactly so", 10), "exactly so");
    }

    #[test]
    fn markup_is_never_left_in_it() {
        let hostile = "<img src=x> & <b>bold</b>";
        assert_eq!(
            escape_markup(hostile, MarkupSupport::Markup),
            "&lt;img src=x&gt; &amp; &lt;b&gt;bold&lt;/b&gt;"
        );
        assert!(!escape_markup(hostile, MarkupSupport::Text).contains(['<', '>']));
    }
}
