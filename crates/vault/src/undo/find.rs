//! Where a note is now, when somebody may have renamed or moved it by hand.

use std::collections::HashSet;

use protocol::NotePath;

use super::past::Past;

/// The vault as it is, for planning.
pub trait Notes {
    /// The bytes of a note; `None` if none can be read there.
    fn bytes(&self, path: &NotePath) -> Option<Vec<u8>>;

    /// Whether anything stands at a path.
    fn is_there(&self, path: &NotePath) -> bool;

    /// Every file.
    fn files(&self) -> Vec<Standing>;
}

/// A file of the vault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// Where.
    pub path: NotePath,
    /// Bytes.
    pub size: u64,
    /// The number that the file system gave it.
    pub inode: u64,
}

/// What is known of a note that is looked for.
#[derive(Debug, Clone, Copy)]
struct Clue<'a> {
    /// Where the ledger says it is.
    path: &'a NotePath,
    inode: Option<u64>,
    /// What it said last.
    said: &'a [u8],
    /// Where notes are that were changed later.
    touched: &'a [NotePath],
}

/// Where the note is that the effect at a place of the past left, whoever moved it; `home` is where the
/// ledger says that it is.
pub(super) fn located(
    past: &Past,
    place: usize,
    home: &NotePath,
    notes: &dyn Notes,
) -> Option<NotePath> {
    let touched = past.touched_later(place);
    let said = past.newest(place).unwrap_or_default();
    find(notes, Clue { path: home, touched: &touched, inode: past.inode(place), said })
}

/// Finds the note: where it should be; else by its number; else by what it said; else by its name
/// and some of what it said. `None` when several could be it.
fn find(notes: &dyn Notes, clue: Clue<'_>) -> Option<NotePath> {
    let at_home = notes.bytes(clue.path);
    if at_home.as_ref().is_some_and(|bytes| clue.fits(bytes)) {
        return Some(clue.path.clone());
    }
    let files = notes.files();
    clue.by_inode(notes, &files)
        .or_else(|| clue.by_content(notes, &files))
        .or_else(|| clue.by_name(notes, &files))
        .or_else(|| clue.most_alike(notes, clue.touched.iter()))
        // Rewritten from top to bottom, but under its name.
        .or_else(|| at_home.map(|_| clue.path.clone()))
}

impl Clue<'_> {
    /// Whether a text can be the note: it has some line of it.
    fn fits(self, bytes: &[u8]) -> bool {
        self.said.trim_ascii().is_empty() || bytes == self.said || shared(self.said, bytes) > 0
    }

    fn by_inode(self, notes: &dyn Notes, files: &[Standing]) -> Option<NotePath> {
        // A number is given again when its file is gone, so alone it proves nothing.
        let file = files.iter().find(|file| Some(file.inode) == self.inode)?;
        let bytes = notes.bytes(&file.path)?;
        (shared(self.said, &bytes) > 0 || bytes == self.said).then(|| file.path.clone())
    }

    fn by_content(self, notes: &dyn Notes, files: &[Standing]) -> Option<NotePath> {
        if self.said.is_empty() {
            return None;
        }
        let size = self.said.len() as u64;
        let same = |file: &&Standing| {
            file.size == size && notes.bytes(&file.path).as_deref() == Some(self.said)
        };
        let mut found = files.iter().filter(same);
        match (found.next(), found.next()) {
            (Some(only), None) => Some(only.path.clone()),
            _ => None,
        }
    }

    fn by_name(self, notes: &dyn Notes, files: &[Standing]) -> Option<NotePath> {
        let named = files.iter().filter(|file| file.path.name() == self.path.name());
        self.most_alike(notes, named.map(|file| &file.path))
    }

    /// The one that has the most lines of the note.
    fn most_alike<'p>(
        self,
        notes: &dyn Notes,
        paths: impl Iterator<Item = &'p NotePath>,
    ) -> Option<NotePath> {
        let scored = paths.filter_map(|path| {
            let score = shared(self.said, &notes.bytes(path)?);
            (score > 0).then_some((score, path))
        });
        let mut scored: Vec<_> = scored.collect();
        scored.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
        match scored.as_slice() {
            [(best, path), rest @ ..] if rest.first().is_none_or(|(next, _)| next < best) => {
                Some((*path).clone())
            }
            _ => None,
        }
    }
}

/// How many different lines two texts have in common. Short ones stand in every note: blanks,
/// the marks around properties.
fn shared(one: &[u8], other: &[u8]) -> usize {
    let lines = |text| -> HashSet<&[u8]> {
        let lines = <[u8]>::split(text, |byte| *byte == b'\n').map(<[u8]>::trim_ascii);
        lines.filter(|line| line.len() > 3).collect()
    };
    lines(one).intersection(&lines(other)).count()
}
