//! The other writers in the folder, all week: an editor that saves its open notes automatically,
//! and a program that brings notes from another device, by renaming.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::vaults::external_editor::{EditorSaveStyle, ExternalEditor};

/// Between two saves, and between two notes that are brought.
const WRITE_INTERVAL: Duration = Duration::from_millis(150);
/// The number of the sync's own notes.
const SYNCED_NOTES: usize = 12;

/// Both programs, until they are asked what they did.
#[derive(Debug)]
pub(super) struct ExternalWriters {
    stop: Arc<AtomicBool>,
    /// The editor saves nothing while this is set.
    pause: Arc<AtomicBool>,
    editors: Vec<JoinHandle<EditorReport>>,
    sync: Option<JoinHandle<BTreeMap<String, String>>>,
    root: PathBuf,
}

/// The fate of the notes that were open in the editor.
#[derive(Debug, Default)]
pub(super) struct EditorReport {
    pub(super) saves: usize,
    /// Lines that were saved and found gone.
    pub(super) lost: usize,
}

/// The totals of both.
#[derive(Debug)]
pub(super) struct ExternalWriteReport {
    pub(super) saved: EditorReport,
    /// The notes of the sync as they must be now, by path.
    pub(super) synced: BTreeMap<String, String>,
}

impl ExternalWriters {
    /// Sets both to work over the folder; the editor has the notes at `open` open.
    pub(super) fn start(root: &Path, open: &[&str]) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let (root, halt) = (root.to_owned(), Arc::clone(&stop));
        let place = root.clone();
        let sync = std::thread::spawn(move || run_sync(&place, &halt));
        let pause = Arc::new(AtomicBool::new(false));
        let mut both = Self { stop, pause, editors: Vec::new(), sync: Some(sync), root };
        open.iter().for_each(|path| both.open_in_editor(path));
        both
    }

    /// The editor opens one more note.
    pub(super) fn open_in_editor(&mut self, path: &str) {
        let (file, halt) = (self.root.join(path), Arc::clone(&self.stop));
        let pause = Arc::clone(&self.pause);
        self.editors.push(std::thread::spawn(move || run_editor(&file, &halt, &pause)));
    }

    /// Lets the editor rest, or save again.
    pub(super) fn set_editor_paused(&self, is_paused: bool) {
        self.pause.store(is_paused, Ordering::SeqCst);
    }

    /// Ends both; answers what they did.
    pub(super) fn stop_and_report(mut self) -> ExternalWriteReport {
        self.stop.store(true, Ordering::SeqCst);
        let mut saved = EditorReport::default();
        for editor in self.editors.drain(..) {
            let one = editor.join().expect("the editor runs");
            saved.saves += one.saves;
            saved.lost += one.lost;
        }
        let sync = self.sync.take().expect("it was begun");
        ExternalWriteReport { saved, synced: sync.join().expect("the sync runs") }
    }
}

impl Drop for ExternalWriters {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
    }
}

fn run_editor(file: &Path, halt: &AtomicBool, pause: &AtomicBool) -> EditorReport {
    let mut pane = ExternalEditor::open(file);
    let mut saves = 0;
    while !halt.load(Ordering::SeqCst) {
        if !pause.load(Ordering::SeqCst) {
            pane.save(EditorSaveStyle::Rename);
            saves += 1;
        }
        std::thread::park_timeout(WRITE_INTERVAL);
    }
    EditorReport { saves, lost: pane.count_lost_lines() }
}

/// A note comes under a hidden name and is renamed into its place; every third time one is moved
/// within the folder, as it was moved on the other device.
fn run_sync(root: &Path, halt: &AtomicBool) -> BTreeMap<String, String> {
    let folder = root.join("Synced");
    fs::create_dir_all(folder.join("Moved")).expect("a folder");
    let mut notes: BTreeMap<usize, (String, String)> = BTreeMap::new();
    let mut rounds = 0_usize;
    while !halt.load(Ordering::SeqCst) {
        let number = rounds % SYNCED_NOTES;
        let moved = rounds % 3 == 2;
        if let Some((path, _)) = notes.get_mut(&number).filter(|_| moved) {
            let here = format!("Synced/Note {number}.md");
            let there = format!("Synced/Moved/Note {number}.md");
            let to = if *path == here { there } else { here };
            fs::rename(root.join(&*path), root.join(&to)).expect("moved");
            *path = to;
        } else {
            let known = notes.get(&number).map(|(path, _)| path.clone());
            let path = known.unwrap_or_else(|| format!("Synced/Note {number}.md"));
            let text = format!("# Note {number}\n\nBrought in round {rounds}.\n");
            let coming = folder.join(format!(".syncing-{number}.tmp"));
            fs::write(&coming, &text).expect("written");
            fs::rename(coming, root.join(&path)).expect("renamed");
            notes.insert(number, (path, text));
        }
        rounds += 1;
        std::thread::park_timeout(WRITE_INTERVAL);
    }
    notes.into_values().collect()
}
