//! Additional folders are read as if they were in the vault, and nothing is ever changed in them.

#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test makes its own files and fails where it cannot go on"
)]

#[path = "../support/mod.rs"]
mod support;

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;

use protocol::settings::{ExtraRoot, PrivateSettings};
use protocol::{Change, ChangeAction, IntentState, Privacy, PrivateRules};
use support::{Folder, MemoryLedger, SECRET, create, extra, order, path, replace, unit};
use vault::{EntryKind, PrivacyFilter, SymlinkPolicy, Vault, VaultError, validate_extra_roots};

const BREAD: &str = "flour, water, salt";

fn recipes(folder: &Folder) -> std::path::PathBuf {
    folder.add_sibling(
        "Recipes",
        &[("Bread.md", BREAD), ("sweet/Cake.md", "eggs"), ("pot.png", "1234")],
    )
}

fn listed(vault: &Vault) -> Vec<(String, EntryKind)> {
    let entries = vault.list().unwrap().entries.into_iter();
    entries.map(|entry| (entry.path.to_string(), entry.kind)).collect()
}

fn names(vault: &Vault) -> Vec<String> {
    listed(vault).into_iter().map(|(name, _)| name).collect()
}

/// The names and reasons of the files that a listing omits.
fn problems(vault: &Vault) -> Vec<String> {
    let problems = vault.list().unwrap().problems.into_iter();
    problems.map(|problem| format!("{}: {}", problem.name, problem.why)).collect()
}

#[test]
fn the_notes_of_a_root_are_listed_found_and_read_as_in_a_folder_of_the_vault() {
    let folder = Folder::with(&[("a.md", "a")]);
    let vault = folder.vault_with(&[&recipes(&folder)]);
    assert_eq!(
        listed(&vault),
        [
            ("Recipes".to_owned(), EntryKind::Folder),
            ("Recipes/Bread.md".to_owned(), EntryKind::Note),
            ("Recipes/pot.png".to_owned(), EntryKind::Attachment),
            ("Recipes/sweet".to_owned(), EntryKind::Folder),
            ("Recipes/sweet/Cake.md".to_owned(), EntryKind::Note),
            ("a.md".to_owned(), EntryKind::Note),
            ("notes".to_owned(), EntryKind::Folder),
        ]
    );
    assert_eq!(problems(&vault), [""; 0]);
    for asked in ["Recipes/Bread.md", "Recipes/Bread", "recipes/bread", "bread"] {
        assert_eq!(vault.resolve(asked).unwrap().as_str(), "Recipes/Bread.md", "{asked}");
    }
    let note = vault.read(&path("Recipes/Bread.md")).unwrap();
    assert_eq!((note.bytes.as_slice(), note.path.as_str()), (BREAD.as_bytes(), "Recipes/Bread.md"));
    assert!(vault.file_times(&path("Recipes/sweet/Cake.md")).unwrap().modified.0 > 0);
    // Without the setting there is nothing of it.
    vault.set_extra_roots(&[]);
    assert_eq!(names(&vault), ["a.md", "notes"]);
    assert!(matches!(vault.read(&path("Recipes/Bread.md")), Err(VaultError::NotFound { .. })));
}

#[track_caller]
fn in_extra_root(refused: &VaultError, at: &str) {
    assert_eq!(
        refused.to_string(),
        format!(
            "`{at}` is in an additional folder, which is read-only. Create the note in the vault \
             instead."
        )
    );
}

#[tokio::test]
async fn every_kind_of_change_is_refused_in_a_root_and_makes_nothing_anywhere() {
    let folder = Folder::with(&[("a.md", "a")]);
    let root = recipes(&folder);
    let vault = folder.vault_with(&[&root]);
    nothing_may_change(&folder, &vault, &root).await;
    // Nor through a link that would lead there.
    symlink(&root, folder.root.join("Recipes")).unwrap();
    nothing_may_change(&folder, &vault, &root).await;
    // The control: without the root the same change makes the folder.
    fs::remove_file(folder.root.join("Recipes")).unwrap();
    vault.set_extra_roots(&[]);
    let made = order([create("Recipes/New.md", "x")]);
    vault.apply(made, &MemoryLedger::default()).await.unwrap();
    assert!(folder.root.join("Recipes/New.md").exists());
}

