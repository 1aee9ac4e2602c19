//! The paths of files that are followed, and the files that replaced them.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use protocol::{FileId, FileReplacement, NotePath};

/// The number of successions that are remembered, the oldest of them given up first.
const MAX_SUCCESSIONS: usize = 4_096;

/// By exact spelling: two files of one folder may have names that differ in nothing but Unicode form.
#[derive(Debug, Default)]
pub(crate) struct TrackedFiles(Mutex<TrackedState>);

#[derive(Debug, Default)]
struct TrackedState {
    files: HashMap<String, TrackedFile>,
    /// In the order in which they happened.
    successions: VecDeque<FileReplacement>,
    /// Those of our own that nobody was told yet.
    own_successions: Vec<FileReplacement>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct TrackedFile {
    file: FileId,
    /// Whether it was seen to leave another path for this one. A file that was merely looked at, by us or at the
    /// user's wish, may be a copy of the note.
    has_arrived: bool,
}

impl TrackedFiles {
    /// Follows what stands at `path` from now on.
    pub(crate) fn track(&self, path: &NotePath, file: FileId) {
        self.track_at(path.as_str(), file);
    }

    /// Follows what stands at `path` no longer.
    pub(crate) fn untrack(&self, path: &NotePath) -> Option<FileId> {
        self.untrack_at(path.as_str())
    }

    /// We put the note at `path` into another file ourselves, which no report tells.
    pub(crate) fn record_own_replacement(&self, path: &NotePath, replacement: FileReplacement) {
        self.record_succession(path.as_str(), replacement);
        self.lock().own_successions.push(replacement);
    }

    /// The successions of our own that nobody was told yet.
    pub(crate) fn take_own_successions(&self) -> Vec<FileReplacement> {
        std::mem::take(&mut self.lock().own_successions)
    }

    /// Whether the note that was in `from` was seen to go on in `to`, by one succession or several.
    /// Old successions are dropped, and nothing is known of the time before the start. A file is no
    /// successor of its own.
    pub(crate) fn was_replaced_by(&self, from: FileId, to: FileId) -> bool {
        let mut last = from;
        self.lock().successions.iter().any(|succession| {
            if succession.from == last {
                last = succession.to;
            }
            last == to && last != from
        })
    }

    /// Follows no longer what does not stand at its path any more: its replacement was not seen.
    pub(in crate::watch) fn retain(&self, stand: impl Fn(&str, FileId) -> bool) {
        self.lock().files.retain(|path, tracked| stand(path, tracked.file));
    }

    pub(in crate::watch) fn file_at(&self, path: &str) -> Option<FileId> {
        self.lock().files.get(path).map(|tracked| tracked.file)
    }

    /// Whether this file was seen to leave another path for this one.
    pub(in crate::watch) fn has_arrived(&self, path: &str, file: FileId) -> bool {
        self.lock().files.get(path) == Some(&TrackedFile { file, has_arrived: true })
    }

    pub(in crate::watch) fn untrack_below(&self, folder: &str) {
        self.lock().files.retain(|path, _| !is_at_or_below(path, folder));
    }

    pub(super) fn track_at(&self, path: &str, file: FileId) {
        if file.born.is_some() {
            let mut seated = self.lock();
            let is_known = seated.files.get(path).is_some_and(|known| known.file == file);
            if !is_known {
                seated.files.insert(path.to_owned(), TrackedFile { file, has_arrived: false });
            }
        }
    }

    /// Follows a file that was seen to leave another path for this one.
    pub(super) fn track_arrival(&self, path: &str, file: FileId) {
        if file.born.is_some() {
            self.lock().files.insert(path.to_owned(), TrackedFile { file, has_arrived: true });
        }
    }

    pub(super) fn untrack_at(&self, path: &str) -> Option<FileId> {
        self.lock().files.remove(path).map(|tracked| tracked.file)
    }

    /// Follows `file` at `path` no longer; another one that was put there since stays.
    pub(super) fn untrack_file(&self, path: &str, file: FileId) {
        let mut seated = self.lock();
        if seated.files.get(path).is_some_and(|tracked| tracked.file == file) {
            seated.files.remove(path);
        }
    }

    /// A succession at `path` is certain. A file that we put there since stays.
    pub(super) fn record_succession(&self, path: &str, replacement: FileReplacement) {
        let mut seated = self.lock();
        let before = seated.files.get(path).copied();
        if before.is_none_or(|tracked| tracked.file == replacement.from) {
            let has_arrived = before.is_some_and(|tracked| tracked.has_arrived);
            let after = TrackedFile { file: replacement.to, has_arrived };
            seated.files.insert(path.to_owned(), after);
        }
        if seated.successions.len() == MAX_SUCCESSIONS {
            seated.successions.pop_front();
        }
        seated.successions.push_back(replacement);
    }

    pub(super) fn contains(&self, file: FileId) -> bool {
        self.lock().files.values().any(|tracked| tracked.file == file)
    }

    fn lock(&self) -> MutexGuard<'_, TrackedState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether `path` is `folder` or lies in it, both as they are spelled.
pub(super) fn is_at_or_below(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(inode: u64) -> FileId {
        FileId { inode, born: Some(1) }
    }

    fn settle(tracked: &TrackedFiles, from: u64, to: u64) {
        tracked.record_succession("a.md", FileReplacement { from: file(from), to: file(to) });
    }

    #[test]
    fn a_note_goes_on_over_several_successions_and_never_backwards() {
        let tracked = TrackedFiles::default();
        settle(&tracked, 1, 2);
        settle(&tracked, 7, 8);
        settle(&tracked, 2, 3);
        for (from, to, goes_on) in
            [(1, 2, true), (1, 3, true), (2, 3, true), (3, 1, false), (1, 8, false), (1, 1, false)]
        {
            assert_eq!(tracked.was_replaced_by(file(from), file(to)), goes_on, "{from} {to}");
        }
    }

    #[test]
    fn old_successions_are_dropped() {
        let tracked = TrackedFiles::default();
        settle(&tracked, 0, 1);
        (1..=u64::try_from(MAX_SUCCESSIONS).unwrap())
            .for_each(|number| settle(&tracked, number, number + 1));
        assert!(!tracked.was_replaced_by(file(0), file(1)));
        assert!(tracked.was_replaced_by(file(1), file(9)));
    }

    #[test]
    fn two_spellings_of_one_name_are_two_tracked_files() {
        let (nfc, nfd) = ("Caf\u{e9}.md", "Cafe\u{301}.md");
        let path = |text| NotePath::parse(text).unwrap();
        assert_eq!(path(nfc), path(nfd));
        let tracked = TrackedFiles::default();
        tracked.track(&path(nfc), file(1));
        assert_eq!((tracked.file_at(nfc), tracked.file_at(nfd)), (Some(file(1)), None));
        tracked.track(&path(nfd), file(2));
        tracked.untrack(&path(nfd));
        assert_eq!((tracked.file_at(nfc), tracked.file_at(nfd)), (Some(file(1)), None));
    }
}
