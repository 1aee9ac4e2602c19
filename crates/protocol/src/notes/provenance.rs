//! The source of a text that a model read. It follows from the channel or the file, never from the
//! text.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;
use ts_rs::TS;

use crate::{NotePath, Origin};

/// Where it comes from. As text: `user`, `hub`, `note:PATH`, `hints:PATH`,
/// `tool:NAME`, `vault`, `foreign`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, TS)]
#[serde(into = "String", try_from = "String")]
#[ts(type = "string")]
pub enum Source {
    /// The user, in the window or on the command line.
    User,
    /// The hub, or a channel that is not known; also a note that came of it.
    Hub,
    /// A note of the vault.
    Note(NotePath),
    /// The user's hints for models in this note at the top of the vault (`AGENTS.md`), which stand in the instructions.
    /// Unlike a note that was read they keep nothing from the hub while they are open to all models.
    Hints(NotePath),
    /// A tool's own words.
    Tool(String),
    /// An answer about all notes at once, which holds no text of theirs: that a search over the
    /// vault found nothing, that no note links here, that none has a name.
    Vault,
    /// Not the user, and of unknown source: text of unknown notes (a list of tags), an attached
    /// file, input of a program without a source.
    Foreign,
}

/// A text that names no source.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("“{0}” names no source")]
pub struct ParseSourceError(String);

impl From<Origin> for Source {
    fn from(origin: Origin) -> Self {
        match origin {
            Origin::Window | Origin::Cli => Self::User,
            Origin::HubText | Origin::HubVoice | Origin::Unknown => Self::Hub,
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::User => f.write_str("user"),
            Self::Hub => f.write_str("hub"),
            Self::Note(path) => write!(f, "note:{path}"),
            Self::Hints(path) => write!(f, "hints:{path}"),
            Self::Tool(name) => write!(f, "tool:{name}"),
            Self::Vault => f.write_str("vault"),
            Self::Foreign => f.write_str("foreign"),
        }
    }
}

impl FromStr for Source {
    type Err = ParseSourceError;

    fn from_str(text: &str) -> Result<Self, ParseSourceError> {
        let wrong = || ParseSourceError(text.to_owned());
        match text.split_once(':') {
            None if text == "user" => Ok(Self::User),
            None if text == "hub" => Ok(Self::Hub),
            None if text == "vault" => Ok(Self::Vault),
            None if text == "foreign" => Ok(Self::Foreign),
            Some(("note", path)) => NotePath::parse(path).map(Self::Note).map_err(|_| wrong()),
            Some(("hints", path)) => NotePath::parse(path).map(Self::Hints).map_err(|_| wrong()),
            Some(("tool", name)) => Ok(Self::Tool(name.to_owned())),
            _ => Err(wrong()),
        }
    }
}

impl From<Source> for String {
    fn from(source: Source) -> Self {
        source.to_string()
    }
}

impl TryFrom<String> for Source {
    type Error = ParseSourceError;

    fn try_from(text: String) -> Result<Self, ParseSourceError> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_is_read_as_it_was_written() {
        let note = NotePath::parse("Notes/a: b.md").expect("a path");
        let tool = Source::Tool("read_file".into());
        let hints = Source::Hints(NotePath::parse("AGENTS.md").expect("a path"));
        let (note, [user, hub]) = (Source::Note(note), [Source::User, Source::Hub]);
        let all = [user, hub, note, hints, tool, Source::Vault, Source::Foreign];
        let text = serde_json::to_string(&all).expect("JSON");
        assert_eq!(
            text,
            r#"["user","hub","note:Notes/a: b.md","hints:AGENTS.md","tool:read_file","vault","foreign"]"#
        );
        assert_eq!(serde_json::from_str::<Vec<Source>>(&text).expect("sources"), all);
        for wrong in ["", "Hub", "note:../x", "memory:x"] {
            assert!(wrong.parse::<Source>().is_err(), "{wrong}");
        }
    }
}
