//! Opening a vault, reading, listing and finding notes by name, with everything that may stand in
//! the way.

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
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::time::{Duration, Instant};

use protocol::ContentHash;
use support::{Folder, SECRET, path};
use vault::{EntryKind, OpenError, Vault, VaultError};

#[test]
fn a_missing_folder_and_a_file_are_not_vaults() {
    let folder = Folder::with(&[("a.md", "a")]);
    let missing = Vault::open(&folder.root.join("gone")).unwrap_err();
    assert!(matches!(missing, OpenError::Missing { .. }), "{missing}");
    let file = Vault::open(&folder.root.join("a.md")).unwrap_err();
    assert!(matches!(file, OpenError::NotAFolder { .. }), "{file}");
}

#[test]
fn an_open_vault_knows_its_name_and_takes_writes_without_making_a_file() {
    let folder = Folder::new();
    let vault = folder.vault();
    assert_eq!((vault.name(), vault.folder()), ("vault", folder.root.as_path()));
    assert!(vault.is_writable());
    assert_eq!(folder.names(), ["notes"]);
}

#[test]
fn a_vault_follows_its_folder_when_that_is_renamed() {
    let folder = Folder::with(&[("a.md", "here")]);
    let vault = folder.vault();
    fs::rename(&folder.root, folder.out.join("moved")).unwrap();
    symlink(&folder.out, &folder.root).unwrap();
    assert_eq!(vault.read(&path("a.md")).unwrap().bytes, b"here");
    assert!(matches!(vault.read(&path("secret.md")), Err(VaultError::NotFound { .. })));
}

#[test]
fn a_note_is_read_byte_by_byte() {
    let text = b"\xEF\xBB\xBFone\r\ntwo\nno end \xFF";
    let folder = Folder::new();
    folder.write("a.md", text);
    let note = folder.vault().read(&path("a.md")).unwrap();
    assert_eq!((note.bytes.as_slice(), note.hash), (text.as_slice(), ContentHash::of(text)));
    assert!(note.modified.0 > 1_600_000_000_000);
    folder.write("empty.md", "");
    assert_eq!(folder.vault().read(&path("empty.md")).unwrap().bytes, b"");
}

#[track_caller]
fn not_a_note(folder: &Folder, at: &str, saying: &str) {
    let error = folder.vault().read(&path(at)).unwrap_err();
    assert!(matches!(error, VaultError::NotANote { .. }), "{at}: {error}");
    assert!(error.to_string().contains(saying), "{error}");
}

#[test]
fn links_at_every_level_are_refused() {
    let folder = Folder::with(&[("notes/a.md", "a")]);
    let link = |target: &Path, at: &str| symlink(target, folder.root.join(at)).unwrap();
    link(&folder.out.join("secret.md"), "link.md");
    link(&folder.out, "linkdir");
    link(Path::new("../out/secret.md"), "rel.md");
    link(Path::new(".."), "up");
    link(Path::new("/proc/self/root"), "procroot");
    link(Path::new("loop.md"), "loop.md");
    link(Path::new("notes"), "inside");
    link(&folder.out.join("not-yet.md"), "dangling.md");
    for at in [
        "link.md",
        "linkdir/secret.md",
        "rel.md",
        "up/out/secret.md",
        "loop.md",
        "inside/a.md",
        "procroot/etc/passwd",
        "dangling.md",
    ] {
        not_a_note(&folder, at, "a link");
        folder.vault().resolve(at).map(|found| folder.vault().read(&found).unwrap_err()).ok();
    }
    // The control: the file system itself does follow them.
    assert_eq!(fs::read_to_string(folder.root.join("linkdir/secret.md")).unwrap(), SECRET);
    folder.assert_nothing_outside();
}

#[test]
fn what_is_not_an_ordinary_file_is_refused_at_once() {
    let folder = Folder::with(&[("notes/a.md", "a")]);
    fs::hard_link(folder.out.join("secret.md"), folder.root.join("hard.md")).unwrap();
    not_a_note(&folder, "hard.md", "hard link");
    fs::create_dir(folder.root.join("dir.md")).unwrap();
    not_a_note(&folder, "dir.md", "a folder");
    let pipe = folder.root.join("pipe.md");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RWXU).unwrap();
    not_a_note(&folder, "pipe.md", "pipe");
    let _socket = std::os::unix::net::UnixListener::bind(folder.root.join("sock.md")).unwrap();
    not_a_note(&folder, "sock.md", "device");
}

#[test]
fn a_file_over_the_limit_is_refused_unread() {
    let folder = Folder::new();
    let file = fs::File::create(folder.root.join("huge.md")).unwrap();
    file.set_len(5 << 30).unwrap();
    let error = folder.vault().read(&path("huge.md")).unwrap_err();
    assert!(matches!(error, VaultError::TooLarge { size, .. } if size == 5 << 30), "{error}");
    assert!(error.to_string().contains("5120 MiB"), "{error}");
}

