//! A property in the frontmatter: set, taken away, or added to.

mod yaml_entry;

use std::collections::{HashMap, HashSet, VecDeque};
use std::ops::Range;

use serde_json::Value;

use crate::frontmatter::byte_order_mark_len;
use crate::{LineEnd, NoteStart, lines, splice};
use yaml_entry::{FLOW_INDICATORS, YamlEntry, YamlError, scalar};

/// An edit of one property, which is written in the note's own style.
#[derive(Debug)]
pub struct PropertyEdit<'a> {
    /// As it stands in the frontmatter, without quotes; in another case it counts where just one property is
    /// called so.
    pub name: &'a str,
    /// The change of its value.
    pub action: PropertyAction<'a>,
}

/// The change of a property. A value is a text, a number, true or false, or a list of these.
#[derive(Debug, Clone, Copy)]
pub enum PropertyAction<'a> {
    /// The property gets this value, and is added where it is not there.
    Set(&'a Value),
    /// Its list gets this item, or these; a property that is not there is added as a list.
    Append(&'a Value),
    /// The property is removed.
    Remove,
}

/// Why the properties stay as they are.
#[derive(Debug, PartialEq, Eq)]
pub enum PropertyEditError {
    /// `---` on the first line begins a frontmatter, and no line ends it.
    Unclosed,
    /// Lines of the frontmatter end in a bare carriage return.
    BareReturns,
    /// A line of the frontmatter is not understood.
    Malformed {
        /// 1-based line of the note.
        line: usize,
        /// The reason, as the end of a sentence.
        reason: String,
        /// The line as it stands there, without its end.
        text: String,
    },
    /// The name holds a quote, backslash or line break, or nothing.
    InvalidName,
    /// The value is neither a text, a number, true or false, nor a list of these.
    InvalidValue,
    /// No property has the name.
    Absent {
        /// The names of all properties.
        names: Vec<String>,
    },
    /// The value has an anchor, alias or tag, which other lines may refer to.
    Anchored {
        /// The name as it stands there.
        name: String,
        /// The value as it stands there.
        value: String,
    },
    /// Comments stand among the lines of the property, and would be lost.
    HoldsComments {
        /// The name as it stands there.
        name: String,
    },
    /// The property is to be added to, and its value is no list.
    NotAList {
        /// The name as it stands there.
        name: String,
        /// The value on the line of the name; empty where it stands below.
        value: String,
    },
    /// The list that is to be added to holds the item already.
    Duplicate {
        /// The name as it stands there.
        name: String,
        /// The item in YAML's spelling.
        item: String,
    },
}

impl PropertyEdit<'_> {
    /// `text`, the whole text of a note, with the edit made; all other bytes stay.
    pub fn apply(&self, text: &str) -> Result<String, PropertyEditError> {
        let name = self.name.trim();
        let ends = LineEnd::of(text).as_str();
        let range = match NoteStart::parse(text) {
            NoteStart::Frontmatter(matter) => matter.yaml,
            NoteStart::Unclosed => return Err(PropertyEditError::Unclosed),
            NoteStart::Text => {
                let news = self.entry_text(name, ends)?.ok_or_else(|| absent(&[]))?;
                let start = byte_order_mark_len(text);
                return Ok(splice(text, start..start, &format!("---{ends}{news}---{ends}")));
            }
        };
        let yaml = text.get(range.clone()).unwrap_or_default();
        if yaml.replace("\r\n", "\n").contains('\r') {
            return Err(PropertyEditError::BareReturns);
        }
        let entries = yaml_entry::entries(yaml).map_err(|wrong| malformed(yaml, wrong))?;
        let edited = match find_entry(&entries, name) {
            None => {
                let news = self.entry_text(name, ends)?;
                let news = news.ok_or_else(|| absent(&entries))?;
                splice(yaml, yaml.len()..yaml.len(), &news)
            }
            Some(entry) => {
                refuse_anchor(yaml, entry)?;
                match self.action {
                    PropertyAction::Remove => splice(yaml, entry.all.clone(), ""),
                    PropertyAction::Set(value) => set(yaml, entry, value, ends)?,
                    PropertyAction::Append(value) => append(yaml, entry, value, ends)?,
                }
            }
        };
        Ok(splice(text, range, &edited))
    }

    /// The lines of a property that was not there; `None` when there is nothing to take away.
    fn entry_text(&self, name: &str, ends: &str) -> Result<Option<String>, PropertyEditError> {
        let value = match self.action {
            PropertyAction::Remove => return Ok(None),
            PropertyAction::Set(value) => YamlValue::from_json(value)?,
            PropertyAction::Append(value) => YamlValue::List(items(value, &[])?),
        };
        if name.is_empty() || name.contains(|sign: char| sign.is_control() || "\"\\".contains(sign))
        {
            return Err(PropertyEditError::InvalidName);
        }
        let key = scalar(&Value::String(name.to_owned()), &[':', '#']).unwrap_or_default();
        Ok(Some(format!("{key}:{}{ends}", value.after_colon(ends))))
    }
}

