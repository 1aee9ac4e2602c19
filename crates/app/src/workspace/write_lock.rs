//! Files of the data directory that several processes change: one change at a time, each made from what
//! the file holds by then, and a file is never seen half-written.
#![expect(clippy::disallowed_methods, reason = "these are files of the data directory, not notes")]

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use file_lease::{LeaseError, ReadLease};
use protocol::{ErrorCode, UserError};
use rustix::fs::{CWD, FlockOperation, Mode, OFlags, RenameFlags, renameat_with};
use rustix::io::Errno;

use crate::user_texts;
use crate::workspace::data_dir::{FileAction, io_error};

/// The file that is locked, in the folder whose files it is for.
const LOCK_FILE: &str = ".write-lock";

/// A holder needs milliseconds; one that takes longer is stopped or its disk is.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);

/// How often a lock or a lease that others hold up is asked for.
const RETRY_INTERVAL: Duration = Duration::from_millis(2);

/// How long a program that has a file open for writing is waited for, before the file is looked at again.
const WRITER_TIMEOUT: Duration = Duration::from_millis(20);

/// Held while files of a folder are read and replaced. The kernel releases it when the value is
/// dropped and when its process ends, however it ends.
#[derive(Debug)]
pub(crate) struct WriteLock {
    _file: File,
}

