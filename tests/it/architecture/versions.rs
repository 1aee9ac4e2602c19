//! Versions below which a known fault lives; read from both lock files, without a network.

use std::fs;

use serde_json::Value;

use super::{array_at, assert_none, metadata, root, text_at};

/// Library, lowest version, why.
const MINIMUM_CRATE_VERSIONS: [(&str, &str, &str); 7] = [
    ("tauri", "2.11.1", "CVE-2026-42184"),
    ("libsqlite3-sys", "0.37.0", "brings SQLite 3.51.3: older ones can lose a WAL at its reset"),
    ("rustls", "0.23.18", "RUSTSEC-2024-0399"),
    ("sqlx", "0.8.1", "RUSTSEC-2024-0363"),
    ("tokio", "1.43.1", "RUSTSEC-2025-0023"),
    ("time", "0.3.47", "RUSTSEC-2026-0009"),
    ("tungstenite", "0.20.1", "RUSTSEC-2023-0065"),
];
const MINIMUM_NPM_VERSIONS: [(&str, &str, &str); 1] =
    [("dompurify", "3.4.0", "the strict allow-list is tested against this line")];

pub(super) fn locked_crates(lock: &str) -> Vec<(String, String)> {
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
            if version_numbers(version) < version_numbers(lowest) {
                found.push(format!("{name} {version} is older than {lowest}: {why}"));
            }
        }
    }
    found
}

fn version_numbers(version: &str) -> Vec<u64> {
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
    assert_none(&complaints(&MINIMUM_CRATE_VERSIONS, &crates));
    let lock = fs::read_to_string(root().join("ui/package-lock.json")).expect("package-lock.json");
    let modules = locked_modules(&lock);
    assert!(modules.iter().any(|(name, _)| name == "dompurify"), "the table names what is used");
    assert_none(&complaints(&MINIMUM_NPM_VERSIONS, &modules));
}

#[test]
fn an_older_library_is_complained_about() {
    let locked = |version: &str| {
        let lock = format!("[[package]]\nname = \"tauri\"\nversion = \"{version}\"\n");
        complaints(&MINIMUM_CRATE_VERSIONS, &locked_crates(&lock))
    };
    assert_eq!(locked("2.11.1"), [""; 0]);
    assert_eq!(locked("2.9.12"), ["tauri 2.9.12 is older than 2.11.1: CVE-2026-42184"]);
    let lock =
        r#"{ "packages": { "node_modules/a/node_modules/dompurify": { "version": "3.2.0" } } }"#;
    assert_eq!(complaints(&MINIMUM_NPM_VERSIONS, &locked_modules(lock)).len(), 1);
}

/// The minimum Rust version that the workspace promises.
fn promised_rust_version() -> String {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).expect("Cargo.toml");
    let manifest: toml::Table = toml::from_str(&manifest).expect("a readable Cargo.toml");
    let version = manifest["workspace"]["package"]["rust-version"].as_str();
    version.expect("a minimum version").to_owned()
}

/// Crates that want a newer Rust than this, and those of ours that do not say that they want it.
fn too_new(packages: &[Value], minimum: &str) -> Vec<String> {
    let complaint = |package: &Value| {
        let (name, wanted) = (text_at(package, "name"), text_at(package, "rust_version"));
        let is_ours = package["source"].is_null();
        if is_ours && wanted != minimum {
            return Some(format!("{name} is ours and says `{wanted}` instead of {minimum}"));
        }
        let (wants, has) = (padded_version(wanted), padded_version(minimum));
        (wants > has).then(|| format!("{name} wants Rust {wanted}, newer than {minimum}"))
    };
    packages.iter().filter_map(complaint).collect()
}

/// As many numbers as a whole version has.
fn padded_version(version: &str) -> Vec<u64> {
    let mut numbers = version_numbers(version);
    numbers.resize(3, 0);
    numbers
}

#[test]
fn no_library_wants_a_newer_rust_than_we_promise_and_all_who_name_it_agree() {
    let promised = promised_rust_version();
    let metadata = metadata(&["--filter-platform", "x86_64-unknown-linux-gnu"]);
    assert_none(&too_new(array_at(&metadata, "packages"), &promised));
    let read = |name: &str| fs::read_to_string(root().join(name)).expect("a file");
    assert!(read("README.md").contains(&format!("Rust {promised} ")), "README.md says {promised}");
    let dev = read("dev");
    assert!(dev.contains(&format!("\nrust={promised}\n")), "dev says {promised}");
    let release = read(".github/workflows/release.yml");
    assert!(release.contains(&format!("toolchain install {promised} ")), "releases use {promised}");
}

#[test]
fn a_library_that_wants_a_newer_rust_is_complained_about() {
    let package = |version: &str, source: Value| serde_json::json!({ "name": "some", "rust_version": version, "source": source });
    let other = Value::from("registry");
    let said = |package: Value| too_new(&[package], "1.95").len();
    assert_eq!(said(package("1.95.0", other.clone())), 0);
    assert_eq!(said(package("1.96", other.clone())), 1);
    assert_eq!(said(package("1.95.1", other.clone())), 1);
    assert_eq!(said(package("2.0", other)), 1);
    assert_eq!(said(package("1.95", Value::Null)), 0);
    assert_eq!(said(package("1.90", Value::Null)), 1);
}
