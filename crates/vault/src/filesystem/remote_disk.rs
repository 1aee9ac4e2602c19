//! File systems of other computers, known by the numbers of `statfs(2)`.

use std::fs::File;

use rustix::fs;

/// Whether the file lies on another computer. There a lease is refused in the same words when the server
/// has not promised to tell of other writers, so it says nothing about them.
pub(crate) fn is_remote(file: &File) -> bool {
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
    let kind = fs::fstatfs(file).map(|disk| disk.f_type);
    // As wide as the machine's words, and signed; the numbers have 32 bits.
    kind.is_ok_and(|kind| {
        u32::try_from(kind as i128 & 0xffff_ffff).is_ok_and(|kind| REMOTE.contains(&kind))
    })
}