/// Refuses a value with an anchor, alias or tag, which other lines may refer to.
fn refuse_anchor(yaml: &str, entry: &YamlEntry) -> Result<(), PropertyEditError> {
    let value = yaml.get(entry.inline.clone()).unwrap_or_default();
    if value.starts_with(['&', '*', '!']) {
        let (name, value) = (entry.key.clone(), value.to_owned());
        return Err(PropertyEditError::Anchored { name, value });
    }
    Ok(())
}

/// A value in YAML's spelling.
enum YamlValue {
    One(String),
    List(Vec<String>),
}

impl YamlValue {
    fn from_json(value: &Value) -> Result<Self, PropertyEditError> {
        match scalar(value, &[]) {
            Some(one) => Ok(Self::One(one)),
            None => items(value, &[]).map(Self::List),
        }
    }

    /// With the space or the line breaks that come first, without the last line break.
    fn after_colon(&self, ends: &str) -> String {
        match self {
            Self::One(one) => format!(" {one}"),
            Self::List(items) if items.is_empty() => " []".to_owned(),
            Self::List(items) => items.iter().map(|item| format!("{ends}  - {item}")).collect(),
        }
    }
}

fn items(value: &Value, reserved: &[char]) -> Result<Vec<String>, PropertyEditError> {
    let spelled = match value {
        Value::Array(items) => items.iter().map(|item| scalar(item, reserved)).collect(),
        one => scalar(one, reserved).map(|one| vec![one]),
    };
    spelled.ok_or(PropertyEditError::InvalidValue)
}

/// Only the value changes. Comments stay: behind a value on one line, and at and above the items of
/// a list that stay in it. Where they cannot stay the change is refused.
fn set(
    yaml: &str,
    entry: &YamlEntry,
    value: &Value,
    ends: &str,
) -> Result<String, PropertyEditError> {
    let spelled = YamlValue::from_json(value)?;
    let inline = yaml.get(entry.inline.clone()).unwrap_or_default();
    if entry.lines == 1 {
        let flat = match &spelled {
            YamlValue::One(one) => Some(one.clone()),
            YamlValue::List(items) if items.is_empty() => Some("[]".to_owned()),
            YamlValue::List(_) if inline.starts_with('[') => {
                Some(format!("[{}]", items(value, FLOW_INDICATORS)?.join(", ")))
            }
            YamlValue::List(_) => None,
        };
        if let Some(flat) = flat {
            let space = if entry.inline.start == entry.rest.start { " " } else { "" };
            return Ok(splice(yaml, entry.inline.clone(), &format!("{space}{flat}")));
        }
    }
    if let YamlValue::List(items) = &spelled
        && let Some(lines) = ItemLines::parse(yaml, entry)
        && !items.is_empty()
    {
        return Ok(splice(yaml, lines.range.clone(), &lines.with_items(items, ends)));
    }
    let comment = yaml.get(entry.inline.end..entry.rest.end).unwrap_or_default().trim();
    let is_list = matches!(&spelled, YamlValue::List(items) if !items.is_empty());
    if has_comment_below(yaml, entry) || (!is_list && !comment.is_empty()) {
        return Err(holds_comments(entry));
    }
    let all = yaml.get(entry.all.clone()).unwrap_or_default();
    let end = entry.all.start + all.trim_end_matches(['\n', '\r']).len();
    let space = if comment.is_empty() { "" } else { " " };
    let news = format!("{space}{comment}{}", spelled.after_colon(ends));
    Ok(splice(yaml, entry.rest.start..end, &news))
}

/// The lines of a list below its name, each item with the comments above it.
struct ItemLines<'a> {
    /// All these lines, in the YAML.
    range: Range<usize>,
    indentation: &'a str,
    /// The item and its lines.
    items: Vec<(&'a str, &'a str)>,
    /// Comments below the last item.
    rest: &'a str,
}

impl<'a> ItemLines<'a> {
    /// `None` for anything but a list with one line per item.
    fn parse(yaml: &'a str, entry: &YamlEntry) -> Option<Self> {
        let first = yaml.get(entry.rest.end..entry.all.end)?.find('\n')?;
        let range = entry.rest.end + first + 1..entry.all.end;
        let below = yaml.get(range.clone())?;
        let (mut indentation, mut items, mut from) = (None, Vec::new(), 0);
        for line in lines(below) {
            let text = below.get(line.clone())?;
            let bare = text.trim_start();
            if bare.is_empty() || bare.starts_with('#') {
                continue;
            }
            let space = text.get(..text.len() - bare.len())?;
            let item = bare.strip_prefix('-').filter(|item| item.starts_with([' ', '\n', '\r']))?;
            if *indentation.get_or_insert(space) != space {
                return None;
            }
            items.push((yaml_entry::without_comment(item).trim(), below.get(from..line.end)?));
            from = line.end;
        }
        let is_below = yaml.get(entry.inline.clone())?.is_empty();
        let rest = below.get(from..)?;
        indentation.filter(|_| is_below).map(|indentation| Self { range, indentation, items, rest })
    }

