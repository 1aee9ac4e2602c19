//! A note is followed through the saves of other programs, and no other note is taken for it.

#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test makes its own files and fails where it cannot go on"
)]

#[path = "../support/mod.rs"]
mod support;

use std::fs;
use std::time::UNIX_EPOCH;

use protocol::{FileId, FileReplacement};
use support::watched::next;
use support::{Folder, path};
use vault::{Vault, VaultChange, VaultWatch};

/// A note that is saved to learn that all was told that happened before.
const LAST: &str = "notes/last.md";

/// A folder with notes of which some are followed, under a watch that stands.
struct WatchedFolder {
    folder: Folder,
    vault: Vault,
    watch: VaultWatch,
    /// How often the test waited for the reports.
    looks: u32,
}

impl WatchedFolder {
    async fn following(notes: &[&str]) -> Self {
        let folder = Folder::with(&[(LAST, "")]);
        notes.iter().for_each(|note| folder.write(note, "1"));
        fs::create_dir(folder.root.join("Archive")).unwrap();
        fs::create_dir(folder.root.join(".trash")).unwrap();
        let vault = folder.vault();
        let mut watch = vault.watch().unwrap();
        assert_eq!(next(&mut watch).await, VaultChange::Everything);
        let watched = Self { folder, vault, watch, looks: 0 };
        for note in notes.iter().chain([&LAST]) {
            watched.vault.track_files([(path(note), watched.file(note))]);
        }
        watched
    }

    fn file(&self, note: &str) -> FileId {
        self.vault.file_id(&path(note)).unwrap()
    }

    fn rename(&self, from: &str, to: &str) {
        fs::rename(self.folder.root.join(from), self.folder.root.join(to)).unwrap();
    }

    fn link(&self, from: &str, to: &str) {
        fs::hard_link(self.folder.root.join(from), self.folder.root.join(to)).unwrap();
    }

    fn remove(&self, name: &str) {
        fs::remove_file(self.folder.root.join(name)).unwrap();
    }

    fn save(&self, temp: &str, note: &str) {
        self.folder.write(temp, "saved");
        self.rename(temp, note);
    }

    /// As Vim does it.
    fn save_with_backup(&self, note: &str) {
        let backup = format!("{note}~");
        self.rename(note, &backup);
        self.folder.write(note, "saved");
        self.remove(&backup);
    }

    /// Waits until all changes so far were seen, and until the clock of the file system is past
    /// them: a change that is too short to be seen makes earlier files doubtful.
    async fn until_seen(&mut self) -> Vec<FileReplacement> {
        let mut told = Vec::new();
        self.looks += 1;
        let sign = format!("notes/seen-{}.txt", self.looks);
        self.folder.write(&sign, "");
        loop {
            match next(&mut self.watch).await {
                VaultChange::Replaced(successions) => told.extend(successions),
                VaultChange::Notes(files) if files.contains(&path(&sign)) => break,
                _ => {}
            }
        }
        let seen = UNIX_EPOCH.elapsed().unwrap().as_nanos();
        let born = || u128::try_from(self.file(&sign).born.unwrap()).unwrap();
        while born() <= seen {
            self.remove(&sign);
            self.folder.write(&sign, "");
        }
        told
    }

    /// The successions reported by now, without the last note's own saves.
    async fn successions(&mut self) -> Vec<FileReplacement> {
        let mut told = self.until_seen().await;
        let before = self.file(LAST);
        self.save("notes/last.tmp", LAST);
        let after = self.file(LAST);
        while told.last() != Some(&FileReplacement { from: before, to: after }) {
            if let VaultChange::Replaced(successions) = next(&mut self.watch).await {
                told.extend(successions);
            }
        }
        told.pop();
        told
    }
}

/// Whether what was done is seen step by step, or only when all is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ObservationPace {
    Step,
    Rush,
}

const PACES: [ObservationPace; 2] = [ObservationPace::Step, ObservationPace::Rush];

