//! Checks many notes at once: the work grows as their number, and each edit is judged as if it were alone.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use protocol::{Change, FileId, Intent, IntentState, SettledIntent};
use tempfile::TempDir;
use vault::undo::VaultFile;

use super::*;
use crate::support::clock::new_id;

/// Notes in each of which one link was rewritten, all in one unit, and the ledger of that.
struct RelinkedVault {
    notes: Vec<NotePath>,
    vault: Vault,
    store: Store,
    folder: TempDir,
    data: TempDir,
}

/// A vault that counts what is asked of it. It is one where a watch saw every move.
struct WatchedVault {
    notes: VaultNotes,
    work: Arc<CountedWork>,
}

#[derive(Default)]
struct CountedWork {
    reads: AtomicUsize,
    lookups: AtomicUsize,
    listings: AtomicUsize,
}

impl VaultReader for WatchedVault {
    fn bytes(&self, path: &NotePath) -> Option<Vec<u8>> {
        self.work.reads.fetch_add(1, Ordering::Relaxed);
        self.notes.bytes(path)
    }

    fn file(&self, path: &NotePath) -> Option<FileId> {
        self.work.lookups.fetch_add(1, Ordering::Relaxed);
        self.notes.file(path)
    }

    fn files(&self) -> Vec<VaultFile> {
        self.work.listings.fetch_add(1, Ordering::Relaxed);
        self.notes.files()
    }

    fn has_arrived(&self, _: &NotePath, _: FileId) -> bool {
        true
    }
}

/// A note, with a link to where another one is.
fn text(number: usize, link: &str) -> String {
    format!("# Note {number}\n\nSee [[{link}]].\n\nThe end.\n")
}

/// Writes a new file in the place of an old one, as Git does. The old one is kept: its number could be given again.
#[expect(clippy::disallowed_methods, reason = "writes into a test's own folder")]
fn write(folder: &Path, data: &Path, name: &str, text: &str) {
    let _ = std::fs::rename(folder.join(name), data.join(new_id::<EffectId>().as_str()));
    std::fs::write(folder.join(name), text).expect("written");
}

#[expect(clippy::disallowed_methods, reason = "moves a file in a test's own folder")]
fn rename(folder: &Path, from: &str, to: &str) {
    std::fs::rename(folder.join(from), folder.join(to)).expect("moved by hand");
}

impl RelinkedVault {
    async fn new(count: usize) -> Self {
        let (folder, data) = (tempfile::tempdir().expect("one"), tempfile::tempdir().expect("two"));
        let store = Store::open(&data.path().join("vault.db")).await.expect("a store");
        let vault = Vault::open(folder.path()).expect("a vault");
        let (mut notes, mut intents, mut ended) = (Vec::new(), Vec::new(), Vec::new());
        for number in 0..count {
            let name = format!("{number:03}.md");
            let (before, after) = (text(number, "Plan"), text(number, "Archive/Plan"));
            write(folder.path(), data.path(), &name, &before);
            let path = NotePath::parse(&name).expect("a path");
            let base = vault.file_id(&path);
            write(folder.path(), data.path(), &name, &after);
            let effect = EffectId::from(format!("effect-{number:03}"));
            let file = vault.file_id(&path);
            ended.push(SettledIntent { effect: effect.clone(), state: IntentState::Done, file });
            intents.push(Intent {
                effect,
                change_set: "set".into(),
                turn: "turn".into(),
                call: "call".into(),
                unit: Some("call".into()),
                base,
                access: None,
                is_exact: false,
                staged: None,
                temp_name: format!(".vaultmate-{number}.tmp"),
                change: Change::replace(path.clone(), before, after),
            });
            notes.push(path);
        }
        store.record_intents(&intents, Timestamp(1)).await.expect("stored");
        store.record_outcomes(&ended).await.expect("settled");
        Self { notes, vault, store, folder, data }
    }

    fn write(&self, number: usize, text: &str) {
        write(self.folder.path(), self.data.path(), self.notes[number].as_str(), text);
    }

