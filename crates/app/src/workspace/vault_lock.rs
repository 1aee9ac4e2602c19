//! One process holds a vault.
#![expect(clippy::disallowed_methods, reason = "the lock is a file of the data directory")]

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::fd::{OwnedFd, RawFd};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use protocol::{ErrorCode, UserError};
use rustix::fs::FlockOperation;
use rustix::io::Errno;

use crate::settings::run_mode::RunMode;
use crate::user_texts;
use crate::workspace::data_dir::{FileAction, io_error};

/// Held for as long as the value lives; the kernel lets go when the process ends, however it ends.
#[derive(Debug)]
pub(crate) struct VaultLock {
    _file: OwnedFd,
}

/// Follows the process in the lock of one that has no window.
const SERVE_MARKER: &str = "serve";

/// Above the descriptors that the program has otherwise. Linux closes those of a killed process
/// from the highest down, and some wait for the disk (a watch, a deleted file that was written
/// to): the lock goes before them, so that a start right after a crash finds it free.
const MIN_LOCK_FD: RawFd = 900;

/// Why the lock was not taken, each with its sentence.
#[derive(Debug)]
pub(crate) enum VaultLockError {
    /// Its holder has ended and the kernel is about to release the lock: try again in a moment.
    Ending(UserError),
    /// Its holder works, or the file cannot be used.
    Refused(UserError),
}

impl VaultLock {
    /// Takes the lock, or says in one sentence who is in the way.
    pub(crate) fn take(
        dir: &Path,
        folder: &Path,
        run_mode: RunMode,
    ) -> Result<Self, VaultLockError> {
        let path = dir.join("lock");
        let refused = |action| {
            let path = path.clone();
            move |error: std::io::Error| VaultLockError::Refused(io_error(action, &path, &error))
        };
        let mut file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&path)
            .map_err(refused(FileAction::Open))?;
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {
                let serves = if run_mode == RunMode::Serve { SERVE_MARKER } else { "" };
                let name = format!("{} {serves}", std::process::id());
                let named = file.set_len(0).and_then(|()| write!(file, "{}", name.trim_end()));
                named.map_err(refused(FileAction::Write))?;
                let high = rustix::io::fcntl_dupfd_cloexec(&file, MIN_LOCK_FD);
                Ok(Self { _file: high.unwrap_or_else(|_| file.into()) })
            }
            Err(Errno::WOULDBLOCK) => Err(lock_error(&path, folder)),
            Err(error) => Err(refused(FileAction::Lock)(error.into())),
        }
    }
}

fn lock_error(path: &Path, folder: &Path) -> VaultLockError {
    let name = std::fs::read_to_string(path).unwrap_or_default();
    let mut name = name.split_whitespace();
    let holder = name.next().and_then(|process| process.parse::<u32>().ok());
    let folder = folder.display().to_string();
    let text = match (holder, name.next()) {
        (Some(process), Some(SERVE_MARKER)) => {
            user_texts::folder_open_in_serve(process.to_string(), folder)
        }
        _ => user_texts::folder_already_open(folder),
    };
    let error = UserError::new(ErrorCode::Busy, text);
    if holder.is_some_and(has_ended) {
        VaultLockError::Ending(error)
    } else {
        VaultLockError::Refused(error)
    }
}

/// Whether a process is gone, or a zombie whose last threads are about to go
/// (`/proc/PID/stat`: the letter behind the name, proc(5)).
fn has_ended(holder: u32) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{holder}/stat")) else {
        return Path::new("/proc/self").exists();
    };
    let state = stat.rsplit(')').next().and_then(|rest| rest.trim_start().chars().next());
    matches!(state, Some('Z' | 'X'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(dir: &Path) -> String {
        match VaultLock::take(dir, Path::new("/notes"), RunMode::Stay) {
            Err(VaultLockError::Refused(error)) if error.code == ErrorCode::Busy => error.message,
            other => panic!("it is not held: {other:?}"),
        }
    }

    #[test]
    fn a_second_holder_is_refused_until_the_first_lets_go() {
        let dir = tempfile::tempdir().expect("a folder");
        let take = |purpose| VaultLock::take(dir.path(), Path::new("/notes"), purpose);
        let first = take(RunMode::Serve).expect("free");
        let process = std::process::id();
        assert_eq!(
            refused(dir.path()),
            format!(
                "`vaultmate-cli serve` (process {process}) has /notes open without a window. Stop \
                 it with Ctrl+C where it runs, or with `kill {process}`, then open the folder \
                 again."
            )
        );
        drop(first);
        let second = take(RunMode::Stay).expect("free again");
        assert_eq!(
            refused(dir.path()),
            "/notes is already open in another Vaultmate. Switch to it, or close it first."
        );
        drop(second);
        take(RunMode::Ask).expect("free again");
    }

    #[test]
    fn a_holder_that_has_ended_is_told_from_one_that_works() {
        assert!(!has_ended(std::process::id()));
        let mut child = std::process::Command::new("true").spawn().expect("a program");
        let id = child.id();
        child.wait().expect("it ends");
        assert!(has_ended(id));
    }
}
