//! When a file was made and last written, as far as the file system tells.

use protocol::{NotePath, Timestamp};
use rustix::fs::{self, AtFlags, StatxFlags, StatxTimestamp};

use crate::{Vault, VaultError};

/// The dates of a file, by the file system's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileTimes {
    /// When it was last written.
    pub modified: Timestamp,
    /// When this file was created; a copy has a new time. Not every file system stores it.
    pub created: Option<Timestamp>,
}

impl Vault {
    /// The dates of the file at `path`, spelled as on disk.
    pub fn file_times(&self, path: &NotePath) -> Result<FileTimes, VaultError> {
        self.check_path_visible(path)?;
        let path = &self.follow_symlinks(path)?;
        self.check_path_visible(path)?;
        let failed = |error| VaultError::from_errno("read", path, error);
        let file = self.open_to_read(path).map_err(failed)?;
        let wanted = StatxFlags::MTIME | StatxFlags::BTIME;
        let stat = fs::statx(&file, "", AtFlags::EMPTY_PATH, wanted).map_err(failed)?;
        let knows_birth = stat.stx_mask & StatxFlags::BTIME.bits() != 0;
        Ok(FileTimes {
            modified: millis(&stat.stx_mtime),
            created: knows_birth.then(|| millis(&stat.stx_btime)),
        })
    }

    /// When what stands at `path` was last written, renamed or moved there, by the file system's clock: of a
    /// folder also when something was put into it or taken out. `None` for nothing. Asks no screen.
    #[must_use]
    pub fn touched(&self, path: &str) -> Option<Timestamp> {
        let stat = self.root().stat(path).ok()?;
        let nanos = i64::try_from(stat.st_ctime_nsec).unwrap_or_default();
        Some(Timestamp(stat.st_ctime.saturating_mul(1000).saturating_add(nanos / 1_000_000)))
    }
}

fn millis(at: &StatxTimestamp) -> Timestamp {
    Timestamp(at.tv_sec.saturating_mul(1000).saturating_add(i64::from(at.tv_nsec / 1_000_000)))
}
