//! File systems whose files may change without a report of the system, known by the numbers of `statfs(2)`.

use std::os::fd::AsFd;

use rustix::fs;

/// From `linux/magic.h`. A program answers for its files, which may lie on another computer.
const FUSE: i128 = 0x6573_5546;

/// Whether what is in the folder may change without a report of the system: it reports only what
/// goes through this computer's own mount.
pub(crate) fn changes_unreported(folder: impl AsFd) -> bool {
    let folder = folder.as_fd();
    // As wide as the machine's words, and signed; the number has 32 bits.
    let is_fuse = |kind: i128| kind & 0xffff_ffff == FUSE;
    file_lease::is_remote(folder)
        || fs::fstatfs(folder).is_ok_and(|about| is_fuse(about.f_type as i128))
}
