//! Every library's license is one that we may pass on.

use std::fs;

use serde_json::Value;
use spdx::{Expression, ParseMode};

use super::{array_at, assert_none, metadata, root, text_at};

/// Licenses that ask for no more than a notice, or (MPL) for changes of the library itself.
const ALLOWED: [&str; 14] = [
    "0BSD",
    "Apache-2.0",
    "BSD-1-Clause",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MPL-2.0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Also for what only builds or checks the window and is not passed on.
const ALLOWED_FOR_BUILDING: [&str; 4] = ["BlueOak-1.0.0", "CC-BY-4.0", "MIT-0", "Python-2.0"];

/// Modules whose `package.json` names no license, and where it was read instead. Both only build
/// the window.
const STATED_ELSEWHERE: [(&str, &str); 2] = [
    ("node_modules/@inlang/plugin-message-format", "MIT"), // the package's file LICENSE
    ("node_modules/sqlite-wasm-kysely", "MIT"),            // its file LICENSE
];

fn complaint(library: &str, license: &str, also: &[&str]) -> Option<String> {
    let Ok(expression) = Expression::parse_mode(license, ParseMode::LAX) else {
        return Some(format!("{library}: `{license}` is no license that can be read"));
    };
    let fine = expression.evaluate(|wanted| {
        let name = wanted.license.id().map(|id| id.name).unwrap_or_default();
        ALLOWED.contains(&name) || also.contains(&name)
    });
    (!fine).then(|| format!("{library}: the license `{license}` is not among the allowed ones"))
}

#[test]
fn every_crate_has_an_allowed_license() {
    let metadata = metadata(&["--filter-platform", "x86_64-unknown-linux-gnu"]);
    let packages = array_at(&metadata, "packages");
    assert!(packages.len() > 100, "cargo named only {} crates", packages.len());
    let complaints = packages.iter().filter_map(|package| {
        complaint(text_at(package, "name"), text_at(package, "license"), &[])
    });
    assert_none(&complaints.collect::<Vec<_>>());
}

#[test]
fn every_module_of_the_window_has_an_allowed_license() {
    assert_none(&complaints_about("ui/package-lock.json", 50));
}

#[test]
fn every_module_that_requests_are_held_against_has_an_allowed_license() {
    assert_none(&complaints_about("tests/conformance/package-lock.json", 10));
}

fn complaints_about(lock: &str, least: usize) -> Vec<String> {
    let lock = fs::read_to_string(root().join(lock)).expect("package-lock.json");
    let lock: Value = serde_json::from_str(&lock).expect("a readable package-lock.json");
    let packages = lock["packages"].as_object().expect("packages");
    let modules: Vec<_> = packages.iter().filter(|(place, _)| !place.is_empty()).collect();
    assert!(modules.len() > least, "npm named only {} modules", modules.len());
    let complaints = modules.into_iter().filter_map(|(place, module)| {
        let also = if module["dev"] == true { &ALLOWED_FOR_BUILDING[..] } else { &[] };
        let elsewhere = STATED_ELSEWHERE.iter().find(|(module, _)| place.starts_with(module));
        let license = module["license"].as_str().or(elsewhere.map(|(_, license)| *license));
        complaint(place, license.unwrap_or_default(), also)
    });
    complaints.collect()
}

#[test]
fn a_license_outside_the_list_is_complained_about() {
    let fine = |license: &str| complaint("some", license, &[]).is_none();
    assert!(fine("MIT/Apache-2.0") && fine("(MIT OR GPL-3.0) AND Unicode-3.0"));
    assert!(fine("Apache-2.0 WITH LLVM-exception"));
    assert!(
        !fine("GPL-3.0-only") && !fine("MIT AND AGPL-3.0") && !fine("") && !fine("SEE LICENSE")
    );
    assert!(!fine("CC-BY-4.0") && complaint("some", "CC-BY-4.0", &ALLOWED_FOR_BUILDING).is_none());
}
