//! Which files were made and written under a temporary name, and which were notes before: what it takes to
//! know that a file which was renamed over a note is the new one of a save.

use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use protocol::{FileId, NotePath};

use crate::clock;

/// A program that saves by a rename has just made the file. One that is older was a file of its own before.
const MAX_AGE_OF_NEW_FILE: Duration = Duration::from_secs(60);

/// How far the birth of a file may be from the moment at which it was seen to be made. A hard link makes an
/// older file appear.
const BIRTH_TOLERANCE: Duration = Duration::from_secs(2);

/// The number of names and files that are remembered. Beyond that nothing is proven until they are
/// old.
const MAX_REMEMBERED: usize = 10_000;

/// A moment by both clocks: one measures what lies between two, the other is that of the file system.
#[derive(Debug, Clone, Copy)]
pub(in crate::watch) struct EventTime {
    pub(super) monotonic: Instant,
    pub(super) wall_clock: SystemTime,
}

impl EventTime {
    pub(in crate::watch) fn now() -> Self {
        Self { monotonic: Instant::now(), wall_clock: clock::now() }
    }

    pub(super) fn since(self, earlier: Self) -> Duration {
        self.monotonic.duration_since(earlier.monotonic)
    }
}

/// How a rename over a note is to be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RenameEvidence {
    /// The file is the new one of a save.
    Proven,
    /// A new file of a save came, but the file at the path is another one, from an earlier or later
    /// save.
    Unclear,
    Refused,
}

/// A file that was seen to be made under a name that is no note's, and stands there still.
#[derive(Debug)]
struct CreatedFile {
    /// `None` when it was gone before the look.
    file: Option<FileId>,
    at: EventTime,
    /// A link to another file is made, but not written.
    is_written: bool,
}

/// That a file had the name of a note.
#[derive(Debug)]
struct NoteNameRecord {
    path: String,
    /// `None` when it was gone before the look.
    file: Option<FileId>,
    at: EventTime,
}

/// Gathers what reports say of files that may be saved over a note.
#[derive(Debug, Default)]
pub(super) struct SaveEvidence {
    created: HashMap<String, CreatedFile>,
    /// The name that was left last, until the summary of that rename comes.
    leaving: Option<(String, CreatedFile)>,
    /// The oldest first.
    note_names: VecDeque<NoteNameRecord>,
    /// When a note could not be remembered.
    missed: Option<EventTime>,
}

impl SaveEvidence {
    /// A file was made at `path`.
    pub(super) fn created(&mut self, path: &str, now: Option<FileId>, at: EventTime) {
        self.created.remove(path);
        if is_note(path) {
            return self.record_note_name(path, now, at);
        }
        if self.created.len() >= MAX_REMEMBERED {
            self.created.retain(|_, made| at.since(made.at) < MAX_AGE_OF_NEW_FILE);
        }
        // A file that is not remembered is not proven.
        if self.created.len() < MAX_REMEMBERED {
            self.created.insert(path.to_owned(), CreatedFile { file: now, at, is_written: false });
        }
    }

    /// The file at `path` was written.
    pub(super) fn written(&mut self, path: &str) {
        if let Some(made) = self.created.get_mut(path) {
            made.is_written = true;
        }
    }

    /// Another file came to `path` by a rename.
    pub(super) fn arrived(&mut self, path: &str, now: Option<FileId>, at: EventTime) {
        self.created.remove(path);
        if is_note(path) {
            self.record_note_name(path, now, at);
        }
    }

    pub(super) fn left(&mut self, path: &str) {
        self.leaving = self.created.remove_entry(path);
    }

    pub(super) fn removed(&mut self, path: &str) {
        self.created.remove(path);
    }

    pub(super) fn remove_where(&mut self, go: impl Fn(&str) -> bool) {
        self.created.retain(|path, _| !go(path));
        self.leaving = None;
    }

    /// Judges the rename from `from`, which was the last name that was left, over the note at `to`. There
    /// the file `now` was seen.
    pub(super) fn judge_rename(
        &mut self,
        from: &str,
        to: &str,
        now: FileId,
        at: EventTime,
    ) -> RenameEvidence {
        let leaving = self.leaving.take().filter(|(name, made)| name == from && made.is_written);
        let Some((_, made)) = leaving else { return RenameEvidence::Refused };
        if at.since(made.at) >= MAX_AGE_OF_NEW_FILE || !self.is_new(to, now, made.at) {
            RenameEvidence::Refused
        } else if made.file.is_none_or(|file| file == now) {
            RenameEvidence::Proven
        } else {
            RenameEvidence::Unclear
        }
    }

    /// Whether the file, which was seen to be made at `made`, was really made then, and had no other
    /// note's name than that at `path`.
    pub(super) fn is_new(&self, path: &str, file: FileId, made: EventTime) -> bool {
        let Some(born) = birth_time(file) else { return false };
        let apart = made.wall_clock.duration_since(born).unwrap_or_else(|error| error.duration());
        let is_it = |noted: &NoteNameRecord| {
            noted.path != path
                && noted.file.map_or_else(|| born <= noted.at.wall_clock, |noted| noted == file)
        };
        let is_blind = self.missed.is_some_and(|missed| made.since(missed) < MAX_AGE_OF_NEW_FILE);
        apart <= BIRTH_TOLERANCE && !is_blind && !self.note_names.iter().any(is_it)
    }

    fn record_note_name(&mut self, path: &str, file: Option<FileId>, at: EventTime) {
        while self
            .note_names
            .front()
            .is_some_and(|noted| at.since(noted.at) >= MAX_AGE_OF_NEW_FILE + BIRTH_TOLERANCE)
        {
            self.note_names.pop_front();
        }
        if self.note_names.len() < MAX_REMEMBERED {
            self.note_names.push_back(NoteNameRecord { path: path.to_owned(), file, at });
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
pub(super) fn is_fresh(file: FileId, now: EventTime) -> bool {
    // The file system's clock ticks behind the system's.
    let age = birth_time(file).map(|born| now.wall_clock.duration_since(born).unwrap_or_default());
    age.is_some_and(|age| age < MAX_AGE_OF_NEW_FILE)
}

fn birth_time(file: FileId) -> Option<SystemTime> {
    let nanoseconds = u64::try_from(file.born?).ok()?;
    UNIX_EPOCH.checked_add(Duration::from_nanos(nanoseconds))
}
