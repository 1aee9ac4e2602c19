//! Where something in a conversation came from.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{NotePath, PathError};

/// A source, as text: `user`, `hub`, `note:PATH`, `tool:NAME`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Source {
    /// The user, in the window or on the command line.
    User,
    /// A message that came over the hub.
    Hub,
    /// A note that was read.
    Note(NotePath),
    /// A tool's result.
    Tool(String),
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::User => f.write_str("user"),
            Self::Hub => f.write_str("hub"),
            Self::Note(path) => write!(f, "note:{path}"),
            Self::Tool(name) => write!(f, "tool:{name}"),
        }
    }
}

impl From<Source> for String {
    fn from(source: Source) -> Self {
        source.to_string()
    }
}

/// A text that names no source.
#[derive(Debug, thiserror::Error)]
pub enum NoSource {
    /// It has none of the four forms.
    #[error("`{0}` is no source: it is user, hub, note:PATH or tool:NAME")]
    Unknown(String),
    /// The note's path is none.
    #[error(transparent)]
    Path(#[from] PathError),
}

impl TryFrom<String> for Source {
    type Error = NoSource;

    fn try_from(text: String) -> Result<Self, NoSource> {
        match text.split_once(':') {
            None if text == "user" => Ok(Self::User),
            None if text == "hub" => Ok(Self::Hub),
            Some(("note", path)) => Ok(Self::Note(NotePath::parse(path)?)),
            Some(("tool", name)) => Ok(Self::Tool(name.to_owned())),
            _ => Err(NoSource::Unknown(text)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_is_read_as_it_is_written_and_nothing_else_is_one() {
        let note = NotePath::parse("Plans/a:b.md").expect("a path");
        for source in [Source::User, Source::Hub, Source::Note(note), Source::Tool("x".into())] {
            assert_eq!(Source::try_from(source.to_string()).expect("a source"), source);
        }
        for text in ["", "model", "note:../a.md", "user:"] {
            assert!(Source::try_from(text.to_owned()).is_err(), "{text}");
        }
    }
}
