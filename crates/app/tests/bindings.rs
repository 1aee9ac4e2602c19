//! The checked-in English of the catalog is that of the crates. `./dev bindings` rewrites it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The placeholders of a text, each once.
fn placeholders(english: &str) -> BTreeSet<&str> {
    let holes = english.split('{').skip(1);
    holes.filter_map(|hole| Some(hole.split_once('}')?.0)).collect()
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the catalog is a source file, not a note")]
fn the_checked_in_catalog_is_that_of_the_crates() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ui/messages/core.en.json");
    let texts: BTreeMap<&str, &str> =
        app::catalog_entries().map(|entry| (entry.key, entry.english)).collect();
    let fresh = serde_json::to_string_pretty(&texts).expect("texts are JSON") + "\n";
    if std::env::var_os("UPDATE_BINDINGS").is_some() {
        std::fs::write(&file, &fresh).expect("the catalog can be written");
    }
    let checked_in = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(checked_in == fresh, "ui/messages/core.en.json is stale: run ./dev bindings");
}

#[test]
fn each_key_has_one_text_with_all_its_arguments() {
    let mut keys = BTreeSet::new();
    for entry in app::catalog_entries() {
        assert!(keys.insert(entry.key), "{} is the key of two texts", entry.key);
        let args: BTreeSet<&str> = entry.args.iter().copied().collect();
        assert_eq!(placeholders(entry.english), args, "{}", entry.key);
    }
}
