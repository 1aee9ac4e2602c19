//! What a note keeps beside its bytes when they are exchanged: owner, permissions, attributes.

use std::ffi::CStr;
use std::fs::File;
use std::io;

use rustix::buffer::spare_capacity;
use rustix::fs::{self, Gid, Mode, Uid, XattrFlags};
use rustix::io::Errno;

/// Gives `to` the owner, permissions and extended attributes of `from`. Owner and attributes that
/// only the system may set are left where it refuses; the user's own attributes must be kept.
pub(crate) fn attributes(from: &File, to: &File) -> io::Result<()> {
    let (old, new) = (fs::fstat(from)?, fs::fstat(to)?);
    if (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid) {
        let owner = (Uid::from_raw(old.st_uid), Gid::from_raw(old.st_gid));
        match fs::fchown(to, Some(owner.0), Some(owner.1)) {
            Err(Errno::PERM) => {}
            owned => owned?,
        }
    }
    fs::fchmod(to, Mode::from_raw_mode(old.st_mode & 0o7777))?;
    for name in names(from)?.split_inclusive(|&byte| byte == 0) {
        if let Ok(name) = CStr::from_bytes_with_nul(name) {
            attribute(from, to, name)?;
        }
    }
    Ok(())
}

/// The names of all attributes, each ended by a zero byte.
fn names(file: &File) -> io::Result<Vec<u8>> {
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

fn attribute(from: &File, to: &File, name: &CStr) -> io::Result<()> {
    let mut value = Vec::new();
    let size = match fs::fgetxattr_query(from, name) {
        Ok(size) => size,
        Err(Errno::NODATA) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    if size > 0 {
        value.reserve(size);
        fs::fgetxattr(from, name, spare_capacity(&mut value))?;
    }
    match fs::fsetxattr(to, name, &value, XattrFlags::empty()) {
        Err(_) if !name.to_bytes().starts_with(b"user.") => Ok(()),
        set => Ok(set?),
    }
}
