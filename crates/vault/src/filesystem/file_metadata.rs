//! The metadata that a note keeps when its bytes are exchanged: owner, permissions, attributes.
//!
//! A new file takes the place of the old one, so its metadata is copied and read back. A change is
//! refused if some of the metadata cannot be copied. The old file of a note that went to the trash may be gone by the
//! time the note comes back: then the ledger knows its owner and permissions.

use std::collections::BTreeMap;
use std::ffi::{CStr, CString};
use std::fs::File;
use std::io;

use protocol::FileAccess;
use rustix::buffer::spare_capacity;
use rustix::fs::{self, Gid, IFlags, Mode, Uid, XattrFlags};
use rustix::io::Errno;

/// Why a change would not preserve the metadata of a note.
#[derive(Debug)]
pub(crate) enum MetadataError {
    /// Some of it could not be carried over.
    Unkept,
    /// The system failed on the way.
    Io(io::Error),
}

impl From<io::Error> for MetadataError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<Errno> for MetadataError {
    fn from(error: Errno) -> Self {
        Self::Io(error.into())
    }
}

/// The origin of the owner, the permissions and the attributes of a file that is made for a note.
#[derive(Debug, Clone, Copy)]
pub(crate) enum MetadataSource<'a> {
    /// The system's: the note is new.
    System,
    /// This file's.
    File(&'a File),
    /// A file's that is gone. Where nobody knows who could read it, the user alone may read the note.
    Gone(Option<FileAccess>),
}

impl MetadataSource<'_> {
    /// The permissions to make the file with: nobody opens it before it has those of its source.
    pub(crate) const fn creation_mode(self) -> Mode {
        match self {
            Self::System => Mode::from_raw_mode(0o666),
            Self::File(_) | Self::Gone(_) => Mode::from_raw_mode(0o600),
        }
    }

    /// Gives them to the empty file `to`, as far as the system allows. [`MetadataSource::verify`] tells whether it did.
    pub(crate) fn copy(self, to: &File) -> io::Result<()> {
        match self {
            Self::File(from) => copy_metadata(from, to),
            Self::System | Self::Gone(_) => Ok(()),
        }
    }

    /// Checks that `to`, which is written, has them, and sets what is left to set.
    pub(crate) fn verify(self, to: &File) -> Result<(), MetadataError> {
        match self {
            Self::File(from) => verify_metadata(from, to),
            Self::Gone(Some(access)) => set_access(to, access),
            Self::Gone(None) => {
                remove_inherited_list(to);
                Ok(())
            }
            Self::System => Ok(()),
        }
    }
}

/// Flags of a file that its owner set and that a new file does not get automatically.
const PRESERVED_FLAGS: IFlags = IFlags::COMPRESSED
    .union(IFlags::SYNC)
    .union(IFlags::NODUMP)
    .union(IFlags::NOATIME)
    .union(IFlags::NOCOW)
    .union(IFlags::SECURE_REMOVAL)
    .union(IFlags::UNRM);

/// The attribute with the access list of a file, where it has one.
const ACCESS_LIST: &CStr = c"system.posix_acl_access";

/// The owner of a file, and what they and others may do with a copy of it that has no access list. Of a file with an
/// access list the copy is for its owner alone: the list gives the bits another meaning, and may keep others out.
pub(crate) fn access_of(file: &File) -> io::Result<FileAccess> {
    let stat = fs::fstat(file)?;
    let bits = if has_access_list(file)? { 0o7700 } else { 0o7777 };
    Ok(FileAccess { mode: stat.st_mode & bits, uid: stat.st_uid, gid: stat.st_gid })
}