#[test]
fn an_unreadable_note_says_so() {
    let folder = Folder::with(&[("a.md", "a")]);
    fs::set_permissions(folder.root.join("a.md"), fs::Permissions::from_mode(0o000)).unwrap();
    match folder.vault().read(&path("a.md")) {
        Err(VaultError::Denied { verb: "read", .. }) => {}
        // Root may read everything.
        Ok(_) => assert!(rustix::process::geteuid().is_root()),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn a_listing_has_everything_but_protected_names_and_follows_nothing() {
    let folder = Folder::with(&[
        ("b.md", "bb"),
        ("a/Deep/x.MD", "x"),
        ("a/pic.png", "1234"),
        (".obsidian/app.json", "{}"),
        ("a/.git/config", ""),
        (".hidden.md", ""),
    ]);
    symlink(&folder.out, folder.root.join("linkdir")).unwrap();
    let odd = folder.root.join(std::ffi::OsStr::from_bytes(b"bad\xFF.md"));
    fs::write(odd, "").unwrap();
    let listing = folder.vault().list().unwrap();
    let seen: Vec<_> = listing.entries.iter().map(|e| (e.path.as_str(), e.kind, e.size)).collect();
    assert_eq!(
        seen,
        [
            ("a", EntryKind::Folder, 0),
            ("a/Deep", EntryKind::Folder, 0),
            ("a/Deep/x.MD", EntryKind::Note, 1),
            ("a/pic.png", EntryKind::Attachment, 4),
            ("b.md", EntryKind::Note, 2),
            ("linkdir", EntryKind::Link, 0),
            ("notes", EntryKind::Folder, 0),
        ]
    );
    assert_eq!(listing.problems.len(), 1);
    assert_eq!(listing.problems[0].name, r"bad\xFF.md");
}

#[track_caller]
#[test]
fn a_listing_ends_when_its_time_is_up_and_says_that_it_is_cut() {
    let folder = Folder::with(&[("a.md", "1"), ("deep/b.md", "2")]);
    let vault = folder.vault();
    let late = vault.list_until(Instant::now()).unwrap();
    assert_eq!((late.entries.len(), late.timed_out), (0, true));
    let in_time = vault.list_until(Instant::now() + Duration::from_secs(60)).unwrap();
    assert_eq!(in_time, vault.list().unwrap());
    assert!(!in_time.timed_out);
}

fn resolves(folder: &Folder, asked: &str, to: &str) {
    let found = folder.vault().resolve(asked).unwrap_or_else(|error| panic!("{asked}: {error}"));
    assert_eq!(found.as_str(), to);
}

#[test]
fn a_note_is_found_by_what_people_write() {
    let folder = Folder::with(&[
        ("Projects/README.md", ""),
        ("Projects/Groceries.md", ""),
        ("Projects/Board.canvas", ""),
        ("cafe\u{301}.md", ""),
        ("v1.2.md", ""),
    ]);
    resolves(&folder, "Projects/README.md", "Projects/README.md");
    resolves(&folder, "projects/readme", "Projects/README.md");
    resolves(&folder, "./Projects//Groceries", "Projects/Groceries.md");
    resolves(&folder, "groceries", "Projects/Groceries.md");
    resolves(&folder, "board.canvas", "Projects/Board.canvas");
    resolves(&folder, "CAF\u{c9}", "cafe\u{301}.md");
    resolves(&folder, "v1.2", "v1.2.md");
}

#[test]
fn several_answers_are_listed_and_an_exact_one_wins() {
    let folder =
        Folder::with(&[("A/Plan.md", ""), ("B/plan.md", ""), ("todo.md", ""), ("TODO.md", "")]);
    let error = folder.vault().resolve("plan").unwrap_err();
    assert_eq!(
        error.to_string(),
        "`plan` could be `A/Plan.md` or `B/plan.md`. Use one of these paths."
    );
    resolves(&folder, "todo.md", "todo.md");
    resolves(&folder, "TODO", "TODO.md");
    assert!(matches!(folder.vault().resolve("Todo"), Err(VaultError::Ambiguous { .. })));
}

#[test]
fn a_name_that_is_not_there_brings_the_nearest() {
    let folder = Folder::with(&[("Projects/Groceries.md", ""), ("Zebra.md", "")]);
    let error = folder.vault().resolve("Grocery list").unwrap_err();
    assert_eq!(
        error.to_string(),
        "There is no note `Grocery list`. Did you mean `Projects/Groceries.md`?"
    );
    let error = folder.vault().resolve("notes").unwrap_err();
    assert!(matches!(error, VaultError::NotFound { .. }), "a folder is not a note: {error}");
    let error = folder.vault().resolve("Zebra.md/x.md").unwrap_err();
    assert!(matches!(error, VaultError::NotFound { .. }), "{error}");
    assert!(matches!(folder.vault().resolve("../out/secret.md"), Err(VaultError::Path(_))));
}

#[test]
fn a_new_path_takes_the_spelling_of_folders_that_exist() {
    let folder = Folder::with(&[("Projects/Cafe\u{301} ?/x.md", "")]);
    let new = folder.vault().new_path("projects/CAF\u{c9} ?/sub/New").unwrap();
    assert_eq!(new.path().as_str(), "Projects/Cafe\u{301} ?/sub/New.md");
    let root = folder.vault().new_path("New note").unwrap();
    assert_eq!(root.path().as_str(), "New note.md");
}

#[test]
fn a_name_with_a_slash_at_its_end_is_no_note() {
    let folder = Folder::with(&[("a", "x"), ("b.md", "x")]);
    for asked in ["a/", "b.md/", "b/", "new/"] {
        for refused in [folder.vault().resolve(asked).err(), folder.vault().new_path(asked).err()] {
            assert!(matches!(refused, Some(VaultError::Path(_))), "{asked}: {refused:?}");
        }
    }
}

#[test]
fn a_name_is_not_free_because_it_gets_an_extension_unless_a_folder_has_it() {
    let folder = Folder::with(&[("plain", "x"), ("Projects/x.md", "x")]);
    symlink("/proc/self/fd/0", folder.root.join("link")).unwrap();
    for asked in ["plain", "PLAIN", "link"] {
        let refused = folder.vault().new_path(asked);
        assert!(matches!(refused, Err(VaultError::Exists { .. })), "{asked}: {refused:?}");
    }
    assert_eq!(folder.vault().new_path("Projects").unwrap().path().as_str(), "Projects.md");
}

#[test]
fn names_that_are_no_text_are_told_apart_in_a_listing() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let folder = Folder::new();
    let names: [&[u8]; 4] = [b"b\xFF.md", b"b\xFE.md", b"b\\xFF.md", b".hid\xFF.md"];
    for name in names {
        std::fs::write(folder.root.join(OsStr::from_bytes(name)), "x").unwrap();
    }
    std::fs::write(folder.root.join("two\nlines.md"), "x").unwrap();
    let listing = folder.vault().list().unwrap();
    let omitted: Vec<_> = listing.problems.iter().map(|problem| problem.name.as_str()).collect();
    assert_eq!(omitted, [r"b\\xFF.md", r"b\xFE.md", r"b\xFF.md", r"two\nlines.md"]);
}

#[test]
fn a_new_path_that_would_collide_somewhere_is_refused() {
    let folder =
        Folder::with(&[("notes/Plan.md", ""), ("stra\u{df}e.md", ""), ("cafe\u{301}.md", "")]);
    symlink(folder.out.join("gone.md"), folder.root.join("dangling.md")).unwrap();
    symlink(&folder.out, folder.root.join("linkdir")).unwrap();
    for (asked, taken) in [
        ("notes/plan", "notes/Plan.md"),
        ("STRASSE.md", "stra\u{df}e.md"),
        ("caf\u{e9}", "cafe\u{301}.md"),
        ("NOTES/PLAN.MD", "notes/Plan.md"),
        ("dangling.md", "dangling.md"),
        ("notes/Plan.md/x.md", "notes/Plan.md"),
    ] {
        match folder.vault().new_path(asked) {
            Err(VaultError::Exists { path }) => assert_eq!(path.as_str(), taken),
            other => panic!("{asked}: {other:?}"),
        }
    }
    let through = folder.vault().new_path("linkdir/new.md");
    assert!(matches!(through, Err(VaultError::NotANote { .. })), "{through:?}");
    assert!(matches!(folder.vault().new_path("a?.md"), Err(VaultError::Path(_))));
}

#[test]
fn what_may_be_moved_is_judged_without_opening_it_and_never_under_itself() {
    let folder = Folder::with(&[("notes/a.md", "a"), ("one.md", "x")]);
    fs::hard_link(folder.root.join("one.md"), folder.root.join("two.md")).unwrap();
    symlink("one.md", folder.root.join("link.md")).unwrap();
    fs::File::create(folder.root.join("big.md")).unwrap().set_len(20 << 20).unwrap();
    let vault = folder.vault();
    for ours in ["notes/a.md", "big.md"] {
        vault.check_changeable(&path(ours)).unwrap();
    }
    for other in ["two.md", "link.md", "notes"] {
        let refused = vault.check_changeable(&path(other)).unwrap_err();
        assert!(matches!(refused, VaultError::NotANote { .. }), "{other}: {refused}");
    }
    let from = path("notes/a.md");
    let under = vault.new_path_for_rename(&from, "notes/a.md/b.md").unwrap_err();
    assert!(matches!(under, VaultError::Exists { .. }), "{under}");
    assert_eq!(vault.new_path_for_rename(&from, "notes/A").unwrap().path(), &path("notes/A.md"));
}
