//! Finds the notes that the user's message names. Only text that the user typed or chose from a
//! list counts.
//!
//! Attachments, quotes, code and HTML, forwarded mail, tags, parts of addresses, options that a model
//! worded, and titles of several notes name none.

use std::collections::{BTreeSet, HashSet};
use std::ops::Range;

use markdown::parser::{BlockKind, Document};
use protocol::NotePath;
use protocol::notes::invisible::is_invisible;
use unicode_normalization::UnicodeNormalization as _;

pub(crate) mod chosen_option;
mod forwarded_mail;

/// Precedes the text of an attached file, at the beginning of a paragraph, with the file's name
/// behind it. The window writes it so (`ui/src/state/composer/mentions.ts`).
const ATTACHMENT_PREFIX: &str = "Attached file: ";

/// The signs that a tag begins with.
const TAG_MARKS: [char; 2] = ['#', '\u{ff03}'];

/// The shortest row of signs that opens a block of code.
const MIN_FENCE: usize = 3;

/// The lines of a message that the user worded: not the files attached to it, nor quotations, blocks of code and
/// HTML, which come from elsewhere. A line counts only if it stands outside of these both as Markdown is
/// read and as it looks, so that what somebody pasted carelessly is not the user's.
pub(crate) fn user_authored_text(message: &str) -> String {
    // First with the line ends as they are: the name of an attached file may have others.
    let message = without_attachments(message);
    // Other programs end lines with other characters.
    let message = message.replace("\r\n", "\n").replace(ends_line, "\n");
    let typed = without_attachments(&message);
    let typed =
        forwarded_mail::forwarded_mail_start(typed).and_then(|at| typed.get(..at)).unwrap_or(typed);
    // Behind an empty line, since no message has properties: they would hide the blocks in them.
    let text = format!("\n{typed}");
    let document = Document::parse(&text);
    let mut blocks = document.blocks.iter().filter(|block| is_foreign_block(block.kind)).peekable();
    let (mut at, mut pasted) = (0, 0);
    let html = html_span(&text);
    let mut open: Option<&str> = None;
    let mut own: Vec<&str> = Vec::new();
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        while let Some(block) = blocks.next_if(|block| block.span.start < at) {
            pasted = pasted.max(block.span.end);
        }
        let looks_own = match (open, fence(strip_list_markers(line))) {
            (None, None) => !is_quoted(strip_list_markers(line)),
            (None, Some(opening)) => {
                open = Some(opening);
                false
            }
            (Some(opening), Some(closing)) => {
                if closing.starts_with(opening) && line.trim() == closing {
                    open = None;
                }
                false
            }
            (Some(_), None) => false,
        };
        if looks_own && pasted <= start && !html.contains(&start) {
            own.push(line.trim_end_matches('\n'));
        }
    }
    // The first line is the empty one.
    own.get(1..).unwrap_or_default().join("\n")
}

