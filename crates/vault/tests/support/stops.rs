//! Stopping the work at a fault point, as if the process had ended there.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::panic;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use protocol::fault_injection;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use vault::{Recovery, Vault};

use super::MemoryLedger;

/// Fault points still to pass before the stop; `usize::MAX` means none.
static LEFT: AtomicUsize = AtomicUsize::new(usize::MAX);

/// The fault points that were passed.
pub static NAMES: Mutex<Vec<&'static str>> = Mutex::new(Vec::new());

/// The fault point at which another program saves a note, the note and its texts, each used once: a
/// new file takes the note's name, and nobody waits for it.
pub static SAVES: Mutex<Option<(&'static str, PathBuf, Vec<&'static str>)>> = Mutex::new(None);

/// A replacement of a note by another one, done once: the fault point, the note, its new name, and
/// the text of the other one.
pub static SWAPS: Mutex<Option<(&'static str, PathBuf, PathBuf, &'static str)>> = Mutex::new(None);

/// Where another program opens a note, to add a line at its end, once.
pub static OPENS: Mutex<Option<(&'static str, PathBuf)>> = Mutex::new(None);

/// The program that opened it.
pub static OPENED: Mutex<Option<JoinHandle<()>>> = Mutex::new(None);

/// Where a file gets other permissions, once: the fault point, the file and its mode.
pub static CHMODS: Mutex<Option<(&'static str, PathBuf, u32)>> = Mutex::new(None);

/// A program that saves a note as a new file, keeps the file open, and adds a line to it later, once.
pub struct HeldSave {
    pub note: PathBuf,
    pub text: &'static str,
    /// The fault point at which it saves.
    pub saves_at: &'static str,
    /// The first fault point after that at which it adds the line.
    pub writes_at: &'static str,
    pub file: Option<fs::File>,
}

pub static HELD_SAVES: Mutex<Option<HeldSave>> = Mutex::new(None);

/// How often temporary files are read until one of them cannot be, because the process may open no
/// more files for that moment.
pub static READS_UNTIL_FAILURE: Mutex<Option<usize>> = Mutex::new(None);

fn save_and_hold(name: &'static str) {
    let mut program = HELD_SAVES.lock().unwrap();
    let Some(save) = &mut *program else { return };
    match &mut save.file {
        None if save.saves_at == name => {
            let theirs = save.note.with_file_name("theirs.tmp");
            fs::write(&theirs, save.text).unwrap();
            save.file = Some(fs::OpenOptions::new().append(true).open(&theirs).unwrap());
            fs::rename(theirs, &save.note).unwrap();
        }
        Some(file) if save.writes_at == name => {
            file.write_all(b"mine\n").unwrap();
            *program = None;
        }
        _ => {}
    }
}

/// Lets the process open no files until the temporary file was read.
fn fail_a_read(name: &'static str) {
    static ALLOWED: Mutex<Option<Rlimit>> = Mutex::new(None);
    let mut left = READS_UNTIL_FAILURE.lock().unwrap();
    if name == "vault.temp_read.before"
        && let Some(reads) = left.as_mut()
    {
        *reads -= 1;
        if *reads == 0 {
            *left = None;
            let allowed = getrlimit(Resource::Nofile);
            setrlimit(Resource::Nofile, Rlimit { current: Some(0), ..allowed }).unwrap();
            *ALLOWED.lock().unwrap() = Some(allowed);
        }
    }
    if name == "vault.temp_read.after"
        && let Some(allowed) = ALLOWED.lock().unwrap().take()
    {
        setrlimit(Resource::Nofile, allowed).unwrap();
    }
}

fn open(note: PathBuf) {
    let add_line = move || {
        let mut note = fs::OpenOptions::new().append(true).open(note).unwrap();
        note.write_all(b"mine\n").unwrap();
    };
    *OPENED.lock().unwrap() = Some(thread::spawn(add_line));
    // It is in the middle of opening the note by then.
    thread::sleep(Duration::from_millis(100));
}

fn pass(name: &'static str) {
    NAMES.lock().unwrap().push(name);
    if let Some((_, note)) = OPENS.lock().unwrap().take_if(|(point, _)| *point == name) {
        open(note);
    }
    if let Some((point, note, saves)) = &mut *SAVES.lock().unwrap()
        && *point == name
        && !saves.is_empty()
    {
        let theirs = note.with_file_name("theirs.tmp");
        fs::write(&theirs, saves.remove(0)).unwrap();
        fs::rename(theirs, note).unwrap();
    }
    save_and_hold(name);
    fail_a_read(name);
    if let Some((_, file, mode)) = CHMODS.lock().unwrap().take_if(|(point, ..)| *point == name) {
        fs::set_permissions(file, fs::Permissions::from_mode(mode)).unwrap();
    }
    let swap = SWAPS.lock().unwrap().take_if(|(point, ..)| *point == name);
    if let Some((_, note, away, says)) = swap {
        fs::rename(&note, away).unwrap();
        fs::write(note, says).unwrap();
    }
    let left = LEFT.load(Ordering::SeqCst);
    if left == usize::MAX {
        return;
    }
    assert!(left != 0, "stopped here");
    LEFT.store(left - 1, Ordering::SeqCst);
}

/// Fault points belong to the whole process, so one test uses them at a time.
pub fn faults() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        fault_injection::install_handler(pass);
        let loud = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if info.payload_as_str() != Some("stopped here") {
                loud(info);
            }
        }));
    });
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs `work` on a thread of its own and says whether it came to its end.
pub fn run_until(stop: usize, work: impl AsyncFnOnce() + Send) -> bool {
    LEFT.store(stop, Ordering::SeqCst);
    let ended = thread::scope(|scope| {
        let block = || {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
            runtime.block_on(work());
        };
        scope.spawn(block).join().is_ok()
    });
    let was_stopped = LEFT.swap(usize::MAX, Ordering::SeqCst) == 0;
    ended && !was_stopped
}

pub fn recover(vault: &Vault, ledger: &MemoryLedger) -> Recovery {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(vault.recover(ledger)).unwrap()
}
