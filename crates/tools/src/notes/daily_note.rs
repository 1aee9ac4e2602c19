//! Names today's daily note by Obsidian's `daily-notes.json`.

use jiff::Zoned;
use serde::Deserialize;

/// The name that means today's daily note in every tool.
pub(crate) const DAILY_NAME: &str = "daily";

/// Said instead of its name where it is private.
pub(crate) const PRIVATE: &str = "The user keeps the daily note private, so it can be neither read nor changed here.\nUse \
     another note, or ask the user which one.";

/// The settings of Obsidian's daily notes. Source: its help page “Daily notes”.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct DailyNotes {
    folder: String,
    format: String,
}

/// The path of the daily note of `now`, by the bytes of `daily-notes.json`; without settings its
/// date at the top of the vault.
#[must_use]
pub fn path(settings: Option<&[u8]>, now: &Zoned) -> String {
    let settings = settings.and_then(|json| serde_json::from_slice(json).ok());
    let DailyNotes { folder, format } = settings.unwrap_or_default();
    let name = if format.trim().is_empty() {
        now.date().to_string()
    } else {
        format_moment(format.trim().trim_end_matches(".md"), now)
    };
    match folder.trim_matches(['/', ' ']) {
        "" => format!("{name}.md"),
        folder => format!("{folder}/{name}.md"),
    }
}

/// The tokens of a format, the longest first. Source: the documentation of moment, “Display ›
/// Format”, in its English locale.
const FORMAT_TOKENS: [(&str, FormatToken); 33] = [
    ("YYYY", |now| now.strftime("%Y").to_string()),
    ("YY", |now| now.strftime("%y").to_string()),
    ("GGGG", |now| now.strftime("%G").to_string()),
    ("gggg", |now| now.strftime("%G").to_string()),
    ("Q", |now| ((now.month() - 1) / 3 + 1).to_string()),
    ("MMMM", |now| now.strftime("%B").to_string()),
    ("MMM", |now| now.strftime("%b").to_string()),
    ("MM", |now| now.strftime("%m").to_string()),
    ("Mo", |now| ordinal(now.month().into())),
    ("M", |now| now.month().to_string()),
    ("DDDD", |now| format!("{:03}", now.day_of_year())),
    ("DDD", |now| now.day_of_year().to_string()),
    ("DD", |now| now.strftime("%d").to_string()),
    ("Do", |now| ordinal(now.day().into())),
    ("D", |now| now.day().to_string()),
    ("dddd", |now| now.strftime("%A").to_string()),
    ("ddd", |now| now.strftime("%a").to_string()),
    ("dd", |now| now.strftime("%a").to_string().chars().take(2).collect()),
    ("d", |now| now.strftime("%w").to_string()),
    ("E", |now| now.strftime("%u").to_string()),
    ("WW", |now| now.strftime("%V").to_string()),
    ("Wo", |now| ordinal(now.date().iso_week_date().week().into())),
    ("W", |now| now.date().iso_week_date().week().to_string()),
    ("ww", |now| now.strftime("%V").to_string()),
    ("w", |now| now.date().iso_week_date().week().to_string()),
    ("HH", |now| now.strftime("%H").to_string()),
    ("H", |now| now.hour().to_string()),
    ("hh", |now| now.strftime("%I").to_string()),
    ("mm", |now| now.strftime("%M").to_string()),
    ("ss", |now| now.strftime("%S").to_string()),
    ("A", |now| now.strftime("%p").to_string()),
    ("a", |now| now.strftime("%P").to_string()),
    ("X", |now| now.timestamp().as_second().to_string()),
];

type FormatToken = fn(&Zoned) -> String;

/// A time by moment's signs; `[…]` and everything that is no sign stay as they are.
fn format_moment(format: &str, now: &Zoned) -> String {
    let (mut out, mut rest) = (String::new(), format);
    while let Some(first) = rest.chars().next() {
        if let Some((literal, behind)) = rest.strip_prefix('[').and_then(|r| r.split_once(']')) {
            out.push_str(literal);
            rest = behind;
        } else if let Some((sign, part)) =
            FORMAT_TOKENS.iter().find(|(sign, _)| rest.starts_with(sign))
        {
            out.push_str(&part(now));
            rest = rest.get(sign.len()..).unwrap_or_default();
        } else {
            out.push(first);
            rest = rest.get(first.len_utf8()..).unwrap_or_default();
        }
    }
    out
}

fn ordinal(number: i64) -> String {
    let ending = match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(settings: &str, expected: &str) {
        let now = jiff::civil::date(2026, 11, 1).at(7, 5, 0, 0).in_tz("Europe/Berlin").unwrap();
        assert_eq!(path(Some(settings.as_bytes()), &now), expected, "{settings}");
    }

    #[test]
    fn the_daily_note_is_where_obsidian_would_make_it() {
        check("{}", "2026-11-01.md");
        check("no json", "2026-11-01.md");
        check(r#"{ "folder": "Diary/", "format": "" }"#, "Diary/2026-11-01.md");
        check(r#"{ "format": "YYYY/MM/YYYY-MM-DD" }"#, "2026/11/2026-11-01.md");
        check(r#"{ "format": "dddd, MMMM Do YYYY" }"#, "Sunday, November 1st 2026.md");
        check(r#"{ "format": "GGGG-[W]WW ddd D.M.YY" }"#, "2026-W44 Sun 1.11.26.md");
        check(r#"{ "format": "[Day] DDDD [of] YYYY, Q" }"#, "Day 305 of 2026, 4.md");
        check(r#"{ "format": "DD. MMM é" }"#, "01. Nov é.md");
    }

    #[test]
    fn days_have_their_english_endings() {
        let days = [1, 2, 3, 4, 11, 12, 13, 21, 22, 31].map(ordinal);
        let named = ["1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "22nd", "31st"];
        assert_eq!(days, named);
    }
}
