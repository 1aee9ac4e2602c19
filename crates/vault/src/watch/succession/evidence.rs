//! Which files were made and written under a temporary name, and which were notes before: what it takes to
//! know that a file which was renamed over a note is the new one of a save.

use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use protocol::{FileId, NotePath};

/// A program that saves by a rename has just made the file. One that is older was a file of its own before.
const FRESH: Duration = Duration::from_secs(60);

/// How far the birth of a file may be from the moment at which it was seen to be made. A hard link makes an
/// older file appear.
const CLOSE: Duration = Duration::from_secs(2);

/// So many names and files are remembered. Beyond that nothing is proven until they are old.
const REMEMBERED: usize = 10_000;

/// A moment by both clocks: one measures what lies between two, the other is that of the file system.
#[derive(Debug, Clone, Copy)]
pub(in crate::watch) struct Moment {
    pub(super) steady: Instant,
    pub(super) clock: SystemTime,
}

impl Moment {
    pub(in crate::watch) fn now() -> Self {
        Self { steady: Instant::now(), clock: SystemTime::now() }
    }

    pub(super) fn since(self, earlier: Self) -> Duration {
        self.steady.duration_since(earlier.steady)
    }
}

/// How a rename over a note is to be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The file is the new one of a save.
    Proven,
    /// A new file of a save came, but what was looked at is another one, from an earlier or later save.
    Unclear,
    Refused,
}

/// A file that was seen to be made under a name that is no note's, and stands there still.
#[derive(Debug)]
struct Made {
    /// `None` when it was gone before the look.
    file: Option<FileId>,
    at: Moment,
    /// A link to another file is made, but not written.
    is_written: bool,
}

/// That a file had the name of a note.
#[derive(Debug)]
struct Noted {
    path: String,
    /// `None` when it was gone before the look.
    file: Option<FileId>,
    at: Moment,
}

/// Gathers what reports say of files that may be saved over a note.
#[derive(Debug, Default)]
pub(super) struct Evidence {
    made: HashMap<String, Made>,
    /// The name that was left last, until the summary of that rename comes.
    leaving: Option<(String, Made)>,
    /// The oldest first.
    noted: VecDeque<Noted>,
    /// When a note could not be remembered.
    missed: Option<Moment>,
}

impl Evidence {
    /// A file was made at `path`.
    pub(super) fn created(&mut self, path: &str, now: Option<FileId>, at: Moment) {
        self.made.remove(path);
        if is_note(path) {
            return self.note(path, now, at);
        }
        if self.made.len() >= REMEMBERED {
            self.made.retain(|_, made| at.since(made.at) < FRESH);
        }
        // What is not remembered is not proven.
        if self.made.len() < REMEMBERED {
            self.made.insert(path.to_owned(), Made { file: now, at, is_written: false });
        }
    }

    /// The file at `path` was written.
    pub(super) fn written(&mut self, path: &str) {
        if let Some(made) = self.made.get_mut(path) {
            made.is_written = true;
        }
    }

    /// Another file came to `path` by a rename.
    pub(super) fn arrived(&mut self, path: &str, now: Option<FileId>, at: Moment) {
        self.made.remove(path);
        if is_note(path) {
            self.note(path, now, at);
        }
    }

    pub(super) fn left(&mut self, path: &str) {
        self.leaving = self.made.remove_entry(path);
    }

    pub(super) fn removed(&mut self, path: &str) {
        self.made.remove(path);
    }

    pub(super) fn forget_those(&mut self, go: impl Fn(&str) -> bool) {
        self.made.retain(|path, _| !go(path));
        self.leaving = None;
    }

    /// Judges the rename from `from`, which was the last name that was left, over the note at `to`. There
    /// the file `now` was seen.
    pub(super) fn judge(&mut self, from: &str, to: &str, now: FileId, at: Moment) -> Verdict {
        let leaving = self.leaving.take().filter(|(name, made)| name == from && made.is_written);
        let Some((_, made)) = leaving else { return Verdict::Refused };
        if at.since(made.at) >= FRESH || !self.is_new(to, now, made.at) {
            Verdict::Refused
        } else if made.file.is_none_or(|file| file == now) {
            Verdict::Proven
        } else {
            Verdict::Unclear
        }
    }

    /// Whether the file, which was seen to be made at `made`, was really made then, and had no other
    /// note's name than that at `path`.
    pub(super) fn is_new(&self, path: &str, file: FileId, made: Moment) -> bool {
        let Some(born) = born(file) else { return false };
        let apart = made.clock.duration_since(born).unwrap_or_else(|error| error.duration());
        let is_it = |noted: &Noted| {
            noted.path != path
                && noted.file.map_or_else(|| born <= noted.at.clock, |noted| noted == file)
        };
        let is_blind = self.missed.is_some_and(|missed| made.since(missed) < FRESH);
        apart <= CLOSE && !is_blind && !self.noted.iter().any(is_it)
    }

    fn note(&mut self, path: &str, file: Option<FileId>, at: Moment) {
        while self.noted.front().is_some_and(|noted| at.since(noted.at) >= FRESH + CLOSE) {
            self.noted.pop_front();
        }
        if self.noted.len() < REMEMBERED {
            self.noted.push_back(Noted { path: path.to_owned(), file, at });
        } else {
            self.missed = Some(at);
        }
    }
}

/// Whether that is how a note is called. Hidden files are none.
pub(super) fn is_note(path: &str) -> bool {
    NotePath::parse(path).is_ok_and(|path| path.is_markdown())
}

/// Whether the file was made a moment ago. A clock that was set makes that doubtful, and doubt asks.
pub(super) fn is_fresh(file: FileId, now: Moment) -> bool {
    // The file system's clock ticks behind the system's.
    let age = born(file).map(|born| now.clock.duration_since(born).unwrap_or_default());
    age.is_some_and(|age| age < FRESH)
}

fn born(file: FileId) -> Option<SystemTime> {
    let nanoseconds = u64::try_from(file.born?).ok()?;
    UNIX_EPOCH.checked_add(Duration::from_nanos(nanoseconds))
}
