//! `vault`'s view of the notes for undoing changes: the vault itself.

use protocol::{FileId, NotePath};
use vault::undo::{VaultFile, VaultReader};
use vault::{EntryKind, Vault};

/// The port of the undo planner to the files of a vault.
pub(crate) struct VaultNotes(pub(crate) Vault);

impl VaultReader for VaultNotes {
    fn bytes(&self, path: &NotePath) -> Option<Vec<u8>> {
        // Nothing outside the vault was ever changed here.
        self.0.check_not_in_extra_root(path).and_then(|()| self.0.read_bytes(path)).ok()
    }

    fn file(&self, path: &NotePath) -> Option<FileId> {
        self.0.file_id(path)
    }

    fn files(&self) -> Vec<VaultFile> {
        let Ok(listing) = self.0.list() else { return Vec::new() };
        let is_folder = |entry: &&vault::VaultEntry| entry.kind == EntryKind::Folder;
        let folders = listing.entries.iter().filter(is_folder).map(|folder| &folder.path);
        let others: Vec<NotePath> =
            folders.filter(|folder| !self.0.is_on_its_device(folder)).cloned().collect();
        let standing = |entry: vault::VaultEntry| {
            let mut file = self.0.file_id(&entry.path)?;
            if others.iter().any(|other| entry.path.is_in(other) || entry.path == *other) {
                // It may be the note all the same, but only the user can tell.
                file.born = None;
            }
            let is_folder = entry.kind == EntryKind::Folder;
            Some(VaultFile { path: entry.path, size: entry.size, file, is_folder })
        };
        listing.entries.into_iter().filter_map(standing).collect()
    }

    fn is_empty_folder(&self, path: &NotePath) -> bool {
        self.0.is_empty_folder(path)
    }

    fn has_arrived(&self, path: &NotePath, file: FileId) -> bool {
        self.0.has_arrived(path, file)
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test makes its own files")]
mod tests {
    use std::fs;
    use std::process::Command;

    use super::*;

    /// Runs a command; says so and is `false` where the system does not let it.
    fn run(command: &[&str]) -> bool {
        let (name, words) = command.split_first().expect("a command");
        let done = Command::new(name).args(words).output();
        let is_done = done.is_ok_and(|output| output.status.success());
        if !is_done {
            println!("skipped: {command:?}");
        }
        is_done
    }

    #[test]
    fn a_note_in_a_snapshot_is_never_certainly_the_one_that_was_changed() {
        let all = tempfile::tempdir().expect("a folder");
        let at = |name: &str| all.path().join(name).display().to_string();
        let (image, disk, top, backup) =
            (at("image"), at("disk"), at("disk/v"), at("disk/v/Backup"));
        fs::create_dir(&disk).expect("a folder");
        fs::File::create(&image).and_then(|file| file.set_len(120 << 20)).expect("an image");
        if !run(&["mkfs.btrfs", "-q", "-m", "single", &image])
            || !run(&["mount", "-o", "loop", &image, &disk])
        {
            return;
        }
        let is_made = run(&["btrfs", "subvolume", "create", &top])
            && fs::write(at("disk/v/a.md"), "text").is_ok()
            && run(&["btrfs", "subvolume", "snapshot", &top, &backup]);
        let seen = Vault::open(&all.path().join("disk/v")).map(|vault| {
            let note = NotePath::parse("a.md").expect("a path");
            let copy = NotePath::parse("Backup/a.md").expect("a path");
            let (file, same) = (vault.file_id(&note), vault.file_id(&copy));
            let standing = VaultNotes(vault).files();
            let is_sure = |path: &NotePath| {
                standing.iter().any(|it| it.path == *path && Some(it.file) == file)
            };
            (file == same, is_sure(&note), is_sure(&copy), standing.len())
        });
        run(&["umount", "-l", &disk]);
        assert!(is_made, "a snapshot is made");
        assert_eq!(seen.expect("a vault"), (true, true, false, 3), "number and time are the same");
    }
}
