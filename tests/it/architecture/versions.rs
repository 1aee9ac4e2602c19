//! Versions below which a known fault lives; read from both lock files, without a network.

use std::fs;

use serde_json::Value;

use super::{assert_none, root};

/// Library, lowest version, why.
const RUST: [(&str, &str, &str); 7] = [
    ("tauri", "2.11.1", "CVE-2026-42184"),
    ("libsqlite3-sys", "0.37.0", "brings SQLite 3.51.3: older ones can lose a WAL at its reset"),
    ("rustls", "0.23.18", "RUSTSEC-2024-0399"),
    ("sqlx", "0.8.1", "RUSTSEC-2024-0363"),
    ("tokio", "1.43.1", "RUSTSEC-2025-0023"),
    ("time", "0.3.47", "RUSTSEC-2026-0009"),
    ("tungstenite", "0.20.1", "RUSTSEC-2023-0065"),
];
const UI: [(&str, &str, &str); 1] =
    [("dompurify", "3.4.0", "the strict allow-list is tested against this line")];

fn locked_crates(lock: &str) -> Vec<(String, String)> {
    let lock: toml::Table = toml::from_str(lock).expect("a readable Cargo.lock");
    let packages = lock["package"].as_array().expect("packages").iter();
    packages
        .map(|package| {
            let field = |name: &str| package[name].as_str().expect("a text").to_owned();
            (field("name"), field("version"))
        })
        .collect()
}

fn locked_modules(lock: &str) -> Vec<(String, String)> {
    let lock: Value = serde_json::from_str(lock).expect("a readable package-lock.json");
    let packages = lock["packages"].as_object().expect("packages").iter();
    packages
        .filter_map(|(place, package)| {
            let (_, name) = place.rsplit_once("node_modules/")?;
            Some((name.to_owned(), package["version"].as_str()?.to_owned()))
        })
        .collect()
}

fn complaints(minimum: &[(&str, &str, &str)], locked: &[(String, String)]) -> Vec<String> {
    let mut found = Vec::new();
    for (name, lowest, why) in minimum {
        for (_, version) in locked.iter().filter(|(other, _)| other == name) {
            if numbers(version) < numbers(lowest) {
                found.push(format!("{name} {version} is older than {lowest}: {why}"));
            }
        }
    }
    found
}

fn numbers(version: &str) -> Vec<u64> {
    let release = version.split(['-', '+']).next().unwrap_or_default();
    release.split('.').map(|number| number.parse().unwrap_or_default()).collect()
}

#[test]
fn no_locked_library_is_older_than_its_fix() {
    let lock = fs::read_to_string(root().join("Cargo.lock")).expect("Cargo.lock");
    let crates = locked_crates(&lock);
    assert!(
        crates.iter().any(|(name, _)| name == "libsqlite3-sys"),
        "the table names what is used"
    );
    assert_none(&complaints(&RUST, &crates));
    let lock = fs::read_to_string(root().join("ui/package-lock.json")).expect("package-lock.json");
    let modules = locked_modules(&lock);
    assert!(modules.iter().any(|(name, _)| name == "dompurify"), "the table names what is used");
    assert_none(&complaints(&UI, &modules));
}

#[test]
fn an_older_library_is_complained_about() {
    let locked = |version: &str| {
        let lock = format!("[[package]]\nname = \"tauri\"\nversion = \"{version}\"\n");
        complaints(&RUST, &locked_crates(&lock))
    };
    assert_eq!(locked("2.11.1"), [""; 0]);
    assert_eq!(locked("2.9.12"), ["tauri 2.9.12 is older than 2.11.1: CVE-2026-42184"]);
    let lock =
        r#"{ "packages": { "node_modules/a/node_modules/dompurify": { "version": "3.2.0" } } }"#;
    assert_eq!(complaints(&UI, &locked_modules(lock)).len(), 1);
}
