//! File systems whose files other computers may change, known by the numbers of `statfs(2)`.

use std::os::fd::AsFd;

use rustix::fs;

/// From `linux/magic.h`, and of CIFS from its sources.
const REMOTE: [u32; 7] = [
    0x6969,      // NFS
    0x517b,      // SMB
    0xfe53_4d42, // SMB 2
    0xff53_4d42, // CIFS
    0x0102_1997, // 9p
    0x00c3_6400, // Ceph
    0x5346_414f, // AFS
];

/// A program answers for its files, which may lie on another computer.
const FUSE: u32 = 0x6573_5546;

/// Whether the file lies on another computer. There a lease is refused in the same words when the server
/// has not promised to tell of other writers, so it says nothing about them.
pub(crate) fn is_remote(file: impl AsFd) -> bool {
    kind(file).is_some_and(|kind| REMOTE.contains(&kind))
}

/// Whether what is in the folder may change without a report of the system: it reports only what
/// goes through this computer's own mount.
pub(crate) fn changes_unreported(folder: impl AsFd) -> bool {
    kind(folder).is_some_and(|kind| kind == FUSE || REMOTE.contains(&kind))
}

/// As wide as the machine's words, and signed; the numbers have 32 bits.
fn kind(file: impl AsFd) -> Option<u32> {
    let kind = fs::fstatfs(file).ok()?.f_type;
    u32::try_from(kind as i128 & 0xffff_ffff).ok()
}
