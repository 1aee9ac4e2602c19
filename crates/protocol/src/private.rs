//! Which notes are kept from models: rules by folder, tag or property, as the user wrote them.
//!
//! Pure: whoever shows something asks by path first, and by text where [`PrivateRules::looks_inside`]
//! says so. In doubt a note counts as private: a tag in code or an odd property is a match too.

mod inside;
#[cfg(test)]
mod tests;

use thiserror::Error;
use unicode_normalization::UnicodeNormalization;

use crate::NotePath;
use crate::settings::PrivateSettings;

/// How private a note is; the later, the more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Privacy {
    /// Any model may see it.
    #[default]
    Open,
    /// Only a model at an address that the user marked as local.
    Local,
    /// No model, nor its name.
    Never,
}

/// A rule that cannot be understood. The message says what to write instead.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "“{0}” is no rule for private notes. Write a folder such as `Diary`, a tag such as `#private`, or a property such as `status: secret`."
)]
pub struct RuleError(pub String);

/// What the user keeps private.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct PrivateRules(Vec<(Rule, Privacy)>);

/// What a rule is about; texts are folded.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Rule {
    /// A folder with all in it, or one note, with or without its `.md`.
    Place(String),
    /// A tag and those nested in it.
    Tag(String),
    /// A property, with this value or with any.
    Property { name: String, value: Option<String> },
    /// Every note.
    Everything,
}

impl PrivateRules {
    /// Reads the rules. One that cannot be understood fails them all: what it was to protect is
    /// not known.
    pub fn parse(settings: &PrivateSettings) -> Result<Self, RuleError> {
        let never = settings.never.iter().map(|text| (text, Privacy::Never));
        let local = settings.local.iter().map(|text| (text, Privacy::Local));
        let written = never.chain(local).filter(|(text, _)| !text.trim().is_empty());
        let rules = written.map(|(text, privacy)| Ok((Rule::parse(text)?, privacy)));
        rules.collect::<Result<_, RuleError>>().map(Self)
    }

    /// Keeps every note from every model: for rules that cannot be read.
    #[must_use]
    pub fn everything() -> Self {
        Self(vec![(Rule::Everything, Privacy::Never)])
    }

    /// Whether nothing is private.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a path alone does not say how private a note is.
    #[must_use]
    pub fn looks_inside(&self) -> bool {
        self.0.iter().any(|(rule, _)| matches!(rule, Rule::Tag(_) | Rule::Property { .. }))
    }

    /// How private the path alone makes it; also for what is not there (yet, or any more).
    #[must_use]
    pub fn by_path(&self, path: &NotePath) -> Privacy {
        if self.0.is_empty() {
            return Privacy::Open;
        }
        let path = folded(path.as_str());
        self.most(|rule| rule.covers(&path))
    }

    /// How private a note's text makes it.
    #[must_use]
    pub fn by_text(&self, text: &[u8]) -> Privacy {
        if !self.looks_inside() {
            return Privacy::Open;
        }
        let text = folded(&String::from_utf8_lossy(text));
        let text = text.strip_prefix('\u{FEFF}').unwrap_or(&text);
        self.most(|rule| match rule {
            Rule::Tag(tag) => inside::has_tag(text, tag),
            Rule::Property { name, value } => inside::has_property(text, name, value.as_deref()),
            Rule::Place(_) | Rule::Everything => false,
        })
    }

    /// The folders and notes that more than `shown` is needed for, folded: what begins with one of
    /// them is private even when it is gone.
    pub fn places(&self, shown: Privacy) -> impl Iterator<Item = &str> {
        self.0.iter().filter(move |(_, privacy)| *privacy > shown).filter_map(
            |(rule, _)| match rule {
                Rule::Place(place) => Some(place.as_str()),
                Rule::Tag(_) | Rule::Property { .. } | Rule::Everything => None,
            },
        )
    }

    fn most(&self, matches: impl Fn(&Rule) -> bool) -> Privacy {
        let matching = self.0.iter().filter(|(rule, _)| matches(rule));
        matching.map(|(_, privacy)| *privacy).max().unwrap_or_default()
    }
}

impl Rule {
    fn parse(written: &str) -> Result<Self, RuleError> {
        let text = folded(written.trim());
        let fault = || RuleError(written.trim().to_owned());
        if let Some(tag) = text.strip_prefix('#') {
            let tag = tag.trim_matches('/');
            let is_tag = !tag.is_empty() && tag.chars().all(inside::is_tag_letter);
            return if is_tag { Ok(Self::Tag(tag.to_owned())) } else { Err(fault()) };
        }
        if let Some((name, value)) = text.split_once(':') {
            let (name, value) = (name.trim(), value.trim());
            let is_name = !name.is_empty() && !name.contains(['/', '\\', '"', '\'']);
            let value = (!value.is_empty()).then(|| value.to_owned());
            return if is_name {
                Ok(Self::Property { name: name.to_owned(), value })
            } else {
                Err(fault())
            };
        }
        // Folded once more: folding and parsing must not undo each other.
        NotePath::parse(&text).map(|path| Self::Place(folded(path.as_str()))).map_err(|_| fault())
    }

    fn covers(&self, path: &str) -> bool {
        match self {
            Self::Place(place) => path
                .strip_prefix(place.as_str())
                .is_some_and(|rest| rest.is_empty() || rest == ".md" || rest.starts_with('/')),
            Self::Everything => true,
            Self::Tag(_) | Self::Property { .. } => false,
        }
    }
}

/// Equal for texts that differ in case or Unicode form.
fn folded(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    text.nfc().collect::<String>().to_lowercase().nfc().collect()
}
