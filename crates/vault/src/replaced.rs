//! Old files of notes that are kept for a while, because nobody can tell whether another program still
//! writes to them: on file systems without leases.

use std::fs::File;
use std::io::Write;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use protocol::NotePath;
use rustix::fs::{self, AtFlags, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use crate::folder::Folder;
use crate::place::Place;
use crate::spot::{TRASH, make_folders};
use crate::{Vault, VaultError, read};

/// Where they are kept, in the vault's trash: each under the time it was put there, in milliseconds
/// since 1970, and the note's name.
const KEPT_IN: &str = "vaultmate-replaced";

/// How long one is kept that nobody wrote to.
const KEPT_FOR: Duration = Duration::from_secs(60 * 60);

/// Takes the old file, which has the temporary name of `place`, to the trash, and removes those that
/// were kept long enough. If it cannot be kept there it stays where it is.
pub(crate) fn keep(vault: &Vault, place: &Place) {
    let kept = folder(vault).and_then(|kept| {
        remove_old(&kept);
        place.move_temp(&kept, &name_for(place.path()))
    });
    if let Err(error) = kept {
        tracing::warn!(%error, "the old file of a note stays beside it");
    }
}

/// Gives the note's own file a second name in the trash, for file systems that cannot exchange.
pub(crate) fn link(vault: &Vault, place: &Place) -> Result<(), Errno> {
    let kept = folder(vault)?;
    remove_old(&kept);
    place.link_note(&kept, &name_for(place.path()))
}

/// Saves `bytes` as a new note beside the one at `path`; returns where.
pub(crate) fn save_beside(
    vault: &Vault,
    path: &NotePath,
    bytes: &[u8],
) -> Result<NotePath, VaultError> {
    let failed = |error| VaultError::system("created", path, error);
    let folder = vault.root().folder_or_self(path.folder()).map_err(failed)?;
    let (stem, extension) = path.name().rsplit_once('.').unwrap_or((path.name(), "md"));
    let mut names = (1..100).map(|number| match number {
        1 => format!("{stem} (written during a change).{extension}"),
        _ => format!("{stem} (written during a change {number}).{extension}"),
    });
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
    let (name, made) = names
        .find_map(|name| match folder.open(&name, flags, Mode::from_raw_mode(0o666)) {
            Err(Errno::EXIST) => None,
            made => Some((name, made)),
        })
        .ok_or_else(|| failed(Errno::EXIST))?;
    let mut copy = File::from(made.map_err(failed)?);
    let written = copy.write_all(bytes).and_then(|()| copy.sync_all());
    written.map_err(|error| failed(Errno::from_io_error(&error).unwrap_or(Errno::IO)))?;
    fs::fsync(&folder).map_err(failed)?;
    let place = path.folder().map_or_else(|| name.clone(), |folder| format!("{folder}/{name}"));
    Ok(NotePath::parse(&place)?)
}

fn folder(vault: &Vault) -> Result<Folder, Errno> {
    make_folders(&vault.root(), Some(&format!("{TRASH}/{KEPT_IN}")))
}

fn name_for(path: &NotePath) -> String {
    format!("{}-{:04x} {}", now().as_millis(), fastrand::u16(..), path.name())
}

/// Removes what was kept long enough. What somebody wrote to since it was put there stays for good:
/// it may be the only copy.
fn remove_old(kept: &Folder) {
    let Ok(entries) = kept.entries() else { return };
    let old = entries.flatten().filter_map(|entry| {
        let name = entry.file_name().to_str().ok()?.to_owned();
        let put = Duration::from_millis(name.split_once('-')?.0.parse().ok()?);
        let stat = kept.stat(&name).ok()?;
        let written = u64::try_from(read::modified(&stat).0).map(Duration::from_millis).ok()?;
        (written < put && now() > put + KEPT_FOR).then_some(name)
    });
    for name in old.collect::<Vec<_>>() {
        let _tried_again_later = fs::unlinkat(kept, &name, AtFlags::empty());
    }
}

fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

impl Place {
    fn move_temp(&self, to: &Folder, name: &str) -> Result<(), Errno> {
        fs::renameat_with(self.folder(), self.temp_name(), to, name, RenameFlags::empty())
    }

    fn link_note(&self, to: &Folder, name: &str) -> Result<(), Errno> {
        fs::linkat(self.folder(), self.path().name(), to, name, AtFlags::empty())
    }
}