const fn ends_line(sign: char) -> bool {
    matches!(sign, '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Whether the line begins with a mark of a quotation, which a copied page may spell as HTML does.
fn is_quoted(line: &str) -> bool {
    line.starts_with(is_quote_mark)
        || ["&gt;", "&#62;", "&raquo;"].iter().any(|mark| line.starts_with(mark))
}

/// Mail programs and keyboards put these before a quoted line.
const fn is_quote_mark(sign: char) -> bool {
    matches!(sign, '>' | '\u{ff1e}' | '\u{203a}' | '\u{bb}' | '\u{fe65}' | '\u{276f}')
}

/// From the first line with a tag of HTML to the end of the last one. Markdown ends such a block at
/// an empty line, but a user who pasted a page means all of it.
fn html_span(text: &str) -> Range<usize> {
    let is_tag = |line: &str| {
        line.match_indices('<').any(|(at, _)| {
            let behind = line.get(at + 1..).unwrap_or_default();
            let word = behind.trim_start_matches('/');
            let name = word.split(|sign: char| !sign.is_ascii_alphanumeric()).next();
            let goes_on = word.get(name.unwrap_or_default().len()..).unwrap_or_default();
            behind.starts_with("!--")
                || behind.starts_with(['!', '?'])
                || (word.starts_with(|sign: char| sign.is_ascii_alphabetic())
                    // `<https://…>` and `<mia@example.org>` are links.
                    && !goes_on.starts_with([':', '@', '.', '+']))
        })
    };
    let mut at = 0;
    let mut tagged = None;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        if is_tag(line) {
            tagged = Some(tagged.map_or(start..at, |found: Range<usize>| found.start..at));
        }
    }
    tagged.unwrap_or_default()
}

/// Whether a block holds text from elsewhere.
const fn is_foreign_block(kind: BlockKind) -> bool {
    matches!(kind, BlockKind::Quote | BlockKind::Code | BlockKind::Html)
}

/// The line behind blanks, signs that nobody sees, and the marks of list items and tasks.
fn strip_list_markers(line: &str) -> &str {
    let is_blank = |sign: char| sign.is_whitespace() || is_invisible(sign);
    let mut rest = line.trim_start_matches(is_blank);
    while let Some(behind) = strip_item_marker(rest) {
        rest = strip_task_marker(behind.trim_start_matches(is_blank)).trim_start_matches(is_blank);
    }
    rest
}

/// The text behind `- `, `* `, `+ `, `1. ` or `1) `.
fn strip_item_marker(line: &str) -> Option<&str> {
    let numbered = || {
        let behind = line.trim_start_matches(|sign: char| sign.is_ascii_digit());
        behind.strip_prefix(['.', ')']).filter(|_| behind.len() < line.len())
    };
    let behind = line.strip_prefix(['-', '*', '+']).or_else(numbered)?;
    behind.starts_with([' ', '\t']).then_some(behind)
}

/// The text behind `[ ]` or `[x]`.
fn strip_task_marker(item: &str) -> &str {
    let mut signs = item.chars();
    match (signs.next(), signs.next(), signs.next()) {
        (Some('['), Some(state), Some(']')) if state != '[' => signs.as_str(),
        _ => item,
    }
}

/// Whether the text of a file is attached to the message.
pub(crate) fn has_attachment(message: &str) -> bool {
    attachment_start(message).is_some()
}

fn without_attachments(message: &str) -> &str {
    attachment_start(message).and_then(|at| message.get(..at)).unwrap_or(message)
}

/// Where the first attached file begins. All behind it is attached as well.
fn attachment_start(message: &str) -> Option<usize> {
    let begins =
        |at: usize| at == 0 || message.get(..at).is_some_and(|text| text.ends_with("\n\n"));
    // Anywhere in its paragraph: the name may look like several lines.
    let fenced = |at: usize| {
        let paragraph = message.get(at..).unwrap_or_default().split("\n\n").next();
        paragraph.is_some_and(|text| text.lines().skip(1).any(|line| fence(line).is_some()))
    };
    let mut found = message.match_indices(ATTACHMENT_PREFIX).map(|(at, _)| at);
    found.find(|at| begins(*at) && fenced(*at))
}

/// The row of signs that a block of code begins or ends with.
fn fence(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let row = |sign: char| {
        let length = line.len() - line.trim_start_matches(sign).len();
        line.get(..length).filter(|_| length >= MIN_FENCE)
    };
    row('`').or_else(|| row('~'))
}

/// Whether the text names the note, and no other of `files`, which are all there are: by a link to
/// a title that only it has, or by its whole path as whole words (without `.md` only when it has a
/// folder). Compared without regard to case and Unicode form, as long as that leaves only one. A tag
/// that is spelled like the path does not name it.
pub(crate) fn mentions_note(words: &str, path: &NotePath, files: &[NotePath]) -> bool {
    let (text, spelled) = (folded(words), folded(path.as_str()));
    let bare = spelled.strip_suffix(".md").unwrap_or(&spelled);
    let others = || files.iter().filter(|file| *file != path);
    if links_to(&text, &folded(path.title())) {
        let title = folded(path.title());
        let has_it = |file: &NotePath| file.is_markdown() && folded(file.title()) == title;
        if !others().any(has_it) {
            return true;
        }
    }
    // Links name their target, whatever their display text is.
    let typed = without_links(&text);
    let longer: Vec<String> = others()
        .map(|file| folded(file.as_str()))
        .filter(|other| *other != spelled)
        .flat_map(|path| [path.strip_suffix(".md").map(str::to_owned), Some(path)])
        .flatten()
        .filter(|other| other.len() > bare.len() && other.contains(bare))
        .collect();
    let longer = Longer::new(&longer);
    let is_typed = |needle: &str| {
        whole_word_matches(&typed, needle).any(|at| !longer.cover(&typed, at, needle.len()))
    };
    let is_spelled = is_typed(&spelled)
        || links_to(&text, &spelled)
        || (bare.contains('/') && (links_to(&text, bare) || is_typed(bare)));
    let is_only = || !others().any(|file| folded(file.as_str()) == spelled);
    is_spelled && (is_only() || whole_word_matches(words, path.as_str()).next().is_some())
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

/// Where `needle` stands in the text as whole words, not as a tag.
fn whole_word_matches<'a>(text: &'a str, needle: &'a str) -> impl Iterator<Item = usize> + 'a {
    let is_tag = move |at: usize| text.get(..at).is_some_and(|before| before.ends_with(TAG_MARKS));
    let places = text.match_indices(needle).map(|(at, _)| at);
    places.filter(move |at| is_whole(text, *at, at + needle.len()) && !is_tag(*at))
}

/// Whether no word goes on before or behind this part of the text.
fn is_whole(text: &str, start: usize, end: usize) -> bool {
    let goes_on = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || "/-_".contains(c));
    let before = text.get(..start).and_then(|before| before.chars().next_back());
    let after = text.get(end..).and_then(|after| after.chars().next());
    !goes_on(before) && !goes_on(after)
}

/// Names in which a shorter one stands. A place in a text is held against all of them at once: a message may
/// list as many names as there are notes.
struct Longer<'a> {
    names: HashSet<&'a str>,
    lengths: BTreeSet<usize>,
}

