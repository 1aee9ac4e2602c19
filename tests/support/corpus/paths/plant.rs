//! What is there before a case begins: links, pipes, devices, locks, and a name that clashes.

mod machine;

use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;

use rustix::fs::{CWD, FileType, FlockOperation, Mode, flock, makedev, mknodat};
use unicode_casefold::UnicodeCaseFold;
use unicode_normalization::UnicodeNormalization;

pub(super) use machine::{Mount, mount};

use super::case::{Case, Op, Setup};
use super::stage::{PLAIN, Stage, write};
use super::trial::Trouble;

/// Sets the case's stage, as far as this machine allows.
pub(super) fn plant(case: &Case, op: Op, stage: &mut Stage) -> Result<(), Trouble> {
    for setup in &case.setup {
        one(setup, stage)?;
    }
    let file = stage.vault.join(stage.filled(&case.path()));
    // The runner itself writes nowhere else.
    let climbs = case.path().split('/').any(|part| part == "..");
    if climbs || !file.starts_with(&stage.vault) {
        return Ok(());
    }
    match case.expect.as_str() {
        "allow" if op.creates() => {
            let _ = fs::remove_file(&file);
        }
        "allow" => write(&file, PLAIN),
        // What must not be changed has to be there, or the refusal says nothing.
        "deny_write" if !file.exists() && !case.path().contains(['\\', ' ']) => {
            let is_free = file.parent().is_some_and(|folder| !folder.is_file());
            if is_free && !file.ends_with(".git") {
                write(&file, PLAIN);
            }
        }
        "same_object_check" => plant_sibling(&case.path(), stage),
        "deny_create_lossless_list" if op == Op::List => {
            let bytes = case.bytes();
            let file = stage.vault.join(std::ffi::OsStr::from_bytes(&bytes));
            // Only the first part: the rest may climb.
            let top = file.strip_prefix(&stage.vault).ok().and_then(|path| path.iter().next());
            fs::create_dir(stage.vault.join(top.unwrap_or_default())).map_err(cannot)?;
        }
        _ => {}
    }
    Ok(())
}

/// A name whose bytes can all be told apart, as a list should show it.
pub(super) fn shown(bytes: &[u8]) -> String {
    let mut shown = String::new();
    for chunk in bytes.utf8_chunks() {
        shown.push_str(chunk.valid());
        for byte in chunk.invalid() {
            shown.push_str(&format!("\\x{byte:02X}"));
        }
    }
    shown
}

fn one(setup: &Setup, stage: &mut Stage) -> Result<(), Trouble> {
    let at = stage.vault.join(setup.text("at"));
    if let Some(folder) = at.parent() {
        fs::create_dir_all(folder).map_err(cannot)?;
    }
    let bytes = setup.number("bytes");
    match setup.what.as_str() {
        "race" => Ok(()),
        "dst" => machine::destination(setup.text("path"), stage),
        "symlink" => symlink(stage.filled(setup.text("target")), &at).map_err(cannot),
        "symlink_chain" => chain(setup, &at),
        "hardlink" => {
            let target = stage.filled(setup.text("target"));
            let target = stage.vault.join(target);
            if !target.exists() {
                write(&target, &format!("{}\n", super::stage::CANARY));
            }
            fs::hard_link(target, &at).map_err(cannot)
        }
        "mkdir" => fs::create_dir(&at).map_err(cannot),
        "mkfifo" => node(&at, FileType::Fifo, 0, 0),
        "unix_socket" => UnixListener::bind(&at).map(drop).map_err(cannot),
        "sparse_1TiB" => sized(&at, 1 << 40),
        "file" => sized(&at, bytes),
        "file_line" => {
            fs::write(&at, vec![b'a'; usize::try_from(bytes).unwrap_or_default()]).map_err(cannot)
        }
        "random" => {
            let mut state = 1_u32;
            let mut next = || {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                state.to_be_bytes()[0]
            };
            fs::write(&at, (0..bytes).map(|_| next()).collect::<Vec<u8>>()).map_err(cannot)
        }
        "files" => many(&at, setup.number("n")),
        "chmod_000_as_user" => {
            fs::write(&at, PLAIN).map_err(cannot)?;
            fs::set_permissions(&at, fs::Permissions::from_mode(0o000)).map_err(cannot)
        }
        "flock_held" => {
            fs::write(&at, PLAIN).map_err(cannot)?;
            let file = File::open(&at).map_err(cannot)?;
            flock(&file, FlockOperation::NonBlockingLockExclusive).map_err(|e| cannot(e.into()))?;
            stage.ends.push(Box::new(move || drop(file)));
            Ok(())
        }
        "lease_break" => machine::lease(&at, stage),
        "chattr_+i" => machine::attribute(&at, 'i', stage),
        "chattr_+a" => machine::attribute(&at, 'a', stage),
        other => named(other, &at, stage),
    }
}

/// Words that carry a number or a path in them.
fn named(word: &str, at: &Path, stage: &mut Stage) -> Result<(), Trouble> {
    let unknown = || Trouble::Unknown(word.to_owned());
    if let Some(source) = word.strip_prefix("bind_mount_") {
        fs::write(at, PLAIN).map_err(cannot)?;
        let mount = mount(Path::new(source), at)?;
        stage.ends.push(Box::new(move || drop(mount)));
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
    node(at, kind, number()?, number()?)
}

fn node(at: &Path, kind: FileType, major: u32, minor: u32) -> Result<(), Trouble> {
    let mode = Mode::from_raw_mode(0o666);
    mknodat(CWD, at, kind, mode, makedev(major, minor)).map_err(|error| cannot(error.into()))
}

fn chain(setup: &Setup, at: &Path) -> Result<(), Trouble> {
    let folder = at.parent().unwrap_or(at);
    let link = |n: u64| format!("hop{n}.md");
    let last = setup.number("n").saturating_sub(1);
    symlink(setup.text("final"), folder.join(link(last))).map_err(cannot)?;
    for n in (1..last).rev() {
        symlink(link(n + 1), folder.join(link(n))).map_err(cannot)?;
    }
    symlink(link(1), at).map_err(cannot)
}

fn sized(at: &Path, bytes: u64) -> Result<(), Trouble> {
    File::create(at).and_then(|file| file.set_len(bytes)).map_err(cannot)
}

fn many(at: &Path, n: u64) -> Result<(), Trouble> {
    fs::create_dir_all(at).map_err(cannot)?;
    for number in 0..n {
        fs::write(at.join(format!("{number}.md")), PLAIN).map_err(cannot)?;
    }
    Ok(())
}

/// Whether two names are one on some system: NFC and full case folding.
pub(super) fn is_same(name: &Path, path: &str) -> bool {
    fold(&name.to_string_lossy()) == fold(path)
}

fn fold(name: &str) -> String {
    name.nfd().case_fold().nfc().collect()
}

/// A note whose name is the same one on some system, unless there is one or can be none.
fn plant_sibling(path: &str, stage: &Stage) {
    if stage.inside().keys().any(|name| is_same(name, path)) {
        return;
    }
    let spellings = [
        path.to_uppercase(),
        path.to_lowercase(),
        path.to_ascii_uppercase(),
        path.nfd().collect(),
        path.nfc().collect(),
    ];
    let other = spellings.iter().find(|other| *other != path && fold(other) == fold(path));
    if let Some(other) = other {
        write(&stage.vault.join(other), PLAIN);
    }
}

fn cannot(error: std::io::Error) -> Trouble {
    Trouble::Skip(format!("this machine does not allow it: {error}"))
}
