//! The indentation and the quote marks before a block, which keep new lines in the list or quote that
//! the block stands in.

/// The bytes before a block on its first line. Empty for a block that stands in no list and no quote.
#[derive(Debug, Clone, Copy)]
pub(super) struct LinePrefix<'a>(&'a str);

impl<'a> LinePrefix<'a> {
    pub(super) const fn new(before: &'a str) -> Self {
        Self(before)
    }

    pub(super) fn is_quoted(self) -> bool {
        self.0.contains('>')
    }

    /// `new` in place of the block: the prefix stands before its first line already, and is added to
    /// all others. Where `new` repeats the prefix, it is not added a second time.
    pub(super) fn in_place(self, new: &str) -> String {
        self.join(new, "")
    }

    /// `new` before the block: as in its place, with the prefix of the block's own line behind it.
    pub(super) fn before(self, new: &str) -> String {
        format!("{}\n{}", self.in_place(new), self.of_next_lines())
    }

    /// `new` as lines of their own, each with the prefix.
    pub(super) fn own_lines(self, new: &str) -> String {
        self.join(new, &self.of_next_lines())
    }

    fn join(self, new: &str, first: &str) -> String {
        if self.0.is_empty() {
            return new.to_owned();
        }
        let next = self.of_next_lines();
        let has_sign = self.0 != next;
        let repeats_sign = new.strip_prefix(self.0).filter(|bare| has_sign && is_list_item(bare));
        let new = repeats_sign.map_or_else(|| new.to_owned(), |bare| format!("{next}{bare}"));
        let repeated = RepeatedPrefix::in_text(&new, &next);
        let lines = new.split('\n').enumerate().map(|(number, line)| {
            let bare = repeated.strip(line);
            let prefix = if number == 0 { first } else { next.as_str() };
            let prefix = if bare.trim().is_empty() { prefix.trim_end() } else { prefix };
            format!("{prefix}{bare}")
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    /// The prefix of a line that goes on: of the sign of an item around the block, only its width.
    fn of_next_lines(self) -> String {
        let stays = |sign: char| sign == '>' || sign.is_whitespace();
        self.0.chars().map(|sign| if stays(sign) { sign } else { ' ' }).collect()
    }
}

/// The part of a prefix that a text has itself.
struct RepeatedPrefix {
    quotes: usize,
    /// Of indentation behind the quote marks.
    columns: usize,
}

impl RepeatedPrefix {
    /// How much of `prefix` the first line of `text` repeats.
    fn in_text(text: &str, prefix: &str) -> Self {
        let first = text.split('\n').find(|line| !line.trim().is_empty()).unwrap_or_default();
        let (mut quotes, mut own, mut rest) = (0, prefix, first);
        while let Some(behind) = strip_quote_mark(own) {
            own = behind;
            if let Some(behind) = strip_quote_mark(rest) {
                rest = behind;
                quotes += 1;
            }
        }
        Self { quotes, columns: indentation(own).min(indentation(rest)) }
    }

    fn strip<'t>(&self, line: &'t str) -> &'t str {
        let mut rest = line;
        for _ in 0..self.quotes {
            rest = strip_quote_mark(rest).unwrap_or(rest);
        }
        strip_columns(rest, self.columns)
    }
}

fn strip_quote_mark(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches([' ', '\t']).strip_prefix('>')?;
    Some(rest.strip_prefix(' ').unwrap_or(rest))
}

/// The columns of the spaces and tabs that `line` begins with.
fn indentation(line: &str) -> usize {
    let blanks = line.chars().take_while(|sign| matches!(sign, ' ' | '\t'));
    blanks.fold(0, column_behind)
}

/// `line` without so many columns of indentation. A tab that is wider than what is left of them stays.
fn strip_columns(line: &str, columns: usize) -> &str {
    let mut column = 0;
    let is_more = |sign: char| {
        if !matches!(sign, ' ' | '\t') {
            return false;
        }
        column = column_behind(column, sign);
        column <= columns
    };
    line.trim_start_matches(is_more)
}

const fn column_behind(column: usize, blank: char) -> usize {
    if blank == '\t' { column + 4 - column % 4 } else { column + 1 }
}

/// Whether a line without its indentation begins an item of a list.
pub(super) fn is_list_item(words: &str) -> bool {
    let numbered = words.trim_start_matches(|sign: char| sign.is_ascii_digit());
    let marker = if numbered.len() == words.len() { &['-', '*', '+'][..] } else { &['.', ')'][..] };
    numbered
        .strip_prefix(marker)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t']))
}

#[cfg(test)]
mod tests {
    use super::LinePrefix;

    #[test]
    fn lines_get_the_prefix_that_they_do_not_have() {
        for (prefix, new, expected) in [
            ("", "  - a\n- b", "  - a\n- b"),
            ("  ", "- a\n  - b\n\n- c", "  - a\n    - b\n\n  - c"),
            ("  ", "  - a\n    - b", "  - a\n    - b"),
            ("  ", "  - a\n- b", "  - a\n  - b"),
            ("  ", "    - a", "    - a"),
            ("    ", "  - a", "    - a"),
            ("\t", "- a\n\t- b", "\t- a\n\t\t- b"),
            ("\t", "    - a", "\t- a"),
            ("  ", "\t- a", "  \t- a"),
            ("> ", "- a\n\n- b", "> - a\n>\n> - b"),
            ("> ", "> - a\n>\n> - b", "> - a\n>\n> - b"),
            (">   ", "- a", ">   - a"),
            (">   ", "  - a", ">   - a"),
            (">   ", "> - a", ">   - a"),
            ("> > ", "> - a", "> > - a"),
            ("  > ", "> a", "  > a"),
        ] {
            assert_eq!(LinePrefix::new(prefix).own_lines(new), expected, "{prefix:?} {new:?}");
        }
    }

    #[test]
    fn in_place_of_a_block_only_the_other_lines_get_the_prefix() {
        let prefix = LinePrefix::new("  ");
        assert_eq!(prefix.in_place("  - a\r\n  - b"), "- a\r\n  - b");
        assert_eq!(prefix.in_place(""), "");
        assert_eq!(prefix.before("- a"), "- a\n  ");
        // The block is the first one in an item.
        let prefix = LinePrefix::new("- ");
        assert_eq!(prefix.in_place("- - a\n  - b"), "- a\n  - b");
        assert_eq!(prefix.in_place("- a\n- b"), "- a\n  - b");
        assert_eq!(prefix.before("- a"), "- a\n  ");
        assert_eq!(prefix.own_lines("- a"), "  - a");
    }
}
