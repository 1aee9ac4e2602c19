//! Another program with the same notes open, which saves them automatically.

use std::collections::BTreeSet;
use std::fs;
use std::fs::{File, OpenOptions};
use std::io::{Seek, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How a program puts new text in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EditorSaveStyle {
    /// The whole text beside the file, then over it in one step.
    Rename,
    /// Emptied and written at once.
    InPlace,
    /// Emptied, and written a moment later by another thread of the program.
    InPlaceLater,
}

impl EditorSaveStyle {
    /// Every way to save, for tests that try each.
    pub const ALL: [Self; 3] = [Self::Rename, Self::InPlace, Self::InPlaceLater];
}

/// So long a file stays empty with [`EditorSaveStyle::InPlaceLater`].
const EMPTY_FILE_TIME: Duration = Duration::from_micros(300);

/// A pane of the editor: one note, of which it changes the lines that begin with `editor`.
#[derive(Debug)]
pub struct ExternalEditor {
    file: PathBuf,
    /// Its lines, as it saved them last.
    saved: BTreeSet<String>,
    saves: usize,
    lost: usize,
}

impl ExternalEditor {
    /// Opens a note.
    #[must_use]
    pub fn open(file: &Path) -> Self {
        let saved = editor_lines(&read_text(file));
        Self { file: file.to_owned(), saved, saves: 0, lost: 0 }
    }

    /// Takes in what is on the disk, changes one of its lines, and saves.
    pub fn save(&mut self, style: EditorSaveStyle) {
        let before = self.read_and_compare();
        self.saves += 1;
        let number = self.saves % 10;
        let line = format!("editor {number}: saved {}", self.saves);
        let label = format!("editor {number}:");
        let lines = before.lines().map(|old| if old.starts_with(&label) { &line } else { old });
        let mut after = lines.collect::<Vec<_>>().join("\n");
        after.push('\n');
        self.write(&after, style);
        self.saved = editor_lines(&after);
    }

    /// How many lines it had saved and found gone since it was opened.
    pub fn count_lost_lines(&mut self) -> usize {
        self.read_and_compare();
        self.lost
    }

    fn read_and_compare(&mut self) -> String {
        let found = read_text(&self.file);
        let lines = editor_lines(&found);
        self.lost += self.saved.difference(&lines).count();
        self.saved = lines;
        found
    }

    fn write(&self, after: &str, style: EditorSaveStyle) {
        match style {
            EditorSaveStyle::Rename => {
                let temp = self.file.with_extension("saving");
                fs::write(&temp, after).expect("written");
                fs::rename(&temp, &self.file).expect("renamed");
            }
            EditorSaveStyle::InPlace => fs::write(&self.file, after).expect("written"),
            EditorSaveStyle::InPlaceLater => {
                let mut file = truncate(&self.file);
                let emptied = Instant::now();
                while emptied.elapsed() < EMPTY_FILE_TIME {
                    std::thread::yield_now();
                }
                file.rewind().expect("at its start");
                file.write_all(after.as_bytes()).expect("written");
            }
        }
    }
}

fn truncate(file: &Path) -> File {
    OpenOptions::new().write(true).truncate(true).open(file).expect("opened")
}

fn read_text(file: &Path) -> String {
    fs::read_to_string(file).expect("readable")
}

fn editor_lines(text: &str) -> BTreeSet<String> {
    text.lines().filter(|line| line.starts_with("editor")).map(str::to_owned).collect()
}
