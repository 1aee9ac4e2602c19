//! Other programs that write notes: one save at a time, without end, and five thousand at once.

use std::fs;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Where single saves go, below the notes.
pub(crate) const SAVE_FOLDER: &str = "Desk";

/// Where five thousand at once go.
const CHECKOUT_FOLDER: &str = "Tree";

/// How a program saves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SaveMethod {
    /// Emptied and written at once.
    Plain,
    /// Written beside it, then renamed over it.
    Rename,
}

/// Saves a note of its own folder each time, some for the first time, most over what was there.
#[derive(Debug)]
pub(crate) struct NoteSaver {
    folder: PathBuf,
    saves: usize,
}

/// A save that has ended.
pub(crate) struct CompletedSave {
    /// The word that is in no other save, and the note's first line.
    pub(crate) word: String,
    pub(crate) path: String,
    pub(crate) ended: Instant,
}

impl NoteSaver {
    pub(crate) fn new(notes: &Path) -> Self {
        let folder = notes.join(SAVE_FOLDER);
        fs::create_dir_all(&folder).expect("a folder");
        Self { folder, saves: 0 }
    }

    pub(crate) fn save(&mut self, style: SaveMethod) -> CompletedSave {
        self.saves += 1;
        let word = unique_word("save", self.saves);
        let name = format!("note {}.md", self.saves % 40);
        let (file, text) = (self.folder.join(&name), note_text(&word));
        match style {
            SaveMethod::Plain => fs::write(&file, text).expect("written"),
            SaveMethod::Rename => {
                let temp = self.folder.join(".saving");
                fs::write(&temp, text).expect("written");
                fs::rename(&temp, &file).expect("renamed");
            }
        }
        CompletedSave { word, path: format!("{SAVE_FOLDER}/{name}"), ended: Instant::now() }
    }
}

/// A word that nothing else holds, in this run or another one.
pub(crate) fn unique_word(what: &str, number: usize) -> String {
    format!("{what}{:x}x{number}", fastrand::u64(..))
}

fn note_text(word: &str) -> String {
    let line = "The harbour was quiet and the boats lay in the mud, as every winter. #harbour\n";
    format!("{word}\n\n# A save\n\n{}", line.repeat(20))
}

/// Two programs that never pause: one appends to a note, one saves others; until dropped.
pub(crate) struct BusyWriters {
    stop: Arc<AtomicBool>,
    writers: Vec<JoinHandle<()>>,
}

/// From one write of a busy program to its next one.
const WRITE_INTERVAL: Duration = Duration::from_millis(1);

/// A log starts from empty when it has so many lines.
const MAX_LOG_LINES: usize = 1_000;

impl BusyWriters {
    pub(crate) fn start(notes: &Path) -> Self {
        let over = Arc::<AtomicBool>::default();
        let folder = notes.join("Busy");
        fs::create_dir_all(&folder).expect("a folder");
        let log = folder.join("log.md");
        let logging = spawn_paced(&over, move |number| {
            let mut open = OpenOptions::new();
            open.create(true).write(true);
            if number % MAX_LOG_LINES == 0 {
                open.truncate(true)
            } else {
                open.append(true)
            };
            let mut file = open.open(&log).expect("opened");
            writeln!(file, "{number}: a line of the log").expect("written");
        });
        let saving = spawn_paced(&over, move |number| {
            let file = folder.join(format!("note {}.md", number % 50));
            fs::write(file, note_text(&format!("busy {number}"))).expect("written");
        });
        Self { stop: over, writers: vec![logging, saving] }
    }
}

impl Drop for BusyWriters {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.writers.drain(..).for_each(|writer| writer.join().expect("it wrote"));
    }
}

fn spawn_paced(
    over: &Arc<AtomicBool>,
    mut write: impl FnMut(usize) + Send + 'static,
) -> JoinHandle<()> {
    let over = Arc::clone(over);
    std::thread::spawn(move || {
        for number in 0.. {
            if over.load(Ordering::Relaxed) {
                return;
            }
            write(number);
            std::thread::park_timeout(WRITE_INTERVAL);
        }
    })
}

/// So many files does a checkout write.
pub(crate) const CHECKOUT_FILES: usize = 5_000;

/// A checkout under way, and how to know its files.
pub(crate) struct Checkout {
    /// In every file of it.
    pub(crate) mark: String,
    /// In the file that is written last.
    pub(crate) last: String,
    writer: JoinHandle<Instant>,
}

impl Checkout {
    /// Gives every file of the tree new text, as `git checkout` does: the old one is removed, a new
    /// one made.
    pub(crate) fn start(notes: &Path) -> Self {
        let (mark, last) = (unique_word("mark", 0), unique_word("last", 0));
        let (tree, own_mark, own_last) = (notes.join(CHECKOUT_FOLDER), mark.clone(), last.clone());
        let writer = std::thread::spawn(move || {
            for number in 0..CHECKOUT_FILES {
                let folder = tree.join(format!("{:02}", number / 100));
                let file = folder.join(format!("leaf {number}.md"));
                if fs::remove_file(&file).is_err() {
                    fs::create_dir_all(&folder).expect("a folder");
                }
                let word = if number + 1 == CHECKOUT_FILES { &own_last } else { "leaf" };
                let text = note_text(&format!("{own_mark} {word} {number}"));
                let new = OpenOptions::new().write(true).create_new(true).open(&file);
                new.and_then(|mut file| file.write_all(text.as_bytes())).expect("written");
            }
            Instant::now()
        });
        Self { mark, last, writer }
    }

    pub(crate) fn is_running(&self) -> bool {
        !self.writer.is_finished()
    }

    /// When it ended.
    pub(crate) fn wait_for_end(self) -> Instant {
        self.writer.join().expect("it wrote")
    }
}
