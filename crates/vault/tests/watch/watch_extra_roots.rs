//! Changes in additional folders are reported too, in rounds.

#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a test makes its own files and fails where it cannot go on"
)]

#[path = "../support/mod.rs"]
mod support;

use std::fs;

use support::watched::next;
use support::{Folder, path};
use vault::VaultChange;

fn notes(name: &str) -> VaultChange {
    VaultChange::Notes(vec![path(name)])
}

#[tokio::test]
async fn what_changes_in_a_root_is_told_under_its_path_in_the_vault() {
    let folder = Folder::with(&[("a.md", "1")]);
    let root = folder.add_sibling("Recipes", &[("Bread.md", "flour"), ("sweet/Cake.md", "eggs")]);
    let vault = folder.vault_with(&[&root]);
    let mut watch = vault.watch().unwrap();
    assert_eq!(next(&mut watch).await, VaultChange::Everything);
    fs::write(root.join("sweet/Cake.md"), "more eggs").unwrap();
    assert_eq!(next(&mut watch).await, notes("Recipes/sweet/Cake.md"));
    fs::remove_file(root.join("Bread.md")).unwrap();
    assert_eq!(next(&mut watch).await, notes("Recipes/Bread.md"));
    fs::create_dir(root.join("new")).unwrap();
    fs::write(root.join("new/Soup.md"), "leek").unwrap();
    assert_eq!(next(&mut watch).await, notes("Recipes/new/Soup.md"));
    // Changes in the vault itself do not wait for a round.
    folder.write("a.md", "2");
    assert_eq!(next(&mut watch).await, notes("a.md"));
}

#[tokio::test]
async fn a_root_that_appears_disappears_and_reappears_is_reported() {
    let folder = Folder::with(&[("a.md", "1")]);
    let root = folder.add_sibling("Recipes", &[("Bread.md", "flour")]);
    let away = root.with_file_name("away");
    let vault = folder.vault();
    let mut watch = vault.watch().unwrap();
    assert_eq!(next(&mut watch).await, VaultChange::Everything);
    vault.set_extra_roots(&[support::extra(&root)]);
    assert_eq!(next(&mut watch).await, VaultChange::Everything);
    fs::rename(&root, &away).unwrap();
    assert_eq!(next(&mut watch).await, VaultChange::Everything);
    fs::rename(&away, &root).unwrap();
    assert_eq!(next(&mut watch).await, VaultChange::Everything);
    fs::write(root.join("Bread.md"), "more flour").unwrap();
    assert_eq!(next(&mut watch).await, notes("Recipes/Bread.md"));
    // An entry of the vault itself with the name hides the root, and is watched as usual.
    folder.write("Recipes/Own.md", "own");
    while next(&mut watch).await != VaultChange::Everything {}
    folder.write("Recipes/Own.md", "changed");
    assert_eq!(next(&mut watch).await, notes("Recipes/Own.md"));
    fs::remove_dir_all(folder.root.join("Recipes")).unwrap();
    while next(&mut watch).await != VaultChange::Everything {}
    fs::write(root.join("Bread.md"), "much more flour").unwrap();
    assert_eq!(next(&mut watch).await, notes("Recipes/Bread.md"));
}
