//! Tells whether another program has a file open for writing, by read leases (`F_SETLEASE` in `fcntl(2)`).
//!
//! The kernel grants a read lease only while nobody has the file open for writing. While the lease
//! is held, a program that opens the file for writing, or truncates it, waits until the lease is given back
//! (or for `/proc/sys/fs/lease-break-time`, 45 s by default). So a lease should be held for
//! milliseconds.
//!
//! ```no_run
//! use std::fs::File;
//!
//! use file_lease::{LeaseError, ReadLease};
//!
//! # fn main() -> std::io::Result<()> {
//! match ReadLease::take(File::open("Tea.md")?) {
//!     Ok(lease) => assert!(lease.is_unbroken()),
//!     Err(LeaseError::OpenForWriting) => println!("A program has the file open for writing."),
//!     Err(LeaseError::Unsupported) => println!("The file system grants no leases."),
//! }
//! # Ok(())
//! # }
//! ```

use std::fs::File;
use std::io;
use std::os::fd::AsFd;

/// Why there is no lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeaseError {
    /// A program has the file open for writing, this one included.
    OpenForWriting,
    /// Nobody can tell: the file system grants no leases (some FUSE file systems, and those of other
    /// computers, whose programs may write unseen), the file belongs to another user, the handle was
    /// opened for more than reading, or this is not Linux.
    Unsupported,
}

/// Whether a file or folder lies on another computer, whose programs may change it unseen. There the kernel refuses a
/// lease with the same error as for a writer.
pub fn is_remote(file: impl AsFd) -> bool {
    sys::is_remote(file.as_fd())
}

/// A read lease on a file, given back when it is dropped.
///
/// It belongs to the open file description: a handle that was cloned from the same one shares it.
#[derive(Debug)]
pub struct ReadLease(File);

impl ReadLease {
    /// Takes a lease on a file that was opened for reading only. Does not wait.
    pub fn take(file: File) -> Result<Self, LeaseError> {
        match sys::lease(file.as_fd()) {
            Ok(()) => Ok(Self(file)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                Err(LeaseError::OpenForWriting)
            }
            Err(_) => Err(LeaseError::Unsupported),
        }
    }

    /// Whether, since the lease was taken, nobody opened the file for writing or truncated it. Once
    /// this is false it stays so: somebody waits, or the kernel took the lease away.
    #[must_use]
    pub fn is_unbroken(&self) -> bool {
        sys::is_leased(self.0.as_fd())
    }
}

impl Drop for ReadLease {
    fn drop(&mut self) {
        // A clone of the handle, in a child that was just forked, must not keep it.
        sys::release(self.0.as_fd());
    }
}

#[cfg(target_os = "linux")]
mod sys {
    use std::io;
    use std::os::fd::{AsRawFd, BorrowedFd};

    use libc::{F_GETLEASE, F_RDLCK, F_SETLEASE, F_UNLCK, SIGURG, c_int};
    use rustix::fs::fstatfs;

    /// Missing from `libc`; from `asm-generic/fcntl.h` of Linux, the same on x86, ARM and RISC-V.
    const F_SETSIG: c_int = 10;

    /// File systems whose files other computers may change, from `linux/magic.h`, and CIFS from its
    /// sources.
    const REMOTE: [i128; 7] = [
        0x6969,      // NFS
        0x517b,      // SMB
        0xfe53_4d42, // SMB 2
        0xff53_4d42, // CIFS
        0x0102_1997, // 9p
        0x00c3_6400, // Ceph
        0x5346_414f, // AFS
    ];

    pub(super) fn lease(file: BorrowedFd<'_>) -> io::Result<()> {
        // The holder of a lease that is broken gets a signal. `SIGIO`, which is the default, would end
        // the process; `SIGURG` is ignored unless somebody asks for it.
        fcntl(file, F_SETSIG, SIGURG)?;
        fcntl(file, F_SETLEASE, F_RDLCK).map(drop).map_err(|error| match is_remote(file) {
            // The same error as for a writer: the server has not promised to report any.
            true => io::ErrorKind::Unsupported.into(),
            false => error,
        })
    }

    pub(super) fn is_remote(file: BorrowedFd<'_>) -> bool {
        // As wide as the machine's words, and signed; the numbers have 32 bits.
        let kind = fstatfs(file).map(|about| about.f_type as i128 & 0xffff_ffff);
        kind.is_ok_and(|kind| REMOTE.contains(&kind))
    }

    pub(super) fn is_leased(file: BorrowedFd<'_>) -> bool {
        // For a lease that is being broken it is what it has to become.
        fcntl(file, F_GETLEASE, 0).is_ok_and(|kind| kind == F_RDLCK)
    }

    pub(super) fn release(file: BorrowedFd<'_>) {
        let _gone_with_the_handle = fcntl(file, F_SETLEASE, F_UNLCK);
    }

    #[allow(unsafe_code, reason = "no library that we use offers leases: ADR 0021")]
    fn fcntl(file: BorrowedFd<'_>, command: c_int, argument: c_int) -> io::Result<c_int> {
        // SAFETY: the descriptor is open for as long as it is borrowed, and the commands of this
        // module take a number or nothing, so the kernel reads and writes no memory of ours.
        let answer = unsafe { libc::fcntl(file.as_raw_fd(), command, argument) };
        if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(answer) }
    }
}

#[cfg(not(target_os = "linux"))]
mod sys {
    use std::io;
    use std::os::fd::BorrowedFd;

    pub(super) fn lease(_file: BorrowedFd<'_>) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn is_leased(_file: BorrowedFd<'_>) -> bool {
        false
    }

    pub(super) fn is_remote(_file: BorrowedFd<'_>) -> bool {
        false
    }

    pub(super) fn release(_file: BorrowedFd<'_>) {}
}

#[cfg(all(test, target_os = "linux"))]
#[allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test makes its own files and fails where it cannot go on"
)]
mod tests {
    use std::fs::OpenOptions;
    use std::io::Write;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_file_that_somebody_has_open_for_writing_gets_none() {
        let (_, path) = tempfile::NamedTempFile::new().unwrap().into_parts();
        let read = || File::open(&path).unwrap();
        let ways: [fn(&mut OpenOptions) -> &mut OpenOptions; 3] =
            [|open| open.append(true), |open| open.write(true), |open| open.read(true).write(true)];
        for way in ways {
            let writer = way(&mut OpenOptions::new()).open(&path).unwrap();
            assert_eq!(ReadLease::take(read()).unwrap_err(), LeaseError::OpenForWriting);
            drop(writer);
            assert!(ReadLease::take(read()).unwrap().is_unbroken());
        }
    }

    #[test]
    fn a_writer_waits_until_the_lease_is_released() {
        let (_, path) = tempfile::NamedTempFile::new().unwrap().into_parts();
        let lease = ReadLease::take(File::open(&path).unwrap()).unwrap();
        let is_open = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut file = OpenOptions::new().append(true).open(&path).unwrap();
                is_open.store(true, Ordering::SeqCst);
                file.write_all(b"late").unwrap();
            });
            while lease.is_unbroken() {
                thread::yield_now();
            }
            // It would be open by then.
            thread::sleep(Duration::from_millis(50));
            assert!(!is_open.load(Ordering::SeqCst), "it did not wait");
            drop(lease);
        });
        assert_eq!(std::fs::read(&path).unwrap(), b"late");
    }
}
