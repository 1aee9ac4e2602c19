//! Through a screen, what is private is not there, whatever is asked and however.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test makes its own files and fails where it cannot go on"
)]

#[path = "../support/mod.rs"]
mod support;

use std::sync::Arc;

use protocol::settings::PrivateSettings;
use protocol::{Privacy, PrivateRules};
use support::{Folder, path};
use vault::{PrivacyFilter, SymlinkPolicy, Vault, VaultError};

fn rules(never: &[&str], local: &[&str]) -> PrivateRules {
    let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    let settings =
        PrivateSettings { never: owned(never), local: owned(local), ..Default::default() };
    PrivateRules::parse(&settings).unwrap()
}

fn screened(folder: &Folder, rules: PrivateRules, most: Privacy) -> Vault {
    folder.vault().filtered(Arc::new(PrivacyFilter::new(rules, most)))
}

fn names(vault: &Vault) -> Vec<String> {
    vault.list().unwrap().entries.iter().map(|entry| entry.path.to_string()).collect()
}

fn folder() -> Folder {
    Folder::with(&[
        ("Diary/Today.md", "canary"),
        ("notes/Open.md", "open"),
        ("notes/Tagged.md", "canary #private"),
        ("notes/Owned.md", "---\nstatus: secret\n---\ncanary"),
        ("Local.md", "canary #home"),
    ])
}

#[test]
fn what_is_private_is_neither_listed_nor_read_nor_named() {
    let folder = folder();
    let rules = rules(&["Diary", "#private", "status: secret"], &["#home"]);
    let vault = screened(&folder, rules, Privacy::Open);
    assert_eq!(names(&vault), ["notes", "notes/Open.md"]);
    for hidden in ["Diary/Today.md", "notes/Tagged.md", "notes/Owned.md", "Local.md"] {
        assert!(vault.hides(&path(hidden)), "{hidden}");
        assert!(matches!(vault.read(&path(hidden)), Err(VaultError::NotFound { .. })), "{hidden}");
        assert!(vault.read_bytes(&path(hidden)).is_err(), "{hidden}");
        for asked in [hidden.to_owned(), hidden.to_uppercase(), hidden.replace(".md", "")] {
            let resolved = vault.resolve(&asked).unwrap_err();
            let VaultError::NotFound { nearest, .. } = &resolved else { panic!("{resolved}") };
            assert!(!nearest.contains(&path(hidden)), "{asked}: {resolved}");
            let made = vault.new_path(&asked).unwrap_err();
            assert!(matches!(made, VaultError::Withheld { .. }), "{asked}: {made}");
            assert!(made.to_string().contains(&asked), "only the name that was asked: {made}");
        }
    }
    assert!(matches!(vault.new_path("Diary/New.md"), Err(VaultError::Withheld { .. })));
    assert_eq!(vault.resolve("open").unwrap(), path("notes/Open.md"));
    // The control: without the screen all is there.
    assert_eq!(names(&vault.unfiltered()).len(), 7);
    assert_eq!(vault.unfiltered().resolve("today").unwrap(), path("Diary/Today.md"));
}

#[test]
fn who_may_see_local_notes_still_sees_none_that_are_for_nobody() {
    let folder = folder();
    let vault = screened(&folder, rules(&["#private"], &["#home", "Diary"]), Privacy::Local);
    assert_eq!(
        names(&vault),
        ["Diary", "Diary/Today.md", "Local.md", "notes", "notes/Open.md", "notes/Owned.md"]
    );
    let hidden = vault.files_hidden_above(Privacy::Local).unwrap();
    assert_eq!(hidden, [path("notes/Tagged.md")]);
    assert_eq!(vault.files_hidden_above(Privacy::Never).unwrap(), []);
    assert_eq!(vault.files_hidden_above(Privacy::Open).unwrap().len(), 3);
}

