//! Handing a trashed note on to the user's own trash, where Obsidian is set to do so.
//!
//! Source: the FreeDesktop.org Trash specification 1.0, the “home trash”.

use std::env;
use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use protocol::{FileId, NotePath};
use rustix::fs::{self, AtFlags, CWD, FileType, Mode, OFlags, RenameFlags};
use rustix::io::Errno;
use serde_json::Value;

use crate::filesystem::dir_entry::TRASH;
use crate::filesystem::folder::file_id_of;
use crate::{ObsidianFile, Vault, clock};

/// Hands on what lies in the vault's trash as `name` and was the note at `path`. It stays in the
/// vault's trash when the setting does not ask for more, when the user's trash is on another disk,
/// and when anything fails: nothing is ever removed, and the ledger has the bytes.
pub(crate) fn move_to_system_trash(vault: &Vault, path: &NotePath, name: &str) {
    if !is_enabled(vault) {
        return;
    }
    let handed = home_trash().ok_or(Errno::NOENT).and_then(|trash| {
        let was = std::path::absolute(vault.folder().join(path.as_str()));
        move_into(vault, name, &trash, &was.map_err(|_| Errno::INVAL)?)
    });
    if let Err(error) = handed {
        tracing::info!(%error, "a deleted note stays in the vault's own trash");
    }
}

fn is_enabled(vault: &Vault) -> bool {
    let settings = vault
        .obsidian_config(ObsidianFile::App)
        .and_then(|json| serde_json::from_slice(&json).ok());
    let option = settings.as_ref().and_then(|json: &Value| json.get("trashOption")?.as_str());
    option == Some("system")
}

fn home_trash() -> Option<PathBuf> {
    let data = env::var_os("XDG_DATA_HOME").map(PathBuf::from).filter(|dir| dir.is_absolute());
    let home = || env::var_os("HOME").map(|home| PathBuf::from(home).join(".local/share"));
    data.or_else(home).map(|data| data.join("Trash"))
}

fn move_into(vault: &Vault, name: &str, trash: &Path, was: &Path) -> Result<(), Errno> {
    let (files, info) =
        (open_or_create_folder(&trash.join("files"))?, open_or_create_folder(&trash.join("info"))?);
    let ours = vault.root().open_folder(TRASH)?;
    for there in names_there(name) {
        // The information comes first: its name is the claim on the other.
        let told = format!("{there}.trashinfo");
        match write_info(&info, &told, was) {
            Err(Errno::EXIST) => continue,
            written => written?,
        }
        let moved = fs::renameat_with(&ours, name, &files, &there, RenameFlags::NOREPLACE);
        if moved.is_err() {
            fs::unlinkat(&info, &told, AtFlags::empty())?;
        }
        if moved != Err(Errno::EXIST) {
            return moved;
        }
    }
    Err(Errno::EXIST)
}

/// This file, open for reading, if it lies in the user's trash, where `name` was handed on.
pub(crate) fn open_file(vault: &Vault, name: &str, file: FileId) -> Option<File> {
    open_in(vault.root().device()?, &home_trash()?, name, file)
}

/// The same in this trash, if it is on the device with the file. Nothing else that is there is opened for reading.
fn open_in(device: u64, trash: &Path, name: &str, file: FileId) -> Option<File> {
    let flags = OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = trash.join("files");
    let files = fs::open(&folder, flags | OFlags::PATH | OFlags::DIRECTORY, Mode::empty()).ok()?;
    if fs::fstat(&files).ok()?.st_dev != device {
        return None;
    }
    let is_it = |found: &OwnedFd| file_id_of(found) == Ok(file) && is_regular(found);
    let open = |there: &str, how: OFlags| {
        fs::openat(&files, there, flags | how, Mode::empty()).ok().filter(is_it)
    };
    let there = names_there(name).find(|there| open(there, OFlags::PATH).is_some())?;
    open(&there, OFlags::RDONLY | OFlags::NONBLOCK).map(File::from)
}

fn is_regular(file: &OwnedFd) -> bool {
    fs::fstat(file).is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode).is_file())
}

/// The names that a file may get in the user's trash, in the order in which they are tried.
fn names_there(name: &str) -> impl Iterator<Item = String> {
    let (stem, extension) = match name.rsplit_once('.') {
        Some((stem, extension)) => (stem, format!(".{extension}")),
        None => (name, String::new()),
    };
    (1..100).map(move |number| match number {
        1 => name.to_owned(),
        n => format!("{stem}.{n}{extension}"),
    })
}

