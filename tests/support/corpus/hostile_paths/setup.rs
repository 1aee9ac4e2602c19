//! Creates the files of a case: links, pipes, devices, locks, and a name that clashes.

mod mounts_and_leases;

use std::fs;
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;

use rustix::fs::{CWD, FileType, FlockOperation, Mode, flock, makedev, mknodat};
use unicode_casefold::UnicodeCaseFold;
use unicode_normalization::UnicodeNormalization;

pub(super) use mounts_and_leases::{CaseMount, bind_mount};

use super::case::{PathCase, PathOperation, PathSetup};
use super::fixture::{NOTE_TEXT, PathFixture, write};
use super::runner::CaseProblem;

/// Sets the case's stage, as far as this machine allows.
pub(super) fn set_up(
    case: &PathCase,
    op: PathOperation,
    fixture: &mut PathFixture,
) -> Result<(), CaseProblem> {
    for setup in &case.setup {
        set_up_one(setup, fixture)?;
    }
    let file = fixture.vault.join(fixture.expand_variables(&case.path()));
    // The runner itself writes in no other place.
    let climbs = case.path().split('/').any(|part| part == "..");
    if climbs || !file.starts_with(&fixture.vault) {
        return Ok(());
    }
    match case.expect.as_str() {
        "allow" if op.creates() => {
            let _ = fs::remove_file(&file);
        }
        "allow" => write(&file, NOTE_TEXT),
        // A protected file has to exist, or the refusal says nothing.
        "deny_write" if !file.exists() && !case.path().contains(['\\', ' ']) => {
            let is_free = file.parent().is_some_and(|folder| !folder.is_file());
            if is_free && !file.ends_with(".git") {
                write(&file, NOTE_TEXT);
            }
        }
        "same_object_check" => make_clashing_sibling(&case.path(), fixture),
        "deny_create_lossless_list" if op == PathOperation::List => {
            let bytes = case.path_bytes();
            let file = fixture.vault.join(std::ffi::OsStr::from_bytes(&bytes));
            // Only the first part: the rest may climb.
            let top = file.strip_prefix(&fixture.vault).ok().and_then(|path| path.iter().next());
            fs::create_dir(fixture.vault.join(top.unwrap_or_default())).map_err(skip_because)?;
        }
        _ => {}
    }
    Ok(())
}

/// A name whose bytes can all be told apart, as a list should show it.
pub(super) fn escaped_name(bytes: &[u8]) -> String {
    let mut shown = String::new();
    for chunk in bytes.utf8_chunks() {
        shown.push_str(chunk.valid());
        for byte in chunk.invalid() {
            shown.push_str(&format!("\\x{byte:02X}"));
        }
    }
    shown
}

fn set_up_one(setup: &PathSetup, fixture: &mut PathFixture) -> Result<(), CaseProblem> {
    let at = fixture.vault.join(setup.text("at"));
    if let Some(folder) = at.parent() {
        fs::create_dir_all(folder).map_err(skip_because)?;
    }
    let bytes = setup.number("bytes");
    match setup.what.as_str() {
        "race" => Ok(()),
        "dst" => mounts_and_leases::mount_destination(setup.text("path"), fixture),
        "symlink" => {
            symlink(fixture.expand_variables(setup.text("target")), &at).map_err(skip_because)
        }
        "symlink_chain" => make_symlink_chain(setup, &at),
        "hardlink" => {
            let target = fixture.expand_variables(setup.text("target"));
            let target = fixture.vault.join(target);
            if !target.exists() {
                write(&target, &format!("{}\n", super::fixture::CANARY));
            }
            fs::hard_link(target, &at).map_err(skip_because)
        }
        "mkdir" => fs::create_dir(&at).map_err(skip_because),
        "mkfifo" => make_device_node(&at, FileType::Fifo, 0, 0),
        "unix_socket" => UnixListener::bind(&at).map(drop).map_err(skip_because),
        "sparse_1TiB" => make_sparse_file(&at, 1 << 40),
        "file" => make_sparse_file(&at, bytes),
        "file_line" => fs::write(&at, vec![b'a'; usize::try_from(bytes).unwrap_or_default()])
            .map_err(skip_because),
        "random" => {
            let mut state = 1_u32;
            let mut next = || {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                state.to_be_bytes()[0]
            };
            fs::write(&at, (0..bytes).map(|_| next()).collect::<Vec<u8>>()).map_err(skip_because)
        }
        "files" => make_many_files(&at, setup.number("n")),
        "chmod_000_as_user" => {
            fs::write(&at, NOTE_TEXT).map_err(skip_because)?;
            fs::set_permissions(&at, fs::Permissions::from_mode(0o000)).map_err(skip_because)
        }
        "flock_held" => {
            fs::write(&at, NOTE_TEXT).map_err(skip_because)?;
            let file = File::open(&at).map_err(skip_because)?;
            flock(&file, FlockOperation::NonBlockingLockExclusive)
                .map_err(|e| skip_because(e.into()))?;
            fixture.cleanups.push(Box::new(move || drop(file)));
            Ok(())
        }
        "lease_break" => mounts_and_leases::take_lease(&at, fixture),
        "chattr_+i" => mounts_and_leases::set_attribute(&at, 'i', fixture),
        "chattr_+a" => mounts_and_leases::set_attribute(&at, 'a', fixture),
        other => set_up_parameterized(other, &at, fixture),
    }
}

