//! Another program that changes the folders under a call's feet, as fast as it can.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;
use std::{fs, thread};

use rustix::fs::{CWD, RenameFlags, renameat_with};

use super::fixture::{CANARY, NOTE_TEXT, PathFixture, write};
use super::runner::CaseProblem;
use super::setup::{CaseMount, bind_mount};

/// The attacker strikes as fast as it can, so many times on end …
const ATTACKS_PER_BURST: usize = 16;

/// … and then pauses, so that the other side comes to act between two strikes as well as under
/// them. One that never pauses mostly keeps the other from the processor.
const BURST_PAUSE: Duration = Duration::from_micros(100);

/// A thread that attacks until it is ended.
#[derive(Debug)]
pub(super) struct Attacker {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<usize>,
}

impl Attacker {
    /// Begins.
    pub(super) fn start(mut foe: PathAttack) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let is_over = Arc::clone(&over);
        let thread = thread::spawn(move || {
            let mut turns = 0;
            while !is_over.load(Ordering::Relaxed) {
                foe.attack_once();
                turns += 1;
                if turns % ATTACKS_PER_BURST == 0 {
                    thread::park_timeout(BURST_PAUSE);
                }
            }
            foe.restore();
            turns
        });
        Self { stop: over, thread }
    }

    /// Ends it; everything is where it was, and the number of strikes is returned.
    pub(super) fn stop(self) -> usize {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().unwrap_or_default()
    }
}

/// One way to attack.
pub(super) enum PathAttack {
    /// Two names change places.
    Swap { one: PathBuf, other: PathBuf, swapped: bool },
    /// A folder leaves the vault and comes back.
    Carry { here: PathBuf, there: PathBuf },
    /// A link appears under a name and goes away.
    Plant { name: PathBuf, target: PathBuf },
    /// Temporary files are replaced by links.
    Replace { folder: PathBuf, note: PathBuf, target: PathBuf },
    /// Another folder is mounted over one of the vault.
    Mount { source: PathBuf, at: PathBuf },
}

impl PathAttack {
    /// The attack that `how` names, against `path` on `stage`.
    pub(super) fn new(how: &str, path: &str, fixture: &PathFixture) -> Result<Self, CaseProblem> {
        let (vault, out) = (&fixture.vault, &fixture.outside_folder);
        let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        let top = parts.first().copied().unwrap_or_default();
        let below: PathBuf = parts.iter().skip(1).collect();
        let secret = out.join("secret.md");
        let file = vault.join(path);
        let link_to = |target: &Path| -> PathBuf {
            let link = vault.join("foe");
            symlink(target, &link).expect("a link");
            link
        };
        Ok(match how {
            "swap dir<->link by RENAME_EXCHANGE" | "swap dir by link during recursive delete" => {
                fs::create_dir_all(vault.join(top)).expect("a folder");
                if parts.len() > 1 {
                    write(&file, NOTE_TEXT);
                    write(&out.join(below), &format!("edit me {CANARY}\n"));
                }
                Self::swap(vault.join(top), link_to(out))
            }
            "swap destination parent during move" => {
                write(&file, NOTE_TEXT);
                fs::create_dir_all(vault.join("dst")).expect("a folder");
                Self::swap(vault.join("dst"), link_to(out))
            }
            "swap file<->symlink to outside" => {
                write(&file, NOTE_TEXT);
                Self::swap(file, link_to(&secret))
            }
            "move deep/ out of the vault while resolving" => {
                write(&file, NOTE_TEXT);
                Self::Carry {
                    here: vault.join(top),
                    there: fixture.enclosing_folder().join("carried"),
                }
            }
            "attacker creates new.md as a link between check and create" => {
                Self::Plant { name: file, target: secret }
            }
            "rename vault root while a handle is held" => {
                let decoy = fixture.enclosing_folder().join("decoy");
                write(&decoy.join(path), &format!("edit me {CANARY}\n"));
                Self::swap(vault.clone(), decoy)
            }
            "replace temp file between write and rename" => {
                write(&file, NOTE_TEXT);
                let folder = file.parent().unwrap_or(vault).to_owned();
                Self::Replace { folder, note: file, target: secret }
            }
            "bind-mount over notes/ mid-operation" => {
                let at = vault.join("notes");
                drop(bind_mount(out, &at)?);
                Self::Mount { source: out.clone(), at }
            }
            other => return Err(CaseProblem::Unknown(other.to_owned())),
        })
    }

    fn swap(one: PathBuf, other: PathBuf) -> Self {
        Self::Swap { one, other, swapped: false }
    }

    fn attack_once(&mut self) {
        match self {
            Self::Swap { one, other, swapped } => {
                let done = renameat_with(CWD, &*one, CWD, &*other, RenameFlags::EXCHANGE);
                *swapped ^= done.is_ok();
            }
            Self::Carry { here, there } => {
                let _ = fs::rename(&*here, &*there);
                // A call may have recreated the folder meanwhile.
                while there.exists() && fs::rename(&*there, &*here).is_err() {
                    let _ = fs::remove_dir_all(&*here);
                }
            }
            Self::Plant { name, target } => {
                let _ = symlink(&*target, &*name);
                let _ = fs::remove_file(&*name);
            }
            Self::Replace { folder, note, target } => replace_with_symlink(folder, note, target),
            Self::Mount { source, at } => {
                let mounted: Result<CaseMount, CaseProblem> = bind_mount(source, at);
                drop(mounted);
            }
        }
    }

    fn restore(&mut self) {
        if let Self::Swap { swapped: true, .. } = self {
            self.attack_once();
        }
    }
}

fn replace_with_symlink(folder: &Path, note: &Path, target: &Path) {
    let names = fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in names.filter(|entry| entry.file_name().to_string_lossy().ends_with(".tmp")) {
        let _ = fs::remove_file(entry.path());
        let _ = symlink(target, entry.path());
    }
    if fs::symlink_metadata(note).is_ok_and(|about| about.is_symlink()) {
        let _ = fs::remove_file(note);
        let _ = fs::write(note, NOTE_TEXT);
    }
}
