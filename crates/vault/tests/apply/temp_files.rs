//! Temporary files of changes that were cut are found wherever they lie, and stay.

#[path = "../support/mod.rs"]
mod support;

use support::Folder;

#[test]
fn temporary_files_of_changes_are_found_in_every_folder_and_nothing_else_is() {
    let folder = Folder::with(&[
        ("a.md", "a"),
        (".vaultmate-00000000000000a1.tmp", "text"),
        ("deep/er/.vaultmate-00000000000000b2.tmp", "text"),
        ("deep/.hidden.tmp", "theirs"),
        (".obsidian/.vaultmate-00000000000000c3.tmp", "protected"),
    ]);
    let names = [".vaultmate-00000000000000a1.tmp", "deep/er/.vaultmate-00000000000000b2.tmp"];
    assert_eq!(folder.vault().leftover_temp_files(10), names);
    assert_eq!(folder.vault().leftover_temp_files(1), names[..1]);
    assert_eq!(folder.vault().leftover_temp_files(10), names, "they stay");
}
