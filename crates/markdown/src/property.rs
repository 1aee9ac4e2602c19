//! The properties of a note, read from its frontmatter.

use std::ops::Range;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use protocol::notes::invisible::is_invisible;
use protocol::notes::privacy::{fold_name, is_tag_char};
use protocol::notes::query::NoteProperty;

use crate::entry::entries;
use crate::frontmatter::NoteStart;
use crate::line_breaks;
use crate::memory_budget::{MemoryBudget, value_size};
use crate::yaml::{self, MalformedYaml, YamlNode, YamlNodeKind};

/// The properties of a frontmatter.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Properties {
    top_level: Vec<NoteProperty>,
    nested: Vec<NoteProperty>,
    malformed: Option<MalformedYaml>,
    lacks_names: bool,
}

impl Properties {
    /// Of a note's whole text. Frontmatter that is no YAML is read line by line, as far as it can
    /// be, and [`malformed`](Self::malformed) says why. Of what is over 1 MiB nothing is read.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        match NoteStart::parse(text) {
            NoteStart::Frontmatter(matter) => {
                let yaml = text.get(matter.yaml).unwrap_or_default();
                let mut read = Self::parse_yaml(yaml).unwrap_or_else(|wrong| match yaml.len() {
                    0..=yaml::MAX_YAML_BYTES => Self::parse_line_by_line(yaml, wrong),
                    _ => Self { malformed: Some(wrong), ..Self::default() },
                });
                // The YAML begins on the note's second line.
                read.malformed.iter_mut().for_each(|wrong| wrong.line += 1);
                read
            }
            NoteStart::Unclosed if looks_like_property(text) => Self {
                malformed: Some(MalformedYaml {
                    line: 1,
                    reason: "no line of `---` ends it".into(),
                    is_yaml: false,
                }),
                ..Self::default()
            },
            NoteStart::Unclosed | NoteStart::Text => Self::default(),
        }
    }

    /// Of YAML alone.
    pub(crate) fn parse_yaml(yaml: &str) -> Result<Self, MalformedYaml> {
        Self::parse_yaml_within(yaml, &mut MemoryBudget::for_yaml(yaml))
    }

    fn parse_yaml_within(yaml: &str, budget: &mut MemoryBudget) -> Result<Self, MalformedYaml> {
        let mut read = Self::default();
        let mut is_unnamed = false;
        for document in yaml::documents(yaml)? {
            collect_top_level(&document, &mut read.top_level, budget);
            collect_nested(&document, &mut read.nested, budget);
            is_unnamed |=
                matches!(document.kind, YamlNodeKind::Scalar { .. } | YamlNodeKind::List(_));
        }
        read.lacks_names =
            is_unnamed && line_breaks::lines(yaml).any(|line| has_name(slice(yaml, line)));
        if budget.is_used_up() {
            let reason = "its aliases or nested lists and maps make too many values".to_owned();
            return Err(MalformedYaml { line: 1, reason, is_yaml: true });
        }
        Ok(read)
    }

    /// Each entry separately; the value of one that is no YAML either is its text.
    fn parse_line_by_line(yaml: &str, malformed: MalformedYaml) -> Self {
        let mut found = Vec::new();
        let mut room = MemoryBudget::for_yaml(yaml);
        for entry in entries(yaml, &(0..yaml.len())) {
            match Self::parse_yaml_within(slice(yaml, entry.key.start..entry.value.end), &mut room)
            {
                Ok(alone) => found.extend(alone.top_level),
                Err(_) => {
                    let value = slice(yaml, entry.value).trim().to_owned();
                    let name = slice(yaml, entry.key).trim_matches(['"', '\'']).to_owned();
                    let values = if value.is_empty() { Vec::new() } else { vec![value] };
                    found.push(NoteProperty { name, values });
                }
            }
        }
        Self { top_level: found, malformed: Some(malformed), ..Self::default() }
    }

    /// The properties, in order.
    #[must_use]
    pub fn top_level(&self) -> &[NoteProperty] {
        &self.top_level
    }

    /// The same, with every entry of a map inside of them, each with all values in it.
    pub(crate) fn into_nested(self) -> Vec<NoteProperty> {
        let mut all = self.nested;
        all.extend(self.top_level);
        all
    }

    /// Why the frontmatter cannot be read as YAML; `line` counts from the note's first.
    #[must_use]
    pub const fn malformed(&self) -> Option<&MalformedYaml> {
        self.malformed.as_ref()
    }

    /// Whether the frontmatter is YAML that names nothing and yet looks as if it was meant to: a list
    /// or a text with `status:secret` in it, where YAML wants a blank.
    pub(crate) const fn lacks_names(&self) -> bool {
        self.lacks_names
    }

    /// The tags that `tags` or `tag` name, without `#`.
    pub fn tags(&self) -> impl Iterator<Item = &str> {
        tags_of(&self.top_level)
    }
}

