//! Texts for the user: an entry of the catalog and its arguments, which each reader words in a language of its own.
//!
//! The English of an entry is in Rust, beside its key: the command line and the log say it. The window words the same
//! entry in the user's language, with `ui/messages/core.de.json`.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::NotePath;

/// The key of an entry with the arguments of one error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct CatalogText {
    /// The key of the entry. A stored one may be of an earlier version, and have no entry any more.
    pub key: String,
    /// The values of its placeholders, by their names.
    pub args: Vec<(String, TextArg)>,
}

/// The value of a placeholder in a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(untagged)]
pub enum TextArg {
    /// A name, a number or a quotation, or a text that has no entry.
    Plain(String),
    /// Another text of the catalog, which the window words first.
    Entry(CatalogText),
}

/// A text for the user, in English and, if it is of the catalog, as its entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserText {
    english: String,
    entry: Option<CatalogText>,
}

/// An entry as a crate declares it with [`user_texts`](crate::user_texts).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CatalogEntry {
    /// Unique in the application.
    pub key: &'static str,
    /// The text in English, with placeholders such as `{path}`.
    pub english: &'static str,
    /// The names of its placeholders.
    pub args: &'static [&'static str],
}

impl UserText {
    /// The text of an entry whose placeholders hold `args`.
    #[must_use]
    pub fn from_entry(
        key: &'static str,
        english: &'static str,
        args: Vec<(&'static str, UserText)>,
    ) -> Self {
        let filled = fill(english, &args);
        let args = args.into_iter().map(|(name, text)| (name.to_owned(), text.into())).collect();
        Self { english: filled, entry: Some(CatalogText { key: key.to_owned(), args }) }
    }

    pub(super) fn from_stored(english: String, entry: Option<CatalogText>) -> Self {
        Self { english, entry }
    }

    /// The text in English.
    #[must_use]
    pub fn english(&self) -> &str {
        &self.english
    }

    /// The text in English, and its entry.
    #[must_use]
    pub fn into_parts(self) -> (String, Option<CatalogText>) {
        (self.english, self.entry)
    }
}

impl std::fmt::Display for UserText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.english)
    }
}

/// A text that no catalog has.
impl From<String> for UserText {
    fn from(english: String) -> Self {
        Self { english, entry: None }
    }
}

/// A text that no catalog has.
impl From<&str> for UserText {
    fn from(english: &str) -> Self {
        english.to_owned().into()
    }
}

/// The name of a note, which no language changes.
impl From<&NotePath> for UserText {
    fn from(path: &NotePath) -> Self {
        path.as_str().into()
    }
}

impl From<UserText> for TextArg {
    fn from(text: UserText) -> Self {
        match text.entry {
            Some(entry) => Self::Entry(entry),
            None => Self::Plain(text.english),
        }
    }
}

/// The template with its placeholders filled. An argument may hold braces of its own.
fn fill(template: &str, args: &[(&'static str, UserText)]) -> String {
    let mut filled = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, hole)) = rest.split_once('{') {
        let Some((name, behind)) = hole.split_once('}') else { break };
        filled.push_str(before);
        if let Some((_, text)) = args.iter().find(|(known, _)| *known == name) {
            filled.push_str(text.english());
        }
        rest = behind;
    }
    filled + rest
}

/// Declares the texts of a crate for the user: a function for each, and a constant that lists all.
///
/// ```
/// protocol::user_texts! {
///     /// The texts of this example.
///     const TEXTS;
///     /// An export would replace a file.
///     file_exists(file) = "{file} already exists. Choose another name.";
/// }
///
/// let text = file_exists("garden.md");
/// assert_eq!(text.english(), "garden.md already exists. Choose another name.");
/// assert_eq!((TEXTS[0].key, TEXTS[0].args), ("file_exists", ["file"].as_slice()));
/// ```
#[macro_export]
macro_rules! user_texts {
    (
        $(#[$list_docs:meta])*
        $vis:vis const $list:ident;
        $($(#[$docs:meta])* $name:ident($($arg:ident),*) = $english:literal;)*
    ) => {
        $(#[$list_docs])*
        $vis const $list: &[$crate::error::user_text::CatalogEntry] = &[
            $($crate::error::user_text::CatalogEntry {
                key: ::core::stringify!($name),
                english: $english,
                args: &[$(::core::stringify!($arg)),*],
            }),*
        ];
        $(
            $(#[$docs])*
            #[must_use]
            pub(crate) fn $name(
                $($arg: impl ::core::convert::Into<$crate::error::user_text::UserText>),*
            ) -> $crate::error::user_text::UserText {
                $crate::error::user_text::UserText::from_entry(
                    ::core::stringify!($name),
                    $english,
                    ::std::vec![$((::core::stringify!($arg), $arg.into())),*],
                )
            }
        )*
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    crate::user_texts! {
        /// The texts of these tests.
        const TEXTS;
        /// A file cannot be written.
        not_written(file, why) = "{file} can’t be written: {why} Try {file} again.";
        /// A disk has no room.
        disk_full() = "The disk is full.";
    }

    #[test]
    fn a_text_is_english_with_its_arguments_and_keeps_their_entries() {
        let text = not_written("{why}.md", disk_full());
        let (english, entry) = text.into_parts();
        assert_eq!(english, "{why}.md can’t be written: The disk is full. Try {why}.md again.");
        let full = CatalogText { key: "disk_full".into(), args: Vec::new() };
        let args = vec![
            ("file".to_owned(), TextArg::Plain("{why}.md".into())),
            ("why".to_owned(), TextArg::Entry(full)),
        ];
        assert_eq!(entry, Some(CatalogText { key: "not_written".into(), args }));
    }

    #[test]
    fn a_text_that_no_catalog_has_is_itself() {
        assert_eq!(UserText::from("Connected.").into_parts(), ("Connected.".into(), None));
    }

    #[test]
    fn an_argument_is_stored_as_a_text_or_as_an_entry() {
        let text = not_written("a.md", disk_full()).into_parts().1;
        let json = serde_json::to_string(&text).expect("JSON");
        assert_eq!(
            json,
            r#"{"key":"not_written","args":[["file","a.md"],["why",{"key":"disk_full","args":[]}]]}"#
        );
        assert_eq!(serde_json::from_str::<Option<CatalogText>>(&json).expect("read"), text);
    }

    #[test]
    fn the_list_has_each_text_with_its_arguments() {
        let listed: Vec<_> = TEXTS.iter().map(|entry| (entry.key, entry.args.len())).collect();
        assert_eq!(listed, [("not_written", 2), ("disk_full", 0)]);
    }
}
