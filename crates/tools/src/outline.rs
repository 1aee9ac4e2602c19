//! The headings of a note, with the places where text under each of them goes.

/// A heading outside of code and frontmatter: `#` to `######`, underlined, or `<h1>` to `<h6>`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Heading {
    /// 1 to 6.
    pub(crate) level: usize,
    /// The words, without the signs.
    pub(crate) title: String,
    /// 1-based.
    pub(crate) line: usize,
    /// Byte offset of its first line.
    pub(crate) start: usize,
    /// Byte offset behind the heading itself, its underline included.
    pub(crate) body: usize,
    /// Byte offset behind the last line with words that stands directly under it, before the next
    /// heading of any level: text put there belongs to this heading.
    pub(crate) end: usize,
}

impl Heading {
    /// As it would stand in the note with signs: `## Title`.
    pub(crate) fn spelled(&self) -> String {
        format!("{} {}", "#".repeat(self.level), self.title)
    }
}

/// All headings, in order.
pub(crate) fn headings(text: &str) -> Vec<Heading> {
    let mut found: Vec<Heading> = Vec::new();
    let mut block = Block::Prose;
    let mut paragraph: Option<Paragraph> = None;
    let mut offset = 0;
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let bare = line.trim_end();
        let start = offset;
        offset += line.len();
        let inside = block.takes(bare, number);
        let underlined = paragraph.take_if(|_| !inside && underline(bare).is_some());
        if let (Some(above), Some(level)) = (underlined, underline(bare)) {
            if let Some(last) = found.last_mut() {
                last.end = above.end_before;
            }
            found.push(Heading {
                level,
                title: above.words,
                line: above.line,
                start: above.start,
                body: offset,
                end: offset,
            });
            continue;
        }
        if let Some((level, title)) = heading(bare).or_else(|| html(bare)).filter(|_| !inside) {
            paragraph = None;
            found.push(Heading {
                level,
                title,
                line: number + 1,
                start,
                body: offset,
                end: offset,
            });
            continue;
        }
        let end_before = found.last().map_or(0, |last| last.end);
        paragraph = match paragraph {
            _ if inside || bare.is_empty() => None,
            Some(above) => Some(above.with(bare)),
            None => Paragraph::begun_by(bare, number + 1, start, end_before),
        };
        if !bare.is_empty()
            && let Some(last) = found.last_mut()
        {
            last.end = offset;
        }
    }
    found
}

/// Lines that an underline would make a heading of.
struct Paragraph {
    words: String,
    line: usize,
    start: usize,
    /// Where the heading above ended before these lines came.
    end_before: usize,
}

impl Paragraph {
    /// `None` where the line begins something else: a list, a quote, a table, indented code.
    fn begun_by(bare: &str, line: usize, start: usize, end_before: usize) -> Option<Self> {
        let words = bare.trim_start();
        let is_other = bare.starts_with("    ")
            || bare.starts_with('\t')
            || words.starts_with(['>', '|', '<'])
            || is_list_item(words)
            || underline(bare).is_some();
        (!is_other).then(|| Self { words: words.to_owned(), line, start, end_before })
    }

    fn with(mut self, bare: &str) -> Self {
        self.words.push(' ');
        self.words.push_str(bare.trim_start());
        self
    }
}

/// Whether a line without its indentation begins an item of a list.
pub(crate) fn is_list_item(words: &str) -> bool {
    let numbered = words.trim_start_matches(|sign: char| sign.is_ascii_digit());
    let marker = if numbered.len() == words.len() { &['-', '*', '+'][..] } else { &['.', ')'][..] };
    numbered
        .strip_prefix(marker)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t']))
}

/// The level that `===` or `---` below a paragraph makes of it.
fn underline(bare: &str) -> Option<usize> {
    let signs = bare.trim_start_matches(' ');
    if signs.is_empty() || bare.len() - signs.len() > 3 {
        return None;
    }
    match signs {
        signs if signs.bytes().all(|sign| sign == b'=') => Some(1),
        signs if signs.bytes().all(|sign| sign == b'-') => Some(2),
        _ => None,
    }
}

/// `<h2 class="x">Title</h2>` on one line; tags inside are left out of the title.
fn html(bare: &str) -> Option<(usize, String)> {
    let lower = bare.trim_start().to_ascii_lowercase();
    let level = lower.strip_prefix("<h")?.chars().next()?.to_digit(10)?;
    let level = usize::try_from(level).ok().filter(|level| (1..=6).contains(level))?;
    let inner = bare.trim_start().get(3..)?;
    let opened = inner.starts_with(['>', ' ', '\t']);
    let close = inner.to_ascii_lowercase().find(&format!("</h{level}>"))?;
    let (_, words) = inner.get(..close)?.split_once('>')?;
    let mut title = String::new();
    let mut in_tag = false;
    for sign in words.chars() {
        match sign {
            '<' => in_tag = true,
            '>' => in_tag = false,
            _ if !in_tag => title.push(sign),
            _ => {}
        }
    }
    opened.then(|| (level, title.trim().to_owned()))
}

