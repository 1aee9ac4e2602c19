//! Keys of the settings file that are meant for the rules for private notes, or for the server that gets
//! the notes, and are not spelled so. Other keys that are not known count for nothing, as those of a later
//! version do; these were to protect something.

use protocol::notes::privacy::fold_name;
use toml_edit::{Item, TableLike};

/// The table of the rules.
const TABLE: &str = "private";
/// Its lists.
const KEYS: [&str; 2] = ["never", "local"];

/// Letters that look like others.
const LOOKALIKES: [(&str, &str); 7] = [
    ("аɑα", "a"),
    ("еёε", "e"),
    ("іїɩιıl1|!", "i"),
    ("рρ", "p"),
    ("гṛ", "r"),
    ("тτ", "t"),
    ("ѵνυ", "v"),
];

/// The key of the server URL. Without it the notes would go to the provider's own server.
const SERVER_URL: &str = "baseUrl";

/// A key that is not spelled as it is meant.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct MisspelledKey {
    /// As it is written.
    pub(super) key: String,
    /// The right spelling.
    pub(super) meant: String,
}

impl MisspelledKey {
    /// The fault, in words.
    pub(super) fn fault(&self) -> String {
        let Self { key, meant } = self;
        match meant.as_str() {
            SERVER_URL => format!("`{key}` isn’t a setting; for the server URL, write `{meant}`"),
            _ => format!("`{key}` isn’t a setting; for private notes, write `{meant}`"),
        }
    }
}

/// The first key that seems to be meant for the server URL or, in tables too, for the rules for private
/// notes.
pub(super) fn find_misspelled_key(top: &dyn TableLike) -> Option<MisspelledKey> {
    top.iter().find_map(|(key, _)| misspelled_server_url(key)).or_else(|| misspelled_rules(top))
}

/// A key that says “base URL” in another way of writing two words as one.
fn misspelled_server_url(key: &str) -> Option<MisspelledKey> {
    let letters: String = fold_name(key).chars().filter(|sign| sign.is_alphanumeric()).collect();
    (letters == SERVER_URL.to_lowercase() && key != SERVER_URL)
        .then(|| MisspelledKey { key: key.to_owned(), meant: SERVER_URL.to_owned() })
}

fn misspelled_rules(top: &dyn TableLike) -> Option<MisspelledKey> {
    let seems = top.iter().find_map(|(key, _)| misplaced_rule_list(key));
    let others = top.iter().filter(|(key, _)| *key != TABLE);
    seems.or_else(|| {
        others.into_iter().find_map(|(key, value)| {
            if resembles_table_name(key) {
                return Some(MisspelledKey { key: key.to_owned(), meant: format!("[{TABLE}]") });
            }
            find_in_item(value)
        })
    })
}

/// The first key in a table where none is meant to be.
fn find_in_table(table: &dyn TableLike) -> Option<MisspelledKey> {
    table.iter().find_map(|(key, value)| match resembles_table_name(key) {
        true => Some(MisspelledKey { key: key.to_owned(), meant: format!("[{TABLE}]") }),
        false => misplaced_rule_list(key).or_else(|| find_in_item(value)),
    })
}

/// The same in what a key has: a table, or each of a list of tables.
fn find_in_item(value: &Item) -> Option<MisspelledKey> {
    match value.as_array_of_tables() {
        Some(tables) => tables.iter().find_map(|table| find_in_table(table)),
        None => find_in_table(value.as_table_like()?),
    }
}

/// A key that is called like a list of rules, and stands where none is.
fn misplaced_rule_list(key: &str) -> Option<MisspelledKey> {
    let folded = fold_name(key);
    let signs: Vec<char> = folded.chars().collect();
    let meant = KEYS.into_iter().find(|known| {
        let letters: Vec<char> = known.chars().collect();
        edit_distance(&signs, &letters) <= 1 || (*known == "never" && folded.starts_with(known))
    })?;
    Some(MisspelledKey { key: key.to_owned(), meant: format!("[{TABLE}] {meant} = […]") })
}

