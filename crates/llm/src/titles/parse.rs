//! Reads a title, a summary or a paragraph out of whatever a model answered.

use std::borrow::Cow;

use protocol::notes::invisible::without_invisible;
use protocol::{GeneratedTitle, TitleRequest};

use crate::text_tools::{THOUGHT_END, THOUGHT_START};

/// The characters after which a title is cut, at a word.
const MAX_TITLE_CHARS: usize = 80;
/// More words on the first line are no title.
const MAX_TITLE_WORDS: usize = 16;
/// The characters after which a summary is cut, at a sentence where one ends.
const MAX_SUMMARY_CHARS: usize = 600;

/// The title, and the summary if one was wanted; `None` when something of it is missing.
pub(super) fn title_and_summary(text: &str, wanted: TitleRequest) -> Option<GeneratedTitle> {
    let text = without_thoughts(text)?;
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let title = title(lines.next()?)?;
    let summary = match wanted {
        TitleRequest::Title => None,
        TitleRequest::TitleAndSummary => Some(summary(&lines.collect::<Vec<_>>().join(" "))?),
    };
    Some(GeneratedTitle { title, summary })
}

/// All of it as one paragraph, cut after `most` characters; `None` when it is empty.
pub(crate) fn paragraph(answer: &str, most: usize) -> Option<String> {
    let answer = without_thoughts(answer)?;
    let text =
        strip_label(answer.trim_matches(is_decoration), "description").trim_matches(is_decoration);
    join_lines(text, most)
}

/// The text without a model's thoughts and without invisible characters; `None` while it only
/// thinks.
fn without_thoughts(text: &str) -> Option<Cow<'_, str>> {
    let text = text.rsplit_once(THOUGHT_END).map_or(text, |(_, after)| after);
    (!text.trim_start().starts_with(THOUGHT_START)).then(|| without_invisible(text))
}

/// Without what a weak model puts around it: marks, quotes, a label, a full stop.
fn title(line: &str) -> Option<String> {
    let line = line.trim_matches(is_decoration);
    let line = strip_label(line, "title").trim_matches(is_decoration);
    let line = line.strip_suffix('.').unwrap_or(line);
    let words: Vec<&str> = line.split_whitespace().collect();
    if words.len() > MAX_TITLE_WORDS {
        return None;
    }
    let line = words.join(" ");
    line.chars().any(char::is_alphanumeric).then(|| cut_at(&line, MAX_TITLE_CHARS, ' '))
}

fn summary(text: &str) -> Option<String> {
    join_lines(
        strip_label(text.trim_matches(is_decoration), "summary").trim_matches(is_decoration),
        MAX_SUMMARY_CHARS,
    )
}

fn join_lines(text: &str, most: usize) -> Option<String> {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    text.chars().any(char::is_alphanumeric).then(|| cut_at(&text, most, '.'))
}

fn is_decoration(c: char) -> bool {
    c.is_whitespace()
        || matches!(c, '#' | '*' | '_' | '`' | '>' | '"' | '“' | '”' | '„' | '«' | '»')
}

/// The text behind a label that it begins with, if it does.
fn strip_label<'a>(text: &'a str, label: &str) -> &'a str {
    let begins = text.get(..label.len()).is_some_and(|start| start.eq_ignore_ascii_case(label));
    let rest = if begins { text.get(label.len()..).unwrap_or_default() } else { "" };
    let rest = rest.trim_start_matches(['*', '_', ' ']);
    rest.strip_prefix(':').unwrap_or(text)
}

/// At most `most` characters, cut behind the last `at` among them where one stands in their second
/// half.
fn cut_at(text: &str, most: usize, at: char) -> String {
    let Some((end, _)) = text.char_indices().nth(most) else { return text.to_owned() };
    let kept = text.get(..end).unwrap_or_default();
    let whole = kept.rfind(at).filter(|end| *end > kept.len() / 2);
    let kept = whole.and_then(|end| kept.get(..end)).unwrap_or(kept).trim_end();
    if at == '.' && whole.is_some() { format!("{kept}.") } else { format!("{kept}…") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn titled(words: &str) -> Option<String> {
        title_and_summary(words, TitleRequest::Title).map(|generated| generated.title)
    }

    #[test]
    fn a_title_loses_what_stands_around_it() {
        for words in [
            "Sunday dinner with Marta and Luca",
            "\n# Sunday dinner with Marta and Luca\n",
            "**Title: Sunday dinner with Marta and Luca.**",
            "Title: “Sunday dinner with Marta and Luca”\n\nAnd a summary nobody asked for.",
            "**title**: Sunday  dinner with\tMarta and Luca",
            "<think>\nThe user cooks.\n</think>\n\nSunday dinner with Marta and Luca",
            "\u{200B}Sunday dinner\u{E0041} with Marta and Luca",
        ] {
            let title = titled(words);
            assert_eq!(title.as_deref(), Some("Sunday dinner with Marta and Luca"), "{words}");
        }
        assert_eq!(titled("Titles of books"), Some("Titles of books".into()));
        assert_eq!(titled("日曜日の夕食の計画"), Some("日曜日の夕食の計画".into()));
    }

    #[test]
    fn what_is_no_title_is_none() {
        for words in ["", " \n", "***", "\u{200B}", "<think>", &"word ".repeat(17)] {
            assert_eq!(titled(words), None, "{words}");
        }
        let long = titled(&format!("{} end", "syllables ".repeat(14))).expect("a title");
        assert!(long.ends_with("syllables…") && long.chars().count() <= MAX_TITLE_CHARS, "{long}");
    }

    #[test]
    fn a_paragraph_is_cut_at_a_sentence_and_never_longer_than_a_hub_takes() {
        for words in [
            "Keeps recipes. Ask it what to cook.",
            "**Description:** “Keeps recipes.\nAsk it what to cook.”",
            "<think>Recipes?</think>\n> Keeps recipes. Ask it\u{200B} what to cook.",
        ] {
            let told = paragraph(words, 500);
            assert_eq!(told.as_deref(), Some("Keeps recipes. Ask it what to cook."), "{words}");
        }
        for words in ["", "…", "<think> still"] {
            assert_eq!(paragraph(words, 500), None, "{words}");
        }
        let long = paragraph(&"Remembers this. ".repeat(80), 500).expect("a paragraph");
        assert!(long.ends_with("this.") && long.chars().count() <= 500, "{long}");
        let wide = paragraph(&"a😀".repeat(900), 500).expect("a paragraph");
        assert!(wide.encode_utf16().count() <= 1_024, "{}", wide.encode_utf16().count());
    }

    #[test]
    fn a_summary_is_one_paragraph_cut_at_a_sentence_and_must_be_there() {
        let both = |words: &str| title_and_summary(words, TitleRequest::TitleAndSummary);
        let told = both("Dinner\n\nSummary: They planned a dinner.\nIt was soup.\n").expect("both");
        assert_eq!(told.title, "Dinner");
        assert_eq!(told.summary.as_deref(), Some("They planned a dinner. It was soup."));
        assert_eq!(both("Dinner"), None);
        let long = both(&format!("Dinner\n{}", "A sentence stands here. ".repeat(60)));
        let summary = long.and_then(|generated| generated.summary).expect("a summary");
        assert!(
            summary.ends_with("here.") && summary.chars().count() <= MAX_SUMMARY_CHARS,
            "{summary}"
        );
    }
}
