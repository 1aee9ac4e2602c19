//! Which notes are kept from models: rules by folder, tag or property, as the user wrote them.
//!
//! Pure: a caller that shows something checks the path first. Where
//! [`PrivateRules::depend_on_content`] says so it also checks each text that it shows, whatever the
//! file is called. In doubt a note counts as private: a tag in code or properties that cannot be
//! read are a match too.

mod folding;
mod rule_parser;
#[cfg(test)]
mod tests;

use thiserror::Error;
use unicode_normalization::UnicodeNormalization;

use crate::NotePath;
use crate::notes::conflict_copy;
use crate::settings::PrivateSettings;

pub use folding::{fold_name, is_tag_char};

/// How private a note is; the later, the more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Privacy {
    /// Any model may see it.
    #[default]
    Open,
    /// Only a model at a server URL that the user marked as local.
    Local,
    /// No model, nor its name.
    Never,
}

/// A rule that cannot be understood. The message says what to write instead.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "“{0}” isn’t a valid rule for private notes. Write a folder such as `Diary`, a tag such as `#private`, or a property such as `status: secret`."
)]
pub struct RuleError(pub String);

/// The metadata of a note, in all readings that might be meant.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PrivacyMetadata {
    /// Its tags, without `#`.
    pub tags: Vec<String>,
    /// Its properties with their values.
    pub properties: Vec<(String, Vec<String>)>,
    /// Whether some of it could not be read: then it may say anything.
    pub is_unclear: bool,
}

/// Raised whenever the same rules judge the same text in another way: what was kept of the old
/// judgement counts no more.
const RULES_VERSION: u32 = 7;

/// The user's rules for private notes.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct PrivateRules(Vec<(PrivateRule, Privacy)>);

/// The subject of a rule; texts are folded.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum PrivateRule {
    /// A folder with all in it, or one note, with or without its `.md`.
    Place(String),
    /// A tag and those nested in it.
    Tag(String),
    /// Notes with this property; `None` stands for any value.
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
        let mut rules = Vec::new();
        for (text, privacy) in written {
            let read =
                rule_parser::parse_rule(text).ok_or_else(|| RuleError(text.trim().to_owned()))?;
            rules.extend(read.into_iter().map(|rule| (rule, privacy)));
        }
        Ok(Self(rules))
    }

    /// Keeps every note from every model: for rules that cannot be read.
    #[must_use]
    pub fn everything() -> Self {
        Self(vec![(PrivateRule::Everything, Privacy::Never)])
    }

    /// Whether nothing is private.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether some note may be more private than `shown`.
    #[must_use]
    pub fn hide_any(&self, shown: Privacy) -> bool {
        self.0.iter().any(|(_, privacy)| *privacy > shown)
    }

    /// Whether some note may be one that only local models see.
    #[must_use]
    pub fn has_local_only(&self) -> bool {
        self.0.iter().any(|(_, privacy)| *privacy == Privacy::Local)
    }

    /// Whether somebody who may see notes as private as `wider` may see more than somebody who may
    /// see those as private as `shown`.
    #[must_use]
    pub fn hide_between(&self, shown: Privacy, wider: Privacy) -> bool {
        self.0.iter().any(|(_, privacy)| *privacy > shown && *privacy <= wider)
    }

    /// Whether a path alone does not say how private a note is.
    #[must_use]
    pub fn depend_on_content(&self) -> bool {
        self.0
            .iter()
            .any(|(rule, _)| matches!(rule, PrivateRule::Tag(_) | PrivateRule::Property { .. }))
    }

    /// How private the path alone makes it; also for a file that does not exist (yet, or any more).
    /// A copy or a backup, and everything in the copy of a folder, is at least as private as the
    /// original.
    #[must_use]
    pub fn by_path(&self, path: &NotePath) -> Privacy {
        if self.0.is_empty() {
            return Privacy::Open;
        }
        let path = fold_text(path.as_str());
        let privacy = self.strictest(|rule| rule.covers(&path));
        let parts = with_originals(&path);
        if parts.iter().all(|(_, originals)| originals.is_empty()) {
            return privacy;
        }
        privacy.max(self.strictest(|rule| rule.covers_original(&parts)))
    }

    /// Whether the text of a file with this name decides too, even where nobody can read it: of a
    /// note or a canvas, and of a copy or a backup of one.
    #[must_use]
    pub fn depend_on_content_of(&self, path: &NotePath) -> bool {
        let is_note = |name: &String| name.ends_with(".md") || name.ends_with(".canvas");
        self.depend_on_content()
            && (path.is_markdown()
                || path.is_canvas()
                || conflict_copy::originals(path.name()).iter().any(is_note))
    }

    /// How private a note is by what it says about itself.
    #[must_use]
    pub fn by_metadata(&self, said: &PrivacyMetadata) -> Privacy {
        let tags: Vec<String> = said.tags.iter().map(|tag| fold_name(tag)).collect();
        let named = said.properties.iter().map(|(name, values)| (fold_name(name), values));
        let properties: Vec<_> = named.collect();
        self.strictest(|rule| match rule {
            PrivateRule::Tag(tag) => {
                said.is_unclear || tags.iter().any(|found| is_below(found, tag))
            }
            PrivateRule::Property { name, value } => {
                let own = || properties.iter().filter(|(found, _)| found == name);
                said.is_unclear
                    || match value {
                        None => own().next().is_some(),
                        Some(value) => own().any(|(_, values)| folding::has_value(values, value)),
                    }
            }
            PrivateRule::Place(_) | PrivateRule::Everything => false,
        })
    }

    /// A hash of these rules and of the way they judge; the same on every computer. Store it with
    /// each judgment that these rules made.
    #[must_use]
    pub fn digest(&self) -> u64 {
        let hash = blake3::hash(format!("{RULES_VERSION} {self:?}").as_bytes());
        hash.as_bytes().first_chunk().map_or(0, |first| u64::from_le_bytes(*first))
    }

    /// The folders and notes that more than `shown` is needed for, folded: what begins with one of
    /// them is private even when it is gone.
    pub fn private_places(&self, shown: Privacy) -> impl Iterator<Item = &str> {
        self.0.iter().filter(move |(_, privacy)| *privacy > shown).filter_map(
            |(rule, _)| match rule {
                PrivateRule::Place(place) => Some(place.as_str()),
                PrivateRule::Tag(_) | PrivateRule::Property { .. } | PrivateRule::Everything => {
                    None
                }
            },
        )
    }

    /// How private something at or below this path can be by its path alone, also in the copy of a folder.
    #[must_use]
    pub fn strictest_below(&self, path: &NotePath) -> Privacy {
        let folder = fold_text(path.as_str());
        let parts = with_originals(&folder);
        self.by_path(path).max(self.strictest(|rule| rule.covers_below(&parts)))
    }

    fn strictest(&self, matches: impl Fn(&PrivateRule) -> bool) -> Privacy {
        let matching = self.0.iter().filter(|(rule, _)| matches(rule));
        matching.map(|(_, privacy)| *privacy).max().unwrap_or_default()
    }
}