fn has_access_list(file: &File) -> io::Result<bool> {
    match fs::fgetxattr_query(file, ACCESS_LIST) {
        Ok(_) => Ok(true),
        Err(Errno::NODATA | Errno::NOTSUP) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Whether a file lets nobody do what these permissions forbid. One with an access list may.
pub(crate) fn is_no_wider(file: &File, access: FileAccess) -> bool {
    let is_listed = has_access_list(file).unwrap_or(true);
    let is_within = |stat: fs::Stat| stat.st_mode & !access.mode & 0o077 == 0;
    !is_listed && fs::fstat(file).is_ok_and(is_within)
}

/// Whether the system or the disk refuses to set an owner or permissions: this user may not, they mean nothing here, or
/// the disk keeps none.
const fn is_refusal(error: Errno) -> bool {
    matches!(error, Errno::PERM | Errno::INVAL | Errno::NOSYS | Errno::NOTSUP | Errno::ACCESS)
}

/// Takes the access list from a new file whose folder gave it one.
fn remove_inherited_list(file: &File) {
    // Most files have none.
    let _removed_or_none = fs::fremovexattr(file, ACCESS_LIST);
}

/// Gives a file that was made for its owner alone this owner and these permissions, and no access list. Where the disk
/// or the system does not allow that, the file stays ours, and nobody else may open it. A disk that keeps no permissions
/// decides by itself who may open its files.
fn set_access(file: &File, access: FileAccess) -> Result<(), MetadataError> {
    remove_inherited_list(file);
    let made = access_of(file)?;
    if made == access || made.mode & 0o177 != 0 {
        return Ok(());
    }
    let owned = match (made.uid, made.gid) == (access.uid, access.gid) {
        true => Ok(()),
        false => {
            let owner = (Uid::from_raw(access.uid), Gid::from_raw(access.gid));
            fs::fchown(file, Some(owner.0), Some(owner.1))
        }
    };
    match owned.and_then(|()| fs::fchmod(file, Mode::from_raw_mode(access.mode))) {
        Ok(()) if access_of(file)? == access => return Ok(()),
        Err(error) if !is_refusal(error) => return Err(error.into()),
        Ok(()) | Err(_) => {}
    }
    tracing::warn!("a note that is made again cannot get the owner and permissions that it had");
    let _confirmed_below = fs::fchmod(file, Mode::from_raw_mode(0o600));
    if fs::fstat(file)?.st_mode & 0o077 == 0 { Ok(()) } else { Err(MetadataError::Unkept) }
}

/// Gives the empty file `to` the owner, permissions, flags and extended attributes of `from`, as far
/// as the system allows. [`verify_metadata`] tells whether it did.
pub(crate) fn copy_metadata(from: &File, to: &File) -> io::Result<()> {
    let (old, new) = (fs::fstat(from)?, fs::fstat(to)?);
    if (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid) {
        let owner = (Uid::from_raw(old.st_uid), Gid::from_raw(old.st_gid));
        match fs::fchown(to, Some(owner.0), Some(owner.1)) {
            Err(error) if is_refusal(error) => {}
            owned => owned?,
        }
    }
    let (kept, has) = (xattrs(from)?, xattrs(to)?);
    // A folder gives new files an access list of its own.
    for name in has.keys().filter(|name| !kept.contains_key(*name)) {
        let _confirmed_later = fs::fremovexattr(to, name.as_c_str());
    }
    for (name, value) in kept.iter().filter(|(name, value)| has.get(*name) != Some(value)) {
        let _confirmed_later = fs::fsetxattr(to, name.as_c_str(), value, XattrFlags::empty());
    }
    fs::fchmod(to, Mode::from_raw_mode(old.st_mode & 0o7777))?;
    if let (Ok(old), Ok(new)) = (fs::ioctl_getflags(from), fs::ioctl_getflags(to))
        && old & PRESERVED_FLAGS != new & PRESERVED_FLAGS
    {
        let _confirmed_later =
            fs::ioctl_setflags(to, (new - PRESERVED_FLAGS) | (old & PRESERVED_FLAGS));
    }
    Ok(())
}

/// Checks that `to`, which is written, has the present metadata of `from`. Sets again what writing
/// removed and what changed in `from` since.
pub(crate) fn verify_metadata(from: &File, to: &File) -> Result<(), MetadataError> {
    if is_preserved(from, to)? {
        return Ok(());
    }
    copy_metadata(from, to)?;
    if is_preserved(from, to)? { Ok(()) } else { Err(MetadataError::Unkept) }
}

fn is_preserved(from: &File, to: &File) -> io::Result<bool> {
    let (old, new) = (fs::fstat(from)?, fs::fstat(to)?);
    let access = |stat: &fs::Stat| (stat.st_uid, stat.st_gid, stat.st_mode);
    let flags = |file| fs::ioctl_getflags(file).unwrap_or(IFlags::empty()) & PRESERVED_FLAGS;
    Ok(access(&old) == access(&new) && xattrs(from)? == xattrs(to)? && flags(from) == flags(to))
}

/// The extended attributes that belong to the file rather than to its bytes.
fn xattrs(file: &File) -> io::Result<BTreeMap<CString, Vec<u8>>> {
    let mut all = BTreeMap::new();
    for name in xattr_names(file)?.split_inclusive(|&byte| byte == 0) {
        if let Ok(name) = CStr::from_bytes_with_nul(name)
            && is_preserved_xattr(name)
            && let Some(value) = xattr_value(file, name)?
        {
            all.insert(name.to_owned(), value);
        }
    }
    Ok(all)
}

/// Signatures over the bytes change with the bytes. Names that a file system or the kernel reserves
/// are not copied.
fn is_preserved_xattr(name: &CStr) -> bool {
    let name = name.to_bytes();
    let is_signature = matches!(name, b"security.ima" | b"security.evm");
    let is_access = matches!(name, b"system.posix_acl_access" | b"system.nfs4_acl");
    let is_own = name.starts_with(b"user.") || name.starts_with(b"security.");
    (is_own && !is_signature) || is_access || name.starts_with(b"trusted.")
}

/// The names of all attributes, each ended by a zero byte.
fn xattr_names(file: &File) -> io::Result<Vec<u8>> {
    let mut names = Vec::new();
    let size = match fs::flistxattr_query(file) {
        Ok(size) => size,
        Err(Errno::NOTSUP) => return Ok(names),
        Err(error) => return Err(error.into()),
    };
    if size > 0 {
        names.reserve(size);
        fs::flistxattr(file, spare_capacity(&mut names))?;
    }
    Ok(names)
}

/// `None` for one that is gone by now.
fn xattr_value(file: &File, name: &CStr) -> io::Result<Option<Vec<u8>>> {
    let mut value = Vec::new();
    let size = match fs::fgetxattr_query(file, name) {
        Ok(size) => size,
        Err(Errno::NODATA) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    if size > 0 {
        value.reserve(size);
        fs::fgetxattr(file, name, spare_capacity(&mut value))?;
    }
    Ok(Some(value))
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "a test makes its own files")]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn file_with_mode(mode: u32) -> File {
        let file = tempfile::tempfile().unwrap();
        file.set_permissions(std::fs::Permissions::from_mode(mode)).unwrap();
        file
    }

    #[test]
    fn a_note_is_made_again_on_a_disk_that_keeps_no_permissions() {
        // As FAT shows a file that was made with 0600.
        let file = file_with_mode(0o755);
        let made = access_of(&file).unwrap();
        let theirs = FileAccess { mode: 0o640, uid: made.uid + 1, gid: made.gid + 1 };
        set_access(&file, theirs).unwrap();
        assert_eq!(access_of(&file).unwrap(), made);
        // The control: a disk that keeps them.
        let file = file_with_mode(0o600);
        let ours = FileAccess { mode: 0o640, ..made };
        set_access(&file, ours).unwrap();
        assert_eq!(access_of(&file).unwrap(), ours);
    }

    #[test]
    fn a_note_of_somebody_else_is_made_again_for_this_user_alone() {
        if rustix::process::geteuid().is_root() {
            println!("skipped: root may give a file to anybody");
            return;
        }
        let file = file_with_mode(0o600);
        let made = access_of(&file).unwrap();
        set_access(&file, FileAccess { mode: 0o664, uid: 0, gid: 0 }).unwrap();
        assert_eq!(access_of(&file).unwrap(), made);
    }
}
