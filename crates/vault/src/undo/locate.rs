//! Where a note is now, when somebody may have renamed, moved, copied or replaced it.
//!
//! A note is known by its file: by the inode and birth time that the ledger recorded, and by the files
//! that took its place in one step before our eyes. Its text and its name prove nothing, because
//! copies, templates and the notes of other days share them. They only tell which notes to offer when
//! the user is asked.

use protocol::changes::history::UndoCandidate;
use protocol::notes::conflict_copy;
use protocol::{FileId, NotePath};

use super::plan_reader::{NoteDigest, PlanReader};
use super::trace::{NoteTrace, Successions};

/// The number of notes that are offered to the user at most.
const MAX_CANDIDATES: usize = 8;

/// The vault as it is, for planning.
pub trait VaultReader {
    /// The bytes of a note; `None` if none can be read there.
    fn bytes(&self, path: &NotePath) -> Option<Vec<u8>>;

    /// Which file or folder stands at a path; `None` for nothing.
    fn file(&self, path: &NotePath) -> Option<FileId>;

    /// Everything in the vault, folders too.
    fn files(&self) -> Vec<VaultFile>;

    /// Whether a folder is at a path that holds nothing at all: another folder may take its place.
    fn is_empty_folder(&self, _path: &NotePath) -> bool {
        false
    }

    /// Whether a watch saw this file leave another path for `path`.
    fn has_arrived(&self, _path: &NotePath, _file: FileId) -> bool {
        false
    }
}

/// A file or folder of the vault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VaultFile {
    /// Its path, as spelled on disk.
    pub path: NotePath,
    /// Bytes.
    pub size: u64,
    /// The identity that it keeps under another path.
    pub file: FileId,
    /// Whether it is a folder.
    pub is_folder: bool,
}

/// The known place of a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NoteLocation {
    /// It is here, without doubt.
    At(NotePath),
    /// It is in the trash, or nothing is where it should be. It may be one of these; only the user can tell.
    Gone(Vec<UndoCandidate>),
    /// Something else stands where it should be, or it itself in another file. It may be one of these;
    /// only the user can tell.
    Unsure(Vec<UndoCandidate>),
}

/// Finds the note of a trace, or the notes that may be it; `text` is its last text, if that is known.
pub(super) fn locate(
    trace: &NoteTrace,
    successions: &Successions,
    text: Option<&[u8]>,
    notes: &PlanReader<'_>,
) -> NoteLocation {
    let same_file = match find_file(trace, successions, text, notes) {
        Ok(path) => return NoteLocation::At(path),
        Err(paths) => paths,
    };
    let at_home = notes.file(&trace.path).map(|_| trace.path.clone());
    if !same_file.is_empty() {
        let all = same_file.into_iter().chain(at_home);
        return NoteLocation::Unsure(with_files(all, notes));
    }
    if trace.is_gone {
        // The file at its path is another note by now, unless the user says that it is this one.
        let is_known = trace.file.is_some_and(|file| file.born.is_some());
        return NoteLocation::Gone(with_files(at_home.filter(|_| is_known), notes));
    }
    let elsewhere = candidates(trace, text, notes);
    match at_home {
        Some(home) => {
            let all = std::iter::once(home).chain(elsewhere);
            NoteLocation::Unsure(with_files(all, notes))
        }
        None => NoteLocation::Gone(with_files(elsewhere, notes)),
    }
}

/// The path of the note of a trace, where it is without doubt; `text` is its last text, if that is known. Reads no other
/// note, and lists the vault only if the file at its path is not the recorded one.
pub(super) fn certain_path(
    trace: &NoteTrace,
    successions: &Successions,
    text: Option<&[u8]>,
    notes: &PlanReader<'_>,
) -> Option<NotePath> {
    find_file(trace, successions, text, notes).ok()
}

