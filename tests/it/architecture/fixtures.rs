//! Every file of a fixture is there for a reason, and the manifest says which.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde::Deserialize;
use testkit::vaults::temp_vault::{fixtures_dir, read_files};

use super::assert_none;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FixtureVault {
    about: String,
    /// Path to reason.
    files: BTreeMap<String, String>,
}

fn complaints(name: &str, vault: &FixtureVault, on_disk: &BTreeSet<String>) -> Vec<String> {
    let named: BTreeSet<String> = vault.files.keys().cloned().collect();
    let mut found = Vec::new();
    if vault.about.trim().is_empty() {
        found.push(format!("{name}: nothing says what it is about"));
    }
    for path in on_disk.difference(&named) {
        found.push(format!("{name}/{path}: the manifest does not say why it is there"));
    }
    for path in named.difference(on_disk) {
        found.push(format!("{name}/{path}: in the manifest, but not on disk"));
    }
    for (path, _) in vault.files.iter().filter(|(_, why)| why.trim().is_empty()) {
        found.push(format!("{name}/{path}: named without a reason"));
    }
    found
}

#[test]
fn every_fixture_is_in_the_manifest_with_a_reason() {
    let text = fs::read_to_string(fixtures_dir().join("manifest.toml")).expect("the manifest");
    let manifest: BTreeMap<String, FixtureVault> =
        toml::from_str(&text).expect("a readable manifest");
    let folders = fs::read_dir(fixtures_dir()).expect("the fixtures").filter_map(|entry| {
        let entry = entry.expect("a readable entry");
        entry.path().is_dir().then(|| entry.file_name().to_string_lossy().into_owned())
    });
    assert_eq!(folders.collect::<BTreeSet<_>>(), manifest.keys().cloned().collect());
    for (name, vault) in &manifest {
        let on_disk = read_files(&fixtures_dir().join(name)).into_keys().collect();
        assert_none(&complaints(name, vault, &on_disk));
    }
}

#[test]
fn a_file_without_a_reason_and_a_reason_without_a_file_are_complained_about() {
    let vault = FixtureVault {
        about: "three notes".into(),
        files: [("a.md", "it is short"), ("b.md", "it is long"), ("c.md", " ")]
            .map(|(path, why)| (path.into(), why.into()))
            .into(),
    };
    let on_disk = ["a.md", "c.md", "d.md"].map(Into::into).into();
    assert_eq!(
        complaints("v", &vault, &on_disk),
        [
            "v/d.md: the manifest does not say why it is there",
            "v/b.md: in the manifest, but not on disk",
            "v/c.md: named without a reason",
        ]
    );
}
