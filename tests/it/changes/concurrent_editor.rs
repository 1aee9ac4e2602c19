//! The assistant beside an editor that saves automatically: text of the editor is never lost, and
//! an edit whose own lines the editor left alone is never refused.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;
use std::{fs, thread};

use app::StoreLedger;
use protocol::{CallId, Change, ChangeSetId, NotePath, TurnId};
use store::Store;
use tempfile::TempDir;
use testkit::vaults::external_editor::{EditorSaveStyle, ExternalEditor};
use vault::{ChangeBatch, PlannedChange, Vault};

/// Edits of both together.
const EDITS: usize = 10_000;

/// An old file is kept for half a minute at most.
const RELEASE_TIMEOUT: Duration = Duration::from_secs(60);

/// How many notes are open in the editor.
const NOTES: usize = 8;

/// When the editor saves the note that the assistant is about to edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SaveMoment {
    BeforeReading,
    BeforeWriting,
    WhileWriting,
}

const SAVE_MOMENTS: [SaveMoment; 3] =
    [SaveMoment::BeforeReading, SaveMoment::BeforeWriting, SaveMoment::WhileWriting];

/// The result of an interleaving.
#[derive(Debug, Default, PartialEq, Eq)]
struct InterleavingTally {
    edits: usize,
    /// Edits of the assistant that were refused.
    stale: usize,
    /// Lines that the editor saved and found gone.
    lost: usize,
}

/// A vault, in memory where the system lets a test mount one: thousands of syncs would only slow
/// the test down.
struct NotesFolder {
    folder: TempDir,
    is_mounted: bool,
}

