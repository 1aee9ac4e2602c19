//! The lines of a note that are most like a text that is not in it.

use std::collections::HashMap;
use std::ops::Range;

use crate::text::text_encoding::pluralize;

/// Lines shown at most.
const MAX_LINES: usize = 12;
/// Characters of a line that are compared and shown.
const MAX_CHARS: usize = 300;
/// In longer notes only whole lines are compared.
const MAX_BYTES: usize = 200_000;
/// Below this likeness (0 to 1) showing lines would mislead.
const MIN_SIMILARITY: f64 = 0.4;

/// The error about `old`, which does not occur in `text`: the closest lines with their numbers, and
/// the difference if it can be told.
pub(crate) fn describe_near_miss(text: &str, old: &str) -> String {
    if let Some(bare) = without_numbers(old)
        && !bare.is_empty()
        && text.contains(&bare)
    {
        return "Leave out the line numbers (`12| `) that read_file prints before each line."
            .to_owned();
    }
    let exact = match loosely_equal_spans(text, old).as_slice() {
        [one] => format!("\nIn the note it is, as JSON: {}", serde_json::Value::from(*one)),
        _ => String::new(),
    };
    let lines: Vec<&str> = text.lines().collect();
    let Some(first) = closest_line(&lines, old) else {
        return "Nothing in the note is like it. Read the note with read_file and copy old_text \
                from it exactly."
            .to_owned();
    };
    let wanted = old.lines().count().clamp(1, MAX_LINES);
    let shown: Vec<&str> = lines.iter().skip(first).take(wanted).copied().collect();
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let hint = if words(&shown.join("\n")) == words(old) {
        " They differ from old_text only in spaces or line breaks."
    } else {
        ""
    };
    let printed: Vec<String> = (first + 1..)
        .zip(shown)
        .map(|(number, line)| format!("{number}| {}", truncate_line(line)))
        .collect();
    format!(
        "The closest {} below.{hint} Copy old_text from the note exactly, without the line \
         numbers.\n{}{exact}",
        if printed.len() == 1 {
            "line is".to_owned()
        } else {
            format!("{} are", pluralize(printed.len(), "line"))
        },
        printed.join("\n")
    )
}

/// The stretches of `text` that differ from `old` only in case, spaces, quotes or dashes.
fn loosely_equal_spans<'a>(text: &'a str, old: &str) -> Vec<&'a str> {
    if text.len() > MAX_BYTES || old.len() > MAX_BYTES {
        return Vec::new();
    }
    let wanted: String = normalized_chars(old.trim()).into_iter().map(|(sign, _)| sign).collect();
    let count = wanted.chars().count();
    let signs = normalized_chars(text);
    let (mut typed, mut starts) = (String::with_capacity(text.len()), Vec::new());
    for (sign, _) in &signs {
        starts.push(typed.len());
        typed.push(*sign);
    }
    let found = |from: usize| -> Option<usize> {
        let at = from + typed.get(from..)?.find(&wanted)?;
        starts.binary_search(&at).ok()
    };
    // One is the place that was meant; of more than one nobody can tell.
    let first = found(0).filter(|_| count > 0);
    let second = first.and_then(|first| found(*starts.get(first + 1)?));
    let stretch = |at: usize| {
        let (first, last) = (signs.get(at)?, signs.get(at + count - 1)?);
        text.get(first.1.start..last.1.end)
    };
    first.into_iter().chain(second).filter_map(stretch).collect()
}

/// Each sign as a careless writer would type it, with the bytes it stands for.
fn normalized_chars(text: &str) -> Vec<(char, Range<usize>)> {
    let mut signs: Vec<(char, Range<usize>)> = Vec::new();
    for (at, sign) in text.char_indices() {
        let end = at + sign.len_utf8();
        let typed = match sign {
            '“' | '”' | '„' | '«' | '»' => '"',
            '‘' | '’' | '‚' | '`' => '\'',
            '–' | '—' | '‑' => '-',
            sign if sign.is_whitespace() => ' ',
            sign => sign.to_lowercase().next().unwrap_or(sign),
        };
        match signs.last_mut() {
            Some((' ', spaces)) if typed == ' ' => spaces.end = end,
            _ => signs.push((typed, at..end)),
        }
    }
    signs
}

