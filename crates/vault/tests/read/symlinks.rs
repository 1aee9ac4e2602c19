//! Links inside the vault, and the files that sync programs leave in it.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test makes its own files and fails where it cannot go on"
)]

#[path = "../support/mod.rs"]
mod support;

use std::os::unix::fs::symlink;

use support::{Folder, MemoryLedger, SECRET, order, path, replace};
use vault::{EntryKind, SymlinkPolicy, VaultError};

#[test]
fn links_are_refused_until_the_user_wants_those_that_stay_inside() {
    let folder = Folder::with(&[("notes/a.md", "inside"), ("deep/er/b.md", "deeper")]);
    folder.write(".obsidian/app.json", "{}");
    let link = |target: &str, at: &str| symlink(target, folder.root.join(at)).unwrap();
    link("notes/a.md", "one.md");
    link("../../one.md", "deep/er/two.md");
    link("../deep", "notes/door");
    link(folder.root.join("notes/a.md").to_str().unwrap(), "absolute.md");
    link("../out/secret.md", "out.md");
    link(folder.out.join("secret.md").to_str().unwrap(), "far.md");
    link("notes/../../out/secret.md", "round.md");
    link(".obsidian/app.json", "protected.md");
    link("circle.md", "circle.md");
    link("gone.md", "dangling.md");
    let vault = folder.vault();
    let inside = [
        ("one.md", "inside", "notes/a.md"),
        ("deep/er/two.md", "inside", "notes/a.md"),
        ("notes/door/er/b.md", "deeper", "deep/er/b.md"),
        ("notes/door/er/two.md", "inside", "notes/a.md"),
        ("absolute.md", "inside", "notes/a.md"),
        ("notes/a.md", "inside", "notes/a.md"),
    ];
    for (at, ..) in inside.iter().take(5) {
        assert!(matches!(vault.read(&path(at)), Err(VaultError::NotANote { .. })), "{at}");
    }
    vault.set_symlink_policy(SymlinkPolicy::Inside);
    for (at, text, real) in inside {
        let note = vault.read(&path(at)).unwrap();
        assert_eq!((note.bytes.as_slice(), note.real), (text.as_bytes(), path(real)), "{at}");
    }
    for at in ["out.md", "far.md", "round.md", "protected.md", "circle.md", "dangling.md"] {
        let refused = vault.read(&path(at)).unwrap_err().to_string();
        assert!(!refused.contains(SECRET), "{at}: {refused}");
    }
    let kind = |at: &str| {
        let entries = vault.list().unwrap().entries;
        entries.iter().find(|entry| entry.path == path(at)).map(|entry| entry.kind)
    };
    assert_eq!(kind("one.md"), Some(EntryKind::Link));
    assert_eq!(kind("notes/door/er/b.md"), None, "a listing walks each folder once");
    vault.set_symlink_policy(SymlinkPolicy::Refused);
    assert!(vault.read(&path("one.md")).is_err());
}

#[tokio::test]
async fn nothing_is_written_through_a_link_also_when_it_is_read_through() {
    let folder = Folder::with(&[("notes/a.md", "inside")]);
    symlink("notes/a.md", folder.root.join("one.md")).unwrap();
    let vault = folder.vault();
    vault.set_symlink_policy(SymlinkPolicy::Inside);
    let change = order([replace("one.md", "inside", "changed")]);
    let applied = vault.apply(change, &MemoryLedger::default()).await.unwrap();
    assert!(matches!(applied.problems[0].1, VaultError::NotANote { .. }), "{applied:?}");
    assert_eq!(folder.read("notes/a.md").unwrap(), b"inside");
}

#[test]
fn what_is_not_downloaded_is_listed_never_read_and_never_made_again() {
    let folder = Folder::with(&[("Here.md", "here"), ("Plan.md.nextcloud", " "), ("x.md", "x")]);
    folder.write(".Cloud.md.icloud", "bplist");
    folder.write(".x.md.icloud", "bplist");
    folder.write(".hidden.md", "hidden");
    let vault = folder.vault();
    let listed: Vec<_> =
        vault.list().unwrap().entries.into_iter().map(|e| (e.path.to_string(), e.kind)).collect();
    assert_eq!(
        listed,
        [
            ("Cloud.md".to_owned(), EntryKind::Placeholder),
            ("Here.md".to_owned(), EntryKind::Note),
            ("Plan.md".to_owned(), EntryKind::Placeholder),
            ("notes".to_owned(), EntryKind::Folder),
            ("x.md".to_owned(), EntryKind::Note),
        ]
    );
    for name in ["Cloud", "Plan"] {
        let resolved = vault.resolve(name).unwrap();
        assert!(matches!(vault.read(&resolved), Err(VaultError::NotDownloaded { .. })), "{name}");
        let made = vault.new_path(name).unwrap_err();
        assert!(matches!(made, VaultError::NotDownloaded { .. }), "{made}");
    }
}

#[test]
fn a_conflict_copy_is_no_note_to_search_and_can_be_read() {
    let copy = "Plan (Ann's conflicted copy 2026-01-02).md";
    let folder = Folder::with(&[("Plan.md", "mine"), (copy, "hers")]);
    let vault = folder.vault();
    let entries = vault.list().unwrap().entries;
    let kinds: Vec<_> = entries.iter().map(|entry| entry.kind).collect();
    assert_eq!(kinds, [EntryKind::Conflict, EntryKind::Note, EntryKind::Folder]);
    assert_eq!(vault.read(&path(copy)).unwrap().bytes, b"hers");
}
