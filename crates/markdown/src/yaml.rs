//! YAML as a tree: aliases followed, escapes and quotes taken off, in bounded room.

use std::collections::HashMap;
use std::rc::Rc;

use saphyr_parser::{Event, Parser, ScalarStyle, Tag};

/// The depth to which nested lists and maps are read.
const MAX_DEPTH: usize = 64;

/// The size up to which YAML is read, in bytes.
pub(crate) const MAX_YAML_BYTES: usize = 1 << 20;

/// The number of values, keys, lists and maps up to which YAML is read. Each takes some hundred
/// bytes, and may be spelled with two.
const MAX_NODES: usize = 150_000;

/// Why YAML cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MalformedYaml {
    /// 1-based line of the text that was read.
    pub line: usize,
    /// The reason, as the end of a sentence.
    pub reason: String,
    /// Whether another program may read it: only what is read here is bounded.
    pub(crate) is_yaml: bool,
}

/// A value with all that is in it.
#[derive(Debug)]
pub(crate) struct YamlNode {
    pub(crate) kind: YamlNodeKind,
    /// How many lists and maps are in each other, this one counted.
    depth: usize,
}

/// The kind of a value.
#[derive(Debug)]
pub(crate) enum YamlNodeKind {
    Scalar {
        text: String,
        /// Whether it stands there without quotes.
        is_plain: bool,
        /// `!!binary`: the text is base64.
        is_binary: bool,
    },
    List(Vec<Rc<YamlNode>>),
    Map(Vec<(Rc<YamlNode>, Rc<YamlNode>)>),
}

/// All documents of `yaml`, in order.
pub(crate) fn documents(yaml: &str) -> Result<Vec<Rc<YamlNode>>, MalformedYaml> {
    if yaml.len() > MAX_YAML_BYTES {
        let reason = "it is longer than 1 MiB".to_owned();
        return Err(MalformedYaml { line: 1, reason, is_yaml: true });
    }
    let mut tree = YamlTreeBuilder::default();
    for event in Parser::new_from_str(yaml) {
        let (event, span) = event.map_err(|error| MalformedYaml {
            line: error.marker().line(),
            reason: error.info().to_owned(),
            is_yaml: false,
        })?;
        tree.on_event(event).map_err(|reason| MalformedYaml {
            line: span.start.line(),
            reason: reason.to_owned(),
            is_yaml: true,
        })?;
    }
    Ok(tree.done)
}

#[derive(Default)]
struct YamlTreeBuilder {
    done: Vec<Rc<YamlNode>>,
    /// Lists and maps that are not closed yet, the innermost last.
    open: Vec<OpenCollection>,
    anchored: HashMap<usize, Rc<YamlNode>>,
    /// How many were read.
    nodes: usize,
}

struct OpenCollection {
    anchor: usize,
    is_map: bool,
    items: Vec<Rc<YamlNode>>,
}

impl YamlTreeBuilder {
    fn on_event(&mut self, event: Event<'_>) -> Result<(), &'static str> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let is_binary = tag.as_deref().is_some_and(is_binary);
                let is_plain = style == ScalarStyle::Plain;
                let kind = YamlNodeKind::Scalar { text: text.into_owned(), is_plain, is_binary };
                self.add(Rc::new(YamlNode { kind, depth: 0 }), anchor)
            }
            Event::Alias(anchor) => {
                let node = self.anchored.get(&anchor).map(Rc::clone);
                self.add(node.ok_or("an alias stands in the value that it means")?, 0)
            }
            Event::SequenceStart(anchor, _) => self.open(anchor, false),
            Event::MappingStart(anchor, _) => self.open(anchor, true),
            Event::SequenceEnd | Event::MappingEnd => self.close(),
            Event::DocumentStart(_) => {
                self.anchored.clear();
                Ok(())
            }
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => Ok(()),
        }
    }

    fn open(&mut self, anchor: usize, is_map: bool) -> Result<(), &'static str> {
        if self.open.len() >= MAX_DEPTH {
            return Err("too many lists or maps stand in each other");
        }
        self.open.push(OpenCollection { anchor, is_map, items: Vec::new() });
        Ok(())
    }

    fn close(&mut self) -> Result<(), &'static str> {
        let Some(OpenCollection { anchor, is_map, items }) = self.open.pop() else { return Ok(()) };
        let depth = 1 + items.iter().map(|item| item.depth).max().unwrap_or_default();
        if depth > MAX_DEPTH {
            return Err("aliases put too many lists or maps into each other");
        }
        let kind = if is_map {
            let mut items = items.into_iter();
            let pair = || items.next().zip(items.next());
            YamlNodeKind::Map(std::iter::from_fn(pair).collect())
        } else {
            YamlNodeKind::List(items)
        };
        self.add(Rc::new(YamlNode { kind, depth }), anchor)
    }

    fn add(&mut self, node: Rc<YamlNode>, anchor: usize) -> Result<(), &'static str> {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            return Err("it has more than 150,000 values");
        }
        if anchor > 0 {
            self.anchored.insert(anchor, Rc::clone(&node));
        }
        match self.open.last_mut() {
            Some(open) => open.items.push(node),
            None => self.done.push(node),
        }
        Ok(())
    }
}

fn is_binary(tag: &Tag) -> bool {
    tag.suffix == "binary" || tag.suffix.ends_with(":binary")
}