    /// The lines with these items; those that are there already keep their lines.
    fn with_items(&self, wanted: &[String], ends: &str) -> String {
        let mut there: HashMap<&str, VecDeque<&str>> = HashMap::new();
        for (item, lines) in &self.items {
            there.entry(item).or_default().push_back(lines);
        }
        let lines = wanted.iter().map(|item| {
            match there.get_mut(item.as_str()).and_then(VecDeque::pop_front) {
                Some(lines) => lines.to_owned(),
                None => format!("{}- {item}{ends}", self.indentation),
            }
        });
        lines.collect::<String>() + self.rest
    }
}

/// Whether a line below the name has a comment.
fn has_comment_below(yaml: &str, entry: &YamlEntry) -> bool {
    let below = yaml.get(entry.rest.end..entry.all.end).unwrap_or_default();
    !yaml_entry::is_block_text(yaml, entry)
        && below.lines().any(|line| yaml_entry::without_comment(line).len() < line.len())
}

fn holds_comments(entry: &YamlEntry) -> PropertyEditError {
    PropertyEditError::HoldsComments { name: entry.key.clone() }
}

fn append(
    yaml: &str,
    entry: &YamlEntry,
    value: &Value,
    ends: &str,
) -> Result<String, PropertyEditError> {
    let inline = yaml.get(entry.inline.clone()).unwrap_or_default();
    let below: Vec<&str> = yaml
        .get(entry.all.clone())
        .unwrap_or_default()
        .lines()
        .skip(1)
        .filter(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#'))
        .collect();
    if inline.starts_with('[') {
        return append_in_brackets(yaml, entry, value);
    }
    let indentation = below
        .first()
        .map_or("  ", |line| line.get(..line.len() - line.trim_start().len()).unwrap_or_default());
    let is_item = |line: &&&str| {
        line.strip_prefix(indentation).is_some_and(|line| line == "-" || line.starts_with("- "))
    };
    if !inline.is_empty() || below.iter().filter(is_item).count() != below.len() {
        let (name, value) = (entry.key.clone(), inline.to_owned());
        return Err(PropertyEditError::NotAList { name, value });
    }
    let news = items(value, &[])?;
    let there = below
        .iter()
        .map(|line| yaml_entry::without_comment(line.trim_start().trim_start_matches('-')).trim());
    refuse_duplicates(entry, &news, &there.collect())?;
    let lines: String = news.iter().map(|item| format!("{indentation}- {item}{ends}")).collect();
    Ok(splice(yaml, entry.all.end..entry.all.end, &lines))
}

fn append_in_brackets(
    yaml: &str,
    entry: &YamlEntry,
    value: &Value,
) -> Result<String, PropertyEditError> {
    let whole = yaml.get(entry.inline.start..entry.all.end).unwrap_or_default();
    let close = yaml_entry::closing_offset(whole).unwrap_or_default().saturating_sub(1);
    let inner = whole.get(1..close).unwrap_or_default();
    if inner.contains('#') && entry.lines > 1 {
        return Err(holds_comments(entry));
    }
    let news = items(value, FLOW_INDICATORS)?;
    refuse_duplicates(entry, &news, &inner.split(',').map(str::trim).collect())?;
    let kept = inner.trim_end();
    let before = match kept.chars().next_back() {
        None => "",
        Some(',') => " ",
        Some(_) => ", ",
    };
    let at = entry.inline.start + 1 + kept.len();
    Ok(splice(yaml, at..at, &format!("{before}{}", news.join(", "))))
}

fn refuse_duplicates(
    entry: &YamlEntry,
    news: &[String],
    there: &HashSet<&str>,
) -> Result<(), PropertyEditError> {
    match news.iter().find(|item| there.contains(item.as_str())) {
        Some(item) => {
            let (name, item) = (entry.key.clone(), item.clone());
            Err(PropertyEditError::Duplicate { name, item })
        }
        None => Ok(()),
    }
}

/// The entry of that name; of another case when there is just one.
fn find_entry<'e>(entries: &'e [YamlEntry], name: &str) -> Option<&'e YamlEntry> {
    let is_alike = |entry: &&YamlEntry| entry.key.to_lowercase() == name.to_lowercase();
    entries.iter().find(|entry| entry.key == name).or_else(|| {
        let mut alike = entries.iter().filter(is_alike);
        alike.next().filter(|_| alike.next().is_none())
    })
}

fn absent(entries: &[YamlEntry]) -> PropertyEditError {
    PropertyEditError::Absent { names: entries.iter().map(|entry| entry.key.clone()).collect() }
}

fn malformed(yaml: &str, wrong: YamlError) -> PropertyEditError {
    let range = lines(yaml).nth(wrong.line).unwrap_or_default();
    let text = yaml.get(range).unwrap_or_default().trim_end().to_owned();
    // The YAML begins on the note's second line.
    PropertyEditError::Malformed { line: wrong.line + 2, reason: wrong.reason, text }
}

#[cfg(test)]
mod tests;
