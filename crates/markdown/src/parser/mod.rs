//! A note taken apart: what its text means, by byte range, so that an edit touches only its bytes.
//!
//! CommonMark with tables, strikethrough, tasks, footnotes and math as pulldown-cmark reads it,
//! and on top of that what Obsidian adds: frontmatter, wikilinks, embeds, tags, block ids,
//! callouts and comments. The additions never move a block.

mod block;
mod callout;
mod comment;
mod destination;
mod heading;
mod link;
mod nesting;
mod plain_text;
mod property_links;
mod tag;
mod task;
mod walk;
mod wikilink;

use std::collections::HashSet;
use std::ops::Range;

use thiserror::Error;

use crate::{Frontmatter, NoteProperty, Properties};
use walk::markdown_start;

pub use block::{BlockId, BlockKind, MarkdownBlock};
pub use callout::Callout;
pub use heading::{Heading, headings};
pub use link::{Link, LinkForm, Quoting};
pub use plain_text::plain_text;
pub use tag::Tag;
pub use task::Task;

/// The text of a note and what is where in it. All ranges are bytes of `text`, in order, and end
/// on character boundaries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document<'a> {
    /// Exactly as in the file: line ends, byte order mark and missing final newline included.
    pub text: &'a str,
    /// The properties at the top, if a fence opens and closes them.
    pub frontmatter: Option<Frontmatter>,
    /// Its entries on the left edge, read as far as they can be.
    pub properties: Vec<NoteProperty>,
    /// The tags that they name.
    tag_properties: Vec<String>,
    /// The block structure in document order, parents before children.
    pub blocks: Vec<MarkdownBlock>,
    /// Headings that stand in no quote or list.
    pub headings: Vec<Heading>,
    /// `^id` marks.
    pub block_ids: Vec<BlockId>,
    /// Inline tags; those of the frontmatter are in `properties`.
    pub tags: Vec<Tag>,
    /// List items with a box.
    pub tasks: Vec<Task>,
    /// Quotes that begin with `[!kind]`.
    pub callouts: Vec<Callout>,
    /// `%%…%%`, the signs included.
    pub comments: Vec<Range<usize>>,
    /// Links to other notes and files, not to the web; those in comments and properties too.
    pub links: Vec<Link>,
}

/// The bytes of a note are not UTF-8 text. Nothing is known about it and nothing may rewrite it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error(
    "not UTF-8 text: the first bad byte is at offset {at}. Save it as UTF-8 in an editor first"
)]
pub struct NotText {
    /// Offset of the first byte that is no text.
    pub at: usize,
}

impl<'a> Document<'a> {
    /// Reads the bytes of a note; bytes that are not UTF-8 are refused, never replaced.
    pub fn decode(bytes: &'a [u8]) -> Result<Self, NotText> {
        match std::str::from_utf8(bytes) {
            Ok(text) => Ok(Self::parse(text)),
            Err(error) => Err(NotText { at: error.valid_up_to() }),
        }
    }

    /// Reads a note's text. There is no text that is not a note.
    #[must_use]
    pub fn parse(text: &'a str) -> Self {
        let frontmatter = Frontmatter::parse(text);
        let body = markdown_start(text, frontmatter.as_ref());
        let walked = walk::walk(text, body);
        let wikilinks = wikilink::find(text, &walked);
        let comments = comment::find(text, body, &walked.opaque);
        let properties = Properties::parse(text);
        let mut links = frontmatter.as_ref().map_or_else(Vec::new, |matter| {
            property_links::property_links(text, matter.yaml.clone())
        });
        links.extend(walked.links.iter().cloned());
        links.extend(wikilinks);
        links.sort_by_key(|link| link.span.start);
        Self {
            text,
            tag_properties: properties.tags().map(str::to_owned).collect(),
            properties: properties.top_level().to_vec(),
            headings: heading::find(text, &walked.blocks),
            block_ids: block::block_ids(text, &walked),
            tags: tag::find(text, &walked, &links, &comments),
            tasks: task::find(text, &walked.blocks),
            callouts: callout::find(text, &walked.blocks),
            blocks: walked.blocks,
            frontmatter,
            comments,
            links,
        }
    }

    /// The names of all its tags, those of its properties first, each once and without `#`.
    #[must_use]
    pub fn tag_names(&self) -> Vec<String> {
        let inline = self.tags.iter().map(|tag| self.slice(&tag.name).to_owned());
        let mut known = HashSet::new();
        let all = self.tag_properties.iter().cloned().chain(inline);
        all.filter(|name| known.insert(name.to_lowercase())).collect()
    }

    /// The names that its properties give it besides its own, as they are spelled.
    #[must_use]
    pub fn aliases(&self) -> Vec<String> {
        let named = ["aliases", "alias"];
        let own = self
            .properties
            .iter()
            .filter(|property| named.iter().any(|name| property.name.eq_ignore_ascii_case(name)));
        own.flat_map(|property| property.values.iter().cloned()).collect()
    }

    /// The text of a range; empty for a range that is none of this text.
    #[must_use]
    pub fn slice(&self, range: &Range<usize>) -> &'a str {
        self.text.get(range.clone()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