/// The tags in properties: a list, or a text with blanks or commas between them.
pub(crate) fn tags_of(properties: &[NoteProperty]) -> impl Iterator<Item = &str> {
    let own =
        |property: &&NoteProperty| matches!(fold_name(&property.name).as_str(), "tags" | "tag");
    let values = properties.iter().filter(own).flat_map(|property| &property.values);
    let names = values.flat_map(|value| value.split(|c: char| c == ',' || c.is_whitespace()));
    names.map(|name| name.trim_start_matches('#')).filter(|name| !name.is_empty())
}

/// Whether the first line below an opening fence and its comments is one of properties. `---` with a blank
/// line below it is a rule.
fn looks_like_property(text: &str) -> bool {
    let mut lines = line_breaks::lines(text).skip(1).map(|line| slice(text, line).trim_end());
    let first = lines.find(|line| !line.trim_start().starts_with('#'));
    first.is_some_and(|line| begins_with_name(line) || may_be_property(line))
}

fn may_be_property(line: &str) -> bool {
    line.ends_with(':') || line.contains(": ") || line.starts_with(['{', '?', '!', '&'])
}

/// Whether `name:` occurs in a line, with nothing between the name and the colon. The colons of
/// URLs, times and other numbers do not count, nor do those of a comment.
fn has_name(line: &str) -> bool {
    let line = line.trim();
    !line.starts_with('#')
        && line.match_indices(COLONS).any(|(at, colon)| {
            let before = line.get(..at).unwrap_or_default().trim_end_matches(QUOTES);
            let after = line.get(at + colon.len()..).unwrap_or_default();
            let name = before.rsplit(|sign| !is_name_char(sign)).next().unwrap_or_default();
            name.contains(|sign: char| !sign.is_ascii_digit()) && !after.starts_with("//")
        })
}

/// Whether a line begins with `name:`, quoted or not.
fn begins_with_name(line: &str) -> bool {
    let name = line.trim_start().trim_start_matches(QUOTES);
    let end = name.find(|sign| !is_name_char(sign)).unwrap_or(name.len());
    let colon = name.get(end..).unwrap_or_default().trim_start_matches(QUOTES);
    colon.starts_with(COLONS) && has_name(line)
}

const QUOTES: [char; 2] = ['"', '\''];
/// A keyboard for Chinese or Japanese has the wide one.
const COLONS: [char; 2] = [':', '\u{ff1a}'];

fn is_name_char(sign: char) -> bool {
    is_tag_char(sign) || is_invisible(sign)
}

fn slice(text: &str, range: Range<usize>) -> &str {
    text.get(range).unwrap_or_default()
}

/// The entries of the outermost map, and of those that it merges with `<<`. Each visit takes from the budget, since
/// merges of aliases in each other are more visits than any file has bytes.
fn collect_top_level(node: &YamlNode, found: &mut Vec<NoteProperty>, budget: &mut MemoryBudget) {
    if !budget.try_take(1) {
        return;
    }
    let YamlNodeKind::Map(pairs) = &node.kind else { return };
    for (key, value) in pairs {
        if is_merge_key(key) {
            if !budget.try_take(1) {
                return;
            }
            match &value.kind {
                YamlNodeKind::List(merged) => {
                    merged.iter().for_each(|merged| collect_top_level(merged, found, budget))
                }
                _ => collect_top_level(value, found, budget),
            }
            continue;
        }
        if !budget.try_take(size_of::<Vec<String>>()) {
            return;
        }
        found.push(NoteProperty {
            name: to_inline_yaml(key, budget),
            values: values(value, budget),
        });
    }
}

