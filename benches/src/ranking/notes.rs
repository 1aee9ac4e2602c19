//! The notes of a vault as a candidate gets them, read one at a time.

use std::error::Error;
use std::path::{Path, PathBuf};

/// A note to find.
pub(crate) struct BenchNote {
    pub(crate) title: String,
    /// A line each.
    pub(crate) headings: String,
    pub(crate) text: String,
}

/// The paths of all notes, sorted.
pub(crate) fn note_paths(vault: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let (mut folders, mut found) = (vec![vault.to_owned()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            let is_hidden =
                path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
            if path.is_dir() && !is_hidden {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// The file at `path`, with its name as title; bytes that are not UTF-8 are replaced.
pub(crate) fn read_note(path: &Path) -> Result<BenchNote, Box<dyn Error>> {
    let text = String::from_utf8_lossy(&std::fs::read(path)?).into_owned();
    let headings = text.lines().filter(|line| line.starts_with('#'));
    let headings = headings.collect::<Vec<_>>().join("\n");
    let title = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    Ok(BenchNote { title: title.unwrap_or_default(), headings, text })
}