/// Words that carry a number or a path in them.
fn set_up_parameterized(
    word: &str,
    at: &Path,
    fixture: &mut PathFixture,
) -> Result<(), CaseProblem> {
    let unknown = || CaseProblem::Unknown(word.to_owned());
    if let Some(source) = word.strip_prefix("bind_mount_") {
        fs::write(at, NOTE_TEXT).map_err(skip_because)?;
        let mount = bind_mount(Path::new(source), at)?;
        fixture.cleanups.push(Box::new(move || drop(mount)));
        return Ok(());
    }
    let device = word.strip_prefix("mknod_").ok_or_else(unknown)?;
    let mut words = device.split('_');
    let kind = match words.next() {
        Some("c") => FileType::CharacterDevice,
        Some("b") => FileType::BlockDevice,
        _ => return Err(unknown()),
    };
    let mut number = || words.next().and_then(|word| word.parse::<u32>().ok()).ok_or_else(unknown);
    make_device_node(at, kind, number()?, number()?)
}

fn make_device_node(at: &Path, kind: FileType, major: u32, minor: u32) -> Result<(), CaseProblem> {
    let mode = Mode::from_raw_mode(0o666);
    mknodat(CWD, at, kind, mode, makedev(major, minor)).map_err(|error| skip_because(error.into()))
}

fn make_symlink_chain(setup: &PathSetup, at: &Path) -> Result<(), CaseProblem> {
    let folder = at.parent().unwrap_or(at);
    let link = |n: u64| format!("hop{n}.md");
    let last = setup.number("n").saturating_sub(1);
    symlink(setup.text("final"), folder.join(link(last))).map_err(skip_because)?;
    for n in (1..last).rev() {
        symlink(link(n + 1), folder.join(link(n))).map_err(skip_because)?;
    }
    symlink(link(1), at).map_err(skip_because)
}

fn make_sparse_file(at: &Path, bytes: u64) -> Result<(), CaseProblem> {
    File::create(at).and_then(|file| file.set_len(bytes)).map_err(skip_because)
}

fn make_many_files(at: &Path, n: u64) -> Result<(), CaseProblem> {
    fs::create_dir_all(at).map_err(skip_because)?;
    for number in 0..n {
        fs::write(at.join(format!("{number}.md")), NOTE_TEXT).map_err(skip_because)?;
    }
    Ok(())
}

/// Whether two names are one on some system: NFC and full case folding.
pub(super) fn is_same_name(name: &Path, path: &str) -> bool {
    case_fold(&name.to_string_lossy()) == case_fold(path)
}

fn case_fold(name: &str) -> String {
    name.nfd().case_fold().nfc().collect()
}

/// A note whose name is the same one on some system, unless there is one or can be none.
fn make_clashing_sibling(path: &str, fixture: &PathFixture) {
    if fixture.snapshot_vault().keys().any(|name| is_same_name(name, path)) {
        return;
    }
    let spellings = [
        path.to_uppercase(),
        path.to_lowercase(),
        path.to_ascii_uppercase(),
        path.nfd().collect(),
        path.nfc().collect(),
    ];
    let other =
        spellings.iter().find(|other| *other != path && case_fold(other) == case_fold(path));
    if let Some(other) = other {
        write(&fixture.vault.join(other), NOTE_TEXT);
    }
}

fn skip_because(error: std::io::Error) -> CaseProblem {
    CaseProblem::Skip(format!("this machine does not allow it: {error}"))
}
