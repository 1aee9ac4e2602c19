//! The metadata of one note, stored so that the note need not be parsed again.

use markdown::parser::Document;
use markdown::{LinkText, count_line_breaks};
use protocol::NotePath;
use serde::{Deserialize, Serialize};

/// The facts of a note, or of another file that holds links. Names and tags come first: they are
/// read alone, too.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct NoteMetadata {
    /// Aliases that its properties give it.
    pub(crate) aliases: Vec<String>,
    /// Its tags without `#`, each once, as they are spelled first.
    pub(crate) tags: Vec<String>,
    /// Its properties in order.
    pub(crate) properties: Vec<(String, Vec<String>)>,
    /// Its headings in order.
    pub(crate) headings: Vec<IndexedHeading>,
    /// Its links that leave it, in order.
    pub(crate) links: Vec<LinkText>,
    /// Its items with a box, in order.
    pub(crate) tasks: Vec<IndexedTask>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct IndexedHeading {
    /// 1 to 6.
    pub(crate) level: u8,
    /// 1-based.
    pub(crate) line: u32,
    /// Its words.
    pub(crate) title: String,
}

/// An item with a box.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct IndexedTask {
    /// 1-based.
    pub(crate) line: u32,
    /// The sign in the box; a blank while it is open.
    pub(crate) mark: char,
    /// The words of its first line.
    pub(crate) words: String,
}

impl NoteMetadata {
    /// The metadata of the file `path`. A file without text has none; a canvas has links alone.
    pub(crate) fn from_file(path: &NotePath, bytes: &[u8]) -> Self {
        if !path.is_markdown() {
            return Self {
                links: without_internal_links(LinkText::in_file(path, bytes)),
                ..Self::default()
            };
        }
        let Ok(document) = Document::decode(bytes) else { return Self::default() };
        let mut lines = LineCounter::new(document.text);
        let tasks = document.tasks.iter().map(|task| {
            let rest = document.text.get(task.mark.end + 1..task.item.end).unwrap_or_default();
            IndexedTask {
                line: lines.line_at(task.mark.start),
                mark: document.slice(&task.mark).chars().next().unwrap_or(' '),
                words: rest.lines().next().unwrap_or_default().trim().to_owned(),
            }
        });
        let headings = document.headings.iter().map(|heading| IndexedHeading {
            level: u8::try_from(heading.level).unwrap_or(6),
            line: u32::try_from(heading.line).unwrap_or(u32::MAX),
            title: heading.title.clone(),
        });
        Self {
            aliases: document.aliases(),
            tags: document.tag_names(),
            tasks: tasks.collect(),
            headings: headings.collect(),
            links: without_internal_links(LinkText::in_document(&document)),
            properties: document
                .properties
                .into_iter()
                .map(|property| (property.name, property.values))
                .collect(),
        }
    }

    /// The bytes that [`NoteMetadata::decode`] reads: postcard's format.
    pub(crate) fn encode(&self) -> Vec<u8> {
        // Writing to memory fails for no type that these are made of.
        postcard::to_allocvec(self).unwrap_or_default()
    }

    /// The aliases of stored metadata, decoded without the rest.
    pub(crate) fn decode_aliases(bytes: &[u8]) -> Vec<String> {
        postcard::take_from_bytes(bytes).map(|(aliases, _)| aliases).unwrap_or_default()
    }

    /// The tags of facts that were stored, without reading the others.
    pub(crate) fn decode_tags(bytes: &[u8]) -> Vec<String> {
        let first = postcard::take_from_bytes::<(Vec<String>, Vec<String>)>(bytes);
        first.map(|((_, tags), _)| tags).unwrap_or_default()
    }

    /// Facts that were stored; none where the bytes are not what was stored.
    pub(crate) fn decode(bytes: &[u8]) -> Self {
        postcard::from_bytes(bytes).unwrap_or_default()
    }
}

fn without_internal_links(links: Vec<LinkText>) -> Vec<LinkText> {
    links.into_iter().filter(|link| !link.path.is_empty()).collect()
}

/// Counts lines from one place to the next.
struct LineCounter<'a> {
    text: &'a [u8],
    at: usize,
    line: u32,
}

impl<'a> LineCounter<'a> {
    const fn new(text: &'a str) -> Self {
        Self { text: text.as_bytes(), at: 0, line: 1 }
    }

    /// The 1-based line of `offset`; places may come in any order, but forward is cheaper.
    fn line_at(&mut self, offset: usize) -> u32 {
        if offset < self.at {
            (self.at, self.line) = (0, 1);
        }
        let passed = self.text.get(self.at..offset).unwrap_or_default();
        self.line =
            self.line.saturating_add(u32::try_from(count_line_breaks(passed)).unwrap_or(u32::MAX));
        self.at = offset;
        self.line
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails where it cannot go on")]
mod tests {
    use super::*;

    #[test]
    fn the_facts_of_a_note_are_what_it_says_and_survive_being_stored() {
        let text = "\u{feff}---\naliases: [Bread, Loaf]\ntags: food\nstatus: open\n---\n# One\n\n\
                    Text #food/rye with [[Flour#Rye|it]] and [[#One]].\n\n- [ ] bake\n- [x] eat\n";
        let facts = NoteMetadata::from_file(&NotePath::parse("a.md").unwrap(), text.as_bytes());
        assert_eq!(facts.aliases, ["Bread", "Loaf"]);
        assert_eq!(facts.tags, ["food", "food/rye"]);
        let of_status = facts.properties.iter().find(|(name, _)| name == "status").unwrap();
        assert_eq!(of_status.1, ["open"]);
        assert_eq!(facts.headings, [IndexedHeading { level: 1, line: 6, title: "One".into() }]);
        let links: Vec<_> =
            facts.links.iter().map(|link| (link.path.as_str(), link.line)).collect();
        assert_eq!(links, [("Flour", 8)]);
        let tasks: Vec<_> =
            facts.tasks.iter().map(|task| (task.line, task.mark, task.words.as_str())).collect();
        assert_eq!(tasks, [(10, ' ', "bake"), (11, 'x', "eat")]);
        assert_eq!(NoteMetadata::decode(&facts.encode()), facts);
        assert_eq!(NoteMetadata::decode_aliases(&facts.encode()), facts.aliases);
        assert_eq!(NoteMetadata::decode_tags(&facts.encode()), facts.tags);
        assert_eq!(NoteMetadata::decode(b"\xff\xff torn"), NoteMetadata::default());
    }

    #[test]
    fn a_canvas_has_links_and_what_is_no_text_has_no_facts() {
        let canvas = br#"{"nodes":[{"id":"1","type":"file","file":"Notes/a.md"}]}"#;
        let facts = NoteMetadata::from_file(&NotePath::parse("b.canvas").unwrap(), canvas);
        assert_eq!(facts.links.first().unwrap().path, "Notes/a.md");
        let none = NoteMetadata::from_file(&NotePath::parse("c.md").unwrap(), b"# \xff\xfe");
        assert_eq!(none, NoteMetadata::default());
    }
}
