//! Chats that the user copied into a message: a name stands beside a time.

/// A stamp and a name, with the message behind it: `[04.05.26, 10:00:01] Mia: hello`,
/// `5/4/26, 10:00 AM - Mia: hello`; or below it: `Mia, [4 May 2026 at 10:00:01]:`.
pub(super) fn is_message(line: &str) -> bool {
    let line = line.trim_start_matches(is_mark);
    if let Some((stamp, said)) = line.strip_prefix('[').and_then(|line| line.split_once(']')) {
        return has_time(stamp) && is_said(said);
    }
    if let Some((name, stamp)) = line.split_once(", [")
        && let Some((stamp, _)) = stamp.split_once(']')
    {
        return is_name(name) && has_time(stamp);
    }
    let Some((stamp, said)) = line.split_once(" - ") else { return false };
    stamp.starts_with(|sign: char| sign.is_ascii_digit()) && has_time(stamp) && is_said(said)
}

/// A name and a time, and nothing else: `Mia  10:00 AM`, `Mia — Today at 10:00`.
pub(super) fn is_head(line: &str) -> bool {
    const GAPS: [&str; 6] = ["  ", "\t", "\u{a0}", " — ", " – ", " - "];
    let is_at = |gap: &&str| {
        let Some((name, time)) = line.split_once(*gap) else { return false };
        is_name(name) && has_time(time) && time.split_whitespace().count() <= 4
    };
    let of_half_day =
        line.strip_suffix(['m', 'M']).and_then(|line| line.strip_suffix(['a', 'A', 'p', 'P']));
    let is_in_halves = of_half_day
        .and_then(|line| line.strip_suffix(' '))
        .and_then(|line| line.rsplit_once(' '))
        .is_some_and(|(name, time)| is_name(name) && has_time(time));
    GAPS.iter().any(is_at) || is_in_halves
}

/// Little but a date with its year and a time: `May 4, 2026 at 10:00`.
pub(super) fn is_dated(line: &str) -> bool {
    let years = line.split(|sign: char| !sign.is_ascii_digit());
    let is_year =
        |digits: &str| digits.len() == 4 && (digits.starts_with("19") || digits.starts_with("20"));
    line.split_whitespace().count() <= 8
        && !line.contains("[[")
        && has_time(line)
        && years.into_iter().any(is_year)
}

/// A name and a colon, behind a stamp.
fn is_said(said: &str) -> bool {
    said.split_once([':', '：']).is_some_and(|(name, _)| is_name(name.trim_matches(['~', ' '])))
        || (!said.trim().is_empty() && is_name(said))
}

/// One to four words that begin as names do.
fn is_name(name: &str) -> bool {
    let words: Vec<&str> = name.split_whitespace().collect();
    let begins = |word: &&str| {
        word.chars().next().is_some_and(|sign| !sign.is_lowercase() && sign.is_alphabetic())
    };
    (1..=4).contains(&words.len()) && words.iter().all(begins)
}

/// Marks that nobody sees, which programs put before a line.
fn is_mark(sign: char) -> bool {
    matches!(sign, '\u{200e}' | '\u{200f}' | '\u{feff}')
}

/// Whether a time of day stands in the text: `9:05`, `10.00:01`.
fn has_time(text: &str) -> bool {
    text.match_indices([':', '：']).any(|(at, colon)| {
        let (before, after) = (text.get(..at).unwrap_or_default(), text.get(at + colon.len()..));
        let minutes =
            after.unwrap_or_default().chars().take(2).filter(char::is_ascii_digit).count();
        before.ends_with(|sign: char| sign.is_ascii_digit()) && minutes == 2
    })
}
