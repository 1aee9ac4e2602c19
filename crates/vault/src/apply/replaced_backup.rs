//! Texts of notes that are kept for a while, because nobody can tell whether another program still needs them: old
//! files on file systems without leases, and saves that were out of sight for a moment.

use std::fs::File;
use std::io::Write;
use std::time::Duration;

use protocol::NotePath;
use rustix::fs::{self, AtFlags, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use crate::apply::atomic_file::AtomicFile;
use crate::clock::since_epoch;
use crate::filesystem::dir_entry::{TRASH, create_folders};
use crate::filesystem::file_metadata;
use crate::filesystem::folder::FolderHandle;
use crate::{Vault, VaultError};

/// Where they are kept, in the vault's trash: each under the time it was put there, in milliseconds
/// since 1970, the size and the time of the last write that it had then, and the note's name.
const BACKUP_FOLDER: &str = "vaultmate-replaced";

/// The longest name of a file, in bytes.
pub(crate) const NAME_LIMIT: usize = 255;

/// How long one is kept that nobody wrote to.
const BACKUP_RETENTION: Duration = Duration::from_secs(60 * 60);

/// Takes the old file, which has the temporary name of `place`, to the trash. If it cannot be kept there it stays
/// where it is.
pub(crate) fn move_to_backup(vault: &Vault, target: &AtomicFile) {
    let kept = backup_folder(vault).and_then(|kept| {
        let name = backup_name(target.path(), &target.folder().stat(target.temp_name())?);
        target.move_temp(&kept, &name)
    });
    if let Err(error) = kept {
        tracing::warn!(%error, "the old file of a note stays in its folder");
    }
}

/// Gives the note's own file a second name in the trash, for file systems that cannot exchange.
pub(crate) fn link_backup(vault: &Vault, target: &AtomicFile) -> Result<(), Errno> {
    let kept = backup_folder(vault)?;
    let name = backup_name(target.path(), &target.folder().stat(target.path().name())?);
    target.link_note(&kept, &name)
}

/// Takes second names of the note's own file out of the trash again: a note with two names is not
/// opened.
pub(crate) fn unlink_backup(vault: &Vault, target: &AtomicFile) {
    let Ok(note) = target.folder().stat(target.path().name()) else { return };
    let Some((kept, entries)) = backup_entries(vault) else { return };
    let is_note = |name: &String| {
        let same = |stat: fs::Stat| (stat.st_dev, stat.st_ino) == (note.st_dev, note.st_ino);
        kept.stat(name).is_ok_and(same)
    };
    let names =
        entries.flatten().filter_map(|entry| entry.file_name().to_str().ok().map(str::to_owned));
    for name in names.filter(is_note).collect::<Vec<_>>() {
        let _reported_when_the_note_is_opened = fs::unlinkat(&kept, &name, AtFlags::empty());
    }
}

/// Saves `bytes` where nothing else can be done with them: in the trash, under a name like those of the old files
/// there, and for good. Returns the name.
pub(crate) fn save_in_trash(vault: &Vault, path: &NotePath, bytes: &[u8]) -> Result<String, Errno> {
    save_in(&backup_folder(vault)?, path, bytes).map(|(name, _)| name)
}

/// Keeps `bytes` of a note in the trash as long as an old file. If there is no room for them, the log tells it.
pub(crate) fn keep_copy(vault: &Vault, path: &NotePath, bytes: &[u8]) {
    let kept = backup_folder(vault).and_then(|kept| {
        let (name, copy) = save_in(&kept, path, bytes)?;
        let expiring = backup_name(path, &fs::fstat(&copy)?);
        fs::renameat_with(&kept, &name, &kept, &expiring, RenameFlags::empty())
    });
    if let Err(error) = kept {
        tracing::warn!(%error, "a text of a note that another program saved is not kept");
    }
}

/// Saves `bytes` under a name without the size and time of a write: so they are never taken for those that were kept
/// long enough.
fn save_in(kept: &FolderHandle, path: &NotePath, bytes: &[u8]) -> Result<(String, File), Errno> {
    let number = fastrand::u64(..);
    let name = format!("{}-{number:016x} {}", since_epoch().as_millis(), path.name());
    let name = name.get(..name.floor_char_boundary(NAME_LIMIT)).unwrap_or(&name);
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
    let mut copy = File::from(kept.open(name, flags, Mode::from_raw_mode(0o600))?);
    let written = copy.write_all(bytes).and_then(|()| copy.sync_all());
    written.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
    fs::fsync(kept)?;
    Ok((name.to_owned(), copy))
}

/// Saves `bytes` as a new note in the folder of the one at `path`, with the owner and permissions
/// of `like`; returns its path.
pub(crate) fn save_copy(
    vault: &Vault,
    path: &NotePath,
    bytes: &[u8],
    like: &File,
) -> Result<NotePath, VaultError> {
    let failed = |error| VaultError::from_errno("created", path, error);
    let folder = vault.root().open_folder_or_self(path.folder()).map_err(failed)?;
    let (stem, extension) = path.name().rsplit_once('.').unwrap_or((path.name(), "md"));
    let mut names = (1..100).map(|number| {
        let end = match number {
            1 => format!(" (written during a change).{extension}"),
            _ => format!(" (written during a change {number}).{extension}"),
        };
        let room = stem.floor_char_boundary(NAME_LIMIT.saturating_sub(end.len()));
        format!("{}{end}", stem.get(..room).unwrap_or(stem))
    });
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
    let (name, made) = names
        .find_map(|name| match folder.open(&name, flags, Mode::from_raw_mode(0o600)) {
            Err(Errno::EXIST) => None,
            made => Some((name, made)),
        })
        .ok_or_else(|| failed(Errno::EXIST))?;
    let mut copy = File::from(made.map_err(failed)?);
    let written = file_metadata::copy_metadata(like, &copy)
        .and_then(|()| copy.write_all(bytes))
        .and_then(|()| copy.sync_all());
    written.map_err(|error| failed(Errno::from_io_error(&error).unwrap_or(Errno::IO)))?;
    fs::fsync(&folder).map_err(failed)?;
    let place = path.folder().map_or_else(|| name.clone(), |folder| format!("{folder}/{name}"));
    Ok(NotePath::parse(&place)?)
}

fn backup_folder(vault: &Vault) -> Result<FolderHandle, Errno> {
    create_folders(&vault.root(), Some(&format!("{TRASH}/{BACKUP_FOLDER}")))
}

fn backup_name(path: &NotePath, file: &fs::Stat) -> String {
    let (put, number) = (since_epoch().as_millis(), fastrand::u16(..));
    let name = format!("{put}-{number:04x}-{} {}", write_state(file), path.name());
    name.get(..name.floor_char_boundary(NAME_LIMIT)).unwrap_or(&name).to_owned()
}

/// The size and the last write of a file: they differ once somebody has written to it.
fn write_state(file: &fs::Stat) -> String {
    format!("{}-{}.{:09}", file.st_size, file.st_mtime, file.st_mtime_nsec)
}

/// Removes the files that were kept long enough. One that somebody wrote to since stays for good: it may be
/// the only copy. Looks at all of them, so it is called once for an order, and not for each of its notes.
pub(crate) fn remove_expired(vault: &Vault) {
    let Some((kept, entries)) = backup_entries(vault) else { return };
    let now = since_epoch();
    let old = entries.flatten().filter_map(|entry| {
        let name = entry.file_name().to_str().ok()?.to_owned();
        let (told, _) = name.split_once(' ')?;
        let mut parts = told.splitn(3, '-');
        let put = Duration::from_millis(parts.next()?.parse().ok()?);
        let was = parts.nth(1)?;
        let is_old = now > put + BACKUP_RETENTION;
        (is_old && write_state(&kept.stat(&name).ok()?) == was).then_some(name)
    });
    for name in old.collect::<Vec<_>>() {
        let _tried_again_later = fs::unlinkat(&kept, &name, AtFlags::empty());
    }
}

/// The folder of the files that are kept, if there is one, and what is in it.
fn backup_entries(vault: &Vault) -> Option<(FolderHandle, fs::Dir)> {
    let kept = vault.root().open_folder(&format!("{TRASH}/{BACKUP_FOLDER}")).ok()?;
    let entries = kept.entries().ok()?;
    Some((kept, entries))
}

impl AtomicFile {
    fn move_temp(&self, to: &FolderHandle, name: &str) -> Result<(), Errno> {
        fs::renameat_with(self.folder(), self.temp_name(), to, name, RenameFlags::empty())
    }

    fn link_note(&self, to: &FolderHandle, name: &str) -> Result<(), Errno> {
        fs::linkat(self.folder(), self.path().name(), to, name, AtFlags::empty())
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "a test makes its own files")]
mod tests {
    use super::*;

    #[test]
    fn names_in_the_trash_are_no_longer_than_a_name_may_be() {
        let all = tempfile::tempdir().unwrap();
        let vault = Vault::open(all.path()).unwrap();
        let name = format!("{}.md", "ä".repeat(126));
        let stat = fs::stat(all.path()).unwrap();
        let backup = backup_name(&NotePath::parse(&name).unwrap(), &stat);
        assert!(backup.len() <= NAME_LIMIT && backup.contains("ää"), "{backup}");
        let second = super::super::trash::free_name(&vault, &name, std::slice::from_ref(&name));
        assert!(second.len() <= NAME_LIMIT && second.ends_with("ä 2.md"), "{second}");
    }

    #[test]
    fn late_write_is_saved_in_the_folder_of_a_note_with_a_long_name_or_in_the_trash() {
        let all = tempfile::tempdir().unwrap();
        let vault = Vault::open(all.path()).unwrap();
        let like = File::create(all.path().join("like")).unwrap();
        for (name, saved) in [
            ("note.md".to_owned(), "note (written during a change).md".to_owned()),
            (
                format!("{}.md", "ä".repeat(120)),
                format!("{} (written during a change).md", "ä".repeat(113)),
            ),
        ] {
            let path = NotePath::parse(&name).unwrap();
            let copy = save_copy(&vault, &path, b"late", &like).unwrap();
            assert_eq!(copy.as_str(), saved);
            assert_eq!(std::fs::read(all.path().join(saved)).unwrap(), b"late");
        }
        // The folder is gone.
        let path = NotePath::parse("gone/note.md").unwrap();
        save_copy(&vault, &path, b"late", &like).unwrap_err();
        let name = save_in_trash(&vault, &path, b"late").unwrap();
        remove_expired(&vault);
        let kept = all.path().join(TRASH).join(BACKUP_FOLDER);
        assert_eq!(std::fs::read(kept.join(&name)).unwrap(), b"late");
        // The other one has a name that tells when it was kept long enough.
        keep_copy(&vault, &path, b"newer");
        let mut names = std::fs::read_dir(&kept).unwrap().map(|entry| entry.unwrap().file_name());
        let copy = names.find(|other| other.to_str() != Some(&name)).unwrap();
        assert_eq!(std::fs::read(kept.join(&copy)).unwrap(), b"newer");
        let stat = fs::stat(kept.join(&copy)).unwrap();
        assert!(copy.to_str().unwrap().contains(&write_state(&stat)), "{copy:?}");
    }
}
