//! Which files take the place of others: how a note is followed through programs that save it by
//! writing a new file and renaming it over the old one.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use protocol::{FileId, NotePath, Succession};

/// Editors that keep a backup rename the note to it, write the note anew, and remove the backup. All of
/// that takes them milliseconds; whoever takes longer is not such an editor.
const BACKUP_SAVE: Duration = Duration::from_secs(1);

/// A program that saves by a rename has just made the file. One that is older was a file of its own before.
const FRESH: Duration = Duration::from_secs(60);

/// Where the files are that somebody wants followed.
#[derive(Debug, Default)]
pub(crate) struct Seats(Mutex<HashMap<NotePath, FileId>>);

impl Seats {
    /// Follows what stands at `path` from now on.
    pub(crate) fn take(&self, path: &NotePath, file: FileId) {
        if file.born.is_some() {
            self.lock().insert(path.clone(), file);
        }
    }

    pub(super) fn at(&self, path: &NotePath) -> Option<FileId> {
        self.lock().get(path).copied()
    }

    /// Follows no longer what does not stand at its path any more: its replacement was not seen.
    pub(super) fn keep_those_that(&self, stand: impl Fn(&NotePath, FileId) -> bool) {
        self.lock().retain(|path, file| stand(path, *file));
    }

    fn has(&self, file: FileId) -> bool {
        self.lock().values().any(|followed| *followed == file)
    }

    /// Follows what stands at `path` no longer.
    pub(crate) fn leave(&self, path: &NotePath) -> Option<FileId> {
        self.lock().remove(path)
    }