impl ObservationPace {
    async fn wait_until_seen(self, watched: &mut WatchedFolder) -> Vec<FileReplacement> {
        if self == Self::Step { watched.successions().await } else { Vec::new() }
    }
}

#[tokio::test]
async fn saves_by_a_temporary_file_are_followed_however_it_is_called() {
    for temp in [
        "Log.md.tmp.1234",
        "4913",
        ".Log.md.swp",
        ".goutputstream-AB12CD",
        ".syncthing.Log.md.tmp",
        "Archive/.Log.part",
    ] {
        let mut watched = WatchedFolder::following(&["Log.md"]).await;
        let from = watched.file("Log.md");
        watched.save(temp, "Log.md");
        let to = watched.file("Log.md");
        assert_eq!(watched.successions().await, [FileReplacement { from, to }], "{temp}");
        watched.save(temp, "Log.md");
        let next = FileReplacement { from: to, to: watched.file("Log.md") };
        assert_eq!(watched.successions().await, [next], "{temp}");
    }
}

#[tokio::test]
async fn saves_that_leave_a_backup_while_they_write_are_followed_one_after_the_other() {
    let mut watched = WatchedFolder::following(&["Log.md"]).await;
    for _ in 0..3 {
        let from = watched.file("Log.md");
        watched.save_with_backup("Log.md");
        let to = watched.file("Log.md");
        assert_eq!(watched.successions().await, [FileReplacement { from, to }]);
    }
}

#[tokio::test]
async fn many_quick_saves_in_a_row_end_in_the_file_that_is_there() {
    for temps in [["Log.tmp"; 2], [".Log.1", ".Log.2"]] {
        let mut watched = WatchedFolder::following(&["Log.md"]).await;
        // An inode number that is used again in the same tick of the clock makes two files one.
        watched.until_seen().await;
        let first = watched.file("Log.md");
        for save in 0..20 {
            watched.save(temps[save % 2], "Log.md");
        }
        let told = watched.successions().await;
        let is_chain = told.windows(2).all(|pair| pair[0].to == pair[1].from);
        assert!(is_chain && told.first().is_some_and(|told| told.from == first), "{told:?}");
        assert_eq!(told.last().unwrap().to, watched.file("Log.md"));
    }
}

#[tokio::test]
async fn a_file_that_is_still_open_when_it_is_renamed_is_followed() {
    let mut watched = WatchedFolder::following(&["Log.md"]).await;
    let from = watched.file("Log.md");
    let mut temp = tempfile::NamedTempFile::new_in(&watched.folder.root).unwrap();
    std::io::Write::write_all(&mut temp, b"saved").unwrap();
    let open = temp.persist(watched.folder.root.join("Log.md")).unwrap();
    let to = watched.file("Log.md");
    assert_eq!(watched.successions().await, [FileReplacement { from, to }]);
    drop(open);
}

#[tokio::test]
async fn a_new_note_under_the_name_of_one_that_was_archived_is_not_that_one() {
    for pace in PACES {
        for archived in ["Archive/Old.md", "Archive/Old.bak"] {
            let mut watched = WatchedFolder::following(&["Log.md"]).await;
            let old = watched.file("Log.md");
            let mut told = Vec::new();
            watched.rename("Log.md", archived);
            told.extend(pace.wait_until_seen(&mut watched).await);
            watched.folder.write("Log.md", "another");
            told.extend(pace.wait_until_seen(&mut watched).await);
            watched.save_with_backup("Log.md");
            told.extend(watched.successions().await);
            assert_eq!(told, [], "{archived} {pace:?}");
            assert!(watched.vault.has_arrived(&path(archived), old), "{archived} {pace:?}");
        }
    }
}

/// One step by which `New.md` comes over `Log.md`.
type ReplacementStep = fn(&WatchedFolder);

