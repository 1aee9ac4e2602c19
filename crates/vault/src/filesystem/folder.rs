//! A handle on a folder inside the vault, and the only way from there to anything beneath it.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use protocol::FileId;
use rustix::fs::{self, AtFlags, Dir, FileType, Mode, OFlags, ResolveFlags, Stat, StatxFlags};
use rustix::io::Errno;

/// An open folder. Nothing reached through it leads outside, whatever is renamed meanwhile.
#[derive(Debug)]
pub(crate) struct FolderHandle(OwnedFd);

/// `openat2` must refuse paths that lead out, links of both kinds and other file systems.
const BENEATH: ResolveFlags = ResolveFlags::BENEATH
    .union(ResolveFlags::NO_SYMLINKS)
    .union(ResolveFlags::NO_MAGICLINKS)
    .union(ResolveFlags::NO_XDEV);

impl FolderHandle {
    /// Takes the vault's own folder; all others are reached from it.
    pub(crate) fn from_root(handle: OwnedFd) -> Self {
        Self(handle)
    }

    pub(crate) fn handle(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }

    /// Opens the folder `path`, which is `/`-separated and has been through `NotePath`. A link in
    /// its place is `LOOP`, a file is `NOTDIR`.
    pub(crate) fn open_folder(&self, path: &str) -> Result<Self, Errno> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        match self.open(path, flags, Mode::empty()) {
            Err(Errno::NOTDIR) if self.is_link(path) => Err(Errno::LOOP),
            opened => opened.map(Self),
        }
    }

    /// Opens the folder `path`, or this one again for `None`.
    pub(crate) fn open_folder_or_self(&self, path: Option<&str>) -> Result<Self, Errno> {
        self.open_folder(path.unwrap_or("."))
    }

    /// Opens `path` as it is: a link is refused. With `NONBLOCK` a pipe does not block.
    pub(crate) fn open(&self, path: &str, flags: OFlags, mode: Mode) -> Result<OwnedFd, Errno> {
        let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match retry_open(|| fs::openat2(self, path, flags, mode, BENEATH)) {
            Err(Errno::NOSYS) => self.open_stepwise(path, flags, mode),
            opened => opened,
        }
    }

    /// Opens the file `path` for reading if the system knows the whole way without asking a disk;
    /// `AGAIN` or `NOSYS` if not.
    pub(crate) fn open_cached(&self, path: &str) -> Result<OwnedFd, Errno> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        fs::openat2(self, path, flags, Mode::empty(), BENEATH | ResolveFlags::CACHED)
    }

    /// The metadata of the entry at `path`, without following a link in its last part.
    pub(crate) fn stat(&self, path: &str) -> Result<Stat, Errno> {
        fs::fstat(self.open(path, OFlags::PATH, Mode::empty())?)
    }

    /// Which file or folder stands at `path`, without following a link in its last part.
    pub(crate) fn file_id(&self, path: &str) -> Result<FileId, Errno> {
        file_id_of(&self.open(path, OFlags::PATH, Mode::empty())?)
    }

    /// The number of the device with the folder; `None` when the system does not tell.
    pub(crate) fn device(&self) -> Option<u64> {
        fs::fstat(self).ok().map(|stat| stat.st_dev)
    }

    /// The entries, in the order the system gives them.
    pub(crate) fn entries(&self) -> Result<Dir, Errno> {
        Dir::read_from(self)
    }

    /// Whether it lists exactly this name: a disk that ignores case finds an entry by other spellings too.
    pub(crate) fn lists(&self, name: &str) -> Result<bool, Errno> {
        for entry in self.entries()? {
            if entry?.file_name().to_bytes() == name.as_bytes() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether nothing at all is in it. Where it cannot be listed, it counts as used.
    pub(crate) fn is_empty(&self) -> bool {
        self.entries().is_ok_and(|mut entries| {
            entries.all(|entry| entry.is_ok_and(|entry| !is_entry(entry.file_name().to_bytes())))
        })
    }

    /// Whether anything is in it.
    pub(crate) fn has_entries(&self) -> bool {
        self.entries().is_ok_and(|mut entries| {
            entries.any(|entry| entry.is_ok_and(|entry| is_entry(entry.file_name().to_bytes())))
        })
    }

    /// Whether this folder has the path `place` on the system.
    pub(crate) fn stands_at(&self, place: &Path) -> bool {
        let (named, held) = (fs::stat(place), fs::fstat(self));
        matches!((named, held), (Ok(named), Ok(held))
            if (named.st_dev, named.st_ino) == (held.st_dev, held.st_ino))
    }

    /// Whether both are the same folder.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let (Ok(this), Ok(that)) = (fs::fstat(self), fs::fstat(other)) else { return false };
        (this.st_dev, this.st_ino) == (that.st_dev, that.st_ino)
    }

    fn is_link(&self, path: &str) -> bool {
        let is_link = |stat: Stat| FileType::from_raw_mode(stat.st_mode) == FileType::Symlink;
        self.stat(path).is_ok_and(is_link)
    }

    /// The fallback for a kernel without `openat2`: opens one part after the other, follows no link
    /// and enters no other file system.
    fn open_stepwise(&self, path: &str, flags: OFlags, mode: Mode) -> Result<OwnedFd, Errno> {
        let step = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let ours = Mount::from_handle(self)?;
        let mut here = fs::openat(self, ".", step, Mode::empty())?;
        let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
        for part in folders.split_terminator('/') {
            here = ours.check_same_mount(fs::openat(&here, part, step, Mode::empty())?)?;
        }
        ours.check_same_mount(fs::openat(&here, name, flags, mode)?)
    }
}