/// The path of the note of a trace, where it is without doubt; otherwise the other paths of its file, if there are any.
fn find_file(
    trace: &NoteTrace,
    successions: &Successions,
    text: Option<&[u8]>,
    notes: &PlanReader<'_>,
) -> Result<NotePath, Vec<NotePath>> {
    let at_home = notes.file(&trace.path);
    let file = trace.file.map(|file| successions.newest_successor(file));
    if let Some(file) = file {
        let is_it = |found| match trace.is_gone {
            // The number of a file that went to the trash may be given again.
            true => found == file && file.born.is_some(),
            false => is_certain_at_same_path(file, found),
        };
        if at_home.is_some_and(is_it) {
            return Ok(trace.path.clone());
        }
        if file.born.is_some() {
            let found = moved_paths(trace, file, notes);
            // Where another file has its name, the old one may be a backup that shares it by a hard link.
            let is_certain = |path: &NotePath| at_home.is_none() || notes.has_arrived(path, file);
            match found.as_slice() {
                [] => {}
                [path] if is_certain(path) => return Ok(path.clone()),
                _ => return Err(found),
            }
        }
    }
    let says_it = || text.is_some() && notes.bytes(&trace.path).as_deref() == text;
    match trace.is_unrecorded && !trace.is_gone && says_it() {
        true => Ok(trace.path.clone()),
        false => Err(Vec::new()),
    }
}

/// The notes at these paths, each with the file that the user is asked about.
fn with_files(
    paths: impl IntoIterator<Item = NotePath>,
    notes: &PlanReader<'_>,
) -> Vec<UndoCandidate> {
    let candidate = |path| Some(UndoCandidate { file: notes.file(&path)?, path });
    paths.into_iter().filter_map(candidate).collect()
}

/// A file system without birth times gives a number again: there the path has to agree as well.
fn is_certain_at_same_path(file: FileId, found: FileId) -> bool {
    file == found || (file.inode == found.inode && found.born.is_none())
}

/// Where the file is that was moved. Editors that keep a backup rename the note to it and write a new
/// one: what is no note any more is not it. Sync programs rename it to a copy, whatever name the user gave it before,
/// and put the other side's version in its place: then only the user can tell.
///
/// More than one place has the file where its names are hard links, or where a snapshot of the folder lies
/// in it.
fn moved_paths(trace: &NoteTrace, file: FileId, notes: &PlanReader<'_>) -> Vec<NotePath> {
    let is_it = |standing: &&VaultFile| {
        let name = standing.path.name();
        let is_copy = || name != trace.path.name() && conflict_copy::original(name).is_some();
        let is_note = standing.path.is_markdown() || !trace.path.is_markdown();
        is_note && !is_copy()
    };
    notes.names_of(file).filter(is_it).map(|standing| standing.path.clone()).collect()
}

/// Notes elsewhere that have its name, then those that say what it said; else those that say most of it, unless the note
/// at its path says all of it.
fn candidates(trace: &NoteTrace, text: Option<&[u8]>, notes: &PlanReader<'_>) -> Vec<NotePath> {
    let is_other = |other: &&VaultFile| other.path != trace.path && other.path.is_markdown();
    let others = notes.files().iter().filter(is_other);
    let (named, others): (Vec<&VaultFile>, Vec<&VaultFile>) =
        others.partition(|other| other.path.name() == trace.path.name());
    let text = text.filter(|text| !text.trim_ascii().is_empty());
    let said = text.map(|text| (text, NoteDigest::of(text)));
    let says_it = |other: &&VaultFile| {
        said.as_ref().is_some_and(|(text, said)| {
            other.size == text.len() as u64
                && notes.digest(&other.path).is_some_and(|held| held.content == said.content)
        })
    };
    let (same, others): (Vec<&VaultFile>, Vec<&VaultFile>) = others.into_iter().partition(says_it);
    let found = named.into_iter().chain(same).take(MAX_CANDIDATES);
    let found: Vec<NotePath> = found.map(|other| other.path.clone()).collect();
    let is_at_home = |text: &[u8]| notes.bytes(&trace.path).as_deref() == Some(text);
    match &said {
        Some((text, said)) if found.is_empty() && !is_at_home(text) => {
            most_similar(said, &others, notes)
        }
        _ => found,
    }
}

/// The notes that hold at least half of the lines, the ones with most of them first: of a note that was
/// renamed and rewritten. Needs the digests of all notes, so it is asked last.
fn most_similar(said: &NoteDigest, others: &[&VaultFile], notes: &PlanReader<'_>) -> Vec<NotePath> {
    if !said.has_lines() {
        return Vec::new();
    }
    let held = |other: &VaultFile| {
        let held = said.mostly_shared_lines(&*notes.digest(&other.path)?)?;
        Some((held, other.path.clone()))
    };
    let mut scored: Vec<(usize, NotePath)> = others.iter().copied().filter_map(held).collect();
    scored.sort_by_key(|(held, _)| std::cmp::Reverse(*held));
    scored.into_iter().take(MAX_CANDIDATES).map(|(_, path)| path).collect()
}