/// The ways in which it comes.
const REPLACEMENTS: [(&str, &[ReplacementStep]); 7] = [
    ("directly", &[|watched| watched.rename("New.md", "Log.md")]),
    (
        "by way of a temporary name",
        &[
            |watched| watched.rename("New.md", "New.tmp"),
            |watched| watched.rename("New.tmp", "Log.md"),
        ],
    ),
    (
        "by way of a hidden name",
        &[|watched| watched.rename("New.md", ".New"), |watched| watched.rename(".New", "Log.md")],
    ),
    (
        "from outside",
        &[
            |watched| watched.rename("New.md", "../out/New.md"),
            |watched| watched.rename("../out/New.md", "Log.md"),
        ],
    ),
    (
        "from the trash",
        &[
            |watched| watched.rename("New.md", ".trash/New.md"),
            |watched| watched.rename(".trash/New.md", "Log.md"),
        ],
    ),
    (
        "by a link",
        &[
            |watched| watched.link("New.md", "x.tmp"),
            |watched| watched.remove("New.md"),
            |watched| watched.rename("x.tmp", "Log.md"),
        ],
    ),
    (
        "by a link, the note staying",
        &[|watched| watched.link("New.md", ".x.tmp"), |watched| watched.rename(".x.tmp", "Log.md")],
    ),
];

#[tokio::test]
async fn a_young_note_that_comes_over_another_is_not_its_new_file() {
    for (way, steps) in REPLACEMENTS {
        for pace in PACES {
            let mut watched = WatchedFolder::following(&["Log.md"]).await;
            let mut told = Vec::new();
            watched.folder.write("New.md", "another");
            for step in steps {
                told.extend(pace.wait_until_seen(&mut watched).await);
                step(&watched);
            }
            told.extend(pace.wait_until_seen(&mut watched).await);
            watched.save("Log.tmp", "Log.md");
            told.extend(watched.successions().await);
            assert_eq!(told, [], "{way} {pace:?}");
        }
    }
}

#[tokio::test]
async fn a_second_name_of_a_note_is_followed_and_did_not_come_from_the_first_one() {
    let mut watched = WatchedFolder::following(&["Log.md"]).await;
    let file = watched.file("Log.md");
    watched.link("Log.md", "t");
    watched.rename("t", "Archive/Log.md");
    assert_eq!(watched.successions().await, []);
    assert!(!watched.vault.has_arrived(&path("Archive/Log.md"), file));
    // The control: the note itself goes there.
    watched.rename("Log.md", "Moved.md");
    assert_eq!(watched.successions().await, []);
    assert!(watched.vault.has_arrived(&path("Moved.md"), file));
}

#[tokio::test]
async fn a_file_that_is_only_followed_did_not_come_and_one_that_came_is_not_forgotten() {
    let mut watched = WatchedFolder::following(&["Log.md"]).await;
    let file = watched.file("Log.md");
    let follow = |watched: &WatchedFolder, note: &str| {
        watched.vault.track_files([(path(note), file)]);
        watched.vault.has_arrived(&path(note), file)
    };
    assert!(!follow(&watched, "Log.md"));
    watched.rename("Log.md", "Moved.md");
    assert_eq!(watched.successions().await, []);
    assert!(follow(&watched, "Moved.md"));
}

#[tokio::test]
async fn saves_of_a_note_whose_name_differs_in_unicode_form_are_not_of_this_one() {
    let (nfc, nfd) = ("Caf\u{e9}.md", "Cafe\u{301}.md");
    for (mine, other) in [(nfc, nfd), (nfd, nfc)] {
        let mut watched = WatchedFolder::following(&[mine]).await;
        watched.folder.write(other, "another");
        let file = watched.file(mine);
        let mut told = Vec::new();
        watched.save("t", other);
        told.extend(watched.successions().await);
        watched.save_with_backup(other);
        told.extend(watched.successions().await);
        assert_eq!(told, [], "{mine}");
        watched.save("t", mine);
        let to = watched.file(mine);
        assert_eq!(watched.successions().await, [FileReplacement { from: file, to }], "{mine}");
    }
}