#[test]
fn a_note_that_becomes_private_is_hidden_at_once_and_reappears() {
    let folder = folder();
    let screen = Arc::new(PrivacyFilter::new(rules(&["#private"], &[]), Privacy::Open));
    let vault = folder.vault().filtered(Arc::clone(&screen));
    assert!(names(&vault).contains(&"notes/Open.md".to_owned()));
    folder.write("notes/Open.md", "open #private");
    assert!(!names(&vault).contains(&"notes/Open.md".to_owned()));
    assert!(vault.read(&path("notes/Open.md")).is_err());
    folder.write("notes/Open.md", "open");
    assert!(names(&vault).contains(&"notes/Open.md".to_owned()));
    screen.set_rules(rules(&["notes"], &[]), Privacy::Open);
    assert_eq!(names(&vault), ["Diary", "Diary/Today.md", "Local.md"]);
}

#[test]
fn a_note_whose_rules_cannot_be_known_is_withheld() {
    let folder = folder();
    let big = std::fs::File::create(folder.root.join("notes/Big.md")).unwrap();
    big.set_len(vault::NOTE_LIMIT + 1).unwrap();
    std::fs::write(folder.root.join("one.md"), "x").unwrap();
    std::fs::hard_link(folder.root.join("one.md"), folder.root.join("two.md")).unwrap();
    let vault = screened(&folder, rules(&["#private"], &[]), Privacy::Open);
    for unknown in ["notes/Big.md", "two.md"] {
        assert!(vault.hides(&path(unknown)) && !names(&vault).contains(&unknown.to_owned()));
        assert!(
            matches!(vault.read(&path(unknown)), Err(VaultError::NotFound { .. })),
            "{unknown}"
        );
    }
}

#[test]
fn a_text_that_its_tag_or_property_makes_private_is_read_under_no_name() {
    let names = [
        "N.md.bak~",
        "N.md.~1~",
        "#N.md#",
        "N.md.swp",
        "N.md.tmp",
        "N.md.LOCAL",
        "N.patch",
        "N.markdown",
        "N.mkd",
        "N.txt",
        "N.org",
        "N.html",
        "N.base",
        "N.json",
        "N",
    ];
    let tagged = names.map(|name| (name, "canary #private"));
    let owned = names.map(|name| (name, "---\nstatus: secret\n---\ncanary"));
    let open = names.map(|name| (name, "for anybody"));
    for (files, is_read) in [(tagged, false), (owned, false), (open, true)] {
        let folder = Folder::with(&files);
        let vault = screened(&folder, rules(&["#private", "status: secret"], &[]), Privacy::Open);
        for (name, text) in files {
            let at = path(name);
            assert_eq!(vault.read(&at).is_ok(), is_read, "{name}: {text}");
            assert_eq!(vault.read_bytes(&at).is_ok(), is_read, "{name}: {text}");
            assert_eq!(vault.read_cached(name).is_some(), is_read, "{name}: {text}");
            assert_eq!(vault.hides(&at), !is_read, "{name}: {text}");
            assert_eq!(vault.shows(&at, text.as_bytes(), None), is_read, "{name}: {text}");
            assert_eq!(vault.unfiltered().read(&at).unwrap().bytes, text.as_bytes(), "{name}");
        }
    }
}

#[test]
fn a_file_that_is_no_text_is_judged_by_its_name() {
    let folder = Folder::with(&[("N.txt", "canary #private"), ("Diary/photo.png", "")]);
    let photo = b"\x89PNG\r\n\x1a\n #private \xff";
    for name in ["photo.png", "N.md.bak", "Diary/photo.png"] {
        std::fs::write(folder.root.join(name), photo).unwrap();
    }
    let vault = screened(&folder, rules(&["Diary", "#private"], &[]), Privacy::Open);
    let listed = names(&vault);
    for (name, is_listed) in [("N.txt", true), ("photo.png", true), ("N.md.bak", false)] {
        assert_eq!(listed.contains(&name.to_owned()), is_listed, "{name}, by its name alone");
    }
    assert!(vault.read(&path("photo.png")).is_ok() && !vault.hides(&path("photo.png")));
    for hidden in ["Diary/photo.png", "N.md.bak", "N.txt"] {
        assert!(vault.read(&path(hidden)).is_err() && vault.hides(&path(hidden)), "{hidden}");
    }
}

#[test]
fn rules_that_cannot_be_read_keep_everything() {
    let folder = folder();
    let vault = screened(&folder, PrivateRules::everything(), Privacy::Local);
    assert_eq!(names(&vault), Vec::<String>::new());
    assert!(matches!(vault.new_path("New.md"), Err(VaultError::Withheld { .. })));
}

