//! A folder as a value, and a second, simple opinion on what changes do to it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use protocol::{Change, ChangeAction};
use serde::{Deserialize, Serialize};

/// An entry of the tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum TreeNode {
    Folder,
    /// A file with these bytes.
    File(Vec<u8>),
}

/// Everything below a folder, hidden names too: path with `/` to what stands there.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct FolderTree(pub(super) BTreeMap<String, TreeNode>);

/// Where a vault keeps its id.
const VAULT_ID_FILE: &str = ".vaultmate/vault.json";

impl FolderTree {
    /// The tree as it is now.
    #[must_use]
    pub(super) fn read_from(root: &Path) -> Self {
        let mut tree = Self::default();
        let mut folders = vec![root.to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).expect("a readable folder") {
                let path = entry.expect("a readable entry").path();
                let below = path.strip_prefix(root).expect("below the root").to_string_lossy();
                if path.is_dir() {
                    tree.0.insert(below.into_owned(), TreeNode::Folder);
                    folders.push(path);
                } else {
                    // Each vault has an id of its own.
                    let bytes = match &*below {
                        VAULT_ID_FILE => Vec::new(),
                        _ => fs::read(&path).expect("a readable file"),
                    };
                    tree.0.insert(below.into_owned(), TreeNode::File(bytes));
                }
            }
        }
        tree
    }

    /// Makes all of it below `root`.
    pub(super) fn write_to(&self, root: &Path) {
        for (path, node) in &self.0 {
            match node {
                TreeNode::Folder => fs::create_dir_all(root.join(path)).expect("a folder"),
                TreeNode::File(bytes) => fs::write(root.join(path), bytes).expect("a file"),
            }
        }
    }

    /// Adds a file, with the folders above it.
    pub(super) fn put(&mut self, path: &str, bytes: impl Into<Vec<u8>>) {
        self.make_parents(path);
        self.0.insert(path.to_owned(), TreeNode::File(bytes.into()));
    }

    /// The bytes at `path`, if a file is there.
    #[must_use]
    pub(super) fn file(&self, path: &str) -> Option<&[u8]> {
        match self.0.get(path) {
            Some(TreeNode::File(bytes)) => Some(bytes),
            _ => None,
        }
    }

    /// The tree after `changes`, one after the other.
    #[must_use]
    pub(super) fn after_changes<'a>(&self, changes: impl IntoIterator<Item = &'a Change>) -> Self {
        let mut tree = self.clone();
        for change in changes {
            tree.apply_change(change);
        }
        tree
    }

    fn apply_change(&mut self, change: &Change) {
        let path = change.path.as_str();
        match &change.act {
            ChangeAction::Create { after, .. } | ChangeAction::Replace { after, .. } => {
                self.put(path, after.clone())
            }
            ChangeAction::Rename { to, .. } => self.move_entry(path, to.as_str()),
            ChangeAction::MakeFolder => {
                self.make_parents(path);
                self.0.insert(path.to_owned(), TreeNode::Folder);
            }
            ChangeAction::Trash { .. } | ChangeAction::TrashFolder { .. } => {
                let free = self.free_in_trash(change.path.name());
                self.move_entry(path, &free);
            }
            ChangeAction::RestoreFolder { trashed, .. } => {
                self.move_entry(&format!(".trash/{trashed}"), path)
            }
        }
    }

    fn make_parents(&mut self, path: &str) {
        for (end, _) in path.match_indices('/') {
            self.0.entry(path[..end].to_owned()).or_insert(TreeNode::Folder);
        }
    }

    fn move_entry(&mut self, from: &str, to: &str) {
        self.make_parents(to);
        let below = format!("{from}/");
        let is_meant = |path: &str| path == from || path.starts_with(&below);
        let (carried, rest) =
            std::mem::take(&mut self.0).into_iter().partition(|(path, _)| is_meant(path));
        self.0 = rest;
        let carried: BTreeMap<String, TreeNode> = carried;
        let moved =
            |(path, node): (String, TreeNode)| (format!("{to}{}", &path[from.len()..]), node);
        self.0.extend(carried.into_iter().map(moved));
    }

    /// A second note of one name gets a number, as in the trash of every desktop.
    fn free_in_trash(&self, name: &str) -> String {
        let (stem, extension) = match name.rsplit_once('.') {
            Some((stem, extension)) => (stem, format!(".{extension}")),
            None => (name, String::new()),
        };
        let numbered = (2..).map(|n| format!(".trash/{stem} {n}{extension}"));
        let mut names = std::iter::once(format!(".trash/{name}")).chain(numbered);
        names.find(|name| !self.0.contains_key(name)).expect("numbers do not end")
    }
}