impl AsFd for FolderHandle {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

fn nanos(seconds: i64, beyond: u32) -> i64 {
    seconds.saturating_mul(1_000_000_000).saturating_add(i64::from(beyond))
}

/// Which mount something is on: its number, or before Linux 5.8 the number of its device.
#[derive(Debug, PartialEq, Eq)]
enum Mount {
    Numbered(u64),
    Device(u32, u32),
}

impl Mount {
    fn from_handle(handle: impl AsFd) -> Result<Self, Errno> {
        let about = fs::statx(handle, "", AtFlags::EMPTY_PATH, StatxFlags::MNT_ID)?;
        let is_numbered = StatxFlags::from_bits_retain(about.stx_mask).contains(StatxFlags::MNT_ID);
        Ok(if is_numbered {
            Self::Numbered(about.stx_mnt_id)
        } else {
            Self::Device(about.stx_dev_major, about.stx_dev_minor)
        })
    }

    /// Lets through what is on this mount.
    fn check_same_mount(&self, handle: OwnedFd) -> Result<OwnedFd, Errno> {
        if Self::from_handle(&handle)? == *self { Ok(handle) } else { Err(Errno::XDEV) }
    }
}

/// `openat2` says "again" when a rename elsewhere kept it from being sure.
pub(crate) fn retry_open(open: impl Fn() -> Result<OwnedFd, Errno>) -> Result<OwnedFd, Errno> {
    const TRIES: usize = 64;
    (1..TRIES)
        .map(|_| open())
        .find(|opened| opened.as_ref().err() != Some(&Errno::AGAIN))
        .unwrap_or_else(open)
}

/// Which file it is, whatever its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Inode(u64, u64);

impl Inode {
    pub(crate) const fn from_stat(stat: &Stat) -> Self {
        Self(stat.st_dev, stat.st_ino)
    }
}

/// Whether `now` is the file that was `then`. Where the system does not say by now when a file was made, as
/// in some sandboxes, the number has to do.
pub(crate) fn is_same_file(then: FileId, now: FileId) -> bool {
    then.inode == now.inode && (now.born.is_none() || then.born == now.born)
}

/// Which file an open one is.
pub(crate) fn file_id_of(file: &impl AsFd) -> Result<FileId, Errno> {
    let wanted = StatxFlags::INO | StatxFlags::BTIME;
    match fs::statx(file, c"", AtFlags::EMPTY_PATH, wanted) {
        Ok(found) => {
            let says = |what: StatxFlags| found.stx_mask & what.bits() != 0;
            let born = says(StatxFlags::BTIME).then_some(found.stx_btime);
            Ok(FileId {
                inode: found.stx_ino,
                born: born.map(|time| nanos(time.tv_sec, time.tv_nsec)),
            })
        }
        // A kernel without it, or a sandbox that forbids it.
        Err(Errno::NOSYS | Errno::PERM) => {
            fs::fstat(file).map(|stat| FileId { inode: stat.st_ino, born: None })
        }
        Err(error) => Err(error),
    }
}

/// Whether a listed name is an entry of the folder, not the folder itself or the one above it.
fn is_entry(name: &[u8]) -> bool {
    !matches!(name, b"." | b"..")
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests make the files of the vault")]
mod tests {
    use super::*;

    /// Without `openat2` the parts are walked one by one; both ways must refuse the same.
    #[test]
    fn the_walk_enters_no_other_mount_than_its_own() {
        let (here, there) =
            (std::fs::File::open("/").unwrap(), std::fs::File::open("/proc").unwrap());
        let ours = Mount::from_handle(&here).unwrap();
        assert_eq!(ours.check_same_mount(there.into()).err(), Some(Errno::XDEV));
        assert!(ours.check_same_mount(std::fs::File::open("/").unwrap().into()).is_ok());
        let top = FolderHandle::from_root(here.into());
        for path in ["proc/version", "proc"] {
            let walked = top.open_stepwise(path, OFlags::RDONLY | OFlags::NOFOLLOW, Mode::empty());
            assert_eq!(walked.err(), Some(Errno::XDEV), "{path}");
        }
    }

    #[test]
    fn the_walk_refuses_what_the_kernel_refuses() {
        let all = tempfile::tempdir().unwrap();
        let (root, out) = (all.path().join("vault"), all.path().join("out"));
        std::fs::create_dir_all(root.join("a/b")).unwrap();
        std::fs::create_dir(&out).unwrap();
        std::fs::write(out.join("secret.md"), "canary").unwrap();
        std::fs::write(root.join("a/b/note.md"), "note").unwrap();
        std::os::unix::fs::symlink(&out, root.join("a/link")).unwrap();
        std::os::unix::fs::symlink(out.join("secret.md"), root.join("a/link.md")).unwrap();
        let folder = FolderHandle::from_root(std::fs::File::open(&root).unwrap().into());
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW;
        for (path, is_inside) in [
            ("a/b/note.md", true),
            ("a/link/secret.md", false),
            ("a/link.md", false),
            ("a/gone.md", false),
        ] {
            assert_eq!(
                folder.open_stepwise(path, flags, Mode::empty()).is_ok(),
                is_inside,
                "{path}"
            );
            assert_eq!(folder.open(path, flags, Mode::empty()).is_ok(), is_inside, "{path}");
        }
    }
}