#[test]
fn a_link_does_not_lead_around_the_screen() {
    let folder = folder();
    std::os::unix::fs::symlink("Diary/Today.md", folder.root.join("way.md")).unwrap();
    std::os::unix::fs::symlink("notes", folder.root.join("link")).unwrap();
    let vault = screened(&folder, rules(&["Diary", "#private"], &[]), Privacy::Open);
    vault.set_symlink_policy(SymlinkPolicy::Inside);
    std::os::unix::fs::symlink("Diary/Gone.md", folder.root.join("broken.md")).unwrap();
    for link in ["way.md", "broken.md", "link/Tagged.md"] {
        let said = vault.read(&path(link)).unwrap_err().to_string();
        assert!(
            said.contains(&format!("no note `{link}`")),
            "nor is it said where it leads: {said}"
        );
    }
    assert_eq!(vault.read(&path("link/Open.md")).unwrap().bytes, b"open");
    assert_eq!(vault.unfiltered().read(&path("way.md")).unwrap().bytes, b"canary");
}

#[test]
fn a_followed_link_is_hidden_with_the_note_behind_it() {
    let folder = folder();
    let links = [
        ("Diary/Today.md", "way.md", true),
        ("way.md", "twice.md", true),
        ("Diary", "door", true),
        ("Diary/Gone.md", "broken.md", true),
        ("notes/Open.md", "open.md", false),
        ("notes", "link", false),
        ("circle.md", "circle.md", false),
        ("../Diary/Today.md", "out.md", false),
    ];
    for (target, at, _) in links {
        std::os::unix::fs::symlink(target, folder.root.join(at)).unwrap();
    }
    let vault = screened(&folder, rules(&["Diary"], &[]), Privacy::Open);
    let inside = [("door/Today.md", true), ("link/Open.md", false), ("link/None.md", false)];
    for (at, is_hidden) in links.map(|(_, at, is_hidden)| (at, is_hidden)).into_iter().chain(inside)
    {
        vault.set_symlink_policy(SymlinkPolicy::Inside);
        assert_eq!(vault.hides(&path(at)), is_hidden, "{at}");
        assert!(!vault.unfiltered().hides(&path(at)), "{at}");
        vault.set_symlink_policy(SymlinkPolicy::Refused);
        assert!(!vault.hides(&path(at)), "{at} is not read at all");
    }
}

#[test]
fn a_folder_that_holds_something_private_stays_and_others_may_go() {
    let folder = folder();
    folder.write("free/a.md", "a");
    let vault = screened(&folder, rules(&["#private"], &["notes/deep"]), Privacy::Open);
    folder.write("more/deeper/b.md", "b #private");
    for held in ["notes", "more", "more/deeper"] {
        let refused = vault.check_folder_movable(&path(held)).unwrap_err();
        assert!(matches!(refused, VaultError::HoldsPrivate { .. }), "{held}: {refused}");
        assert!(!refused.to_string().contains("b.md") && !refused.to_string().contains("Tagged"));
    }
    vault.check_folder_movable(&path("free")).unwrap();
    vault.unfiltered().check_folder_movable(&path("notes")).unwrap();
}

#[test]
fn a_name_that_is_no_path_is_told_only_where_nothing_is_private() {
    use std::os::unix::ffi::OsStrExt as _;
    let folder = folder();
    for name in [&b"Diary/Trennung von J\xFCrgen.md"[..], b"notes/a\\b.md"] {
        std::fs::write(folder.root.join(std::ffi::OsStr::from_bytes(name)), "x").unwrap();
    }
    let told = |rules| {
        let listed = screened(&folder, rules, Privacy::Open).list().unwrap();
        listed.problems.into_iter().map(|problem| problem.name).collect::<Vec<_>>()
    };
    for rules in [rules(&["Diary"], &[]), rules(&["#private"], &[])] {
        assert_eq!(told(rules), [""; 0]);
    }
    let control = told(rules(&[], &[]));
    assert!(control.iter().any(|name| name.contains("Trennung")), "the control: {control:?}");
}