    pub(super) fn leave_below(&self, folder: &NotePath) {
        self.lock().retain(|path, _| !path.is_in(folder));
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<NotePath, FileId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A note that was renamed and may come back under its name at once.
#[derive(Debug)]
struct Vacated {
    file: FileId,
    at: Instant,
    /// The name that it got.
    renamed: Option<NotePath>,
    refilled: Option<FileId>,
}

/// That a file seems to go on as another.
#[derive(Debug)]
struct Candidate {
    path: NotePath,
    succession: Succession,
    /// Whether the look that it comes from was before the mark was touched last.
    is_marked: bool,
}

/// Tells from what the system reports which file went on as which. Reads nothing itself: with each
/// report comes which file stands at the path by now.
///
/// That may be a later one than the report is about. So nothing counts until all is known that was
/// reported before the look; see [`Follower::mark`].
#[derive(Debug, Default)]
pub(super) struct Follower {
    candidates: Vec<Candidate>,
    vacated: HashMap<NotePath, Vacated>,
}

impl Follower {
    /// Whether something waits for a mark.
    pub(super) fn waits(&self) -> bool {
        self.candidates.iter().any(|candidate| !candidate.is_marked)
    }

    /// A mark is set among the reports: what was looked at so far is certain once it comes by.
    pub(super) fn mark(&mut self) {
        self.candidates.iter_mut().for_each(|candidate| candidate.is_marked = true);
    }

    /// A file came to `path` by a rename; `at` is the time of day.
    pub(super) fn arrived(
        &mut self,
        seats: &Seats,
        path: &NotePath,
        now: Option<FileId>,
        at: SystemTime,
    ) {
        let Some(now) = now else {
            self.doubt(path);
            seats.leave(path);
            return;
        };
        match seats.at(path) {
            Some(seat) if seat == now => {}
            // Another note that is followed came over this one, which is gone.
            _ if self.vacated.values().any(|vacated| vacated.file == now) || seats.has(now) => {
                self.doubt(path);
                seats.take(path, now);
            }
            Some(_) if !is_fresh(now, at) => {
                self.doubt(path);
                seats.leave(path);
            }
            Some(seat) => self.replaced(path, seat, now),
            None => {
                // Saved again, over a file whose own succession is not settled yet.
                if let Some(vacated) = self.vacated.get_mut(path)
                    && vacated.refilled.is_some()
                {
                    vacated.refilled = Some(now);
                }
            }
        }
    }

    /// The file at `from` is at `to` now. One that had the name of a note is a note of its own, and not the
    /// new file of the one whose name it took.
    pub(super) fn renamed(&mut self, seats: &Seats, from: &NotePath, to: &NotePath) {
        if from.is_markdown() && self.candidates.iter().any(|candidate| candidate.path == *to) {
            self.doubt(to);
            seats.leave(to);
        }
        if let Some(vacated) = self.vacated.get_mut(from) {
            vacated.renamed = Some(to.clone());
        }
    }

    /// What was at `path` left it by a rename.
    pub(super) fn left(
        &mut self,
        seats: &Seats,
        path: &NotePath,
        now: Option<FileId>,
        at: Instant,
    ) {
        // An exchange of two names tells of both that they left.
        if now.is_some() && now == seats.at(path) {
            return;
        }
        self.doubt(path);
        if let Some(file) = seats.leave(path) {
            self.vacated.retain(|_, vacated| at.duration_since(vacated.at) < BACKUP_SAVE);
            self.vacated.insert(path.clone(), Vacated { file, at, renamed: None, refilled: None });
        }
    }

    /// A file was made at `path`, where nothing was.
    pub(super) fn created(
        &mut self,
        seats: &Seats,
        path: &NotePath,
        now: Option<FileId>,
        at: Instant,
    ) {
        if now.is_none() || now != seats.at(path) {
            self.doubt(path);
            seats.leave(path);
        }
        if let Some(vacated) = self.vacated.get_mut(path)
            && at.duration_since(vacated.at) < BACKUP_SAVE
        {
            vacated.refilled = now;
        }
    }

    /// The file at `path` was removed. That was a backup only if it went at once, and was no note.
    pub(super) fn removed(&mut self, seats: &Seats, path: &NotePath, at: Instant) {
        self.doubt(path);
        self.vacated.remove(path);
        seats.leave(path);
        let is_backup = |(_, vacated): &(&NotePath, &Vacated)| {
            vacated.renamed.as_ref() == Some(path)
                && !path.is_markdown()
                && at.duration_since(vacated.at) < BACKUP_SAVE
        };
        let backed_up = self.vacated.iter().find(is_backup);
        if let Some((note, Vacated { file, refilled: Some(now), .. })) = backed_up {
            let (note, file, now) = (note.clone(), *file, *now);
            self.vacated.remove(&note);
            self.replaced(&note, file, now);
        }
    }

    /// Reports were lost: nothing that waits can become certain.
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }

    /// The mark came by: all is known that happened before it was set. What was looked at by then, and
    /// nothing spoke against, is certain.
    pub(super) fn certain(&mut self, seats: &Seats) -> Vec<Succession> {
        let candidates = std::mem::take(&mut self.candidates);
        let (certain, others): (Vec<_>, Vec<_>) =
            candidates.into_iter().partition(|candidate| candidate.is_marked);
        self.candidates = others;
        let take = |Candidate { path, succession, .. }| {
            seats.take(&path, succession.to);
            succession
        };
        certain.into_iter().map(take).collect()
    }

    fn replaced(&mut self, path: &NotePath, from: FileId, to: FileId) {
        self.doubt(path);
        if to.born.is_some() && from != to {
            let succession = Succession { from, to };
            self.candidates.push(Candidate { path: path.clone(), succession, is_marked: false });
        }
    }

    fn doubt(&mut self, path: &NotePath) {
        self.candidates.retain(|candidate| candidate.path != *path);
    }
}

/// Whether the file was made a moment ago. A clock that was set makes that doubtful, and doubt asks.
fn is_fresh(file: FileId, now: SystemTime) -> bool {
    let born = file.born.and_then(|nanoseconds| u64::try_from(nanoseconds).ok());
    let age = born.and_then(|born| {
        let born = UNIX_EPOCH.checked_add(Duration::from_nanos(born))?;
        // The file system's clock ticks behind the system's.
        Some(now.duration_since(born).unwrap_or_default())
    });
    age.is_some_and(|age| age < FRESH)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All files of these tests were made a moment before.
    const NOW: SystemTime = UNIX_EPOCH;

    fn path(name: &str) -> NotePath {
        NotePath::parse(name).unwrap()
    }

    fn file(number: u64) -> FileId {
        FileId { inode: number, born: Some(number.cast_signed()) }
    }

    fn followed() -> (Seats, Follower) {
        let seats = Seats::default();
        seats.take(&path("a.md"), file(1));
        (seats, Follower::default())
    }

    fn succession(from: u64, to: u64) -> Succession {
        Succession { from: file(from), to: file(to) }
    }

    fn marked(follower: &mut Follower, seats: &Seats) -> Vec<Succession> {
        follower.mark();
        follower.certain(seats)
    }

    #[test]
    fn a_file_renamed_over_the_note_goes_on_as_the_note() {
        let (seats, mut follower) = followed();
        follower.arrived(&seats, &path("a.md"), Some(file(2)), NOW);
        assert_eq!(marked(&mut follower, &seats), [succession(1, 2)]);
        follower.arrived(&seats, &path("a.md"), Some(file(3)), NOW);
        assert_eq!(marked(&mut follower, &seats), [succession(2, 3)]);
    }

    #[test]
    fn a_note_made_anew_after_the_old_one_went_is_another() {
        let (seats, mut follower) = followed();
        follower.removed(&seats, &path("a.md"), Instant::now());
        follower.created(&seats, &path("a.md"), Some(file(2)), Instant::now());
        assert!(!follower.waits());
        follower.arrived(&seats, &path("a.md"), Some(file(3)), NOW);
        assert!(!follower.waits(), "nor is what is saved over that one");
    }

    #[test]
    fn a_look_that_came_too_late_does_not_count() {
        let (seats, mut follower) = followed();
        // The save was reported when the note had been removed and another one made: the look saw that.
        follower.arrived(&seats, &path("a.md"), Some(file(9)), NOW);
        follower.mark();
        follower.removed(&seats, &path("a.md"), Instant::now());
        follower.created(&seats, &path("a.md"), Some(file(9)), Instant::now());
        assert_eq!(follower.certain(&seats), []);
    }

    #[test]
    fn a_mark_speaks_only_for_what_was_looked_at_before_it() {
        let (seats, mut follower) = followed();
        follower.mark();
        follower.arrived(&seats, &path("a.md"), Some(file(2)), NOW);
        assert_eq!(follower.certain(&seats), []);
        assert!(follower.waits());
        assert_eq!(marked(&mut follower, &seats), [succession(1, 2)]);
    }

    #[test]
    fn an_editor_that_keeps_a_backup_while_it_writes_saves_the_same_note() {
        let (seats, mut follower) = followed();
        let now = Instant::now();
        follower.left(&seats, &path("a.md"), None, now);
        // The look at the backup came too late already.
        follower.arrived(&seats, &path("a.md~"), None, NOW);
        follower.renamed(&seats, &path("a.md"), &path("a.md~"));
        follower.created(&seats, &path("a.md"), Some(file(2)), now);
        assert!(!follower.waits(), "the old file is still there");
        follower.removed(&seats, &path("a.md~"), Instant::now());
        assert_eq!(marked(&mut follower, &seats), [succession(1, 2)]);
    }

    #[test]
    fn a_note_moved_away_and_made_anew_is_two_notes() {
        let (seats, mut follower) = followed();
        let now = Instant::now();
        follower.left(&seats, &path("a.md"), None, now);
        follower.arrived(&seats, &path("b.md"), Some(file(1)), NOW);
        follower.renamed(&seats, &path("a.md"), &path("b.md"));
        let later = now + BACKUP_SAVE;
        follower.created(&seats, &path("a.md"), Some(file(2)), later);
        follower.removed(&seats, &path("b.md"), Instant::now());
        assert!(!follower.waits());
    }

    #[test]
    fn a_note_that_was_moved_is_followed_at_its_new_name() {
        let (seats, mut follower) = followed();
        follower.left(&seats, &path("a.md"), None, Instant::now());
        follower.arrived(&seats, &path("b.md"), Some(file(1)), NOW);
        follower.arrived(&seats, &path("b.md"), Some(file(2)), NOW);
        assert_eq!(marked(&mut follower, &seats), [succession(1, 2)]);
    }

    #[test]
    fn another_note_that_is_renamed_over_one_is_not_its_new_file() {
        let (seats, mut follower) = followed();
        seats.take(&path("b.md"), file(2));
        follower.left(&seats, &path("b.md"), None, Instant::now());
        follower.arrived(&seats, &path("a.md"), Some(file(2)), NOW);
        follower.renamed(&seats, &path("b.md"), &path("a.md"));
        assert!(!follower.waits(), "both are followed");
        assert_eq!(seats.at(&path("a.md")), Some(file(2)));

        let (seats, mut follower) = followed();
        follower.arrived(&seats, &path("a.md"), Some(file(2)), NOW);
        follower.renamed(&seats, &path("b.md"), &path("a.md"));
        assert_eq!(marked(&mut follower, &seats), [], "the other one is not followed");
        assert_eq!(seats.at(&path("a.md")), None);

        let (seats, mut follower) = followed();
        follower.arrived(&seats, &path("a.md"), Some(file(2)), NOW + FRESH * 2);
        assert_eq!(marked(&mut follower, &seats), [], "it was made long ago");
    }

    #[test]
    fn a_note_that_is_archived_and_removed_there_does_not_go_on_as_the_new_one() {
        for (archived, pause) in
            [("Archive/a.md", Duration::ZERO), ("a.md~", BACKUP_SAVE), ("a.md~", BACKUP_SAVE * 9)]
        {
            let (seats, mut follower) = followed();
            let now = Instant::now();
            follower.left(&seats, &path("a.md"), None, now);
            follower.arrived(&seats, &path(archived), Some(file(1)), NOW);
            follower.renamed(&seats, &path("a.md"), &path(archived));
            follower.created(&seats, &path("a.md"), Some(file(2)), now);
            follower.removed(&seats, &path(archived), now + pause);
            assert_eq!(marked(&mut follower, &seats), [], "{archived} {pause:?}");
        }
    }

    #[test]
    fn a_file_whose_replacement_was_not_seen_is_followed_no_longer() {
        let (seats, mut follower) = followed();
        seats.keep_those_that(|_, stands| stands == file(7));
        follower.arrived(&seats, &path("a.md"), Some(file(3)), NOW);
        assert_eq!(marked(&mut follower, &seats), []);
    }
}