async fn nothing_may_change(folder: &Folder, vault: &Vault, root: &Path) {
    let before = folder.names();
    let rename = |from: &str, to: &str| Change::rename(path(from), path(to));
    let (bread, new) = ("Recipes/Bread.md", "Recipes/New.md");
    let act = |at: &str, act: ChangeAction| Change { path: path(at), act };
    let trashed = || "Recipes".to_owned();
    for (change, at) in [
        (create(new, "x"), new),
        (create("recipes/deep/New.md", "x"), "recipes/deep/New.md"),
        (replace(bread, BREAD, "x"), bread),
        (Change::trash(path(bread), BREAD), bread),
        (rename(bread, "Bread.md"), bread),
        (rename("a.md", "Recipes/a.md"), "Recipes/a.md"),
        (Change::rename_folder(path("Recipes/sweet"), path("sweet")), "Recipes/sweet"),
        (Change::rename_folder(path("notes"), path("Recipes/notes")), "Recipes/notes"),
        (Change::rename_folder(path("notes"), path("Recipes")), "Recipes"),
        (act("Recipes/sub", ChangeAction::MakeFolder), "Recipes/sub"),
        (act("RECIPES", ChangeAction::MakeFolder), "RECIPES"),
        (act("Recipes/sweet", ChangeAction::TrashFolder { holds: None }), "Recipes/sweet"),
        (act("Recipes", ChangeAction::TrashFolder { holds: None }), "Recipes"),
        (
            act("Recipes", ChangeAction::RestoreFolder { trashed: trashed(), holds: None }),
            "Recipes",
        ),
    ] {
        let ledger = MemoryLedger::default();
        let applied = vault.apply(order([change]), &ledger).await.unwrap();
        in_extra_root(&applied.problems[0].1, at);
        assert_eq!((applied.done.len(), ledger.states()), (0, vec![IntentState::Failed]), "{at}");
    }
    assert_eq!(folder.names(), before, "nothing was made in the vault");
    let mut left: Vec<_> = fs::read_dir(root).unwrap().map(|e| e.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["Bread.md", "pot.png", "sweet"]);
    assert_eq!(fs::read_to_string(root.join("Bread.md")).unwrap(), BREAD);
}

#[tokio::test]
async fn a_move_into_a_root_is_reverted_with_all_that_belongs_to_it() {
    let folder = Folder::with(&[("a.md", "a"), ("b.md", "[[a]]")]);
    let vault = folder.vault_with(&[&recipes(&folder)]);
    let moved = unit([
        replace("b.md", "[[a]]", "[[Recipes/a]]"),
        Change::rename(path("a.md"), path("Recipes/a.md")),
    ]);
    let applied = vault.apply(moved, &MemoryLedger::default()).await.unwrap();
    assert!(applied.done.is_empty(), "{applied:?}");
    assert_eq!(folder.names(), ["a.md", "b.md", "notes"]);
    assert_eq!(folder.read("b.md").unwrap(), b"[[a]]");
}

#[test]
fn no_new_path_leads_into_a_root_and_a_note_may_have_its_name() {
    let folder = Folder::with(&[("a.md", "a")]);
    let vault = folder.vault_with(&[&recipes(&folder)]);
    for asked in ["Recipes/New", "recipes/Bread.md", "Recipes/sweet/deep/New.md"] {
        in_extra_root(&vault.new_path(asked).unwrap_err(), path(asked).as_str());
        let moved = vault.new_path_for_rename(&path("a.md"), asked).unwrap_err();
        assert!(matches!(moved, VaultError::InExtraRoot { .. }), "{asked}: {moved}");
    }
    for asked in ["Recipes", "RECIPES", "Recipes/new"] {
        in_extra_root(&vault.new_folder(asked).unwrap_err(), asked);
    }
    assert_eq!(vault.new_path("Recipes").unwrap().path().as_str(), "Recipes.md");
    for at in ["Recipes/Bread.md", "Recipes/sweet/Cake.md"] {
        in_extra_root(&vault.check_changeable(&path(at)).unwrap_err(), at);
    }
    in_extra_root(&vault.check_folder_movable(&path("Recipes")).unwrap_err(), "Recipes");
}

