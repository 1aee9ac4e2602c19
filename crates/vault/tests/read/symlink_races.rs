//! Another program swaps folders for links while notes are read and made. Nothing leaks, whether
//! the kernel knows `openat2` or each part is opened separately.

#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test makes its own files and fails where it cannot go on"
)]

#[path = "../support/blocked.rs"]
mod blocked;
#[path = "../support/mod.rs"]
mod support;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use rustix::fs::{CWD, RenameFlags, renameat_with};
use support::{Folder, MemoryLedger, SECRET, create, order, path};
use vault::Vault;

/// How often a note is read, at least; the issue wants 200,000 operations.
const READS: usize = 200_000;

/// How often a note is made, at least.
const CREATIONS: usize = 1_000;

/// Until both outcomes of the race were seen it goes on, but only so much longer.
const MAX_EXTRA_ROUNDS: usize = 5;

/// `dir` is a folder in `top` and a link to the outside in turn, as fast as it goes.
fn while_swapping<T>(folder: &Folder, top: &Path, work: impl FnOnce() -> T) -> T {
    let (dir, link) = (top.join("dir"), top.join("link"));
    fs::create_dir(&dir).unwrap();
    fs::write(dir.join("secret.md"), "inside").unwrap();
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

/// A race that many programs have: resolve the name, see that it is inside, open the name.
fn check_then_open(root: &Path, file: &Path) -> Vec<u8> {
    let is_inside = fs::canonicalize(file).is_ok_and(|real| real.starts_with(root));
    if is_inside { fs::read(file).unwrap_or_default() } else { Vec::new() }
}

/// Reads `asked`, which is `dir/secret.md` in `top`, while that is swapped.
fn nothing_leaks(folder: &Folder, vault: &Vault, top: &Path, asked: &str) {
    let way = if blocked::is_blocked() { "walk" } else { "openat2" };
    let top = fs::canonicalize(top).unwrap();
    let (asked, plain) = (path(asked), top.join("dir/secret.md"));
    let (mut reads, mut leaked, mut read, mut control) = (0, 0, 0, 0);
    while_swapping(folder, &top, || {
        while reads < READS || (reads < READS * MAX_EXTRA_ROUNDS && (read == 0 || control == 0)) {
            let bytes = vault.read_bytes(&asked).unwrap_or_default();
            leaked += usize::from(bytes == SECRET.as_bytes());
            read += usize::from(bytes == b"inside");
            if reads % 4 == 0 {
                let careless = check_then_open(&top, &plain);
                control += usize::from(careless == SECRET.as_bytes());
            }
            reads += 1;
        }
    });
    eprintln!(
        "race {way} {asked}: reads={reads} leaked={leaked} inside={read} control_leaked={control}"
    );
    assert_eq!(leaked, 0);
    assert!(read > 0, "the note was never read");
    assert!(control > 0, "the race does not race: checking and then opening never leaked either");
}

#[test]
fn a_folder_that_becomes_a_link_never_leads_a_read_outside() {
    let folder = Folder::new();
    nothing_leaks(&folder, &folder.vault(), &folder.root, "dir/secret.md");
}

#[test]
fn a_folder_in_an_extra_root_that_becomes_a_link_never_leads_a_read_outside() {
    let folder = Folder::new();
    let root = folder.add_sibling("Recipes", &[]);
    nothing_leaks(&folder, &folder.vault_with(&[&root]), &root, "Recipes/dir/secret.md");
}

#[test]
fn a_folder_that_becomes_a_link_never_leads_a_creation_outside() {
    blocked::is_blocked();
    let folder = Folder::new();
    let vault = folder.vault();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let (mut made, mut refused) = (0, 0);
    while_swapping(&folder, &folder.root, || {
        for n in 0..CREATIONS * MAX_EXTRA_ROUNDS {
            if n >= CREATIONS && made > 0 && refused > 0 {
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

#[test]
fn without_openat2_reads_and_creations_stay_inside_as_well() {
    for name in [
        "a_folder_that_becomes_a_link_never_leads_a_read_outside",
        "a_folder_in_an_extra_root_that_becomes_a_link_never_leads_a_read_outside",
        "a_folder_that_becomes_a_link_never_leads_a_creation_outside",
    ] {
        blocked::passes_without_openat2(name);
    }
}