impl PrivateRule {
    fn covers(&self, path: &str) -> bool {
        match self {
            Self::Place(place) => path
                .strip_prefix(place.as_str())
                .is_some_and(|rest| rest.is_empty() || rest == ".md" || rest.starts_with('/')),
            Self::Everything => true,
            Self::Tag(_) | Self::Property { .. } => false,
        }
    }

    /// Whether it covers a path with these parts where each may be called like one of its originals.
    fn covers_original(&self, parts: &[(&str, Vec<String>)]) -> bool {
        let Self::Place(place) = self else { return matches!(self, Self::Everything) };
        let mut parts = parts.iter();
        let mut places = place.split('/').peekable();
        while let Some(place) = places.next() {
            let Some((name, originals)) = parts.next() else { return false };
            let is_note = places.peek().is_none() && parts.as_slice().is_empty();
            let is_it =
                |name: &str| name == place || (is_note && name.strip_suffix(".md") == Some(place));
            if !is_it(name) && !originals.iter().any(|original| is_it(original)) {
                return false;
            }
        }
        true
    }

    /// Whether it covers something below a folder with these parts where each may be called like one of its
    /// originals.
    fn covers_below(&self, folder: &[(&str, Vec<String>)]) -> bool {
        let Self::Place(place) = self else { return matches!(self, Self::Everything) };
        let mut places = place.split('/');
        let leads_on = folder.iter().all(|(name, originals)| {
            let is_it = |place: &str| *name == place || originals.iter().any(|one| one == place);
            places.next().is_some_and(is_it)
        });
        leads_on && places.next().is_some()
    }
}

/// The parts of a folded path, each with all names that it may be a copy or a backup of.
fn with_originals(path: &str) -> Vec<(&str, Vec<String>)> {
    path.split('/').map(|name| (name, conflict_copy::originals(name))).collect()
}

/// Whether a folded tag is `tag` or nested in it.
fn is_below(found: &str, tag: &str) -> bool {
    let rest = found.trim_start_matches('/').strip_prefix(tag);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Equal for texts that differ in case or Unicode form.
fn fold_text(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    // At the end of a word a sigma has another small letter, and what is a word's end depends on the mark
    // that follows.
    text.nfc().collect::<String>().to_lowercase().replace('ς', "σ").nfc().collect()
}