fn open_or_create_folder(path: &Path) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match fs::open(path, flags, Mode::empty()) {
        Err(Errno::NOENT) => {}
        opened => return opened,
    }
    let above = path.ancestors().skip(1).take_while(|folder| !folder.is_dir());
    let missing: Vec<&Path> = above.collect();
    for folder in missing.into_iter().rev().chain([path]) {
        match fs::mkdirat(CWD, folder, Mode::from_raw_mode(0o700)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error),
        }
    }
    fs::open(path, flags, Mode::empty())
}

fn write_info(info: &OwnedFd, name: &str, was: &Path) -> Result<(), Errno> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let file = fs::openat(info, name, flags, Mode::from_raw_mode(0o600))?;
    let date = clock::local_now().strftime("%Y-%m-%dT%H:%M:%S");
    let text = format!("[Trash Info]\nPath={}\nDeletionDate={date}\n", percent_encode(was));
    let written = File::from(file).write_all(text.as_bytes());
    written.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))
}

/// A path as in a URL, its slashes kept (RFC 2396, section 2).
fn percent_encode(path: &Path) -> String {
    let mut text = String::new();
    for byte in path.as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || b"/-_.~".contains(byte) {
            text.push(char::from(*byte));
        } else {
            let _ = write!(text, "%{byte:02X}");
        }
    }
    text
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests make the files of the vault")]
mod tests {
    use super::*;

    #[test]
    fn what_lies_in_our_trash_moves_into_the_users_with_its_former_path() {
        let all = tempfile::tempdir().unwrap();
        let (root, trash) = (all.path().join("vault"), all.path().join("data/Trash"));
        std::fs::create_dir_all(root.join(".trash")).unwrap();
        let vault = Vault::open(&root).unwrap();
        for text in ["one", "two"] {
            std::fs::write(root.join(".trash/A b.md"), text).unwrap();
            move_into(&vault, "A b.md", &trash, Path::new("/v/É/A b.md")).unwrap();
        }
        assert_eq!(std::fs::read_to_string(trash.join("files/A b.md")).unwrap(), "one");
        assert_eq!(std::fs::read_to_string(trash.join("files/A b.2.md")).unwrap(), "two");
        let info = std::fs::read_to_string(trash.join("info/A b.2.md.trashinfo")).unwrap();
        assert!(info.starts_with("[Trash Info]\nPath=/v/%C3%89/A%20b.md\nDeletionDate=20"));
        assert!(move_into(&vault, "gone.md", &trash, Path::new("/v/gone.md")).is_err());
        assert_eq!(std::fs::read_dir(trash.join("info")).unwrap().count(), 2);
    }

    #[test]
    fn a_file_in_the_users_trash_is_found_again_and_no_other_with_its_name() {
        let all = tempfile::tempdir().unwrap();
        let (root, trash) = (all.path().join("vault"), all.path().join("data/Trash"));
        std::fs::create_dir_all(root.join(".trash")).unwrap();
        let vault = Vault::open(&root).unwrap();
        let ids = ["one", "two", "three"].map(|text| {
            let ours = root.join(".trash/A.md");
            std::fs::write(&ours, text).unwrap();
            let id = file_id_of(&File::open(&ours).unwrap()).unwrap();
            move_into(&vault, "A.md", &trash, Path::new("/v/A.md")).unwrap();
            id
        });
        std::fs::remove_file(trash.join("files/A.2.md")).unwrap();
        let text = |file: File| std::io::read_to_string(file).unwrap();
        let device = vault.root().device().unwrap();
        let read = |id: FileId| open_in(device, &trash, "A.md", id).map(text);
        assert_eq!(ids.map(read), [Some("one".to_owned()), None, Some("three".to_owned())]);
        assert!(open_in(device, &trash, "B.md", ids[0]).is_none(), "another name");
        assert!(open_in(device + 1, &trash, "A.md", ids[0]).is_none(), "another device");
        assert!(open_in(device, &all.path().join("none"), "A.md", ids[0]).is_none());
        std::fs::create_dir(trash.join("files/B.md")).unwrap();
        let a_folder = file_id_of(&File::open(trash.join("files/B.md")).unwrap()).unwrap();
        assert!(open_in(device, &trash, "B.md", a_folder).is_none(), "no file");
    }

    #[test]
    fn only_the_setting_asks_for_it() {
        let all = tempfile::tempdir().unwrap();
        std::fs::create_dir(all.path().join(".obsidian")).unwrap();
        let vault = Vault::open(all.path()).unwrap();
        let check = |json: &str, expected: bool| {
            std::fs::write(all.path().join(".obsidian/app.json"), json).unwrap();
            assert_eq!(is_enabled(&vault), expected, "{json}");
        };
        assert!(!is_enabled(&vault));
        check("{}", false);
        check(r#"{ "trashOption": "local" }"#, false);
        check(r#"{ "trashOption": "none" }"#, false);
        check(r#"{ "trashOption": "system" }"#, true);
    }
}
