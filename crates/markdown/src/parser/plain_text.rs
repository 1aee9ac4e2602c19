//! Markdown as plain text, for notifications: a hub shows markup as it is and drops text that looks like a tag.

use std::borrow::Cow;
use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::nesting::limit_nesting;

/// Items are indented by so many levels at most, so that a list in lists is not as long as the square of their number.
const MAX_INDENTED_LEVELS: usize = 16;

/// The text without the marks of Markdown; one that is nested too deep keeps them. Lists keep their bullets and numbers,
/// and a link keeps its address in round brackets. `<` and `>` become `‹` and `›` (`->`, `=>`, `<=` and `>=` one sign
/// each), because what shows notifications often takes everything between them for a tag and drops it.
#[must_use]
pub fn plain_text(text: &str) -> String {
    if let Cow::Owned(_) = limit_nesting(text) {
        return replace_angle_brackets(text.trim());
    }
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut plain = PlainTextWriter::default();
    for (event, place) in Parser::new_ext(text, options).into_offset_iter() {
        let mark = match event {
            Event::Start(Tag::Emphasis | Tag::Strong | Tag::Strikethrough)
            | Event::End(TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough) => {
                intraword_marker(text, &place)
            }
            _ => None,
        };
        match mark {
            Some(mark) => plain.push_text(mark),
            None => plain.on_event(event),
        }
    }
    // A definition of a link, a cell too many: then the text stays as it is.
    let (kept, all) = (letter_count(&plain.text), letter_count(text));
    match kept * 5 < all * 4 {
        true => replace_angle_brackets(text.trim()),
        false => replace_angle_brackets(&strip_wikilinks(plain.text.trim())),
    }
}

fn letter_count(text: &str) -> usize {
    text.chars().filter(|sign| sign.is_alphanumeric()).count()
}

/// The mark of an emphasis that begins or ends in the middle of a word. There it is rather meant as itself: `2*3*4`.
fn intraword_marker<'a>(text: &'a str, place: &Range<usize>) -> Option<&'a str> {
    let before = text.get(..place.start)?.chars().next_back();
    let after = text.get(place.end..)?.chars().next();
    let emphasized = text.get(place.clone())?;
    // A thousand signs are five hundred emphases in each other: only the mark of this one is looked at.
    let signs = emphasized.chars().take(2).take_while(|sign| matches!(sign, '*' | '_' | '~'));
    [before, after]
        .into_iter()
        .flatten()
        .any(char::is_alphanumeric)
        .then(|| emphasized.get(..signs.count()))
        .flatten()
}

#[derive(Default)]
struct PlainTextWriter {
    text: String,
    /// The number of the next item of each open list.
    lists: Vec<Option<u64>>,
    /// Where the text of each open link begins, and where it leads.
    links: Vec<(usize, String)>,
    /// Whether the mark of an item was just written.
    in_item: bool,
}

impl PlainTextWriter {
    fn on_event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start_tag(tag),
            Event::End(tag) => self.end_tag(tag),
            Event::Text(text) | Event::Code(text) | Event::Html(text) | Event::InlineHtml(text) => {
                self.push_text(&text)
            }
            Event::SoftBreak | Event::HardBreak => self.push_text("\n"),
            Event::Rule => {
                self.start_paragraph();
                self.push_text("—");
            }
            Event::TaskListMarker(done) => self.push_text(if done { "☑ " } else { "☐ " }),
            _ => {}
        }
    }

    fn start_tag(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph | Tag::Heading { .. } | Tag::CodeBlock(_) | Tag::HtmlBlock => {
                self.start_paragraph();
            }
            Tag::Table(_) | Tag::BlockQuote(_) => self.start_paragraph(),
            Tag::List(first) => {
                if self.lists.is_empty() {
                    self.start_paragraph();
                }
                self.lists.push(first);
            }
            Tag::Item => self.start_item(),
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                self.links.push((self.text.len(), dest_url.into_string()));
            }
            _ => {}
        }
    }

    fn end_tag(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Link | TagEnd::Image => {
                if let Some((from, address)) = self.links.pop() {
                    let shown = self.text.get(from..).unwrap_or_default();
                    let is_shown = address.is_empty()
                        || shown == address
                        || address.strip_prefix("mailto:") == Some(shown);
                    if !is_shown {
                        self.push_text(&format!(" ({address})"));
                    }
                }
            }
            TagEnd::List(_) => drop(self.lists.pop()),
            TagEnd::TableCell => self.push_text(" | "),
            TagEnd::TableHead | TagEnd::TableRow => {
                let kept = self.text.trim_end_matches([' ', '|']).len();
                self.text.truncate(kept);
                self.push_text("\n");
            }
            _ => {}
        }
    }

    fn start_item(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
        }
        let levels = self.lists.len().saturating_sub(1).min(MAX_INDENTED_LEVELS);
        self.text.push_str(&"  ".repeat(levels));
        match self.lists.last_mut() {
            Some(Some(number)) => {
                let mark = format!("{number}. ");
                *number = number.saturating_add(1);
                self.text.push_str(&mark);
            }
            _ => self.text.push_str("• "),
        }
        self.in_item = true;
    }

    /// An empty line before what begins here, but not behind the mark of an item.
    fn start_paragraph(&mut self) {
        if self.in_item || self.text.is_empty() {
            return;
        }
        let kept = self.text.trim_end().len();
        self.text.truncate(kept);
        self.text.push_str(if self.lists.is_empty() { "\n\n" } else { "\n" });
    }

    fn push_text(&mut self, text: &str) {
        self.in_item = false;
        self.text.push_str(text);
    }
}

