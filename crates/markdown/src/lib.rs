//! The one reader of a note's frontmatter, properties and tags.
//!
//! The index, the editing tools and the rules for private notes all use it, so that they cannot disagree about
//! what a property is (ADR 0020).
//!
//! ```
//! let properties = markdown::Properties::parse("---\ntags: [garden, \"\\x73pring\"]\n---\n# Beds\n");
//! assert_eq!(properties.top_level()[0].values, ["garden", "spring"]);
//! ```

mod entry;
mod frontmatter;
mod line_breaks;
mod memory_budget;
mod privacy_metadata;
mod property;
mod tag;
mod yaml;

pub use entry::{FrontmatterEntry, entries};
pub use frontmatter::{Frontmatter, NoteStart};
pub use line_breaks::{count_line_breaks, line_end, line_start, lines};
pub use privacy_metadata::{lossy_text, metadata, privacy, privacy_of_text};
pub use property::{NoteProperty, Properties};
pub use tag::tag_name;
pub use yaml::MalformedYaml;