impl<'a> Longer<'a> {
    fn new(names: &'a [String]) -> Self {
        let lengths = names.iter().map(String::len).collect();
        Self { names: names.iter().map(String::as_str).collect(), lengths }
    }

    /// Whether what stands at `at` is part of such a name.
    fn cover(&self, text: &str, at: usize, length: usize) -> bool {
        let end = at + length;
        self.lengths.iter().filter(|longer| **longer >= length).any(|longer| {
            let mut starts = end.saturating_sub(*longer)..=at;
            starts.any(|start| {
                let name = text.get(start..start + longer);
                name.is_some_and(|name| self.names.contains(name))
                    && is_whole(text, start, start + longer)
            })
        })
    }
}

/// The text but for `[[…]]` and addresses, in which a name is a part of something else.
fn without_links(text: &str) -> String {
    let mut typed = String::new();
    let words = text.split_inclusive(char::is_whitespace);
    let is_address = |word: &str| word.contains("://") || word.contains("www.");
    let text: String = words.filter(|word| !is_address(word)).collect();
    let mut rest = text.as_str();
    while let Some((before, link)) = rest.split_once("[[") {
        typed.push_str(before);
        typed.push('\n');
        rest = link.split_once("]]").map_or("", |(_, behind)| behind);
    }
    typed + rest
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
            assert!(mentions_note(text, &note, &[]), "{text}");
        }
        for text in [
            "the harbour is cold",
            "Projects/Harbours",
            "my/projects/harbour",
            "fix [[Harbour Master]]",
            "projects/harbour-old",
            "[[Harbour",
            "old-Projects/Harbour.md",
            "https://example.org/?f=Projects/Harbour.md",
            "see <file:///x?n=Projects/Harbour.md> please",
            "see www.example.org/?f=Projects/Harbour.md",
        ] {
            assert!(!mentions_note(text, &note, &[]), "{text}");
        }
    }

    #[test]
    fn a_tag_that_is_spelled_like_a_path_names_no_note() {
        let note = path("Projects/Harbour.md");
        for tag in ["#projects/harbour", "#Projects/Harbour.md", "\u{ff03}projects/harbour"] {
            assert!(!mentions_note(&format!("tidy {tag}"), &note, &[]), "{tag}");
            let both = format!("tidy {tag} and projects/harbour");
            assert!(mentions_note(&both, &note, &[]), "{both}");
        }
        for text in ["tidy projects/harbour", "# projects/harbour", "#tidy\nprojects/harbour"] {
            assert!(mentions_note(text, &note, &[]), "{text}");
        }
        let files = ["Plan.md", "My Plan.md"].map(path);
        for text in ["tidy #Plan.md", "tidy #My Plan.md"] {
            assert!(!files.iter().any(|file| mentions_note(text, file, &files)), "{text}");
        }
    }

    #[test]
    fn a_name_is_not_found_inside_the_name_of_another_note() {
        let files = ["Plan.md", "My Plan.md", "Work/Plan.md", "Work/Plan B.md"].map(path);
        let [plan, my_plan, work, work_b] = &files;
        for (text, named) in [
            ("tidy My Plan.md", vec![my_plan]),
            ("tidy Plan.md and My Plan.md", vec![plan, my_plan]),
            ("tidy Work/Plan B please", vec![work_b]),
            ("tidy [[Work/Plan B|Plan B]]", vec![work_b]),
            ("tidy Work/Plan please", vec![work]),
            ("go on with [[conversation:1|Clean up Work/Plan.md]]", vec![]),
        ] {
            let found: Vec<_> =
                files.iter().filter(|file| mentions_note(text, file, &files)).collect();
            assert_eq!(found, named, "{text}");
        }
    }

    #[test]
    fn a_message_may_list_thousands_of_names() {
        let files: Vec<NotePath> = (0..4_000).map(|n| path(&format!("Log/Day {n}.md"))).collect();
        let list: Vec<&str> = files.iter().map(NotePath::as_str).collect();
        let list = format!("tidy these:\n{}", list.join("\n"));
        assert!(!mentions_note(&list, &path("Log/Day.md"), &files));
        assert!(mentions_note(&format!("{list}\nLog/Day.md"), &path("Log/Day.md"), &files));
    }

    #[test]
    fn a_short_name_is_not_found_inside_a_longer_one_and_the_unicode_form_does_not_matter() {
        assert!(mentions_note("change A.md", &path("a.md"), &[]));
        for text in ["change Data.md", "change Sub/a.md", "change a.mdx", "[[ab]]"] {
            assert!(!mentions_note(text, &path("a.md"), &[]), "{text}");
        }
        let (composed, decomposed) = ("Caf\u{e9}", "Cafe\u{301}");
        assert!(mentions_note(&format!("[[{composed}]]"), &path(&format!("{decomposed}.md")), &[]));
        assert!(mentions_note(&format!("{decomposed}.md"), &path(&format!("{composed}.md")), &[]));
    }

    #[test]
    fn a_title_that_several_notes_have_names_none_and_a_whole_path_names_one() {
        let files = ["Plan.md", "Work/Plan.md", "Alpha.md", "notes/x.md", "Notes/X.md", "Plan.png"];
        let files: Vec<NotePath> = files.into_iter().map(path).collect();
        let named = |words: &str| {
            let named = files.iter().filter(|file| mentions_note(words, file, &files));
            named.map(NotePath::as_str).collect::<Vec<_>>()
        };
        assert_eq!(named("change [[Plan]]"), [""; 0]);
        assert_eq!(named("change [[plan#Now|it]]"), [""; 0]);
        assert_eq!(named("change [[Work/Plan|Plan]]"), ["Work/Plan.md"]);
        assert_eq!(named("change [[Plan.md|Plan]]"), ["Plan.md"]);
        assert_eq!(named("change Plan.md"), ["Plan.md"]);
        assert_eq!(named("change [[alpha]]"), ["Alpha.md"]);
        assert_eq!(named("change Notes/X.md"), ["Notes/X.md"]);
        assert_eq!(named("change NOTES/x"), [""; 0], "it is either");
    }

    #[test]
    fn attached_quoted_or_fenced_text_is_not_the_users_own() {
        let said = "tidy\n\nAttached file: a.txt\n```\n[[Alpha]]\n```";
        assert_eq!((user_authored_text(said).as_str(), has_attachment(said)), ("tidy\n", true));
        let only = "Attached file: a.txt\n````\n```\nx\n````";
        assert_eq!((user_authored_text(only).as_str(), has_attachment(only)), ("", true));
        let talk = "What is an Attached file: a.txt\nlike [[Alpha]]?";
        assert_eq!((user_authored_text(talk).as_str(), has_attachment(talk)), (talk, false));
        for end in ['\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}'] {
            let said = format!("tidy\n\nAttached file: a{end}[[Alpha]].txt\n```\n[[Alpha]]\n```");
            assert_eq!(user_authored_text(&said), "tidy\n", "{end:?}");
            assert_eq!(user_authored_text(&said.replace('\n', "\r\n")), "tidy\n", "{end:?}");
        }
        for quoted in [
            "> [[Alpha]]",
            "```\n[[Alpha]]\n```",
            "~~~~\n[[Alpha]]\n~~~\n[[Alpha]]",
            "```\n```js\n[[Alpha]]\n```",
        ] {
            assert_eq!(user_authored_text(&format!("see\n{quoted}")), "see", "{quoted}");
        }
        assert_eq!(user_authored_text("```\nx\n```\nchange `Alpha.md`"), "change `Alpha.md`");
    }

    #[test]
    fn quoted_or_fenced_text_within_a_list_is_not_the_users_own() {
        for quoted in [
            "- > [[Alpha]]",
            "* - > [[Alpha]]",
            "1. > [[Alpha]]",
            "7) > [[Alpha]]",
            "- one\n\n  > [[Alpha]]",
            "- ```\n  [[Alpha]]\n  ```",
            "- ````\n  ```\n  [[Alpha]]\n  ````",
            "1. ~~~\n   [[Alpha]]",
            "- one\n  - ```\n    [[Alpha]]\n    ```",
            "- ```\n[[Alpha]]\n```",
            "- [ ] > [[Alpha]]",
            "* [x] \u{ff1e} [[Alpha]]",
        ] {
            let own = user_authored_text(&format!("see\n{quoted}"));
            assert!(!own.contains("Alpha"), "{quoted}: {own}");
            assert!(own.starts_with("see"), "{quoted}: {own}");
        }
        for (list, own) in [
            ("- > [[Alpha]]\n- change [[Beta]]", "- change [[Beta]]"),
            ("- ```\n  [[Alpha]]\n  ```\n- change [[Beta]]", "- change [[Beta]]"),
            ("- change [[Beta]]\n- and [[Alpha]]", "- change [[Beta]]\n- and [[Alpha]]"),
            ("-5 > 3 in [[Alpha]]", "-5 > 3 in [[Alpha]]"),
        ] {
            assert_eq!(user_authored_text(list), own, "{list}");
        }
    }

    #[test]
    fn in_doubt_text_beside_quoted_or_fenced_text_is_not_the_users_own() {
        for quoted in [
            // Four blanks before it make a fence text of the block.
            "```\n    ```\n[[Alpha]]\n```",
            "```\n\t```\n[[Alpha]]\n```",
            "> he wrote\n[[Alpha]]",
            "    > [[Alpha]]",
            "\n    [[Alpha]]",
            "\u{200b}> [[Alpha]]",
            "x\r> [[Alpha]]",
            "<div>\n[[Alpha]]\n</div>",
            "<div>\n\n[[Alpha]]\n\n</div>",
            "he wrote <b title=\"[[Alpha]]\">so</b>",
            "<!-- a\n\n[[Alpha]] -->",
            "x\u{2028}> [[Alpha]]",
            "x\u{85}> [[Alpha]]",
            "x\u{b}> [[Alpha]]",
            "\u{ff1e} [[Alpha]]",
            "\u{bb} [[Alpha]]",
        ] {
            let own = user_authored_text(&format!("see\n{quoted}"));
            assert!(!own.contains("Alpha") && own.starts_with("see"), "{quoted:?}: {own}");
        }
        assert_eq!(user_authored_text("---\n```\n---\n[[Alpha]]\n```"), "---");
        for own in
            ["if 3 < 5 in [[Alpha]]", "ask <mia@example.org> and <https://a.org> of [[Alpha]]"]
        {
            assert_eq!(user_authored_text(own), own);
        }
        assert_eq!(user_authored_text("> he wrote\n\nchange [[Alpha]]\r\n"), "\nchange [[Alpha]]");
    }
}
