//! Temporary files of changes that were cut: named to the user when no ledger tells of them any more.

use std::path::Path;

use crate::Vault;

/// How the temporary files of changes begin and end.
pub(crate) const TEMP_PREFIX: &str = ".vaultmate-";
pub(crate) const TEMP_SUFFIX: &str = ".tmp";

impl Vault {
    /// The paths of temporary files that changes left in the vault, sorted, at most `limit` of them.
    /// Nothing is opened or removed: each may hold the only copy of a text. Blocks on the disk.
    #[must_use]
    pub fn leftovers(&self, limit: usize) -> Vec<String> {
        let listing = self.survey().unwrap_or_default();
        let folders = listing.iter().filter(|(entry, _)| entry.kind == crate::EntryKind::Folder);
        let paths =
            std::iter::once(None).chain(folders.map(|(entry, _)| Some(entry.path.as_str())));
        let mut found: Vec<String> = paths.flat_map(|at| self.left_in(at)).collect();
        found.sort();
        found.truncate(limit);
        found
    }

    fn left_in(&self, at: Option<&str>) -> Vec<String> {
        let Ok(folder) = self.root().folder_or_self(at) else { return Vec::new() };
        let Ok(entries) = folder.entries() else { return Vec::new() };
        let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
        let is_ours = |name: &String| name.starts_with(TEMP_PREFIX) && name.ends_with(TEMP_SUFFIX);
        let path =
            |name: String| Path::new(at.unwrap_or_default()).join(name).display().to_string();
        names.filter(is_ours).map(path).collect()
    }
}