#[test]
fn what_a_vault_refuses_is_refused_in_a_root() {
    let folder = Folder::new();
    let root = folder.add_sibling(
        "Recipes",
        &[("a.md", "a"), (".hidden.md", SECRET), (".obsidian/app.json", SECRET), ("in/b.md", "b")],
    );
    let link = |target: &Path, at: &str| symlink(target, root.join(at)).unwrap();
    link(&folder.out.join("secret.md"), "link.md");
    link(&folder.out, "link");
    link(Path::new("../out/secret.md"), "relative.md");
    link(Path::new("in"), "inside");
    link(Path::new("/proc/self/root"), "proc");
    fs::hard_link(folder.out.join("secret.md"), root.join("hard.md")).unwrap();
    fs::File::create(root.join("huge.md")).unwrap().set_len(5 << 30).unwrap();
    fs::write(root.join(std::ffi::OsStr::from_bytes(b"bad\xFF.md")), "x").unwrap();
    let vault = folder.vault_with(&[&root]);
    for follow in [SymlinkPolicy::Refused, SymlinkPolicy::Inside] {
        vault.set_symlink_policy(follow);
        for at in [
            "link.md",
            "link/secret.md",
            "relative.md",
            "inside/b.md",
            "proc/etc/passwd",
            "hard.md",
        ] {
            let refused = vault.read(&path(&format!("Recipes/{at}"))).unwrap_err();
            assert!(matches!(refused, VaultError::NotANote { .. }), "{follow:?} {at}: {refused}");
        }
    }
    let huge = vault.read(&path("Recipes/huge.md")).unwrap_err();
    assert!(matches!(huge, VaultError::TooLarge { .. }), "{huge}");
    for text in ["Recipes/../out/secret.md", "Recipes/.hidden.md", "Recipes/.obsidian/app.json"] {
        assert!(matches!(vault.resolve(text), Err(VaultError::Path(_))), "{text}");
    }
    let shown = listed(&vault);
    let kind = |at: &str| shown.iter().find(|(name, _)| name == at).map(|(_, kind)| *kind);
    assert_eq!(kind("Recipes/link"), Some(EntryKind::Link));
    assert!(!shown.iter().any(|(name, _)| name.contains("/link/") || name.contains("/.")));
    assert_eq!(vault.list().unwrap().problems[0].name, r"Recipes/bad\xFF.md");
    // The control: the file system itself does follow them.
    assert_eq!(fs::read_to_string(root.join("link/secret.md")).unwrap(), SECRET);
}

#[test]
fn a_link_in_the_vault_with_the_name_of_a_root_is_stood_for_by_it() {
    let folder = Folder::new();
    let root = recipes(&folder);
    symlink(&root, folder.root.join("Recipes")).unwrap();
    symlink("Recipes/Bread.md", folder.root.join("short.md")).unwrap();
    let vault = folder.vault();
    assert_eq!(listed(&vault)[0], ("Recipes".to_owned(), EntryKind::Link));
    assert!(matches!(vault.read(&path("Recipes/Bread.md")), Err(VaultError::NotANote { .. })));

    vault.set_extra_roots(&[extra(&root)]);
    assert_eq!(listed(&vault)[0], ("Recipes".to_owned(), EntryKind::Folder));
    assert_eq!(vault.read_bytes(&path("Recipes/Bread.md")).unwrap(), BREAD.as_bytes());
    in_extra_root(&vault.new_path("Recipes/New").unwrap_err(), "Recipes/New");
    // A link with a different name leads there only where the user wants links followed.
    assert!(vault.read(&path("short.md")).is_err());
    vault.set_symlink_policy(SymlinkPolicy::Inside);
    assert_eq!(vault.read_bytes(&path("short.md")).unwrap(), BREAD.as_bytes());
}

