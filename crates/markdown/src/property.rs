//! The properties of a note, read from its frontmatter.

use std::ops::Range;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use protocol::invisible::is_invisible;
use protocol::private::{folded_name, is_tag_sign};

use crate::breaks;
use crate::entry::entries;
use crate::frontmatter::Top;
use crate::room::{Room, size};
use crate::yaml::{self, Kind, Malformed, Node};

/// One property.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Property {
    /// Its name, without quotes.
    pub name: String,
    /// Its value, or the items of its list, without quotes; empty when it has none. Nested lists and
    /// maps are text.
    pub values: Vec<String>,
}

/// What a frontmatter says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Properties {
    top: Vec<Property>,
    deep: Vec<Property>,
    malformed: Option<Malformed>,
    is_nameless: bool,
}

impl Properties {
    /// Of a note's whole text. Frontmatter that is no YAML is read line by line, as far as it can
    /// be, and [`malformed`](Self::malformed) says why. Of what is over 1 MiB nothing is read.
    #[must_use]
    pub fn of(text: &str) -> Self {
        match Top::of(text) {
            Top::Frontmatter(matter) => {
                let yaml = text.get(matter.yaml).unwrap_or_default();
                let mut read = Self::read(yaml).unwrap_or_else(|wrong| match yaml.len() {
                    0..=yaml::LONGEST => Self::by_line(yaml, wrong),
                    _ => Self { malformed: Some(wrong), ..Self::default() },
                });
                // The YAML begins on the note's second line.
                read.malformed.iter_mut().for_each(|wrong| wrong.line += 1);
                read
            }
            Top::Unclosed if looks_like_property(text) => Self {
                malformed: Some(Malformed {
                    line: 1,
                    reason: "no line of `---` ends it".into(),
                    is_yaml: false,
                }),
                ..Self::default()
            },
            Top::Unclosed | Top::Text => Self::default(),
        }
    }

    /// Of YAML alone.
    pub(crate) fn read(yaml: &str) -> Result<Self, Malformed> {
        Self::read_within(yaml, &mut Room::of(yaml))
    }

    fn read_within(yaml: &str, room: &mut Room) -> Result<Self, Malformed> {
        let mut read = Self::default();
        let mut is_unnamed = false;
        for document in yaml::documents(yaml)? {
            top(&document, &mut read.top, room);
            deep(&document, &mut read.deep, room);
            is_unnamed |= matches!(document.kind, Kind::Scalar { .. } | Kind::List(_));
        }
        read.is_nameless = is_unnamed && breaks::lines(yaml).any(|line| has_name(part(yaml, line)));
        if room.is_used_up() {
            let reason = "its aliases or nested lists and maps make too many values".to_owned();
            return Err(Malformed { line: 1, reason, is_yaml: true });
        }
        Ok(read)
    }

    /// Each entry by itself; the value of one that is no YAML either is what stands there.
    fn by_line(yaml: &str, malformed: Malformed) -> Self {
        let mut found = Vec::new();
        let mut room = Room::of(yaml);
        for entry in entries(yaml, &(0..yaml.len())) {
            match Self::read_within(part(yaml, entry.key.start..entry.value.end), &mut room) {
                Ok(alone) => found.extend(alone.top),
                Err(_) => {
                    let value = part(yaml, entry.value).trim().to_owned();
                    let name = part(yaml, entry.key).trim_matches(['"', '\'']).to_owned();
                    let values = if value.is_empty() { Vec::new() } else { vec![value] };
                    found.push(Property { name, values });
                }
            }
        }
        Self { top: found, malformed: Some(malformed), ..Self::default() }
    }

    /// The properties, in order.
    #[must_use]
    pub fn top(&self) -> &[Property] {
        &self.top
    }

    /// The same, with every entry of a map inside of them, each with all values in it.
    pub(crate) fn into_deep(self) -> Vec<Property> {
        let mut all = self.deep;
        all.extend(self.top);
        all
    }

    /// Why the frontmatter cannot be read as YAML; `line` counts from the note's first.
    #[must_use]
    pub const fn malformed(&self) -> Option<&Malformed> {
        self.malformed.as_ref()
    }

    /// Whether the frontmatter is YAML that names nothing and yet looks as if it was meant to: a list
    /// or a text with `status:secret` in it, where YAML wants a blank.
    pub(crate) const fn is_nameless(&self) -> bool {
        self.is_nameless
    }

    /// The tags that `tags` or `tag` name, without `#`.
    pub fn tags(&self) -> impl Iterator<Item = &str> {
        tags(&self.top)
    }
}

/// The tags in properties: a list, or a text with blanks or commas between them.
pub(crate) fn tags(properties: &[Property]) -> impl Iterator<Item = &str> {
    let own = |property: &&Property| matches!(folded_name(&property.name).as_str(), "tags" | "tag");
    let values = properties.iter().filter(own).flat_map(|property| &property.values);
    let names = values.flat_map(|value| value.split(|c: char| c == ',' || c.is_whitespace()));
    names.map(|name| name.trim_start_matches('#')).filter(|name| !name.is_empty())
}

/// Whether the first line below an opening fence and its comments is one of properties. `---` with a blank
/// line below it is a rule.
fn looks_like_property(text: &str) -> bool {
    let mut lines = breaks::lines(text).skip(1).map(|line| part(text, line).trim_end());
    let first = lines.find(|line| !line.trim_start().starts_with('#'));
    first.is_some_and(|line| begins_with_name(line) || may_be_property(line))
}

fn may_be_property(line: &str) -> bool {
    line.ends_with(':') || line.contains(": ") || line.starts_with(['{', '?', '!', '&'])
}

