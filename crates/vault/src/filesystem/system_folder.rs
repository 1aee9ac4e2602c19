//! Opens folders by their names on the system, but for those that the kernel makes up, as in `/proc`: these hold no
//! notes.
//!
//! The opened handle is judged, so neither a link nor another mount of `/proc` hides where it leads.

use std::ffi::OsStr;
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::fs::{self, Access, AtFlags, CWD, FsWord, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use crate::OpenError;
use crate::filesystem::folder::retry_open;

/// Nothing in these is a note.
const SYSTEM_FOLDERS: [&str; 3] = ["/proc", "/sys", "/dev"];

/// File systems that the kernel fills itself: the numbers of `statfs(2)` and `linux/magic.h`.
const KERNEL_FILESYSTEMS: [FsWord; 15] = [
    0x0000_9fa0, // proc
    0x6265_6572, // sysfs
    0x0000_1cd1, // devpts
    0x0027_e0eb, // cgroup
    0x6367_7270, // cgroup2
    0x6462_6720, // debugfs
    0x7472_6163, // tracefs
    0x7363_6673, // securityfs
    0x6265_6570, // configfs
    0x6165_676c, // pstore
    0xde5e_81e4, // efivarfs
    0xf97c_ff8c, // selinuxfs
    0xcafe_4a11, // bpf
    0x1980_0202, // mqueue
    0x4249_4e4d, // binfmt_misc
];

/// Opens a folder for reading; `None` where it is one of the system's, or is only reached through one.
fn open_unless_system(folder: &Path) -> Result<Option<OwnedFd>, Errno> {
    if is_below_system_folder(folder) {
        return Ok(None);
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let anyhow = || fs::open(folder, flags, Mode::empty());
    let resolve = ResolveFlags::NO_MAGICLINKS;
    let handle = match retry_open(|| fs::openat2(CWD, folder, flags, Mode::empty(), resolve)) {
        Err(Errno::NOSYS) => anyhow()?,
        // Links in a circle fail again. `/proc/self/cwd`, behind whatever link, is a folder after all.
        Err(Errno::LOOP) => return anyhow().map(|_| None),
        opened => opened?,
    };
    Ok((!is_system_folder(&handle)?).then_some(handle))
}

/// Opens a folder for reading, by its name on the system; one of the system's own is refused.
pub(crate) fn open_directory(folder: &Path) -> Result<OwnedFd, OpenError> {
    let failed = |error| open_error(folder, error);
    let Some(handle) = open_unless_system(folder).map_err(failed)? else {
        return Err(OpenError::System { folder: folder.to_owned() });
    };
    let wanted = Access::READ_OK | Access::EXEC_OK;
    fs::accessat(&handle, ".", wanted, AtFlags::EACCESS).map_err(failed)?;
    Ok(handle)
}

/// Why a folder was not opened.
pub(crate) fn open_error(folder: &Path, error: Errno) -> OpenError {
    let folder = folder.to_owned();
    match error {
        Errno::NOENT => OpenError::Missing { folder },
        Errno::NOTDIR => OpenError::NotAFolder { folder },
        Errno::ACCESS | Errno::PERM => OpenError::Denied { folder },
        other => OpenError::Io { folder, source: other.into() },
    }
}

fn is_system_folder(handle: &OwnedFd) -> Result<bool, Errno> {
    if KERNEL_FILESYSTEMS.contains(&fs::fstatfs(handle)?.f_type) {
        return Ok(true);
    }
    Ok(is_below_system_folder(&current_path(handle)) || is_on_system_mount(handle)?)
}

fn is_below_system_folder(folder: &Path) -> bool {
    SYSTEM_FOLDERS.iter().any(|top| folder.starts_with(top))
}

/// Where the folder is now, as the system names it; empty where that cannot be told.
fn current_path(handle: &OwnedFd) -> std::path::PathBuf {
    let name = format!("/proc/self/fd/{}", handle.as_raw_fd());
    let place = fs::readlinkat(CWD, name, Vec::new()).unwrap_or_default();
    OsStr::from_bytes(place.as_bytes()).into()
}

/// Whether it is on a file system that stands at one of the tops: `/dev` mounted elsewhere has the
/// number of an ordinary one.
fn is_on_system_mount(handle: impl AsFd) -> Result<bool, Errno> {
    let own = fs::fstat(handle)?.st_dev;
    let top = fs::stat("/")?.st_dev;
    let stands_at = |place: &&str| fs::stat(*place).is_ok_and(|stat| stat.st_dev == own);
    Ok(own != top && SYSTEM_FOLDERS.iter().any(stands_at))
}
