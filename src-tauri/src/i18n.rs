//! Texts outside the window, from the window's own catalog, in the user's language.

use std::sync::LazyLock;

use protocol::settings::Language;
use serde_json::{Map, Value};

type MessageCatalog = LazyLock<Map<String, Value>>;

static ENGLISH: MessageCatalog = LazyLock::new(|| read(include_str!("../../ui/messages/en.json")));
static GERMAN: MessageCatalog = LazyLock::new(|| read(include_str!("../../ui/messages/de.json")));

fn read(catalogue: &str) -> Map<String, Value> {
    serde_json::from_str(catalogue).unwrap_or_default()
}

/// The catalogue of one language.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Translations(&'static Map<String, Value>);

impl Translations {
    /// In the language that the user chose. The system's is what the environment asks for, as
    /// gettext reads it; English where it asks for none that there is.
    pub(crate) fn for_language(language: Language) -> Self {
        match language {
            Language::System => Self::from_environment(|name| std::env::var(name).ok()),
            Language::En => Self(&ENGLISH),
            Language::De => Self(&GERMAN),
        }
    }

    fn from_environment(variable: impl Fn(&str) -> Option<String>) -> Self {
        let set = |name: &&str| variable(name).filter(|value| !value.is_empty());
        let first = ["LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"].iter().find_map(set);
        let is_german = first.is_some_and(|language| language.starts_with("de"));
        Self(if is_german { &GERMAN } else { &ENGLISH })
    }

    /// The text of a key; the key itself where there is none.
    pub(crate) fn text(self, key: &str) -> String {
        self.0.get(key).and_then(Value::as_str).unwrap_or(key).to_owned()
    }

    /// The same with a number in it.
    pub(crate) fn text_with_count(self, key: &str, count: u32) -> String {
        self.text(key).replace("{count}", &count.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(set: &[(&str, &str)]) -> Translations {
        let find = |name: &str| set.iter().find(|(other, _)| *other == name);
        Translations::from_environment(|name| find(name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn the_language_is_the_one_that_is_asked_for_first() {
        for (set, open) in [
            (&[("LANG", "de_DE.UTF-8")][..], "Öffnen"),
            (&[("LANG", "de_DE.UTF-8"), ("LC_ALL", "C.UTF-8")][..], "Open"),
            (&[("LANG", "en_GB.UTF-8"), ("LANGUAGE", "de:en")][..], "Öffnen"),
            (&[("LANG", "fr_FR.UTF-8"), ("LC_ALL", "")][..], "Open"),
            (&[][..], "Open"),
        ] {
            assert_eq!(of(set).text("desk_open"), open, "{set:?}");
        }
    }

    #[test]
    fn a_language_that_was_chosen_holds_whatever_the_system_asks_for() {
        assert_eq!(Translations::for_language(Language::De).text("desk_open"), "Öffnen");
        assert_eq!(Translations::for_language(Language::En).text("desk_open"), "Open");
    }

    #[test]
    fn a_number_replaces_its_placeholder() {
        assert_eq!(of(&[]).text_with_count("tray_questions", 3), "Questions: 3");
    }
}
