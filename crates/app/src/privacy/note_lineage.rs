//! Whether a file is a note that was known before: our changes, and programs that save by renaming, put a new
//! file in the place of the old one.

use std::collections::{HashMap, HashSet};

use protocol::{ChangeKind, Effect, FileId, FileReplacement, NotePath, Timestamp, UserError};

use super::PrivacyGuard;
use crate::support::clock::by_file_clock;

/// When a note was read at its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ReadTimes {
    /// It was read at this time or later.
    pub(crate) first: Timestamp,
    /// It was read at this time or later once more.
    pub(crate) last: Timestamp,
}

impl ReadTimes {
    /// It was read in one turn, which may have read it since then.
    pub(crate) const fn since(at: Timestamp) -> Self {
        Self { first: at, last: at }
    }

    /// It was read at all these times.
    pub(crate) fn and(self, other: Self) -> Self {
        Self { first: self.first.min(other.first), last: self.last.max(other.last) }
    }
}

/// A note as it was known last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KnownNote {
    /// It was read at its path.
    Read(ReadTimes),
    /// It was this file at this time, as far as that is known.
    File(Option<FileId>, Option<Timestamp>),
}

impl KnownNote {
    /// Whether it is that file itself. A file that was made since is not the note that was read.
    pub(super) fn is(self, file: &FileId) -> bool {
        match self {
            Self::Read(_) => file.born.is_some_and(|born| born / 1_000_000 < self.since().0),
            Self::File(known, _) => known == Some(*file),
        }
    }

    /// Since when it may have gone elsewhere, by the clock of the file system.
    pub(super) fn since(self) -> Timestamp {
        match self {
            Self::Read(ReadTimes { first: at, .. }) | Self::File(_, Some(at)) => by_file_clock(at),
            Self::File(_, None) => Timestamp(i64::MIN),
        }
    }

    /// Whether a change of ours at this time came after the note was known last, so that it may have been one
    /// of this note. A time that is not known is none.
    pub(super) fn is_before(self, change: Option<Timestamp>) -> bool {
        let last = match self {
            Self::Read(read) => Some(read.last),
            Self::File(_, at) => at,
        };
        last.zip(change).is_some_and(|(last, change)| last <= change)
    }
}

/// The files whose places other files took, by those files.
#[derive(Debug, Default)]
pub(super) struct NoteLineage(HashMap<FileId, Vec<FileId>>);

impl NoteLineage {
    pub(super) fn new(successions: &[FileReplacement]) -> Self {
        let mut earlier: HashMap<FileId, Vec<FileId>> = HashMap::new();
        for FileReplacement { from, to } in successions {
            earlier.entry(*to).or_default().push(*from);
        }
        Self(earlier)
    }

    /// Whether the file is one of those that `is_it`, or goes on from one: by saves of other programs, and by
    /// those of our `changes` that gave a note new text. A file that we made, or made of one that nobody
    /// knows, goes on from none.
    pub(super) fn continues(
        &self,
        changes: &[Effect],
        file: FileId,
        is_it: impl Fn(&FileId) -> bool,
    ) -> bool {
        let (mut looked_at, mut left) = (HashSet::new(), vec![file]);
        while let Some(file) = left.pop() {
            if is_it(&file) {
                return true;
            }
            if !looked_at.insert(file) {
                continue;
            }
            left.extend(self.0.get(&file).into_iter().flatten());
            let made_it =
                |change: &&Effect| change.kind == ChangeKind::Replace && change.file == Some(file);
            left.extend(changes.iter().filter(made_it).filter_map(|change| change.base));
        }
        false
    }
}

impl PrivacyGuard {
    /// The lineage of all notes; empty without the ledger.
    pub(super) async fn note_lineage(&self) -> Result<NoteLineage, UserError> {
        let Some(ledger) = self.effect_history.get() else { return Ok(NoteLineage::default()) };
        Ok(NoteLineage::new(&ledger.successions().await?))
    }

    /// Our changes of the note at the path, newest first; none without the ledger.
    pub(super) async fn changes_at(&self, path: &NotePath) -> Result<Vec<Effect>, UserError> {
        let Some(ledger) = self.effect_history.get() else { return Ok(Vec::new()) };
        Ok(ledger.note_history(path, None).await?)
    }
}

