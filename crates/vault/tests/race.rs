//! Another program swaps folders for links while notes are read and made. Nothing leaks.

#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test makes its own files and fails where it cannot go on"
)]

mod support;

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use rustix::fs::{CWD, RenameFlags, renameat_with};
use support::{Folder, MemoryLedger, SECRET, create, order, path};

/// The race is run until both of its outcomes were seen, and at most this often.
const MOST: usize = 100_000;

/// `dir` is a folder of the vault and a link to the outside in turn, as fast as it goes.
fn while_swapping<T>(folder: &Folder, work: impl FnOnce() -> T) -> T {
    folder.write("dir/secret.md", "inside");
    let (dir, link) = (folder.root.join("dir"), folder.root.join("link"));
    symlink(&folder.out, &link).unwrap();
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                renameat_with(CWD, &dir, CWD, &link, RenameFlags::EXCHANGE).unwrap();
            }
        });
        let done = work();
        over.store(true, Ordering::Relaxed);
        done
    })
}

#[test]
fn a_folder_that_becomes_a_link_never_leads_a_read_outside() {
    let folder = Folder::new();
    let vault = folder.vault();
    let (asked, plain) = (path("dir/secret.md"), folder.root.join("dir/secret.md"));
    let (mut leaked, mut read, mut control) = (0, 0, 0);
    while_swapping(&folder, || {
        for n in 0..MOST {
            if n >= 3000 && read > 0 && control > 0 {
                break;
            }
            let bytes = vault.read(&asked).map(|note| note.bytes).unwrap_or_default();
            leaked += usize::from(bytes == SECRET.as_bytes());
            read += usize::from(bytes == b"inside");
            control += usize::from(fs::read(&plain).unwrap_or_default() == SECRET.as_bytes());
        }
    });
    assert_eq!(leaked, 0);
    assert!(read > 0, "the note was never read");
    assert!(control > 0, "the race does not race: a plain read would not have leaked either");
}

#[test]
fn a_folder_that_becomes_a_link_never_leads_a_creation_outside() {
    let folder = Folder::new();
    let vault = folder.vault();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let (mut made, mut refused) = (0, 0);
    while_swapping(&folder, || {
        for n in 0..MOST {
            if n >= 300 && made > 0 && refused > 0 {
                break;
            }
            let change = create(&format!("dir/{n}.md"), "x");
            let ledger = MemoryLedger::default();
            let applied = runtime.block_on(vault.apply(order([change]), &ledger)).unwrap();
            made += applied.done.len();
            refused += applied.problems.len();
        }
    });
    assert!(made > 0 && refused > 0, "the race does not race: {made} made, {refused} refused");
    folder.assert_nothing_outside();
}
