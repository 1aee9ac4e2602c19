//! Where the files are that somebody wants followed, and what they went on as.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use protocol::{FileId, NotePath, Succession};

/// So many successions are remembered, the oldest of them given up first.
const REMEMBERED: usize = 4_096;

/// By exact spelling: two files of one folder may have names that differ in nothing but Unicode form.
#[derive(Debug, Default)]
pub(crate) struct Seats(Mutex<Seated>);

#[derive(Debug, Default)]
struct Seated {
    files: HashMap<String, FileId>,
    /// In the order in which they happened.
    settled: VecDeque<Succession>,
    /// Those of our own that nobody was told yet.
    ours: Vec<Succession>,
}

impl Seats {
    /// Follows what stands at `path` from now on.
    pub(crate) fn take(&self, path: &NotePath, file: FileId) {
        self.take_at(path.as_str(), file);
    }

    /// Follows what stands at `path` no longer.
    pub(crate) fn leave(&self, path: &NotePath) -> Option<FileId> {
        self.leave_at(path.as_str())
    }

    /// We put the note at `path` into another file ourselves, which no report tells.
    pub(crate) fn replaced(&self, path: &NotePath, succession: Succession) {
        self.settle(path.as_str(), succession);
        self.lock().ours.push(succession);
    }

    /// The successions of our own that nobody was told yet.
    pub(crate) fn take_ours(&self) -> Vec<Succession> {
        std::mem::take(&mut self.lock().ours)
    }

    /// Whether the note that was in `from` was seen to go on in `to`, by one succession or several. Forgets
    /// what is long ago, and knows nothing of what happened before the start. A file is no successor of its
    /// own.
    pub(crate) fn goes_on(&self, from: FileId, to: FileId) -> bool {
        let mut last = from;
        self.lock().settled.iter().any(|succession| {
            if succession.from == last {
                last = succession.to;
            }
            last == to && last != from
        })
    }

    /// Follows no longer what does not stand at its path any more: its replacement was not seen.
    pub(in crate::watch) fn keep_those_that(&self, stand: impl Fn(&str, FileId) -> bool) {
        self.lock().files.retain(|path, file| stand(path, *file));
    }

    pub(in crate::watch) fn at(&self, path: &str) -> Option<FileId> {
        self.lock().files.get(path).copied()
    }

    pub(in crate::watch) fn leave_below(&self, folder: &str) {
        self.lock().files.retain(|path, _| !is_in(path, folder));
    }

    pub(super) fn take_at(&self, path: &str, file: FileId) {
        if file.born.is_some() {
            self.lock().files.insert(path.to_owned(), file);
        }
    }

    pub(super) fn leave_at(&self, path: &str) -> Option<FileId> {
        self.lock().files.remove(path)
    }

    /// Follows `file` at `path` no longer; another one that was put there since stays.
    pub(super) fn give_up(&self, path: &str, file: FileId) {
        let mut seated = self.lock();
        if seated.files.get(path) == Some(&file) {
            seated.files.remove(path);
        }
    }

    /// A succession at `path` is certain. A file that we put there since stays.
    pub(super) fn settle(&self, path: &str, succession: Succession) {
        let mut seated = self.lock();
        if seated.files.get(path).is_none_or(|file| *file == succession.from) {
            seated.files.insert(path.to_owned(), succession.to);
        }
        if seated.settled.len() == REMEMBERED {
            seated.settled.pop_front();
        }
        seated.settled.push_back(succession);
    }

    pub(super) fn has(&self, file: FileId) -> bool {
        self.lock().files.values().any(|followed| *followed == file)
    }

    fn lock(&self) -> MutexGuard<'_, Seated> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether `path` is `folder` or lies in it, both as they are spelled.
pub(super) fn is_in(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(inode: u64) -> FileId {
        FileId { inode, born: Some(1) }
    }

    fn settle(seats: &Seats, from: u64, to: u64) {
        seats.settle("a.md", Succession { from: file(from), to: file(to) });
    }

    #[test]
    fn a_note_goes_on_over_several_successions_and_never_backwards() {
        let seats = Seats::default();
        settle(&seats, 1, 2);
        settle(&seats, 7, 8);
        settle(&seats, 2, 3);
        for (from, to, goes_on) in
            [(1, 2, true), (1, 3, true), (2, 3, true), (3, 1, false), (1, 8, false), (1, 1, false)]
        {
            assert_eq!(seats.goes_on(file(from), file(to)), goes_on, "{from} {to}");
        }
    }

    #[test]
    fn successions_of_long_ago_are_forgotten() {
        let seats = Seats::default();
        settle(&seats, 0, 1);
        (1..=u64::try_from(REMEMBERED).unwrap())
            .for_each(|number| settle(&seats, number, number + 1));
        assert!(!seats.goes_on(file(0), file(1)));
        assert!(seats.goes_on(file(1), file(9)));
    }

    #[test]
    fn two_spellings_of_one_name_are_two_seats() {
        let (nfc, nfd) = ("Caf\u{e9}.md", "Cafe\u{301}.md");
        let path = |text| NotePath::parse(text).unwrap();
        assert_eq!(path(nfc), path(nfd));
        let seats = Seats::default();
        seats.take(&path(nfc), file(1));
        assert_eq!((seats.at(nfc), seats.at(nfd)), (Some(file(1)), None));
        seats.take(&path(nfd), file(2));
        seats.leave(&path(nfd));
        assert_eq!((seats.at(nfc), seats.at(nfd)), (Some(file(1)), None));
    }
}