#[cfg(test)]
mod tests {
    use protocol::{CallId, ChangeSetId, EffectId, TurnId};

    use super::*;

    /// When the note was read.
    const READ: Timestamp = Timestamp(1_000);

    /// The file with this number, made in this millisecond.
    fn file(inode: u64, born: i64) -> FileId {
        FileId { inode, born: Some(born * 1_000_000) }
    }

    const fn old() -> FileId {
        FileId { inode: 1, born: Some(1_000_000) }
    }

    fn change(kind: ChangeKind, base: Option<FileId>, file: FileId) -> Effect {
        Effect {
            id: EffectId::from("e"),
            change_set: ChangeSetId::from("s"),
            conversation: None,
            turn: TurnId::from("t"),
            call: CallId::from("c"),
            unit: None,
            kind,
            path: NotePath::parse("A.md").expect("a path"),
            target: None,
            trashed: None,
            before: None,
            after: None,
            base,
            file: Some(file),
            access: None,
            at: None,
            purged: None,
        }
    }

    fn is_read_note(changes: &[Effect], saves: &[(FileId, FileId)], now: FileId) -> bool {
        let saves = saves.iter().map(|(from, to)| FileReplacement { from: *from, to: *to });
        let lineage = NoteLineage::new(&saves.collect::<Vec<_>>());
        lineage.continues(changes, now, |file| KnownNote::Read(ReadTimes::since(READ)).is(file))
    }

    #[test]
    fn a_note_goes_on_over_our_changes_and_over_saves_of_others() {
        use ChangeKind::Replace;
        let (first, second, third) = (file(2, 2_000), file(3, 3_000), file(4, 4_000));
        assert!(is_read_note(&[], &[], old()));
        assert!(is_read_note(&[change(Replace, Some(old()), first)], &[], first));
        assert!(is_read_note(&[], &[(old(), first)], first));
        let changes = [change(Replace, Some(second), third), change(Replace, Some(old()), first)];
        assert!(is_read_note(&changes, &[(first, second)], third));
        // A succession that was stored again points from both files to the newest one.
        assert!(is_read_note(&changes[1..], &[(first, third), (second, third)], third));
        // Successions in a circle end.
        assert!(!is_read_note(&[], &[(first, second), (second, first)], first));
    }

    #[test]
    fn a_file_of_ours_in_the_place_of_another_note_is_not_the_note_that_was_read() {
        use ChangeKind::{Create, Rename, Replace};
        let (foreign, ours) = (file(2, 2_000), file(3, 3_000));
        for changes in [
            &[][..],
            &[change(Create, None, ours)],
            &[change(Replace, None, ours)],
            &[change(Replace, Some(foreign), ours)],
            &[change(Replace, Some(foreign), ours), change(Replace, Some(old()), file(4, 1_500))],
            &[change(Rename, Some(old()), ours)],
        ] {
            assert!(!is_read_note(changes, &[], ours), "{changes:?}");
        }
    }

    #[test]
    fn a_note_is_known_by_its_file_or_by_the_time_when_it_was_read() {
        let lag = by_file_clock(READ).0;
        let read = KnownNote::Read(ReadTimes::since(READ));
        for (file, expected) in [
            (old(), true),
            (file(2, lag - 1), true),
            (file(2, lag), false),
            (FileId { inode: 1, born: None }, false),
        ] {
            assert_eq!(read.is(&file), expected, "{file:?}");
        }
        let known = KnownNote::File(Some(old()), None);
        assert!(known.is(&old()) && !known.is(&file(1, 2)));
        assert!(!KnownNote::File(None, Some(READ)).is(&old()));
    }
    #[test]
    fn only_a_change_after_the_last_reading_may_be_one_of_the_note() {
        let twice = ReadTimes::since(Timestamp(1)).and(ReadTimes::since(READ));
        assert_eq!(twice, ReadTimes { first: Timestamp(1), last: READ });
        for known in [KnownNote::Read(twice), KnownNote::File(None, Some(READ))] {
            assert!(known.is_before(Some(READ)) && known.is_before(Some(Timestamp(2_000))));
            assert!(!known.is_before(Some(Timestamp(READ.0 - 1))) && !known.is_before(None));
        }
        assert!(!KnownNote::File(Some(old()), None).is_before(Some(READ)));
    }
}
