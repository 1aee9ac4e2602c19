//! Lists the vault by names alone: no note is opened.

use std::io;
use std::sync::Arc;
use std::time::Instant;

use protocol::{NotePath, Timestamp};
use rustix::fs::{self, AtFlags, FileType, Stat};
use rustix::io::Errno;

use crate::filesystem::folder::FolderHandle;
use crate::filesystem::note_file;
use crate::names::sync_artifacts;
use crate::privacy_filter::Visibility;
use crate::read::unlisted::{Unlisted, escaped};
use crate::{Fingerprint, Vault, VaultError};

/// Everything in the vault that is not protected.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Listing {
    /// The entries, sorted by path.
    pub entries: Vec<VaultEntry>,
    /// The entries that could not be read, and why.
    pub problems: Vec<Unlisted>,
    /// Whether the time was up before all was seen.
    pub timed_out: bool,
}

/// One thing in the vault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VaultEntry {
    /// Where, as spelled on disk.
    pub path: NotePath,
    /// Bytes; zero for a folder, a link or what is not downloaded.
    pub size: u64,
    /// When it was last written.
    pub modified: Timestamp,
    /// The kind by its name and the file system.
    pub kind: EntryKind,
}

/// The kind of an entry, by its name and the file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EntryKind {
    /// A regular file named `….md`.
    Note,
    /// A folder, whatever its name.
    Folder,
    /// Any other regular file.
    Attachment,
    /// A copy that a sync program made of a note because two versions conflict. It can be read, but
    /// it is not a note to search.
    Conflict,
    /// A file that a sync program keeps elsewhere; it is never opened.
    Placeholder,
    /// A symbolic link (never followed by a listing), or a pipe, socket or device (never opened).
    Link,
}

impl Vault {
    /// Lists the whole vault. A folder that cannot be read is a problem, not an error; only the
    /// top folder's failure fails the listing.
    pub fn list(&self) -> Result<Listing, VaultError> {
        self.list_filtered(self.active_visibility(), None)
    }

    /// The same, ended at a time: what was not seen by then is not in it. Notes whose text says
    /// whether they are private take a second more where many of them are not known yet.
    pub fn list_until(&self, until: Instant) -> Result<Listing, VaultError> {
        self.list_filtered(self.active_visibility(), Some(until))
    }

    /// Everything in the vault with its stamp, whatever a screen keeps back, sorted by path. A
    /// folder that cannot be read is passed over.
    pub fn list_unfiltered(&self) -> Result<Vec<(VaultEntry, Fingerprint)>, VaultError> {
        let mut entries = self.collect_entries(None)?.entries;
        entries.sort_unstable_by(|(a, _), (b, _)| a.path.cmp(&b.path));
        Ok(entries)
    }

    /// The entry at `path`, even if a screen withholds it; `None` if nothing is there. A file that
    /// a sync program keeps elsewhere is seen by a [survey](Self::list_unfiltered) only.
    pub fn entry(&self, path: &NotePath) -> Result<Option<(VaultEntry, Fingerprint)>, VaultError> {
        match self.stat_to_read(path.as_str()) {
            Ok(stat) if self.is_unlisted_spelling(path, &stat) => Ok(None),
            Ok(stat) => Ok(Some(to_entry(path.clone(), path.name(), &stat))),
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(None),
            Err(error) => Err(VaultError::from_errno("read", path, error)),
        }
    }

    /// Whether the disk ignores case, and found `path` although its folder lists another spelling. Such a name is
    /// asked for after a rename to that spelling.
    fn is_unlisted_spelling(&self, path: &NotePath, stat: &Stat) -> bool {
        let name = path.name();
        let swap = |letter: char| match letter.is_ascii_lowercase() {
            true => letter.to_ascii_uppercase(),
            false => letter.to_ascii_lowercase(),
        };
        let swapped: String = name.chars().map(swap).collect();
        let other = path.folder().map_or(swapped.clone(), |folder| format!("{folder}/{swapped}"));
        let is_same = |other: Stat| (other.st_dev, other.st_ino) == (stat.st_dev, stat.st_ino);
        swapped != name
            && self.stat_to_read(&other).is_ok_and(is_same)
            && self
                .open_folder_to_read(path.folder())
                .is_ok_and(|folder| folder.lists(name) == Ok(false))
    }

    pub(crate) fn list_filtered(
        &self,
        showing: Option<Arc<Visibility>>,
        until: Option<Instant>,
    ) -> Result<Listing, VaultError> {
        let ListingBuilder { entries, mut problems, timed_out: is_cut, .. } =
            self.collect_entries(until)?;
        problems.retain(|problem| {
            // No rule can judge a name that is no path.
            let hides = |showing: &Arc<Visibility>| {
                NotePath::parse(&problem.name).map_or(true, |path| showing.hides_path(&path))
            };
            !showing.as_ref().is_some_and(hides)
        });
        let (mut entries, unknown) = self.filter_entries(entries, showing);
        if unknown > 0 {
            problems.push(unchecked_notes(unknown));
        }
        entries.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        // A file that is here and elsewhere is here.
        entries.dedup_by(|later, earlier| {
            let same = later.path == earlier.path;
            if same && earlier.kind == EntryKind::Placeholder {
                std::mem::swap(later, earlier);
            }
            same
        });
        problems.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Ok(Listing { entries, problems, timed_out: is_cut })
    }