#[tokio::test]
async fn what_the_vault_has_under_the_name_is_seen_instead_and_the_listing_says_so() {
    let folder = Folder::with(&[("Recipes/Own.md", "own"), ("Recipes/Bread.md", "own bread")]);
    let root = recipes(&folder);
    let vault = folder.vault_with(&[&root]);
    assert_eq!(names(&vault), ["Recipes", "Recipes/Bread.md", "Recipes/Own.md", "notes"]);
    assert_eq!(vault.read_bytes(&path("Recipes/Bread.md")).unwrap(), b"own bread");
    let problems = problems(&vault);
    assert!(
        problems[0].starts_with("Recipes: the vault already has a file or folder"),
        "{problems:?}"
    );
    let made = order([create("Recipes/New.md", "x"), replace("Recipes/Own.md", "own", "mine")]);
    let applied = vault.apply(made, &MemoryLedger::default()).await.unwrap();
    assert_eq!(applied.done.len(), 2, "{applied:?}");
    assert_eq!(folder.read("Recipes/Own.md").unwrap(), b"mine");
    assert_eq!(fs::read_dir(&root).unwrap().count(), 3, "nothing came into the root");
}

#[tokio::test]
async fn a_root_that_is_away_is_a_problem_until_it_is_back_and_keeps_its_name() {
    let folder = Folder::with(&[("a.md", "a")]);
    let root = recipes(&folder);
    let away = root.with_file_name("away");
    let vault = folder.vault_with(&[&root]);
    assert_eq!(names(&vault).len(), 7);
    let is_away = || {
        assert_eq!(names(&vault), ["a.md", "notes"]);
        assert!(matches!(vault.read(&path("Recipes/Bread.md")), Err(VaultError::NotFound { .. })));
        let told = problems(&vault);
        assert!(told[0].starts_with("Recipes: this additional folder is"), "{told:?}");
        let place = root.parent().unwrap().to_str().unwrap();
        assert!(!told[0].contains(place), "{told:?}: a model may read it");
        in_extra_root(&vault.new_path("Recipes/New").unwrap_err(), "Recipes/New");
    };
    fs::rename(&root, &away).unwrap();
    is_away();
    // An unmounted disk leaves an empty folder behind.
    fs::create_dir(&root).unwrap();
    is_away();
    let made = order([create("Recipes/New.md", "x")]);
    let applied = vault.apply(made, &MemoryLedger::default()).await.unwrap();
    assert!(applied.done.is_empty() && !folder.root.join("Recipes").exists(), "{applied:?}");

    fs::remove_dir(&root).unwrap();
    fs::rename(&away, &root).unwrap();
    assert_eq!(names(&vault).len(), 7);
    assert_eq!(vault.read_bytes(&path("Recipes/Bread.md")).unwrap(), BREAD.as_bytes());
}

#[test]
fn private_rules_hold_by_the_path_in_the_vault_and_by_what_notes_say() {
    let folder = Folder::new();
    let notes = [("Open.md", "open"), ("Diary/a.md", "a"), ("tagged.md", "b #private")];
    let vault = folder.vault_with(&[&folder.add_sibling("Recipes", &notes)]);
    let never = ["Recipes/Diary/", "#private"].map(str::to_owned).to_vec();
    let rules = PrivateRules::parse(&PrivateSettings { never, ..Default::default() }).unwrap();
    let seen = vault.filtered(Arc::new(PrivacyFilter::new(rules, Privacy::Open)));
    assert_eq!(names(&seen), ["Recipes", "Recipes/Open.md", "notes"]);
    for at in ["Recipes/Diary/a.md", "Recipes/tagged.md"] {
        assert!(matches!(seen.read(&path(at)), Err(VaultError::NotFound { .. })), "{at}");
        assert!(vault.read(&path(at)).is_ok(), "{at}: the user sees it");
    }
    assert!(seen.read(&path("Recipes/Open.md")).is_ok());
}

