//! Which files take the place of others: how a note is followed through programs that save it by
//! writing a new file and renaming it over the old one.

mod evidence;
#[cfg(test)]
mod tests;
mod tracked_files;

use std::collections::HashMap;
use std::time::Duration;

use protocol::{FileId, FileReplacement};

use evidence::{RenameEvidence, SaveEvidence, is_fresh, is_note};
use tracked_files::is_at_or_below;

pub(super) use evidence::EventTime;
pub(crate) use tracked_files::TrackedFiles;

/// Editors that keep a backup rename the note to it, write the note again, and remove the backup.
/// All of that takes them milliseconds; a slower program is not such an editor.
const BACKUP_SAVE: Duration = Duration::from_secs(1);

/// A note that was renamed and may get its name again at once.
#[derive(Debug)]
struct VacatedName {
    file: FileId,
    at: EventTime,
    /// The name that it got.
    renamed: Option<String>,
    refilled: Option<RefilledName>,
}

impl VacatedName {
    fn was_renamed_to(&self, path: &str) -> bool {
        self.renamed.as_deref() == Some(path)
    }
}

#[derive(Debug, Clone, Copy)]
struct RefilledName {
    file: FileId,
    proof: SaveProof,
}

/// Whether it is known that a save brought the new file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SaveProof {
    /// The summary of the rename has to come.
    Awaited,
    /// A save it was, but of another file than the one that was looked at: the next one tells, whenever
    /// it comes.
    Unclear,
    Given,
}

/// That a file seems to go on as another.
#[derive(Debug)]
struct ReplacementCandidate {
    path: String,
    succession: FileReplacement,
    proof: SaveProof,
    /// Whether the look that it comes from was before the mark was touched last.
    is_marked: bool,
}

/// Tells from the reports of the system which file replaced which. Reads nothing itself: each
/// report comes with the file that is at the path by now. Paths are as spelled, those of hidden
/// files among them.
///
/// That may be a later one than the report is about. So nothing counts until all is known that was
/// reported before the look; see [`ReplacementTracker::set_mark`]. Nothing counts either without [`SaveEvidence`] that the new
/// file was made for the save.
#[derive(Debug, Default)]
pub(super) struct ReplacementTracker {
    candidates: Vec<ReplacementCandidate>,
    vacated: HashMap<String, VacatedName>,
    evidence: SaveEvidence,
}

impl ReplacementTracker {
    /// Whether something waits for a mark.
    pub(super) fn has_pending(&self) -> bool {
        self.candidates.iter().any(|candidate| !candidate.is_marked)
    }

    /// A mark is set among the reports: what was looked at so far is certain once it comes by.
    pub(super) fn set_mark(&mut self) {
        self.candidates.iter_mut().for_each(|candidate| candidate.is_marked = true);
    }

    /// A file came to `path` by a rename. It waits for the summary of that rename, which comes next:
    /// [`ReplacementTracker::renamed`].
    pub(super) fn arrived(
        &mut self,
        tracked: &TrackedFiles,
        path: &str,
        now: Option<FileId>,
        at: EventTime,
    ) {
        self.evidence.arrived(path, now, at);
        self.vacated.retain(|_, vacated| !vacated.was_renamed_to(path));
        let pending = self.remove_candidate(path);
        let Some(now) = now else {
            tracked.untrack_at(path);
            return;
        };
        let tracked_file = tracked.file_at(path);
        if tracked_file == Some(now) {
            return;
        }
        // Another note that is followed came over this one, which is gone.
        if self.vacated.values().any(|vacated| vacated.file == now) {
            return tracked.track_arrival(path, now);
        }
        // A second name of a note that still has its first one.
        if tracked.contains(now) {
            return tracked.track_at(path, now);
        }
        // Saved again perhaps, over a file whose own succession is not settled yet.
        let from = match pending {
            Some(pending) => {
                (pending.proof != SaveProof::Awaited).then_some(pending.succession.from)
            }
            None => tracked_file,
        };
        match from.filter(|_| is_fresh(now, at)) {
            Some(from) => {
                self.add_candidate(path, FileReplacement { from, to: now }, SaveProof::Awaited)
            }
            None => {
                tracked.untrack_at(path);
            }
        }
        self.refill_vacated(path, now);
    }

    fn refill_vacated(&mut self, path: &str, now: FileId) {
        if let Some(mut vacated) = self.vacated.remove(path)
            && let Some(refilled) = &mut vacated.refilled
            && refilled.proof != SaveProof::Awaited
        {
            *refilled = RefilledName { file: now, proof: SaveProof::Awaited };
            self.vacated.insert(path.to_owned(), vacated);
        }
    }

    /// The file at `from` is at `to` now. One that was not made there for a save is a note of its own, and
    /// not the new file of the one whose name it took.
    pub(super) fn renamed(&mut self, tracked: &TrackedFiles, from: &str, to: &str, at: EventTime) {
        self.judge_candidate(tracked, from, to, at);
        self.judge_refilled(from, to, at);
        if is_note(to) {
            self.vacated.remove(from);
        } else if let Some(vacated) = self.vacated.get_mut(from) {
            vacated.renamed = Some(to.to_owned());
        }
    }