    /// Checks all notes. Returns how many pairs of texts were compared, and what was asked of the vault to find the
    /// notes: texts, files and listings.
    async fn check(&self) -> (usize, [usize; 3]) {
        self.check_edits_since(Timestamp(0)).await
    }

    /// The same when edits from before this time are old. They were made at 1.
    async fn check_edits_since(&self, since: Timestamp) -> (usize, [usize; 3]) {
        let mut check = OverwriteCheck::new(&self.store, &self.vault, since);
        let notes = check.disturbed_notes(self.notes.clone()).await.expect("looked");
        check.differences(&notes).await.expect("compared");
        let work = Arc::<CountedWork>::default();
        let vault = VaultNotes(self.vault.clone());
        let vault = WatchedVault { notes: vault, work: Arc::clone(&work) };
        check.store_differences(&notes, vault).await.expect("marked");
        let asked = [&work.reads, &work.lookups, &work.listings];
        (check.compared.len(), asked.map(|times| times.load(Ordering::Relaxed)))
    }

    /// The numbers of the notes whose edits are marked.
    async fn marked(&self) -> Vec<usize> {
        let marked = self.store.overwritten_effects().await.expect("read");
        let number = |number: &usize| EffectId::from(format!("effect-{number:03}"));
        (0..self.notes.len()).filter(|one| marked.contains(&number(one))).collect()
    }
}

#[tokio::test]
async fn work_for_reverted_links_of_one_unit_grows_as_their_number() {
    for count in [50, 200] {
        let relinked = RelinkedVault::new(count).await;
        // The control: nothing is compared while all notes are as they were left.
        assert_eq!(relinked.check().await, (0, [0, 0, 0]));
        for number in 0..count {
            relinked.write(number, &text(number, "Plan"));
        }
        let work = relinked.check().await;
        assert_eq!(relinked.marked().await, (0..count).collect::<Vec<_>>());
        // Each note is looked at twice, and compared once. No other text is loaded.
        assert_eq!(work, (count, [0, count, 1]));
    }
}

#[tokio::test]
async fn edits_of_a_unit_are_marked_and_cleared_each_by_itself() {
    let relinked = RelinkedVault::new(5).await;
    relinked.write(0, &text(0, "Plan"));
    relinked.write(1, &format!("{}Saved by an editor.\n", text(1, "Plan")));
    relinked.write(2, &format!("{}By hand.\n", text(2, "Archive/Plan")));
    rename(relinked.folder.path(), "003.md", "moved.md");
    relinked.write(3, &text(3, "Plan"));
    relinked.check().await;
    assert_eq!(relinked.marked().await, [0, 1]);

    relinked.write(0, &text(0, "Archive/Plan"));
    relinked.write(4, &text(4, "Plan"));
    relinked.check().await;
    assert_eq!(relinked.marked().await, [1, 4]);
}

#[tokio::test]
async fn an_old_edit_is_cleared_when_it_is_back_and_never_marked() {
    let relinked = RelinkedVault::new(6).await;
    for number in 0..5 {
        relinked.write(number, &text(number, "Plan"));
    }
    relinked.check().await;
    assert_eq!(relinked.marked().await, [0, 1, 2, 3, 4]);

    let old = Timestamp(2);
    relinked.write(0, &text(0, "Archive/Plan"));
    relinked.write(1, &format!("{}By hand.\n", text(1, "Archive/Plan")));
    // Neither version, and no note for a moment.
    relinked.write(2, &text(2, "Elsewhere"));
    rename(relinked.folder.path(), "003.md", "moved.md");
    relinked.write(5, &text(5, "Plan"));
    relinked.check_edits_since(old).await;
    assert_eq!(relinked.marked().await, [2, 3, 4]);
    rename(relinked.folder.path(), "moved.md", "003.md");
    relinked.check_edits_since(old).await;
    assert_eq!(relinked.marked().await, [2, 3, 4]);
    // The control: edits that are not old.
    relinked.check().await;
    assert_eq!(relinked.marked().await, [3, 4, 5]);
}
