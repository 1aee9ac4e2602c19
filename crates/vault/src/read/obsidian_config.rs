//! The few settings of Obsidian that are honoured, as bytes. No tool reaches them.

use std::fs::File;
use std::io::Read;

use rustix::fs::{self, FileType, Mode, OFlags};

use crate::Vault;

/// A file of `.obsidian/`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ObsidianFile {
    /// `app.json`: how links are written, what searches exclude, where the trash is.
    App,
    /// `daily-notes.json`: where the daily notes are and what they are called.
    DailyNotes,
    /// `workspace.json`: what is open. Obsidian writes it some time after the fact.
    Workspace,
}

/// A larger file is not one of these.
const MAX_CONFIG_SIZE: u64 = 4 << 20;

impl Vault {
    /// The bytes of the file; `None` when there is none that may be read. A link is not followed.
    #[must_use]
    pub fn obsidian_config(&self, setting: ObsidianFile) -> Option<Vec<u8>> {
        let path = match setting {
            ObsidianFile::App => ".obsidian/app.json",
            ObsidianFile::DailyNotes => ".obsidian/daily-notes.json",
            ObsidianFile::Workspace => ".obsidian/workspace.json",
        };
        let flags = OFlags::RDONLY | OFlags::NONBLOCK;
        let file = File::from(self.root().open(path, flags, Mode::empty()).ok()?);
        let stat = fs::fstat(&file).ok()?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile || stat.st_nlink > 1 {
            return None;
        }
        let mut bytes = Vec::new();
        file.take(MAX_CONFIG_SIZE + 1).read_to_end(&mut bytes).ok()?;
        (bytes.len() as u64 <= MAX_CONFIG_SIZE).then_some(bytes)
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests make the files of the vault")]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_where_they_are_and_never_through_a_link() {
        let all = tempfile::tempdir().unwrap();
        let (root, out) = (all.path().join("vault"), all.path().join("out.json"));
        std::fs::create_dir_all(root.join(".obsidian")).unwrap();
        std::fs::write(&out, "canary").unwrap();
        std::fs::write(root.join(".obsidian/app.json"), "{}").unwrap();
        std::os::unix::fs::symlink(&out, root.join(".obsidian/daily-notes.json")).unwrap();
        std::fs::hard_link(&out, root.join(".obsidian/workspace.json")).unwrap();
        let vault = Vault::open(&root).unwrap();
        assert_eq!(vault.obsidian_config(ObsidianFile::App), Some(b"{}".to_vec()));
        assert_eq!(vault.obsidian_config(ObsidianFile::DailyNotes), None);
        assert_eq!(vault.obsidian_config(ObsidianFile::Workspace), None);
    }
}