    /// A rename moved the file at `path` away.
    pub(super) fn left(
        &mut self,
        tracked: &TrackedFiles,
        path: &str,
        now: Option<FileId>,
        at: EventTime,
    ) {
        self.evidence.left(path);
        let is_open = |vacated: &VacatedName| {
            at.since(vacated.at) < BACKUP_SAVE && !vacated.was_renamed_to(path)
        };
        self.vacated.retain(|_, vacated| is_open(vacated));
        // An exchange of two names tells of both that they left.
        if now.is_some() && now == tracked.file_at(path) {
            return;
        }
        let tracked_file = tracked.untrack_at(path);
        let file = match self.remove_candidate(path) {
            Some(pending) => (pending.proof == SaveProof::Given).then_some(pending.succession.from),
            None => tracked_file,
        };
        match file {
            Some(file) => {
                let vacated = VacatedName { file, at, renamed: None, refilled: None };
                self.vacated.insert(path.to_owned(), vacated);
            }
            // The leaving file is not the file that was vacated before: that one lives elsewhere.
            None => drop(self.vacated.remove(path)),
        }
    }

    /// A file was made at `path`, where nothing was.
    pub(super) fn created(
        &mut self,
        tracked: &TrackedFiles,
        path: &str,
        now: Option<FileId>,
        at: EventTime,
    ) {
        let new = now.filter(|now| self.evidence.is_new(path, *now, at));
        self.evidence.created(path, now, at);
        self.vacated.retain(|_, vacated| !vacated.was_renamed_to(path));
        if now.is_none() || now != tracked.file_at(path) {
            self.remove_candidate(path);
            tracked.untrack_at(path);
        }
        if let Some(mut vacated) = self.vacated.remove(path)
            && let Some(file) = new
            && at.since(vacated.at) < BACKUP_SAVE
        {
            vacated.refilled = Some(RefilledName { file, proof: SaveProof::Given });
            self.vacated.insert(path.to_owned(), vacated);
        }
    }

    /// The file at `path` was written.
    pub(super) fn written(&mut self, path: &str) {
        self.evidence.written(path);
    }

    /// The file at `path` was removed. That was a backup only if it went at once, and was no note.
    pub(super) fn removed(&mut self, tracked: &TrackedFiles, path: &str, at: EventTime) {
        self.evidence.removed(path);
        self.remove_candidate(path);
        self.vacated.remove(path);
        tracked.untrack_at(path);
        let backed_up = self.vacated.iter().find(|(_, vacated)| vacated.was_renamed_to(path));
        let Some(note) = backed_up.map(|(note, _)| note.clone()) else { return };
        if let Some(VacatedName { file, at: since, refilled: Some(now), .. }) =
            self.vacated.remove(&note)
            && now.proof == SaveProof::Given
            && at.since(since) < BACKUP_SAVE
        {
            self.add_candidate(
                &note,
                FileReplacement { from: file, to: now.file },
                SaveProof::Given,
            );
        }
    }

    /// A folder came to this path or left it: what was known of the files in it is so no longer.
    pub(super) fn remove_below(&mut self, folder: &str) {
        self.evidence.remove_where(|path| is_at_or_below(path, folder));
        self.candidates.retain(|candidate| !is_at_or_below(&candidate.path, folder));
        self.vacated.retain(|path, vacated| {
            let backup = vacated.renamed.as_deref();
            !is_at_or_below(path, folder)
                && !backup.is_some_and(|backup| is_at_or_below(backup, folder))
        });
    }

    /// Reports were lost: no pending succession can become certain.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// The mark came by: everything that happened before it was set is known. A succession that was
    /// seen by then, was proven, and was not contradicted is certain. One that was not proven is
    /// followed no longer.
    pub(super) fn take_certain(&mut self, tracked: &TrackedFiles) -> Vec<FileReplacement> {
        let candidates = std::mem::take(&mut self.candidates);
        let (certain, others): (Vec<_>, Vec<_>) = candidates
            .into_iter()
            .partition(|candidate| candidate.is_marked && candidate.proof != SaveProof::Unclear);
        self.candidates = others;
        let settle =
            |ReplacementCandidate { path, succession, proof, .. }: ReplacementCandidate| {
                if proof == SaveProof::Given {
                    tracked.record_succession(&path, succession);
                    return Some(succession);
                }
                tracked.untrack_file(&path, succession.from);
                None
            };
        certain.into_iter().filter_map(settle).collect()
    }

    fn judge_candidate(&mut self, tracked: &TrackedFiles, from: &str, to: &str, at: EventTime) {
        let Some(mut pending) = self.remove_candidate(to) else { return };
        match self.evidence.judge_rename(from, to, pending.succession.to, at) {
            RenameEvidence::Proven => pending.proof = SaveProof::Given,
            RenameEvidence::Unclear => pending.proof = SaveProof::Unclear,
            RenameEvidence::Refused => {
                tracked.untrack_at(to);
                return;
            }
        }
        self.candidates.push(pending);
    }

    fn judge_refilled(&mut self, from: &str, to: &str, at: EventTime) {
        let vacated = self.vacated.get_mut(to);
        let Some(refilled) = vacated.and_then(|vacated| vacated.refilled.as_mut()) else { return };
        match self.evidence.judge_rename(from, to, refilled.file, at) {
            RenameEvidence::Proven => refilled.proof = SaveProof::Given,
            RenameEvidence::Unclear => refilled.proof = SaveProof::Unclear,
            RenameEvidence::Refused => drop(self.vacated.remove(to)),
        }
    }

    fn add_candidate(&mut self, path: &str, replacement: FileReplacement, proof: SaveProof) {
        self.remove_candidate(path);
        if replacement.to.born.is_some() && replacement.from != replacement.to {
            let path = path.to_owned();
            self.candidates.push(ReplacementCandidate {
                path,
                succession: replacement,
                proof,
                is_marked: false,
            });
        }
    }

    /// Drops the candidate at `path`.
    fn remove_candidate(&mut self, path: &str) -> Option<ReplacementCandidate> {
        let at = self.candidates.iter().position(|candidate| candidate.path == path)?;
        Some(self.candidates.remove(at))
    }
}
