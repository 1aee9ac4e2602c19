//! The notes that were shown lately, kept over restarts.
#![allow(clippy::disallowed_methods, reason = "a file of the data folder, not a note")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use protocol::NotePath;
use serde_json::Value;

use crate::workspace::data_dir::write_private;

/// The number of notes that are remembered.
const MAX_RECENT_NOTES: usize = 50;

/// The notes that the window showed, newest first.
pub(crate) struct RecentNotes {
    file: PathBuf,
    notes: Mutex<Vec<NotePath>>,
}

impl RecentNotes {
    /// As kept in `dir`, the vault's data folder; none where nothing readable is kept.
    pub(crate) fn load(dir: &Path) -> Self {
        let file = dir.join("recent");
        let kept = fs::read_to_string(&file).unwrap_or_default();
        // Earlier versions wrote a path a line.
        let paths: Vec<String> = serde_json::from_str(&kept)
            .unwrap_or_else(|_| kept.lines().map(str::to_owned).collect());
        let notes = paths.iter().filter_map(|path| NotePath::parse(path).ok());
        let notes = Mutex::new(notes.take(MAX_RECENT_NOTES).collect());
        Self { file, notes }
    }

    /// All of them, newest first; some may be gone.
    pub(crate) fn all(&self) -> Vec<NotePath> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Puts one in front. Blocks on the disk; it is remembered until the end in any case.
    pub(crate) fn add(&self, note: &NotePath) {
        let mut notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        if notes.first() == Some(note) {
            return;
        }
        notes.retain(|other| other != note);
        notes.insert(0, note.clone());
        notes.truncate(MAX_RECENT_NOTES);
        let paths: Value = notes.iter().map(NotePath::as_str).collect();
        if let Err(error) = write_private(&self.file, paths.to_string().as_bytes()) {
            tracing::warn!(%error, "which notes were shown lately is not kept");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_shown_last_comes_first_once_and_after_a_restart() {
        let dir = tempfile::tempdir().expect("a folder");
        let note = |name: &str| NotePath::parse(name).expect("a path");
        let recent = RecentNotes::load(dir.path());
        assert_eq!(recent.all(), []);
        for name in ["a.md", "b.md", "a.md"] {
            recent.add(&note(name));
        }
        assert_eq!(recent.all(), [note("a.md"), note("b.md")]);
        assert_eq!(RecentNotes::load(dir.path()).all(), [note("a.md"), note("b.md")]);
    }

    #[test]
    fn the_file_of_an_earlier_version_is_read_and_kept() {
        let dir = tempfile::tempdir().expect("a folder");
        let note = |name: &str| NotePath::parse(name).expect("a path");
        let former = "Garden/Beans.md\n../outside.md\nTea.md";
        fs::write(dir.path().join("recent"), former).expect("written");
        let recent = RecentNotes::load(dir.path());
        assert_eq!(recent.all(), [note("Garden/Beans.md"), note("Tea.md")]);
        recent.add(&note("New.md"));
        let all = [note("New.md"), note("Garden/Beans.md"), note("Tea.md")];
        assert_eq!(RecentNotes::load(dir.path()).all(), all);
    }
}
