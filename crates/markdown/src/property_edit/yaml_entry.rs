//! The YAML of a frontmatter as its top-level entries, by byte range, and values in YAML's
//! spelling. What it does not understand it refuses; what it is not asked to change it never
//! rewrites. <https://yaml.org/spec/1.2.2/>

use std::collections::HashSet;
use std::ops::Range;

use serde_json::Value;

use crate::lines;

/// One `key: value` on the left edge, with the indented lines and list items below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct YamlEntry {
    /// Without quotes.
    pub(super) key: String,
    /// All of it, its last line break included.
    pub(super) all: Range<usize>,
    /// Behind the colon to the end of that line, without its break.
    pub(super) rest: Range<usize>,
    /// The value on that line, without spaces and comment around it. An empty one is directly behind the colon.
    pub(super) inline: Range<usize>,
    /// The number of lines that it takes, its first one included.
    pub(super) lines: usize,
}

/// Why the YAML cannot be edited: a line of it, from 0, and what is wrong there.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct YamlError {
    pub(super) line: usize,
    pub(super) reason: String,
}

/// The blanks of YAML; other spaces of Unicode are text like any other.
const BLANK: &[char] = &[' ', '\t', '\r', '\n'];

/// The entries of `yaml`, in order.
pub(super) fn entries(yaml: &str) -> Result<Vec<YamlEntry>, YamlError> {
    let mut found: Vec<(usize, YamlEntry)> = Vec::new();
    let mut keys = HashSet::new();
    for (number, range) in lines(yaml).enumerate() {
        let line = yaml.get(range.clone()).unwrap_or_default();
        let wrong = |reason: &str| YamlError { line: number, reason: reason.to_owned() };
        let bare = line.trim_end_matches(BLANK);
        if bare.trim_start().is_empty() || bare.starts_with('#') {
            continue;
        }
        let in_text = found.last().is_some_and(|(_, last)| is_block_text(yaml, last));
        let indentation = line.len() - line.trim_start().len();
        if line.get(..indentation).is_some_and(|spaces| spaces.contains('\t')) && !in_text {
            return Err(wrong("a tab stands before the text; YAML wants spaces"));
        }
        let is_item = bare == "-" || bare.starts_with("- ");
        if indentation > 0 || is_item || is_closing(yaml, bare, found.last()) {
            let Some((first, last)) = found.last_mut() else {
                return Err(wrong("a property is expected here, such as `tags: garden`"));
            };
            last.all.end = range.end;
            last.lines = number - *first + 1;
            if is_item && !last.inline.is_empty() {
                return Err(wrong("a list item stands below a property that has a value already"));
            }
            continue;
        }
        let entry = entry(&range, bare).map_err(|reason| wrong(&reason))?;
        if !keys.insert(entry.key.clone()) {
            return Err(wrong(&format!("the property `{}` stands here a second time", entry.key)));
        }
        found.push((number, entry));
    }
    for (line, entry) in &found {
        check_value(yaml, entry).map_err(|reason| YamlError { line: *line, reason })?;
    }
    Ok(found.into_iter().map(|(_, entry)| entry).collect())
}

fn entry(line: &Range<usize>, bare: &str) -> Result<YamlEntry, String> {
    let no_colon = || "`name: value` is expected here, with a space behind the colon".to_owned();
    let (key, colon) = match bare.chars().next() {
        Some(quote @ ('"' | '\'')) => {
            let inner = bare.get(1..).unwrap_or_default();
            let close = inner.find(quote).ok_or("a quote is opened and not closed")?;
            let key = inner.get(..close).unwrap_or_default();
            if key.contains('\\') {
                return Err("a name with `\\` in it is not understood".to_owned());
            }
            (key.to_owned(), close + 2)
        }
        Some(sign) if "?[]{},&*!|>%@`".contains(sign) => {
            return Err(format!("a name cannot begin with `{sign}`"));
        }
        _ => {
            let at = bare.match_indices(':').map(|(at, _)| at).find(|at| {
                bare.get(at + 1..)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t']))
            });
            let at = at.ok_or_else(no_colon)?;
            (bare.get(..at).unwrap_or_default().trim_end_matches(BLANK).to_owned(), at)
        }
    };
    let rest = bare.get(colon..).and_then(|rest| rest.strip_prefix(':')).ok_or_else(no_colon)?;
    if key.is_empty() || key.contains(" #") || !(rest.is_empty() || rest.starts_with([' ', '\t'])) {
        return Err(no_colon());
    }
    let after = line.start + colon + 1;
    let value = without_comment(rest).trim_end_matches(BLANK);
    let lead = value.len() - value.trim_start_matches(BLANK).len();
    let inline = after + lead..after + value.len();
    Ok(YamlEntry { key, all: line.clone(), rest: after..line.start + bare.len(), inline, lines: 1 })
}

/// `rest` up to a comment: a `#` after a space, outside of quotes.
pub(super) fn without_comment(rest: &str) -> &str {
    let mut quote = None;
    let mut before = ' ';
    let mut signs = rest.char_indices().peekable();
    while let Some((at, sign)) = signs.next() {
        match (quote, sign) {
            (None, '#') if BLANK.contains(&before) => return rest.get(..at).unwrap_or(rest),
            (None, '"' | '\'') if BLANK.contains(&before) || matches!(before, '[' | ',' | '{') => {
                quote = Some(sign);
            }
            // A doubled one is part of the text.
            (Some('\''), '\'') if signs.next_if(|(_, next)| *next == '\'').is_none() => {
                quote = None;
            }
            (Some('"'), '"') if before != '\\' => quote = None,
            _ => {}
        }
        before = if before == '\\' && sign == '\\' { ' ' } else { sign };
    }
    rest
}