#[test]
fn a_folder_that_shares_notes_with_the_vault_or_another_root_is_not_added() {
    let folder = Folder::with(&[("a.md", "a")]);
    let (root, vault) = (recipes(&folder), folder.vault());
    let link = root.with_file_name("link");
    symlink(folder.root.join("notes"), &link).unwrap();
    let check = |asked: &Path, saying: &str| {
        let known = [extra(&root)];
        let refused = validate_extra_roots(&[extra(&root), extra(asked)], &known, Some(&vault));
        let refused = refused.unwrap_err().to_string();
        assert!(refused.contains(saying), "{}: {refused}", asked.display());
        assert!(refused.contains(asked.to_str().unwrap()) && refused.ends_with('.'), "{refused}");
    };
    check(&folder.root, "is the vault itself");
    check(&folder.root.join("notes"), "is in the vault already");
    check(&link, "is in the vault already");
    check(folder.root.parent().unwrap(), "contains the vault");
    check(Path::new("/"), "contains the vault");
    check(&root.join("sweet"), "overlaps another additional folder");
    check(&root, "overlaps another additional folder");
    check(&root.join("Bread.md"), "isn’t a folder");
    check(&root.with_file_name("gone"), "There is no folder at");
    check(Path::new("relative"), "isn’t the full path");
    check(
        &folder.add_sibling(".hidden", &[("a.md", "a")]),
        "can’t be shown in the vault under the name `.hidden`",
    );

    let out = extra(&folder.out);
    let both = validate_extra_roots(&[extra(&root), out.clone()], &[], Some(&vault)).unwrap();
    assert_eq!(both.iter().map(|root| root.name.as_str()).collect::<Vec<_>>(), ["Recipes", "out"]);
    // One that is known already may be away: its disk is not there.
    fs::rename(&root, root.with_file_name("away")).unwrap();
    assert!(validate_extra_roots(&[extra(&root), out], &[extra(&root)], Some(&vault)).is_ok());
}

#[test]
fn a_root_that_came_to_share_notes_with_the_vault_is_not_seen() {
    let folder = Folder::with(&[("Diary/a.md", SECRET)]);
    let root = recipes(&folder);
    let vault = folder.vault_with(&[&root]);
    assert_eq!(names(&vault).len(), 8);
    fs::rename(&root, root.with_file_name("away")).unwrap();
    symlink(folder.root.join("Diary"), &root).unwrap();
    assert_eq!(names(&vault), ["Diary", "Diary/a.md", "notes"]);
    assert!(vault.read(&path("Recipes/a.md")).is_err());
    assert!(problems(&vault)[0].contains("overlaps"), "{:?}", problems(&vault));
}

#[test]
fn two_roots_of_one_name_get_two_and_a_given_name_counts() {
    let folder = Folder::with(&[("Third/own.md", "own")]);
    let one = recipes(&folder);
    let two = folder.add_sibling("far/recipes", &[("Soup.md", "leek")]);
    let third = folder.add_sibling("Third", &[("c.md", "c")]);
    let mut named = extra(&third);
    named.name = "Kitchen".to_owned();
    let vault = folder.vault_with(&[&one, &two]);
    assert!(names(&vault).contains(&"recipes 2/Soup.md".to_owned()), "{:?}", names(&vault));
    vault.set_extra_roots(&[named.clone(), extra(&one)]);
    assert!(names(&vault).contains(&"Kitchen/c.md".to_owned()), "{:?}", names(&vault));
    // When it is added it gets a name that the vault itself has not.
    let added = validate_extra_roots(&[extra(&third), extra(&one)], &[], Some(&vault)).unwrap();
    assert_eq!(
        added.iter().map(|root| root.name.as_str()).collect::<Vec<_>>(),
        ["Third 2", "Recipes"]
    );
    // A root with an invalid name is omitted, with a message.
    let nameless = ExtraRoot { name: "a/b".to_owned(), ..extra(&one) };
    vault.set_extra_roots(&[nameless]);
    assert_eq!(names(&vault), ["Third", "Third/own.md", "notes"]);
    assert!(problems(&vault)[0].starts_with("a/b: "), "{:?}", problems(&vault));
}

#[tokio::test]
async fn what_was_open_when_a_root_got_its_name_ends_and_makes_nothing_there() {
    let folder = Folder::with(&[("a.md", "a")]);
    let root = recipes(&folder);
    let vault = folder.vault();
    let first = MemoryLedger::default();
    vault.apply(order([create("gone/New.md", "x")]), &first).await.unwrap();
    fs::remove_dir_all(folder.root.join("gone")).unwrap();
    let mut intent = first.0.lock().unwrap()[0].0.clone();
    intent.change.path = path("Recipes/New.md");
    let ledger = MemoryLedger::holding(vec![intent]);
    vault.set_extra_roots(&[extra(&root)]);
    let recovery = vault.recover(&ledger).await.unwrap();
    in_extra_root(&recovery.problems[0].1, "Recipes/New.md");
    assert_eq!(ledger.states(), [IntentState::Failed]);
    assert!(!folder.root.join("Recipes").exists() && !root.join("New.md").exists());
}
