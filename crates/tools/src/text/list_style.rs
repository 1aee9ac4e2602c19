//! How a note writes its list, so that what is added is written the same way.

/// `text` as the next item of the last list among `lines`; as it stands when there is no list, or
/// when it is written as an item already.
pub(crate) fn next_item(lines: &[&str], text: &str) -> String {
    let Some(form) = lines.iter().rev().find_map(|line| ListItemStyle::parse(line)) else {
        return text.to_owned();
    };
    if ListItemStyle::parse(text).is_some() {
        return text.to_owned();
    }
    let mut number = form.number;
    let items = text.lines().filter(|line| !line.trim().is_empty()).map(|line| {
        number = number.map(|number| number + 1);
        let sign = number.map_or(String::new(), |number| number.to_string());
        format!("{sign}{}{}{}", form.sign, if form.task { " [ ] " } else { " " }, line.trim())
    });
    items.collect::<Vec<_>>().join("\n")
}

/// The beginning of a list item that is not indented.
struct ListItemStyle {
    /// Of an ordered list.
    number: Option<u32>,
    /// `-`, `*`, `+`, or what follows the number.
    sign: char,
    /// Whether it has a box to tick.
    task: bool,
}

impl ListItemStyle {
    fn parse(line: &str) -> Option<Self> {
        let digits = line.chars().take_while(char::is_ascii_digit).count();
        let (number, rest) = line.split_at_checked(digits)?;
        let number = number.parse().ok();
        let mut signs = rest.chars();
        let sign = signs.next()?;
        let known = if number.is_some() {
            ['.', ')'].contains(&sign)
        } else {
            ['-', '*', '+'].contains(&sign)
        };
        let item = signs.as_str();
        if !known || !item.starts_with([' ', '\t']) {
            return None;
        }
        let item = item.trim_start();
        let task = item.strip_prefix('[').is_some_and(|boxed| boxed.chars().nth(1) == Some(']'));
        // `* * *` and `- - -` are rules between sections, not items.
        let is_rule = number.is_none() && item.chars().all(|c| c == sign || c.is_whitespace());
        (!is_rule).then_some(Self { number, sign, task })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(note: &str, text: &str, expected: &str) {
        let lines: Vec<&str> = note.lines().collect();
        assert_eq!(next_item(&lines, text), expected, "{note:?}");
    }

    #[test]
    fn an_item_is_written_as_the_last_list_writes_its_items() {
        check("- milk\n- eggs", "bread", "- bread");
        check("* milk", "bread", "* bread");
        check("- [x] milk", "bread", "- [ ] bread");
        check("- [ ] milk\n  - skimmed", "bread", "- [ ] bread");
        check("1. first\n2. second", "third", "3. third");
        check("1) first", "second", "2) second");
        check("- [ ] task\n\n* later", "bread", "* bread");
        check("- milk\n\nNotes.", "bread", "- bread");
        check("- milk", "bread\nbutter", "- bread\n- butter");
    }

    #[test]
    fn without_a_list_or_as_an_item_already_text_stays_as_it_is() {
        check("", "bread", "bread");
        check("Only prose.", "bread", "bread");
        check("- - -\n***\n---", "bread", "bread");
        check("-milk\n2026 was good", "bread", "bread");
        check("- milk", "* bread", "* bread");
    }
}