    fn collect_entries(&self, until: Option<Instant>) -> Result<ListingBuilder, VaultError> {
        let mut found_all = ListingBuilder { until, ..ListingBuilder::default() };
        let top = self.root().open_folder_or_self(None).map_err(top_error)?;
        let mut folders = found_all.add("", &top).map_err(top_error)?;
        folders.extend(found_all.add_extra_roots(self));
        while let Some(path) = folders.pop().filter(|_| !found_all.timed_out) {
            // Opened one at a time: a vault may have more folders than a process may hold open.
            let open = self.open_folder_to_read(Some(&path));
            let found = open.and_then(|folder| found_all.add(&path, &folder));
            match found {
                Ok(found) => folders.extend(found),
                Err(Errno::NOENT) => {}
                Err(error) => found_all.problems.push(Unlisted::new(path, unreadable(error))),
            }
        }
        Ok(found_all)
    }
}

/// The entries found so far, before the filter.
#[derive(Default)]
struct ListingBuilder {
    entries: Vec<(VaultEntry, Fingerprint)>,
    problems: Vec<Unlisted>,
    until: Option<Instant>,
    timed_out: bool,
}

/// The number of entries that are looked at between two looks at the clock.
const ENTRIES_PER_CLOCK_CHECK: usize = 256;

impl ListingBuilder {
    /// Adds what is in one folder and returns the folders in it.
    fn add(&mut self, at: &str, folder: &FolderHandle) -> Result<Vec<String>, Errno> {
        let mut found = Vec::new();
        for entry in folder.entries()? {
            let is_time = self.entries.len().is_multiple_of(ENTRIES_PER_CLOCK_CHECK);
            if is_time && self.until.is_some_and(|until| Instant::now() >= until) {
                self.timed_out = true;
                break;
            }
            let entry = entry?;
            let name = entry.file_name();
            let bytes = name.to_bytes();
            if bytes.starts_with(b".") && !bytes.ends_with(b".icloud") {
                continue;
            }
            let Ok(name) = name.to_str() else {
                let name = join(at, &escaped(name.to_bytes()));
                self.problems.push(Unlisted::new(name, "its name is not UTF-8; rename it".into()));
                continue;
            };
            let real = sync_artifacts::placeholder_target(name);
            if real.is_none() && name.starts_with('.') {
                continue;
            }
            let path = join(at, real.unwrap_or(name));
            match self.add_entry(folder, name, &path) {
                Ok(EntryKind::Folder) => found.push(path),
                // Gone since the folder was read: what is not there is not a problem.
                Ok(_) | Err(Errno::NOENT) => {}
                Err(error) => self.problems.push(Unlisted::new(path, unreadable(error))),
            }
        }
        Ok(found)
    }

    /// Adds the extra roots and returns those that are there. A link of the name is stood for.
    fn add_extra_roots(&mut self, vault: &Vault) -> Vec<String> {
        self.problems.extend(vault.unnamed_roots());
        let mut found = Vec::new();
        for (name, standing) in vault.extra_root_states() {
            let folder = standing.and_then(|folder| fs::fstat(&*folder).map_err(unreadable));
            match folder {
                Ok(stat) => {
                    self.entries.retain(|(entry, _)| entry.path.as_str() != name.as_str());
                    found.push(name.as_str().to_owned());
                    let (modified, kind) = (note_file::modified(&stat), EntryKind::Folder);
                    let entry = VaultEntry { path: name, size: 0, modified, kind };
                    self.entries.push((entry, Fingerprint::from_stat(&stat)));
                }
                Err(why) => self.problems.push(Unlisted::from_name(name.as_str(), why)),
            }
        }
        found
    }

    /// Adds one entry, unless its name is not one we take.
    fn add_entry(
        &mut self,
        folder: &FolderHandle,
        name: &str,
        path: &str,
    ) -> Result<EntryKind, Errno> {
        let stat = fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
        let path = match NotePath::parse(path) {
            Ok(path) => path,
            Err(refused) => {
                self.problems.push(Unlisted::new(escaped(path.as_bytes()), refused.to_string()));
                return Ok(EntryKind::Link);
            }
        };
        let (entry, stamp) = to_entry(path, name, &stat);
        let kind = entry.kind;
        self.entries.push((entry, stamp));
        Ok(kind)
    }
}

/// The entry of a file at `path` that is called `name` on disk.
fn to_entry(path: NotePath, name: &str, stat: &Stat) -> (VaultEntry, Fingerprint) {
    let kind = match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile if sync_artifacts::placeholder_target(name).is_some() => {
            EntryKind::Placeholder
        }
        FileType::RegularFile if sync_artifacts::is_conflict_copy(name) => EntryKind::Conflict,
        FileType::RegularFile if path.is_markdown() => EntryKind::Note,
        FileType::RegularFile => EntryKind::Attachment,
        FileType::Directory => EntryKind::Folder,
        _ => EntryKind::Link,
    };
    let is_file = !matches!(kind, EntryKind::Folder | EntryKind::Link | EntryKind::Placeholder);
    let size = if is_file { note_file::size(stat) } else { 0 };
    (
        VaultEntry { path, size, modified: note_file::modified(stat), kind },
        Fingerprint::from_stat(stat),
    )
}

fn unchecked_notes(notes: usize) -> Unlisted {
    let why = "it is not known yet whether the user keeps them private; try again in a moment";
    Unlisted::new(format!("{notes} notes"), why.to_owned())
}

fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

fn unreadable(error: Errno) -> String {
    match error {
        Errno::LOOP | Errno::NOTDIR => "it became a link while it was listed".to_owned(),
        Errno::XDEV => "it is on another disk than the vault".to_owned(),
        Errno::ACCESS | Errno::PERM => "it may not be read; change its permissions".to_owned(),
        other => format!("it could not be read: {}", io::Error::from(other)),
    }
}

fn top_error(error: Errno) -> VaultError {
    VaultError::Unlistable { source: error.into() }
}