/// `[[note|words]]` becomes `words`, and `[[note]]` becomes `note`.
fn strip_wikilinks(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, link)) = rest.split_once("[[") {
        plain.push_str(before);
        match link_target(link) {
            Some((inside, behind)) => {
                let mut parts = inside.rsplit('|').filter(|part| !part.trim().is_empty());
                plain.push_str(parts.next().unwrap_or(inside));
                rest = behind;
            }
            None => {
                plain.push_str("[[");
                rest = link;
            }
        }
    }
    plain + rest
}

/// The words between the brackets of a link to a note, and the text behind it; `None` for a condition or a list of
/// lists. Looks no further than a link goes, so that brackets which nothing closes cost no more.
fn link_target(link: &str) -> Option<(&str, &str)> {
    let (inside, end) = link.split_at_checked(link.find(['\n', '[', ']'])?)?;
    let is_target = !inside.is_empty() && inside.trim() == inside;
    Some((inside, end.strip_prefix("]]")?)).filter(|_| is_target)
}

fn replace_angle_brackets(text: &str) -> String {
    let pairs = [("->", "→"), ("=>", "⇒"), ("<=", "≤"), (">=", "≥"), ("<", "‹"), (">", "›")];
    pairs.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn nothing_is_left_that_a_hub_would_take_for_a_tag_or_a_mark() {
        for (text, expected) in [
            ("a < b and b > c", "a ‹ b and b › c"),
            (
                "see <https://example.org/x> or <mia@example.org>",
                "see https://example.org/x or mia@example.org",
            ),
            ("**Done:** _two_ `notes` ~~gone~~", "Done: two notes gone"),
            ("# Milk\n\nis on [the list](Groceries.md).", "Milk\n\nis on the list (Groceries.md)."),
            ("- one\n- two\n  1. three\n  2. four", "• one\n• two\n  1. three\n  2. four"),
            ("- [ ] buy\n- [x] sell", "• ☐ buy\n• ☑ sell"),
            ("[[Groceries|the list]] and [[Plan]]", "the list and Plan"),
            ("[Reminder]: milk", "[Reminder]: milk"),
            ("if [[ -f a || -f b ]]", "if [[ -f a || -f b ]]"),
            ("[[1, 2], [3, 4]]", "[[1, 2], [3, 4]]"),
            ("[[Note|]]", "Note"),
            ("x -> y, 3 <= 4", "x → y, 3 ≤ 4"),
            ("if a<b and c>d", "if a‹b and c›d"),
            ("| a | b |\n|---|---|\n| 1 | 2 |", "a | b\n1 | 2"),
            ("first\n\nsecond\nthird", "first\n\nsecond\nthird"),
            ("snake_case and 2*3*4", "snake_case and 2*3*4"),
            ("Saved to inbox/Inbox.md.", "Saved to inbox/Inbox.md."),
        ] {
            assert_eq!(plain_text(text), expected, "{text}");
        }
    }

    #[test]
    fn a_link_ends_before_the_next_bracket_and_on_its_line() {
        for (text, expected) in [
            ("[[a [[b]] c]]", "[[a b c]]"),
            ("[[a] b]] [[c]]", "[[a] b]] c"),
            ("[[a\nb]] [[c|d|]]", "[[a\nb]] d"),
            ("[[ a]] [[]] [[a", "[[ a]] [[]] [[a"),
        ] {
            assert_eq!(strip_wikilinks(text), expected, "{text}");
        }
    }

    #[test]
    fn a_text_is_at_most_twenty_times_as_long_when_it_is_plain() {
        for text in [
            "- ".repeat(60) + "a\n",
            ("1. ".repeat(60) + "a\n").repeat(100),
            "- ".repeat(2_000) + "a\n",
            "> - ".repeat(30) + "a\n",
            (0..60).map(|depth| "  ".repeat(depth) + "- a\n").collect(),
            // Each of these was read to its end for each of its signs.
            "[[a ".repeat(100_000),
            "*".repeat(100_000) + "a" + &"*".repeat(100_000),
        ] {
            let plain = plain_text(&text);
            assert!(plain.len() <= 20 * text.len(), "{} of {:?}", plain.len(), text.get(..20));
        }
    }

    #[test]
    fn a_text_that_is_nested_too_deep_keeps_its_marks() {
        let text = "> ".repeat(100) + "**a**";
        assert_eq!(plain_text(&text), "› ".repeat(100) + "**a**");
    }

    proptest! {
        #[test]
        fn no_angle_is_left_and_no_word_is_lost(words in prop::collection::vec("[a-zé]{1,8}", 1..20), marks in prop::collection::vec(r"( |\n\n|\n- | < | > |\*\*| `|\n# )", 1..20)) {
            let text: String = words.iter().zip(marks.iter().cycle()).flat_map(|(word, mark)| [word.as_str(), mark.as_str()]).collect();
            let plain = plain_text(&text);
            prop_assert!(!plain.contains(['<', '>']), "{}", plain);
            for word in &words {
                prop_assert!(plain.contains(word.as_str()), "{word} of {text:?} is not in {plain:?}");
            }
        }
    }
}
