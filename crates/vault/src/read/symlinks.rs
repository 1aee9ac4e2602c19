//! Links inside the vault, where the user wants them followed: resolved here, name by name, into a
//! path without links, which is then opened as strictly as any other.

use std::path::Path;

use protocol::NotePath;
use rustix::fs::{self, FileType};
use rustix::io::Errno;

use crate::{SymlinkPolicy, Vault, VaultError};

/// More links in a row than this count as a circle.
const MAX_SYMLINKS: usize = 16;

impl Vault {
    /// The path of the file behind all links in `path`: itself when there are none, or when they
    /// are not followed. A link that leads out, or to a protected path, is refused.
    ///
    /// Nothing is opened by its name here, so a link that changes meanwhile leads the caller to
    /// another path in the vault at worst.
    pub fn follow_symlinks(&self, path: &NotePath) -> Result<NotePath, VaultError> {
        if self.symlink_policy() == SymlinkPolicy::Refused {
            return Ok(path.clone());
        }
        let refused =
            || VaultError::NotANote { path: path.clone(), what: "a link out of the vault" };
        let mut here = path.clone();
        for _ in 0..MAX_SYMLINKS {
            // In an extra root no link is followed.
            if self.is_in_extra_root(&here) {
                return Ok(here);
            }
            match self.first_symlink(&here) {
                Ok(None) => return Ok(here),
                Ok(Some((link, rest))) => {
                    let target = self.symlink_target(&link).ok_or_else(refused)?;
                    let whole = if rest.is_empty() { target } else { format!("{target}/{rest}") };
                    here = NotePath::parse(&whole).map_err(|_| refused())?;
                }
                Err(error) => return Err(VaultError::from_errno("read", path, error)),
            }
        }
        Err(VaultError::NotANote { path: path.clone(), what: "a link that leads in a circle" })
    }

    /// The first part of `path` that is a link, as a separate path, and the rest of the path.
    fn first_symlink(&self, path: &NotePath) -> Result<Option<(String, String)>, Errno> {
        let parts: Vec<&str> = path.parts().collect();
        for end in 1..=parts.len() {
            let (head, rest) = parts.split_at(end);
            let head = head.join("/");
            match self.root().stat(&head) {
                Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::Symlink => {
                    return Ok(Some((head, rest.join("/"))));
                }
                Ok(_) => {}
                // Nothing is there, so no link is.
                Err(Errno::NOENT | Errno::NOTDIR) => return Ok(None),
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    /// Where a link leads, from the top of the vault; `None` when that is elsewhere or no text.
    fn symlink_target(&self, link: &str) -> Option<String> {
        let (folder, name) = link.rsplit_once('/').map_or((None, link), |(f, n)| (Some(f), n));
        let folder_handle = self.root().open_folder_or_self(folder).ok()?;
        let target = fs::readlinkat(&folder_handle, name, Vec::new()).ok()?;
        let target = target.to_str().ok()?;
        if let Some(absolute) = target.starts_with('/').then_some(target) {
            return Path::new(absolute)
                .strip_prefix(self.folder())
                .ok()?
                .to_str()
                .map(str::to_owned);
        }
        let mut parts: Vec<&str> = folder.into_iter().flat_map(|f| f.split('/')).collect();
        for part in target.split('/') {
            match part {
                "" | "." => {}
                ".." => drop(parts.pop()?),
                part => parts.push(part),
            }
        }
        Some(parts.join("/"))
    }
}
