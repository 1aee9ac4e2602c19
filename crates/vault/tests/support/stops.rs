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