/// Whether a line on the left edge closes the brackets that `last` opened.
fn is_closing(yaml: &str, bare: &str, last: Option<&(usize, YamlEntry)>) -> bool {
    let value = last.and_then(|(_, last)| yaml.get(last.inline.clone())).unwrap_or_default();
    bare.starts_with([']', '}']) && value.starts_with(['[', '{'])
}

/// Whether the lines below belong to a text of many lines (`|` or `>`), in which anything goes.
pub(super) fn is_block_text(yaml: &str, entry: &YamlEntry) -> bool {
    yaml.get(entry.inline.clone()).is_some_and(|value| value.starts_with(['|', '>']))
}

/// Refuses values that YAML would refuse, and those whose end cannot be told.
fn check_value(yaml: &str, entry: &YamlEntry) -> Result<(), String> {
    if is_block_text(yaml, entry) {
        return Ok(());
    }
    let value = yaml.get(entry.inline.clone()).unwrap_or_default();
    let whole = yaml.get(entry.inline.start..entry.all.end).unwrap_or_default();
    match value.chars().next() {
        Some('"' | '\'' | '[' | '{') => {
            let rest =
                closing_offset(whole).ok_or("a quote or bracket is opened and not closed")?;
            let rest = whole.get(rest..).unwrap_or_default();
            let rest = if rest.starts_with([' ', '\t']) { without_comment(rest) } else { rest };
            if rest.trim().is_empty() {
                Ok(())
            } else {
                Err("something stands behind the closing quote or bracket".to_owned())
            }
        }
        Some(sign @ ('@' | '`' | '%' | ']' | '}' | ',')) => {
            Err(format!("a value that begins with `{sign}` must be in quotes"))
        }
        Some(_) if value.contains(": ") || value.ends_with(':') => {
            Err("a value with a colon and a space in it must be in quotes".to_owned())
        }
        _ => Ok(()),
    }
}

/// The offset behind the quote or bracket that closes the one `text` begins with.
pub(super) fn closing_offset(text: &str) -> Option<usize> {
    let mut open = Vec::new();
    let mut quote = None;
    let mut is_escaped = false;
    let mut before = '[';
    for (at, sign) in text.char_indices() {
        match (quote, sign) {
            (Some('"'), _) if is_escaped => is_escaped = false,
            (Some('"'), '\\') => is_escaped = true,
            (Some(open), _) if open == sign => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') if matches!(before, '[' | '{' | ',' | ':') => quote = Some(sign),
            (None, '[') => open.push(']'),
            (None, '{') => open.push('}'),
            (None, ']' | '}') if open.pop() != Some(sign) => return None,
            _ => {}
        }
        // A quote that is doubled inside single quotes closes and opens at once.
        if quote.is_none()
            && open.is_empty()
            && !text.get(at + 1..).is_some_and(|rest| sign == '\'' && rest.starts_with('\''))
        {
            return Some(at + sign.len_utf8());
        }
        if sign == '\'' && quote.is_none() {
            before = ',';
        } else if !sign.is_whitespace() {
            before = sign;
        }
    }
    None
}

/// A text, number, true or false in YAML's spelling; `in_brackets` are the signs that a list in
/// brackets would take for its own.
pub(super) fn scalar(value: &Value, reserved: &[char]) -> Option<String> {
    match value {
        Value::String(text) if is_plain(text) && !text.contains(reserved) => Some(text.clone()),
        Value::String(text) => Some(quoted(text)),
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// The signs that mean something inside `[ ]`.
pub(super) const FLOW_INDICATORS: &[char] = &['[', ']', '{', '}', ','];

/// Whether YAML reads `text` without quotes as this same text (or as a date).
fn is_plain(text: &str) -> bool {
    const WORDS: [&str; 9] = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    let is_spaced_oddly = text.contains(|sign: char| sign.is_whitespace() && sign != ' ');
    let begins_well = text.starts_with(|sign: char| sign.is_alphanumeric() || sign == '_');
    let digits = text.trim_start_matches(|sign: char| sign.is_ascii_digit());
    let is_date = text.len() >= 10
        && text.bytes().take(10).enumerate().all(|(at, sign)| match at {
            4 | 7 => sign == b'-',
            _ => sign.is_ascii_digit(),
        });
    let is_number = text.starts_with(|sign: char| sign.is_ascii_digit())
        && (text.parse::<f64>().is_ok()
            || digits.starts_with(['x', 'o', '_', ':'])
            || digits.is_empty());
    begins_well
        && !is_spaced_oddly
        && (is_date || !is_number)
        && !WORDS.contains(&text.to_lowercase().as_str())
        && !matches!(text.to_lowercase().as_str(), "inf" | "nan" | "infinity")
        && !text.contains(char::is_control)
        && !text.contains(": ")
        && !text.contains(" #")
        && !text.ends_with([':', ' '])
}

/// In double quotes, on one line.
fn quoted(text: &str) -> String {
    // JSON's strings are YAML's, but for these two line ends.
    let json = Value::String(text.to_owned()).to_string();
    json.replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029").replace('\u{85}', "\\u0085")
}
