//! Who else writes into the folder, all week: a program that saves by itself the notes that are open in
//! it, and one that brings notes from another device, by renaming.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::outside_editor::{Pane, Style};

/// Between two saves, and between two notes that are brought.
const PAUSE: Duration = Duration::from_millis(150);
/// What the sync has of its own.
const SYNCED: usize = 12;

/// Both programs, until they are asked what they did.
#[derive(Debug)]
pub(super) struct Outsiders {
    stop: Arc<AtomicBool>,
    editors: Vec<JoinHandle<Saved>>,
    sync: Option<JoinHandle<BTreeMap<String, String>>>,
    root: PathBuf,
}

/// What became of the notes that were open in the editor.
#[derive(Debug, Default)]
pub(super) struct Saved {
    pub(super) saves: usize,
    /// Lines that were saved and found gone.
    pub(super) lost: usize,
}

/// What both did, all in all.
#[derive(Debug)]
pub(super) struct Deeds {
    pub(super) saved: Saved,
    /// The notes of the sync as they must be now, by path.
    pub(super) synced: BTreeMap<String, String>,
}

impl Outsiders {
    /// Sets both to work over the folder; the editor has the notes at `open` open.
    pub(super) fn over(root: &Path, open: &[&str]) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let (root, halt) = (root.to_owned(), Arc::clone(&stop));
        let place = root.clone();
        let sync = std::thread::spawn(move || synced(&place, &halt));
        let mut both = Self { stop, editors: Vec::new(), sync: Some(sync), root };
        open.iter().for_each(|path| both.opens(path));
        both
    }

    /// The editor opens one more note.
    pub(super) fn opens(&mut self, path: &str) {
        let (file, halt) = (self.root.join(path), Arc::clone(&self.stop));
        self.editors.push(std::thread::spawn(move || saved(&file, &halt)));
    }

    /// Ends both; answers what they did.
    pub(super) fn end(mut self) -> Deeds {
        self.stop.store(true, Ordering::SeqCst);
        let mut saved = Saved::default();
        for editor in self.editors.drain(..) {
            let one = editor.join().expect("the editor runs");
            saved.saves += one.saves;
            saved.lost += one.lost;
        }
        let sync = self.sync.take().expect("it was begun");
        Deeds { saved, synced: sync.join().expect("the sync runs") }
    }
}

impl Drop for Outsiders {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
    }
}

fn saved(file: &Path, halt: &AtomicBool) -> Saved {
    let mut pane = Pane::open(file);
    let mut saves = 0;
    while !halt.load(Ordering::SeqCst) {
        pane.save(Style::Rename);
        saves += 1;
        std::thread::park_timeout(PAUSE);
    }
    Saved { saves, lost: pane.lost() }
}

/// A note comes under a hidden name and is renamed into its place; every third time one is moved
/// within the folder, as it was moved on the other device.
fn synced(root: &Path, halt: &AtomicBool) -> BTreeMap<String, String> {
    let folder = root.join("Synced");
    fs::create_dir_all(folder.join("Moved")).expect("a folder");
    let mut notes: BTreeMap<usize, (String, String)> = BTreeMap::new();
    let mut rounds = 0_usize;
    while !halt.load(Ordering::SeqCst) {
        let number = rounds % SYNCED;
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
        std::thread::park_timeout(PAUSE);
    }
    notes.into_values().collect()
}
