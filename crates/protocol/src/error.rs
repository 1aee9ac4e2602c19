//! The one error that crosses to a person.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use user_text::{CatalogText, UserText};

pub mod user_text;

/// A text for the user, with a code where the window acts on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct UserError {
    /// The action that the window may offer.
    pub code: ErrorCode,
    /// The failure with its cause, and what to do, in English.
    pub message: String,
    /// The same as an entry of the catalog, for the language of the user; none where no catalog has the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub text: Option<CatalogText>,
}

impl UserError {
    /// An error that the window only shows.
    #[must_use]
    pub fn other(text: impl Into<UserText>) -> Self {
        Self::new(ErrorCode::Other, text)
    }

    /// An error with something to offer.
    #[must_use]
    pub fn new(code: ErrorCode, text: impl Into<UserText>) -> Self {
        let (message, text) = text.into().into_parts();
        Self { code, message, text }
    }

    /// The code and the English text alone, for a file or another program.
    #[must_use]
    pub fn to_english_json(&self) -> serde_json::Value {
        serde_json::json!({ "code": self.code, "message": self.message })
    }
}

/// The text of an error, as an argument of another one.
impl From<UserError> for UserText {
    fn from(UserError { message, text, .. }: UserError) -> Self {
        Self::from_stored(message, text)
    }
}

impl std::fmt::Display for UserError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for UserError {}

/// An error of a lower crate as a sentence that stands alone.
#[must_use]
pub fn sentence(words: &str) -> String {
    let mut characters = words.chars();
    let first = characters.next().into_iter().flat_map(char::to_uppercase);
    let mut sentence: String = first.chain(characters).collect();
    if !sentence.ends_with(['.', '?', '!']) {
        sentence.push('.');
    }
    sentence
}

/// The error with its causes, the nearest first, joined by colons.
#[must_use]
pub fn with_causes(error: &dyn std::error::Error) -> String {
    let mut sentence = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        sentence = format!("{sentence}: {inner}");
        cause = inner.source();
    }
    sentence
}

/// The action that can resolve an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// Nothing but reading it.
    Other,
    /// The key is missing or not accepted: open the settings.
    Key,
    /// The provider does not have the model any more, or never had it: choose another.
    Model,
    /// The provider cannot be reached or is overloaded: try again.
    Network,
    /// The vault is missing, not a folder or not readable: choose another.
    Vault,
    /// The vault or the disk takes no writes: free space or rights, then try again.
    Write,
    /// Another Vaultmate holds this vault.
    Busy,
    /// The spending limit is reached: raise it in the settings.
    Spending,
    /// The settings file does not count: decide which settings do.
    Settings,
    /// It does not fit the model: shorten it, or choose a model with a larger context window.
    TooLarge,
    /// The question was already answered, or was withdrawn.
    Answered,
    /// The pattern is no regular expression: search for exactly this text.
    Pattern,
}

#[cfg(test)]
mod tests {
    use super::sentence;

    #[test]
    fn an_error_of_a_lower_crate_becomes_a_sentence() {
        assert_eq!(
            sentence("the disk is full. Free some space"),
            "The disk is full. Free some space."
        );
        assert_eq!(sentence("élan"), "Élan.");
        assert_eq!(sentence("Is it running?"), "Is it running?");
    }
}