impl WriteLock {
    /// Waits for the lock of the folder `dir`, ten seconds at most. Blocks.
    pub(crate) fn take(dir: &Path) -> Result<Self, UserError> {
        let path = dir.join(LOCK_FILE);
        let failed = |error: io::Error| io_error(FileAction::Lock, &path, &error);
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false).mode(0o600);
        let file = options.open(&path).map_err(failed)?;
        let asked = Instant::now();
        loop {
            match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Self { _file: file }),
                Err(Errno::WOULDBLOCK) if asked.elapsed() < LOCK_TIMEOUT => {
                    // The kernel has no lock that is waited for during a time.
                    std::thread::sleep(RETRY_INTERVAL);
                }
                Err(Errno::WOULDBLOCK) => return Err(lock_timeout_error(&path)),
                Err(error) => return Err(failed(error.into())),
            }
        }
    }

    /// Replaces a file whole; only the user can read it. It is on the disk when this returns, and a process
    /// that is killed before leaves the old one.
    #[expect(clippy::unused_self, reason = "the lock is what keeps others from the temporary file")]
    pub(crate) fn replace(&self, file: &Path, bytes: &[u8]) -> Result<(), UserError> {
        let temporary = temporary_path(file);
        let write = || {
            write_new(&temporary, bytes)?;
            fs::rename(&temporary, file)?;
            sync_folder(file)
        };
        write().map_err(|error| io_error(FileAction::Write, file, &error))
    }

    /// The same, if the file holds `expected` until then (`None`: is not there). `false` when somebody who
    /// takes no lock, like an editor, has saved it meanwhile or has it open for writing: then that stands, and
    /// nothing was replaced. What is open is waited for a moment first, so this may be tried again at once.
    #[expect(clippy::unused_self, reason = "the lock is what keeps others from the temporary file")]
    pub(crate) fn replace_if(
        &self,
        file: &Path,
        expected: Option<&[u8]>,
        bytes: &[u8],
    ) -> Result<bool, UserError> {
        let temporary = temporary_path(file);
        let write = || {
            write_new(&temporary, bytes)?;
            let is_replaced = match expected {
                None => rename_if_absent(&temporary, file)?,
                Some(expected) => exchange_if_expected(&temporary, file, expected, bytes)?,
            };
            match fs::remove_file(&temporary) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => sync_folder(file)?,
            }
            Ok(is_replaced)
        };
        write().map_err(|error| io_error(FileAction::Write, file, &error))
    }

    /// Removes a file, and what a process that was killed while it replaced it has left of it.
    #[expect(clippy::unused_self, reason = "the lock is what keeps others from the temporary file")]
    pub(crate) fn remove(&self, file: &Path) -> Result<(), UserError> {
        for path in [file, &temporary_path(file)] {
            match fs::remove_file(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(io_error(FileAction::Remove, path, &error));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

fn write_new(temporary: &Path, bytes: &[u8]) -> io::Result<()> {
    // Not over what was left: an editor may still have that open.
    match fs::remove_file(temporary) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut options = OpenOptions::new();
    let mut out = options.write(true).create_new(true).mode(0o600).open(temporary)?;
    out.write_all(bytes)?;
    out.sync_all()
}

fn sync_folder(file: &Path) -> io::Result<()> {
    match file.parent() {
        Some(folder) => File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}

/// Gives the file its name if that is free.
fn rename_if_absent(temporary: &Path, file: &Path) -> io::Result<bool> {
    match renameat_with(CWD, temporary, CWD, file, RenameFlags::NOREPLACE) {
        Ok(()) => Ok(true),
        Err(Errno::EXIST) => Ok(false),
        Err(Errno::INVAL | Errno::NOSYS) => {
            let is_free = !file.exists();
            if is_free {
                fs::rename(temporary, file)?;
            }
            Ok(is_free)
        }
        Err(error) => Err(error.into()),
    }
}

/// Exchanges the two files, removes the old one, and exchanges them back if what comes out is not what was expected.
///
/// A program that has the file open writes to it under whatever name, and its bytes would be gone with the old file. So
/// nobody may have it open for writing, from before the exchange until it is removed. On a file system without leases
/// nobody can tell, and such bytes are lost.
fn exchange_if_expected(
    temporary: &Path,
    file: &Path,
    expected: &[u8],
    bytes: &[u8],
) -> io::Result<bool> {
    let lease = match lease_on(file) {
        Ok(lease) => lease,
        // A program has it open, or removed it just now.
        Err(Errno::WOULDBLOCK | Errno::NOENT) => return Ok(false),
        Err(error) => return Err(error.into()),
    };
    let has_writer = || lease.as_ref().is_some_and(|lease| !lease.is_unbroken());
    let exchange = || renameat_with(CWD, temporary, CWD, file, RenameFlags::EXCHANGE);
    match exchange() {
        Ok(()) if fs::read(temporary)? == expected && !has_writer() => {
            fs::remove_file(temporary)?;
            Ok(true)
        }
        Ok(()) => {
            exchange()?;
            if fs::read(temporary)? != bytes {
                // Saved once more in between: the last one counts.
                exchange()?;
            }
            Ok(false)
        }
        // It was removed just now.
        Err(Errno::NOENT) => Ok(false),
        // The file system cannot exchange: what is saved from here to the next line is lost.
        Err(Errno::INVAL | Errno::NOSYS) => {
            let is_expected = fs::read(file)? == expected && !has_writer();
            if is_expected {
                fs::rename(temporary, file)?;
            }
            Ok(is_expected)
        }
        Err(error) => Err(error.into()),
    }
}

/// Has every program that opens the file for writing wait until the lease is dropped; `None` where the file system grants
/// none. `WOULDBLOCK` if a program has it open already, and does not close it in a moment.
fn lease_on(file: &Path) -> Result<Option<ReadLease>, Errno> {
    // A pipe in its place is not waited for.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let asked = Instant::now();
    loop {
        let opened = rustix::fs::open(file, flags, Mode::empty())?;
        match ReadLease::take(File::from(opened)) {
            Ok(lease) => return Ok(Some(lease)),
            Err(LeaseError::Unsupported) => return Ok(None),
            Err(LeaseError::OpenForWriting) if asked.elapsed() < WRITER_TIMEOUT => {
                std::thread::sleep(RETRY_INTERVAL);
            }
            Err(LeaseError::OpenForWriting) => return Err(Errno::WOULDBLOCK),
        }
    }
}

/// One name a file: the next change replaces what a process that was killed has left.
fn temporary_path(file: &Path) -> PathBuf {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    file.with_file_name(format!(".{name}.new"))
}

fn lock_timeout_error(path: &Path) -> UserError {
    UserError::new(ErrorCode::Busy, user_texts::lock_not_released(path.display().to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds one to the number in `file`, `times` times.
    fn count(file: &Path, times: usize, lock: impl Fn() -> Option<WriteLock>) {
        for _ in 0..times {
            let held = lock();
            let text = fs::read_to_string(file).expect("the file is never half-written");
            let next = text.parse::<usize>().expect("a number") + 1;
            match held {
                Some(held) => held.replace(file, next.to_string().as_bytes()).expect("replaced"),
                None => {
                    // The control: read, then replaced by somebody who holds nothing.
                    let own = file.with_extension(format!("{:?}", std::thread::current().id()));
                    fs::write(&own, next.to_string()).expect("written");
                    fs::rename(own, file).expect("replaced");
                }
            }
        }
    }

    fn counted(lock: impl Fn() -> Option<WriteLock> + Sync) -> String {
        let dir = tempfile::tempdir().expect("a folder");
        let file = dir.path().join("count");
        fs::write(&file, "0").expect("written");
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| count(&file, 200, &lock));
            }
        });
        fs::read_to_string(file).expect("there")
    }

    #[test]
    fn changes_under_the_lock_are_all_kept_and_without_it_some_are_lost() {
        let dir = tempfile::tempdir().expect("a folder");
        assert_eq!(counted(|| Some(WriteLock::take(dir.path()).expect("taken"))), "800");
        assert_ne!(counted(|| None), "800", "the control finds what is lost");
    }

    #[test]
    fn what_an_editor_saves_meanwhile_stands() {
        let dir = tempfile::tempdir().expect("a folder");
        let (file, lock) = (dir.path().join("file"), WriteLock::take(dir.path()).expect("taken"));
        let replace = |expected: Option<&str>, text: &str| {
            lock.replace_if(&file, expected.map(str::as_bytes), text.as_bytes()).expect("tried")
        };
        let held = || fs::read_to_string(&file).expect("there");
        assert!(replace(None, "one") && !replace(None, "two"));
        assert_eq!(held(), "one");
        assert!(replace(Some("one"), "two"));
        fs::write(&file, "by hand").expect("written");
        assert!(!replace(Some("two"), "three"));
        assert_eq!(held(), "by hand");
        assert!(!temporary_path(&file).exists());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_file_that_a_program_has_open_for_writing_stays_until_that_closes_it() {
        let dir = tempfile::tempdir().expect("a folder");
        let (file, lock) = (dir.path().join("file"), WriteLock::take(dir.path()).expect("taken"));
        let replace =
            |expected: &[u8]| lock.replace_if(&file, Some(expected), b"new").expect("tried");
        fs::write(&file, "old").expect("written");
        let mut writer = OpenOptions::new().append(true).open(&file).expect("open");
        assert!(!replace(b"old"));
        writer.write_all(b", by hand").expect("written");
        assert!(!replace(b"old, by hand"), "it may write more");
        drop(writer);
        assert_eq!(fs::read_to_string(&file).expect("there"), "old, by hand");
        assert!(replace(b"old, by hand"), "the control");
        assert!(!temporary_path(&file).exists());
    }

    #[test]
    fn what_a_killed_process_left_is_replaced_and_removed() {
        let dir = tempfile::tempdir().expect("a folder");
        let (file, left) = (dir.path().join("key"), dir.path().join(".key.new"));
        fs::write(&left, "half of a longer secret").expect("written");
        let lock = WriteLock::take(dir.path()).expect("taken");
        lock.replace(&file, b"whole").expect("replaced");
        assert_eq!(fs::read(&file).expect("there"), b"whole");
        assert!(!left.exists());
        fs::write(&left, "half").expect("written");
        lock.remove(&file).expect("removed");
        assert!(!left.exists() && !file.exists());
    }
}
