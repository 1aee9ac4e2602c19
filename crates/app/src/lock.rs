//! One process holds a vault.
#![expect(clippy::disallowed_methods, reason = "the lock is a file of the data directory")]

use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use protocol::{ErrorCode, UserError};
use rustix::fs::FlockOperation;
use rustix::io::Errno;

use crate::data_dir::trouble;

/// Held for as long as the value lives; the kernel lets go when the process ends, however it ends.
#[derive(Debug)]
pub(crate) struct VaultLock {
    _file: File,
}

impl VaultLock {
    /// Takes the lock, or says in one sentence who is in the way.
    pub(crate) fn take(dir: &Path, folder: &Path) -> Result<Self, UserError> {
        let path = dir.join("lock");
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&path)
            .map_err(|error| trouble("open", &path, &error))?;
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Self { _file: file }),
            Err(Errno::WOULDBLOCK) => Err(UserError::new(
                ErrorCode::Busy,
                format!(
                    "Another Vaultmate has {} open: go on there, or close it first.",
                    folder.display()
                ),
            )),
            Err(error) => Err(trouble("lock", &path, &error.into())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_holder_is_refused_until_the_first_lets_go() {
        let dir = tempfile::tempdir().expect("a folder");
        let first = VaultLock::take(dir.path(), Path::new("/notes")).expect("free");
        let refused = VaultLock::take(dir.path(), Path::new("/notes")).expect_err("held");
        assert_eq!(refused.code, ErrorCode::Busy);
        drop(first);
        VaultLock::take(dir.path(), Path::new("/notes")).expect("free again");
    }
}
