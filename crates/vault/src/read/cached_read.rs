//! Reading a note that the system holds in memory: nothing is waited for, so it needs no thread.

use std::io::IoSliceMut;
use std::os::fd::OwnedFd;

use protocol::{ContentHash, NotePath};
use rustix::fs;
use rustix::io::{ReadWriteFlags, preadv2};

use crate::filesystem::note_file::{self, check_readable};
use crate::names::resolve::{note_path, spellings};
use crate::{Note, Vault};

/// A larger note is hashed where it holds up nobody.
const MAX_CACHED_SIZE: u64 = 256 << 10;

impl Vault {
    /// The note that `text` spells exactly, or but for its `.md`, if that can be found and read
    /// without waiting for a disk; the result is the same as of [`Vault::resolve`] and
    /// [`Vault::read`]. `None` says nothing: call these instead.
    #[must_use]
    pub fn read_cached(&self, text: &str) -> Option<Note> {
        let asked = note_path(text).ok()?;
        let root = self.root();
        for path in spellings(&asked).ok()? {
            self.check_path_visible(&path).ok()?;
            if self.may_be_in_extra_root(&path) {
                return None;
            }
            match root.open_cached(path.as_str()) {
                Ok(handle) => return self.read_whole_note(path, &handle),
                Err(rustix::io::Errno::NOENT) => {}
                Err(_) => return None,
            }
        }
        None
    }

    fn read_whole_note(&self, path: NotePath, handle: &OwnedFd) -> Option<Note> {
        let stat = fs::fstat(handle).ok()?;
        check_readable(&path, &stat).ok()?;
        let size = note_file::size(&stat);
        if size > MAX_CACHED_SIZE {
            return None;
        }
        // One byte more: a file that has grown meanwhile is not at hand.
        let mut bytes = vec![0; usize::try_from(size).ok()? + 1];
        let read = preadv2(handle, &mut [IoSliceMut::new(&mut bytes)], 0, ReadWriteFlags::NOWAIT);
        bytes.truncate(read.ok()?);
        if bytes.len() as u64 != size {
            return None;
        }
        let (bytes, stat) = self.filter_text(&path, Ok((bytes, stat))).ok()?;
        let hash = ContentHash::of(&bytes);
        let modified = note_file::modified(&stat);
        Some(Note { real: path.clone(), path, bytes, hash, modified })
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests make the files of the vault")]
mod tests {
    use super::*;

    #[test]
    fn what_is_at_hand_is_what_reading_gives_and_what_reading_refuses_is_not() {
        let all = tempfile::tempdir().unwrap();
        let (root, out) = (all.path().join("vault"), all.path().join("out.md"));
        std::fs::create_dir_all(root.join("deep/folder.md")).unwrap();
        std::fs::write(root.join("deep/note.md"), "a note").unwrap();
        std::fs::write(root.join("empty.md"), "").unwrap();
        std::fs::write(&out, "canary").unwrap();
        std::os::unix::fs::symlink(&out, root.join("link.md")).unwrap();
        std::fs::hard_link(&out, root.join("hard.md")).unwrap();
        std::fs::write(root.join("large.md"), vec![b'x'; 11 << 20]).unwrap();
        let vault = Vault::open(&root).unwrap();
        for name in ["deep/note.md", "deep/note", "empty.md"] {
            let path = vault.resolve(name).unwrap();
            assert_eq!(vault.read_cached(name), vault.read(&path).ok(), "{name}");
        }
        for name in [
            "deep/folder.md",
            "link",
            "hard.md",
            "large.md",
            "Deep/Note",
            "no/such.md",
            "../out.md",
        ] {
            // Twice: the first look may leave in memory what the second finds there.
            assert_eq!((vault.read_cached(name), vault.read_cached(name)), (None, None), "{name}");
        }
    }
}
