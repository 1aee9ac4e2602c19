//! One link to another note or file, and how its target is spelled.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::destination;

/// A link inside the vault, with the bytes of each of its parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// How it is written.
    pub form: LinkForm,
    /// Whether it shows its target in place: `![[…]]`, `![…](…)`.
    pub is_embed: bool,
    /// The whole link, its brackets included.
    pub span: Range<usize>,
    /// The path, as spelled; empty when the link stays in its note (`[[#Heading]]`).
    pub target: Range<usize>,
    /// The heading or block, its `#` included; empty when there is none.
    pub subpath: Range<usize>,
    /// Its display text, when that is written.
    pub alias: Option<Range<usize>>,
}

/// How a link is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum LinkForm {
    /// `[[target#subpath|alias]]`
    Wiki,
    /// `[alias](target#subpath)` or with the target in `< >`.
    Inline,
    /// `[label]: target#subpath`
    Definition,
    /// A wikilink in a property.
    Property(Quoting),
}

/// How the YAML text around a link is quoted, which decides what must be escaped in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Quoting {
    /// Not at all.
    Plain,
    /// `'…'`, a quote inside is doubled.
    Single,
    /// `"…"`, with escapes as in JSON.
    Double,
}

impl Link {
    /// The path as it is meant: percent signs, escapes and quotes of its form taken off.
    #[must_use]
    pub fn path(&self, text: &str) -> String {
        self.form.decode_target(text.get(self.target.clone()).unwrap_or_default())
    }
}

impl LinkForm {
    /// The meaning of `spelled`, a target in this form.
    #[must_use]
    pub fn decode_target(self, spelled: &str) -> String {
        match self {
            Self::Wiki | Self::Property(Quoting::Plain) => spelled.to_owned(),
            Self::Inline | Self::Definition => destination::decode(spelled),
            Self::Property(Quoting::Single) => spelled.replace("''", "'"),
            Self::Property(Quoting::Double) => serde_json::from_str(&format!("\"{spelled}\""))
                .unwrap_or_else(|_| spelled.to_owned()),
        }
    }

    /// `path` in this form, in the manner of `like`, the target that stood there. `None` when the
    /// form cannot say it: a wikilink has no way to write `#`, `|`, `^` or brackets.
    #[must_use]
    pub fn encode_target(self, path: &str, like: &str) -> Option<String> {
        let is_wiki_safe = !path.contains(['#', '|', '^', '[', ']', '\n']);
        match self {
            Self::Wiki | Self::Property(Quoting::Plain) => is_wiki_safe.then(|| path.to_owned()),
            Self::Inline | Self::Definition => Some(destination::encode_like(path, like)),
            Self::Property(Quoting::Single) => is_wiki_safe.then(|| path.replace('\'', "''")),
            Self::Property(Quoting::Double) => is_wiki_safe.then(|| {
                // JSON's strings are YAML's.
                let quoted = serde_json::Value::String(path.to_owned()).to_string();
                quoted.get(1..quoted.len() - 1).unwrap_or_default().to_owned()
            }),
        }
    }
}
