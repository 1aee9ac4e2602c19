//! Whether a file was touched since it was looked at, told without reading it.

use protocol::Timestamp;
use rustix::fs::Stat;

/// The metadata of a file that changes with each write: the same fingerprint means the same bytes.
/// Only a write within the grain of the file system's clock can escape it, so a fingerprint counts
/// once it is [settled](Self::is_settled).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fingerprint {
    inode: u64,
    size: i64,
    mtime: (i64, u64),
    ctime: (i64, u64),
}

impl Fingerprint {
    pub(crate) const fn from_stat(stat: &Stat) -> Self {
        Self {
            inode: stat.st_ino,
            size: stat.st_size,
            mtime: (stat.st_mtime, stat.st_mtime_nsec),
            ctime: (stat.st_ctime, stat.st_ctime_nsec),
        }
    }

    /// The stamp as numbers, for storing.
    #[must_use]
    pub const fn to_numbers(self) -> [u64; 6] {
        let Self { inode, size, mtime: written, ctime: changed } = self;
        let (size, written_s, changed_s) =
            (size.cast_unsigned(), written.0.cast_unsigned(), changed.0.cast_unsigned());
        [inode, size, written_s, written.1, changed_s, changed.1]
    }

    /// A stamp that was stored.
    #[must_use]
    pub const fn from_numbers(numbers: [u64; 6]) -> Self {
        let [inode, size, written_s, written_ns, changed_s, changed_ns] = numbers;
        Self {
            inode,
            size: size.cast_signed(),
            mtime: (written_s.cast_signed(), written_ns),
            ctime: (changed_s.cast_signed(), changed_ns),
        }
    }

    /// The file's number in its file system. It stays when the file is renamed, and a later file may
    /// have the one of a deleted file.
    #[must_use]
    pub const fn inode(self) -> u64 {
        self.inode
    }

    /// The file's size in bytes.
    #[must_use]
    pub fn size(self) -> u64 {
        u64::try_from(self.size).unwrap_or_default()
    }

    /// When the file was last written.
    #[must_use]
    pub fn modified(self) -> Timestamp {
        let millis = i64::try_from(self.mtime.1 / 1_000_000).unwrap_or_default();
        Timestamp(self.mtime.0.saturating_mul(1000).saturating_add(millis))
    }

    /// Whether a later write gets another stamp for sure: the last one was over two seconds before
    /// `now`, in seconds since 1970, which is the coarsest clock of a file system.
    #[must_use]
    pub const fn is_settled(self, now: i64) -> bool {
        let last = if self.mtime.0 > self.ctime.0 { self.mtime.0 } else { self.ctime.0 };
        last.saturating_add(2) < now
    }
}
