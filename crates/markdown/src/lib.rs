//! The one reader of a note: its frontmatter, properties and tags, and in [`parser`] its headings, links and blocks.
//! [`PropertyEdit`] changes a property and leaves all other bytes.
//!
//! The index, the editing tools and the rules for private notes all use it, so that they cannot disagree about
//! what a property is (ADR 0020).
//!
//! ```
//! use markdown::parser::Document;
//!
//! let note = Document::parse("# Beds\n\nSee [[Herbs]]. #garden\n");
//! assert_eq!(note.headings[0].title, "Beds");
//! assert_eq!(note.links[0].path(note.text), "Herbs");
//! assert_eq!(note.tag_names(), ["garden"]);
//!
//! let properties = markdown::Properties::parse("---\ntags: [garden, \"\\x73pring\"]\n---\n# Beds\n");
//! assert_eq!(properties.top_level()[0].values, ["garden", "spring"]);
//! ```

mod entry;
mod frontmatter;
mod line_breaks;
mod link_text;
mod memory_budget;
pub mod parser;
mod privacy_metadata;
mod property;
mod property_edit;
mod splice;
mod tag;
mod yaml;

pub use entry::{FrontmatterEntry, entries};
pub use frontmatter::{Frontmatter, NoteStart, body_start};
pub use line_breaks::{LineEnd, count_line_breaks, line_end, line_start, lines};
pub use link_text::{LinkText, TargetForm, links_in_file, may_hold_links};
pub use privacy_metadata::{lossy_text, metadata, privacy, privacy_of_text};
pub use property::Properties;
pub use property_edit::{PropertyAction, PropertyEdit, PropertyEditError};
pub use protocol::notes::query::NoteProperty;
pub use splice::splice;
pub use tag::tag_name;
pub use yaml::MalformedYaml;