/// What kind of block the lines are in.
enum Block {
    Prose,
    Frontmatter,
    /// The fence that closes it: at least as many of the same sign.
    Code {
        sign: char,
        length: usize,
    },
}

impl Block {
    /// Moves over one line; whether it belongs to code or frontmatter.
    fn takes(&mut self, line: &str, number: usize) -> bool {
        match *self {
            Self::Prose if number == 0 && line == "---" => *self = Self::Frontmatter,
            Self::Prose => match fence(line) {
                Some((sign, length)) => *self = Self::Code { sign, length },
                None => return false,
            },
            Self::Frontmatter if line == "---" || line == "..." => *self = Self::Prose,
            Self::Frontmatter => {}
            Self::Code { sign, length } => {
                let closes = fence(line).is_some_and(|(s, l)| s == sign && l >= length);
                if closes && line.trim().chars().all(|c| c == sign) {
                    *self = Self::Prose;
                }
            }
        }
        true
    }
}

fn fence(line: &str) -> Option<(char, usize)> {
    let line = line.trim_start();
    let sign = line.chars().next().filter(|sign| matches!(sign, '`' | '~'))?;
    let length = line.chars().take_while(|c| *c == sign).count();
    // Three backticks that close on the same line are code inside prose.
    let inline = sign == '`' && line.trim_start_matches(sign).contains(sign);
    (length >= 3 && !inline).then_some((sign, length))
}

fn heading(line: &str) -> Option<(usize, String)> {
    let unindented = line.trim_start_matches(' ');
    if line.len() - unindented.len() > 3 {
        return None;
    }
    let rest = unindented.trim_start_matches('#');
    let level = unindented.len() - rest.len();
    let title = rest.strip_prefix([' ', '\t']).or_else(|| rest.is_empty().then_some(""))?;
    let closed = title.trim_end_matches('#');
    let title = if closed.is_empty() || closed.ends_with([' ', '\t']) { closed } else { title };
    (1..=6).contains(&level).then(|| (level, title.trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[(usize, &str, usize)]) {
        let found = headings(text);
        let short: Vec<_> = found.iter().map(|h| (h.level, h.title.as_str(), h.line)).collect();
        assert_eq!(short, expected, "{text:?}");
    }

    #[test]
    fn headings_are_found_where_markdown_has_them() {
        check("# A\ntext\n## B ##\n", &[(1, "A", 1), (2, "B", 3)]);
        check("# C#\r\n###### F\r\n", &[(1, "C#", 1), (6, "F", 2)]);
        check("   # Indented\n    # Code\n", &[(1, "Indented", 1)]);
        check("#tag\n####### seven\n", &[]);
        check("```sh\n# comment\n```\n# Real\n", &[(1, "Real", 4)]);
        check("```inline``` text\n# Real\n", &[(1, "Real", 2)]);
        check("````\n```\n# still code\n````\n# Real\n", &[(1, "Real", 5)]);
        check("---\n# yaml: comment\n---\n# Real\n", &[(1, "Real", 4)]);
        check("text\n\n---\n# Real\n", &[(1, "Real", 4)]);
    }

    #[test]
    fn underlined_and_html_headings_are_headings() {
        check("One\n===\ntext\n\nTwo\nlines\n---\n", &[(1, "One", 1), (2, "Two lines", 5)]);
        check("<h2 id=\"a\">The <b>end</b></h2>\n", &[(2, "The end", 1)]);
        check("- item\n---\n> quote\n---\n| a |\n---\n1. one\n---\n", &[]);
        check("<hr>\n<h7>x</h7>\n<h1x>y</h1>\n", &[]);
        check("```\nOne\n===\n```\n", &[]);
        let text = "# A\none\n\nB\n---\ntwo\n";
        let ends: Vec<_> = headings(text).iter().map(|h| &text[h.start..h.end]).collect();
        assert_eq!(ends, ["# A\none\n", "B\n---\ntwo\n"]);
    }

    #[test]
    fn text_under_a_heading_ends_before_the_next_one_of_any_level() {
        let text = "# A\none\n\ntwo\n\n## B\n\n# C";
        let ends: Vec<_> = headings(text).iter().map(|h| h.end).collect();
        assert_eq!(ends, [13, 19, 23]);
        assert_eq!(&text[..13], "# A\none\n\ntwo\n");
        assert_eq!(&text[..19], "# A\none\n\ntwo\n\n## B\n");
    }
}