/// Whether somebody may have meant the name of the table.
fn resembles_table_name(key: &str) -> bool {
    let like = |sign: char| {
        let found = LOOKALIKES.iter().find(|(signs, _)| signs.contains(sign));
        found.and_then(|(_, letter)| letter.chars().next()).unwrap_or(sign)
    };
    let seen: Vec<char> =
        fold_name(key).chars().map(like).filter(|sign| sign.is_alphanumeric()).collect();
    let word: String = seen.iter().collect();
    let known: Vec<char> = TABLE.chars().collect();
    word.contains("privat") || word.contains("privac") || edit_distance(&seen, &known) <= 2
}

/// How many letters differ, are missing or too many.
fn edit_distance(one: &[char], other: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (at, sign) in one.iter().enumerate() {
        let mut next = vec![at + 1];
        for ((before, above), known) in row.iter().zip(row.iter().skip(1)).zip(other) {
            let left = next.last().copied().unwrap_or_default();
            next.push((before + usize::from(sign != known)).min(above + 1).min(left + 1));
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use protocol::Settings;
    use toml_edit::DocumentMut;

    use super::*;

    fn found(text: &str) -> Option<MisspelledKey> {
        find_misspelled_key(text.parse::<DocumentMut>().expect("TOML").as_table())
    }

    #[test]
    fn what_may_be_meant_for_private_notes_is_found_in_any_spelling() {
        for table in [
            "Private",
            "PRIVATE",
            "\"private \"",
            "\" private\"",
            "privates",
            "privat",
            "pirvate",
            "prviate",
            "privte",
            "privacy",
            "private-notes",
            "privateNotes",
            "privateSettings",
            "\"рrіvаtе\"",
            "\"ｐｒｉｖａｔｅ\"",
            "\"pri\u{200B}vate\"",
            "prlvate",
            "settings.private",
            "hub.Private",
            "[private]",
            "[Private]",
        ] {
            let text = format!("mode = \"auto\"\n[{table}]\nnever = [\"Diary\"]\n");
            let is_list_of_it = table == "[private]";
            assert_eq!(found(&text).is_some(), !is_list_of_it, "{table}");
        }
        assert!(found("never = [\"Diary\"]\n").is_some());
        assert!(found("Local = [\"Diary\"]\n").is_some());
        for key in ["neverr", "nver", "never_show", "NEVER"] {
            assert!(found(&format!("{key} = [\"Diary\"]\n")).is_some(), "{key}");
        }
        for table in ["hub", "spending", "[models]", "vault.x", "rules"] {
            assert!(found(&format!("[{table}]\nnever = [\"Diary\"]\n")).is_some(), "{table}");
        }
        assert!(found("private.never = [\"Diary\"]\n").is_none(), "it is spelled so");
    }

    #[test]
    fn a_server_url_under_another_spelling_is_found() {
        for key in ["base_url", "base-url", "BaseUrl", "BASE_URL", "baseURL", "\"base url\""] {
            let fault = found(&format!("{key} = \"http://127.0.0.1\"\n")).map(|key| key.fault());
            let meant = "isn’t a setting; for the server URL, write `baseUrl`";
            assert!(fault.is_some_and(|fault| fault.ends_with(meant)), "{key}");
        }
        for other in ["baseUrl", "base", "url", "baseUrls"] {
            assert_eq!(found(&format!("{other} = \"http://127.0.0.1\"\n")), None, "{other}");
        }
    }

    #[test]
    fn no_setting_and_no_other_word_is_taken_for_the_rules() {
        let all = toml_edit::ser::to_string(&Settings::default()).expect("TOML");
        assert!(all.contains("private"), "the control");
        assert_eq!(found(&all), None);
        for other in ["provider", "drive", "pilot", "[later]\nthing", "prompt", "primary"] {
            assert_eq!(found(&format!("{other} = 1\n")), None, "{other}");
        }
    }
}
