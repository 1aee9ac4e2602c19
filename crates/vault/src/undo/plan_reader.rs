//! The vault for one plan. However many notes are looked for, it lists all notes once, and reads each of them once to
//! compare its text with theirs.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::rc::Rc;

use protocol::{ContentHash, FileId, NotePath};

use super::{VaultFile, VaultReader};

/// How many lines of digests are kept in memory, with 8 bytes for each: those of some 100,000 notes.
const MAX_KEPT_LINES: usize = 4 << 20;

/// A vault whose listing is read once. A note that comes later is not in it; what has a certain path is read each time.
pub(super) struct PlanReader<'a> {
    notes: &'a dyn VaultReader,
    files: OnceCell<Vec<VaultFile>>,
    /// The files of the listing in ascending order, each with its position there.
    by_file: OnceCell<Vec<(FileId, usize)>>,
    digests: RefCell<KeptDigests>,
}

/// The digests of the notes that were read; `None` for a note that cannot be read. By the spelled paths: Unicode may
/// spell two names in a folder as one.
#[derive(Default)]
struct KeptDigests {
    notes: HashMap<String, Option<Rc<NoteDigest>>>,
    lines: usize,
}

impl<'a> PlanReader<'a> {
    pub(super) fn new(notes: &'a dyn VaultReader) -> Self {
        Self {
            notes,
            files: OnceCell::new(),
            by_file: OnceCell::new(),
            digests: RefCell::default(),
        }
    }

    /// The digest of a note as it was when the plan first asked for it; `None` if it cannot be read. A note beyond the
    /// number of lines that are kept is read each time.
    pub(super) fn digest(&self, path: &NotePath) -> Option<Rc<NoteDigest>> {
        let mut kept = self.digests.borrow_mut();
        if let Some(known) = kept.notes.get(path.as_str()) {
            return known.clone();
        }
        let digest = self.notes.bytes(path).map(|bytes| Rc::new(NoteDigest::of(&bytes)));
        let lines = digest.as_ref().map_or(0, |digest| digest.lines.len());
        if kept.lines + lines <= MAX_KEPT_LINES {
            kept.lines += lines;
            kept.notes.insert(path.as_str().to_owned(), digest.clone());
        }
        digest
    }

    /// The bytes of a note; `None` if none can be read there.
    pub(super) fn bytes(&self, path: &NotePath) -> Option<Vec<u8>> {
        self.notes.bytes(path)
    }

    /// Which file or folder stands at a path; `None` for nothing.
    pub(super) fn file(&self, path: &NotePath) -> Option<FileId> {
        self.notes.file(path)
    }

    /// As [`VaultReader::is_empty_folder`].
    pub(super) fn is_empty_folder(&self, path: &NotePath) -> bool {
        self.notes.is_empty_folder(path)
    }

    /// Everything in the vault, folders too, as it was when the plan first asked for it.
    pub(super) fn files(&self) -> &[VaultFile] {
        self.files.get_or_init(|| self.notes.files())
    }

    /// All that is listed with this file, in the order of the listing. It does not go through all of it for each file.
    pub(super) fn names_of(&self, file: FileId) -> impl Iterator<Item = &VaultFile> {
        let sorted = self.by_file.get_or_init(|| {
            let files = self.files().iter().enumerate();
            let mut all: Vec<(FileId, usize)> =
                files.map(|(place, standing)| (standing.file, place)).collect();
            all.sort_unstable();
            all
        });
        let start = sorted.partition_point(|(other, _)| *other < file);
        let same = sorted.iter().skip(start).take_while(move |(other, _)| *other == file);
        same.filter_map(move |(_, place)| self.files().get(*place))
    }

    /// As [`VaultReader::has_arrived`].
    pub(super) fn has_arrived(&self, path: &NotePath, file: FileId) -> bool {
        self.notes.has_arrived(path, file)
    }
}

/// A text by hashes, to compare it with others.
#[derive(Debug)]
pub(super) struct NoteDigest {
    /// Tells whether another note has exactly the same text.
    pub(super) content: ContentHash,
    /// The hashes of its different lines in ascending order. Short lines are left out: they stand in every note.
    lines: Vec<u64>,
}

impl NoteDigest {
    pub(super) fn of(text: &[u8]) -> Self {
        let lines = <[u8]>::split(text, |byte| *byte == b'\n').map(<[u8]>::trim_ascii);
        let mut lines: Vec<u64> = lines.filter(|line| line.len() > 3).map(line_hash).collect();
        lines.sort_unstable();
        lines.dedup();
        lines.shrink_to_fit();
        Self { content: ContentHash::of(text), lines }
    }

    /// Whether the text has lines other than short ones.
    pub(super) fn has_lines(&self) -> bool {
        !self.lines.is_empty()
    }

    /// The number of these lines that the other text has too, if it has half of them at least, and one.
    pub(super) fn mostly_shared_lines(&self, other: &Self) -> Option<usize> {
        let shared = self.shared_lines(other);
        (shared > 0 && shared * 2 >= self.lines.len()).then_some(shared)
    }

    /// The number of these lines that the other text has too. Takes linear time.
    fn shared_lines(&self, other: &Self) -> usize {
        let mut others = other.lines.iter().copied().peekable();
        let is_shared = |line: &&u64| {
            while others.next_if(|other| other < *line).is_some() {}
            others.next_if_eq(*line).is_some()
        };
        self.lines.iter().filter(is_shared).count()
    }
}

fn line_hash(line: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    line.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A vault of which only the listing is known.
    struct ListedFiles(Vec<VaultFile>);

    impl VaultReader for ListedFiles {
        fn bytes(&self, _: &NotePath) -> Option<Vec<u8>> {
            None
        }

        fn file(&self, _: &NotePath) -> Option<FileId> {
            None
        }

        fn files(&self) -> Vec<VaultFile> {
            self.0.clone()
        }
    }

    #[test]
    fn all_names_of_a_file_are_found_in_the_order_of_the_listing() {
        let names = [("d.md", 2), ("c.md", 1), ("b.md", 3), ("a.md", 1), ("e.md", 1)];
        let file = |inode, born| FileId { inode, born };
        let mut listed: Vec<VaultFile> = names
            .into_iter()
            .map(|(name, inode)| VaultFile {
                path: NotePath::parse(name).unwrap(),
                size: 0,
                file: file(inode, Some(1)),
                is_folder: false,
            })
            .collect();
        // The control: without a birth time it is not the same file for sure.
        listed[4].file.born = None;
        let listed = ListedFiles(listed);
        let notes = PlanReader::new(&listed);
        let names_of = |file| {
            let found = notes.names_of(file).map(|standing| standing.path.to_string());
            found.collect::<Vec<_>>()
        };
        assert_eq!(names_of(file(1, Some(1))), ["c.md", "a.md"]);
        assert_eq!(names_of(file(2, Some(1))), ["d.md"]);
        assert_eq!(names_of(file(1, None)), ["e.md"]);
        assert_eq!(names_of(file(4, Some(1))), [""; 0]);
    }
}