/// Whether `name:` stands somewhere in a line, with nothing between the name and the colon. The
/// colons of addresses, times and other numbers are none, nor is one of a comment.
fn has_name(line: &str) -> bool {
    let line = line.trim();
    !line.starts_with('#')
        && line.match_indices(COLONS).any(|(at, colon)| {
            let before = line.get(..at).unwrap_or_default().trim_end_matches(QUOTES);
            let after = line.get(at + colon.len()..).unwrap_or_default();
            let name = before.rsplit(|sign| !is_name_sign(sign)).next().unwrap_or_default();
            name.contains(|sign: char| !sign.is_ascii_digit()) && !after.starts_with("//")
        })
}

/// Whether a line begins with `name:`, quoted or not.
fn begins_with_name(line: &str) -> bool {
    let name = line.trim_start().trim_start_matches(QUOTES);
    let end = name.find(|sign| !is_name_sign(sign)).unwrap_or(name.len());
    let colon = name.get(end..).unwrap_or_default().trim_start_matches(QUOTES);
    colon.starts_with(COLONS) && has_name(line)
}

const QUOTES: [char; 2] = ['"', '\''];
/// A keyboard for Chinese or Japanese has the wide one.
const COLONS: [char; 2] = [':', '\u{ff1a}'];

fn is_name_sign(sign: char) -> bool {
    is_tag_sign(sign) || is_invisible(sign)
}

fn part(text: &str, range: Range<usize>) -> &str {
    text.get(range).unwrap_or_default()
}

/// The entries of the outermost map.
fn top(node: &Node, found: &mut Vec<Property>, room: &mut Room) {
    let Kind::Map(pairs) = &node.kind else { return };
    for (key, value) in pairs {
        if is_merge(key) {
            match &value.kind {
                Kind::List(merged) => merged.iter().for_each(|merged| top(merged, found, room)),
                _ => top(value, found, room),
            }
            continue;
        }
        if !room.take(size_of::<Vec<String>>()) {
            return;
        }
        found.push(Property { name: written(key, room), values: values(value, room) });
    }
}

/// The entries of all maps.
fn deep(node: &Node, found: &mut Vec<Property>, room: &mut Room) {
    if !room.take(1) {
        return;
    }
    match &node.kind {
        Kind::Scalar { .. } => {}
        Kind::List(items) => items.iter().for_each(|item| deep(item, found, room)),
        Kind::Map(pairs) => {
            for (key, value) in pairs {
                let (mut names, mut values) = (Vec::new(), Vec::new());
                scalars(key, &mut names, room);
                scalars(value, &mut values, room);
                // Each name has values of its own; `scalars` took the room for those of one.
                let copies = names.len().saturating_sub(1);
                let size: usize = values.iter().map(|value| size(value)).sum();
                let lists = names.len() * size_of::<Vec<String>>();
                if !room.take(lists + copies.saturating_mul(size)) {
                    return;
                }
                found.extend(
                    names.into_iter().map(|name| Property { name, values: values.clone() }),
                );
                deep(key, found, room);
                deep(value, found, room);
            }
        }
    }
}

/// All scalars in a value, keys too, in every way they may be meant.
fn scalars(node: &Node, found: &mut Vec<String>, room: &mut Room) {
    if !room.take(1) {
        return;
    }
    match &node.kind {
        Kind::Scalar { text, is_binary, .. } => {
            if !room.take(size(text)) {
                return;
            }
            let bytes = is_binary.then(|| decoded(text)).flatten();
            found.extend(bytes.filter(|bytes| room.take(size(bytes))));
            found.push(text.clone());
        }
        Kind::List(items) => items.iter().for_each(|item| scalars(item, found, room)),
        Kind::Map(pairs) => pairs.iter().for_each(|(key, value)| {
            scalars(key, found, room);
            scalars(value, found, room);
        }),
    }
}

fn decoded(base64: &str) -> Option<String> {
    let dense: String = base64.split_whitespace().collect();
    STANDARD.decode(dense).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

fn values(node: &Node, room: &mut Room) -> Vec<String> {
    let all = match &node.kind {
        // `[[note]]` without quotes is a list in a list for YAML and a link for people.
        Kind::List(items) if !is_link(node) => {
            items.iter().map(|item| written(item, room)).collect()
        }
        _ => vec![written(node, room)],
    };
    all.into_iter().filter(|value: &String| !value.is_empty()).collect()
}

fn is_link(node: &Node) -> bool {
    let only = |node: &Node| match &node.kind {
        Kind::List(items) if items.len() == 1 => items.first().cloned(),
        _ => None,
    };
    let is_plain = |node: &Node| matches!(&node.kind, Kind::Scalar { is_plain: true, .. });
    only(node).and_then(|inner| only(&inner)).is_some_and(|inner| is_plain(&inner))
}

/// A value as text; lists and maps in the spelling of one line.
fn written(node: &Node, room: &mut Room) -> String {
    let text = if let Kind::Scalar { text, .. } = &node.kind { text.trim() } else { "" };
    if !room.take(size(text)) {
        return String::new();
    }
    match &node.kind {
        Kind::Scalar { .. } => text.to_owned(),
        Kind::List(items) => {
            let items: Vec<_> = items.iter().map(|item| written(item, room)).collect();
            format!("[{}]", items.join(", "))
        }
        Kind::Map(pairs) => {
            let pair = |(key, value): &(_, _)| {
                let key: &std::rc::Rc<Node> = key;
                let value: &std::rc::Rc<Node> = value;
                format!("{}: {}", written(key, room), written(value, room))
            };
            let pairs: Vec<_> = pairs.iter().map(pair).collect();
            pairs.join(", ")
        }
    }
}

fn is_merge(key: &Node) -> bool {
    matches!(&key.kind, Kind::Scalar { text, is_plain: true, .. } if text == "<<")
}