/// The entries of all maps.
fn collect_nested(node: &YamlNode, found: &mut Vec<NoteProperty>, budget: &mut MemoryBudget) {
    if !budget.try_take(1) {
        return;
    }
    match &node.kind {
        YamlNodeKind::Scalar { .. } => {}
        YamlNodeKind::List(items) => {
            items.iter().for_each(|item| collect_nested(item, found, budget))
        }
        YamlNodeKind::Map(pairs) => {
            for (key, value) in pairs {
                let (mut names, mut values) = (Vec::new(), Vec::new());
                collect_scalars(key, &mut names, budget);
                collect_scalars(value, &mut values, budget);
                // Each name has values of its own; `collect_scalars` took the room for those of one.
                let copies = names.len().saturating_sub(1);
                let size: usize = values.iter().map(|value| value_size(value)).sum();
                let lists = names.len() * size_of::<Vec<String>>();
                if !budget.try_take(lists + copies.saturating_mul(size)) {
                    return;
                }
                found.extend(
                    names.into_iter().map(|name| NoteProperty { name, values: values.clone() }),
                );
                collect_nested(key, found, budget);
                collect_nested(value, found, budget);
            }
        }
    }
}

/// All scalars in a value, keys too, in every way they may be meant.
fn collect_scalars(node: &YamlNode, found: &mut Vec<String>, budget: &mut MemoryBudget) {
    if !budget.try_take(1) {
        return;
    }
    match &node.kind {
        YamlNodeKind::Scalar { text, is_binary, .. } => {
            if !budget.try_take(value_size(text)) {
                return;
            }
            let bytes = is_binary.then(|| decode_base64(text)).flatten();
            found.extend(bytes.filter(|bytes| budget.try_take(value_size(bytes))));
            found.push(text.clone());
        }
        YamlNodeKind::List(items) => {
            items.iter().for_each(|item| collect_scalars(item, found, budget))
        }
        YamlNodeKind::Map(pairs) => pairs.iter().for_each(|(key, value)| {
            collect_scalars(key, found, budget);
            collect_scalars(value, found, budget);
        }),
    }
}

fn decode_base64(base64: &str) -> Option<String> {
    let dense: String = base64.split_whitespace().collect();
    STANDARD.decode(dense).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

fn values(node: &YamlNode, budget: &mut MemoryBudget) -> Vec<String> {
    let all = match &node.kind {
        // `[[note]]` without quotes is a list in a list for YAML and a link for people.
        YamlNodeKind::List(items) if !is_wikilink(node) => {
            items.iter().map(|item| to_inline_yaml(item, budget)).collect()
        }
        _ => vec![to_inline_yaml(node, budget)],
    };
    all.into_iter().filter(|value: &String| !value.is_empty()).collect()
}

fn is_wikilink(node: &YamlNode) -> bool {
    let only = |node: &YamlNode| match &node.kind {
        YamlNodeKind::List(items) if items.len() == 1 => items.first().cloned(),
        _ => None,
    };
    let is_plain =
        |node: &YamlNode| matches!(&node.kind, YamlNodeKind::Scalar { is_plain: true, .. });
    only(node).and_then(|inner| only(&inner)).is_some_and(|inner| is_plain(&inner))
}

/// A value as text; lists and maps in the spelling of one line.
fn to_inline_yaml(node: &YamlNode, budget: &mut MemoryBudget) -> String {
    let text = if let YamlNodeKind::Scalar { text, .. } = &node.kind { text.trim() } else { "" };
    if !budget.try_take(value_size(text)) {
        return String::new();
    }
    match &node.kind {
        YamlNodeKind::Scalar { .. } => text.to_owned(),
        YamlNodeKind::List(items) => {
            let items: Vec<_> = items.iter().map(|item| to_inline_yaml(item, budget)).collect();
            format!("[{}]", items.join(", "))
        }
        YamlNodeKind::Map(pairs) => {
            let pair = |(key, value): &(_, _)| {
                let key: &std::rc::Rc<YamlNode> = key;
                let value: &std::rc::Rc<YamlNode> = value;
                format!("{}: {}", to_inline_yaml(key, budget), to_inline_yaml(value, budget))
            };
            let pairs: Vec<_> = pairs.iter().map(pair).collect();
            pairs.join(", ")
        }
    }
}

fn is_merge_key(key: &YamlNode) -> bool {
    matches!(&key.kind, YamlNodeKind::Scalar { text, is_plain: true, .. } if text == "<<")
}
