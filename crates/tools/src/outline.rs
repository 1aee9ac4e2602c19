//! The headings of a note, with the place where text under each of them goes.

/// A heading, `#` to `######`, outside of code and frontmatter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Heading {
    /// 1 to 6.
    pub(crate) level: usize,
    /// The words, without the signs.
    pub(crate) title: String,
    /// 1-based.
    pub(crate) line: usize,
    /// Byte offset behind the last line with words that stands directly under it, before the next
    /// heading of any level: text put there belongs to this heading.
    pub(crate) end: usize,
}

impl Heading {
    /// As it stands in the note: `## Title`.
    pub(crate) fn spelled(&self) -> String {
        format!("{} {}", "#".repeat(self.level), self.title)
    }
}

/// All headings, in order.
pub(crate) fn headings(text: &str) -> Vec<Heading> {
    let mut found: Vec<Heading> = Vec::new();
    let mut block = Block::Prose;
    let mut offset = 0;
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let bare = line.trim_end();
        offset += line.len();
        let inside = block.takes(bare, number);
        if let Some((level, title)) = heading(bare).filter(|_| !inside) {
            found.push(Heading { level, title, line: number + 1, end: offset });
        } else if !bare.is_empty()
            && let Some(last) = found.last_mut()
        {
            last.end = offset;
        }
    }
    found
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
        check("text\n---\n# Real\n", &[(1, "Real", 3)]);
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