impl NotesFolder {
    fn path(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for NotesFolder {
    fn drop(&mut self) {
        if self.is_mounted {
            let gone = Command::new("umount").arg("-l").arg(self.path()).status();
            assert!(gone.is_ok_and(|gone| gone.success()), "{} stays", self.path().display());
        }
    }
}

fn make_folder() -> NotesFolder {
    let folder = tempfile::tempdir().expect("a folder");
    let mounted = Command::new("mount").args(["-t", "tmpfs", "tmpfs"]).arg(folder.path()).output();
    let is_mounted = mounted.is_ok_and(|output| output.status.success());
    let folder = NotesFolder { folder, is_mounted };
    fs::create_dir(folder.path().join("notes")).expect("a folder");
    for number in 0..NOTES {
        fs::write(note_file(folder.path(), number), initial_text()).expect("written");
    }
    folder
}

fn note_file(folder: &Path, number: usize) -> PathBuf {
    folder.join("notes").join(format!("{number}.md"))
}

/// Ten lines of each, with something between them.
fn initial_text() -> String {
    let lines = (0..10).map(|line| {
        format!("assistant {line}: edit 0\n\nBetween {line}.\n\neditor {line}: saved 0\n\nAnd {line}.\n\n")
    });
    lines.collect()
}

/// The same text after the assistant's edit number `edit`.
fn assistant_edit(before: &[u8], edit: usize) -> Vec<u8> {
    let label = format!("assistant {}:", edit % 10);
    let before = String::from_utf8_lossy(before);
    let line = |old: &str| match old.starts_with(&label) {
        true => format!("{label} edit {edit}\n"),
        false => old.to_owned(),
    };
    before.split_inclusive('\n').map(line).collect::<String>().into_bytes()
}

/// The editor, on a thread of its own: saves the note it is told, and says so.
fn run_editor(
    panes: &mut [ExternalEditor],
    told: &Receiver<(usize, EditorSaveStyle)>,
    done: &SyncSender<()>,
) {
    while let Ok((number, style)) = told.recv() {
        panes[number].save(style);
        done.send(()).expect("the assistant listens");
    }
}

/// Interleaves both; `write` is how the assistant brings its edit to the disk, and says whether it
/// was refused.
fn interleave(
    folder: &Path,
    read: impl Fn(usize) -> Vec<u8>,
    mut write: impl FnMut(usize, Vec<u8>, Vec<u8>) -> bool,
) -> InterleavingTally {
    let mut panes: Vec<_> =
        (0..NOTES).map(|number| ExternalEditor::open(&note_file(folder, number))).collect();
    let (tell, told) = sync_channel(0);
    let (done, saved) = sync_channel(1);
    let mut tally = InterleavingTally::default();
    thread::scope(|scope| {
        let panes = &mut panes;
        scope.spawn(move || run_editor(panes, &told, &done));
        for edit in 0..EDITS / 2 {
            let (number, style) =
                (edit % NOTES, EditorSaveStyle::ALL[edit / NOTES % EditorSaveStyle::ALL.len()]);
            let moment = SAVE_MOMENTS[edit / 5 % SAVE_MOMENTS.len()];
            let save = || tell.send((number, style)).expect("the editor listens");
            let wait = || saved.recv().expect("the editor saves");
            if moment == SaveMoment::BeforeReading {
                save();
                wait();
            }
            let before = read(number);
            let after = assistant_edit(&before, edit + 1);
            if moment != SaveMoment::BeforeReading {
                save();
            }
            if moment == SaveMoment::BeforeWriting {
                wait();
            }
            tally.stale += usize::from(write(number, before, after));
            if moment == SaveMoment::WhileWriting {
                wait();
            }
            tally.edits += 2;
        }
        drop(tell);
    });
    tally.lost = panes.iter_mut().map(ExternalEditor::count_lost_lines).sum();
    tally
}

#[test]
fn ten_thousand_edits_beside_an_editor_lose_none_of_its_lines_and_none_is_refused() {
    let place = make_folder();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.expect("a runtime");
    let store = runtime.block_on(Store::open(&place.path().join("vault.db")));
    let ledger = StoreLedger(store.expect("a store"));
    let vault = Vault::open(&place.path().join("notes")).expect("a vault");
    let path = |number: usize| NotePath::parse(&format!("{number}.md")).expect("a path");
    let read = |number| vault.read(&path(number)).expect("readable").bytes;
    let write = |number, before: Vec<u8>, after: Vec<u8>| {
        let planned = PlannedChange {
            change: Change::replace(path(number), before, after),
            turn: TurnId::from("turn"),
            call: CallId::from("call"),
            unit: None,
            file: None,
        };
        let order = ChangeBatch { change_set: ChangeSetId::from("set"), changes: vec![planned] };
        let applied = runtime.block_on(vault.apply(order, &ledger)).expect("applied");
        for (path, problem) in &applied.problems {
            println!("refused: {path}: {problem:?}");
        }
        !applied.problems.is_empty()
    };
    let began = std::time::Instant::now();
    let InterleavingTally { edits, stale, lost } = interleave(place.path(), read, write);
    println!(
        "edits={edits} stale={stale} lost={lost} seconds={:.1}",
        began.elapsed().as_secs_f64()
    );
    assert_eq!((edits, stale, lost), (EDITS, 0, 0));
    // The old file of a note stays while the editor may still write to it.
    // A save that the exchange displaced for a moment is kept in the trash as well.
    let list = || {
        let entries = fs::read_dir(place.path().join("notes")).expect("a listing");
        let names = entries.map(|entry| entry.expect("an entry").file_name());
        names.filter(|name| name != ".trash").collect::<Vec<_>>()
    };
    let released = runtime.block_on(async {
        let all_released = async {
            while list().len() != NOTES {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(RELEASE_TIMEOUT, all_released).await
    });
    assert!(released.is_ok(), "not only the {NOTES} notes are left: {:?}", list());
}

/// The control: an assistant that writes what it planned, whatever is there by now.
#[test]
fn an_assistant_that_does_not_compare_loses_lines_of_the_editor() {
    let place = make_folder();
    let read = |number| fs::read(note_file(place.path(), number)).expect("readable");
    let write = |number, _, after: Vec<u8>| {
        fs::write(note_file(place.path(), number), after).expect("written");
        false
    };
    let InterleavingTally { edits, stale, lost } = interleave(place.path(), read, write);
    println!("control: edits={edits} stale={stale} lost={lost}");
    // How many hangs on the moment: a note that both have emptied has no more to lose.
    assert!(lost > NOTES, "the control must lose lines: {lost}");
}