/// How like two lines are, whatever their case: 0 to 1.
pub(crate) fn similarity(one: &str, other: &str) -> f64 {
    BigramCounts::of(one).dice_coefficient(other)
}

/// The index of the line at which `old` would begin.
fn closest_line(lines: &[&str], old: &str) -> Option<usize> {
    let (offset, anchor) =
        old.lines().enumerate().max_by_key(|(at, line)| (line.trim().len(), usize::MAX - at))?;
    let anchor = BigramCounts::of(anchor);
    let (at, likeness) = lines
        .iter()
        .enumerate()
        .map(|(at, line)| (at, anchor.dice_coefficient(line)))
        .reduce(|best, next| if next.1 > best.1 { next } else { best })?;
    (likeness >= MIN_SIMILARITY).then(|| at.saturating_sub(offset))
}

/// The pairs of neighbouring characters of a line, for Dice's coefficient.
struct BigramCounts(HashMap<(char, char), usize>, usize);

impl BigramCounts {
    fn of(line: &str) -> Self {
        let mut pairs = HashMap::new();
        let mut total = 0;
        for pair in bigrams(line) {
            *pairs.entry(pair).or_default() += 1;
            total += 1;
        }
        Self(pairs, total)
    }

    /// Twice the shared pairs over all pairs: 1 for the same line, 0 for nothing in common.
    #[expect(clippy::cast_precision_loss, reason = "counts are at most MAX_CHARS")]
    fn dice_coefficient(&self, line: &str) -> f64 {
        let mut used: HashMap<(char, char), usize> = HashMap::new();
        let (mut shared, mut total) = (0_usize, 0_usize);
        for pair in bigrams(line) {
            total += 1;
            let Some(count) = self.0.get(&pair) else { continue };
            let used = used.entry(pair).or_default();
            if *used < *count {
                *used += 1;
                shared += 1;
            }
        }
        if self.1 + total == 0 { 0.0 } else { 2.0 * shared as f64 / (self.1 + total) as f64 }
    }
}

fn bigrams(line: &str) -> impl Iterator<Item = (char, char)> {
    let chars = || line.trim().chars().take(MAX_CHARS).flat_map(char::to_lowercase);
    chars().zip(chars().skip(1))
}

/// `old` without the numbers that `read_file` prints, if every line has one.
fn without_numbers(old: &str) -> Option<String> {
    let bare = |line: &str| {
        let (number, text) = line.split_once('|')?;
        number.trim().parse::<usize>().ok()?;
        Some(text.strip_prefix(' ').unwrap_or(text).to_owned())
    };
    Some(old.lines().map(bare).collect::<Option<Vec<_>>>()?.join("\n"))
}

fn truncate_line(line: &str) -> String {
    match line.char_indices().nth(MAX_CHARS) {
        Some((at, _)) => format!("{}…", line.get(..at).unwrap_or_default()),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTE: &str = "# Groceries\n\n- [ ] milk, 2 litres\n- [ ] brown bread\n- [x] coffee\n";

    fn check(old: &str, part: &str) {
        let said = describe_near_miss(NOTE, old);
        assert!(said.contains(part), "{old:?}: {said}");
    }

    #[test]
    fn a_near_miss_shows_the_closest_lines_with_their_numbers() {
        check("- [ ] milk, 3 litres", "3| - [ ] milk, 2 litres");
        check("- [ ] Brown bread\n- [x] coffee", "4| - [ ] brown bread\n5| - [x] coffee");
        check("- [ ]  brown  bread", "only in spaces");
        check("3| - [ ] milk, 2 litres", "Leave out the line numbers");
        check("Brown\u{a0}BREAD", "In the note it is, as JSON: \"brown bread\"");
        check("something else entirely", "Nothing in the note is like it");
        check("", "Nothing in the note is like it");
    }

    #[test]
    fn a_near_miss_in_an_empty_note_is_told_to_read_it() {
        assert!(describe_near_miss("", "anything").contains("Read the note"));
    }
}
