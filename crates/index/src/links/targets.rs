//! The targets of the links of one note, each path resolved once however often it occurs.

use std::collections::HashMap;

use protocol::NotePath;

use super::link_text::{LinkText, TargetForm};
use super::resolver::{FileNames, candidates_from, fold_name};

/// The number of files that a link could mean and that are told at most; a name may be that of
/// thousands.
pub const MAX_TARGETS: usize = 10;

/// Resolves the links of a note.
pub(crate) struct TargetCache<'n, N, K> {
    names: &'n N,
    /// The folder of the note, folded.
    folder: String,
    /// Which files count.
    keep: K,
    /// By what a link means, folded.
    cache: HashMap<String, Vec<&'n NotePath>>,
}

impl<'n, N: FileNames, K: Fn(&NotePath) -> bool> TargetCache<'n, N, K> {
    /// Of the note `source`, among the files that `keep` lets count.
    pub(crate) fn for_note(names: &'n N, source: &NotePath, keep: K) -> Self {
        let here = source.folder().map(fold_name).unwrap_or_default();
        Self { names, folder: here, keep, cache: HashMap::new() }
    }

    /// The files that `link` could mean, the one it means first.
    pub(crate) fn all(&mut self, link: &LinkText) -> &[&'n NotePath] {
        let folded = match link.form {
            // A card of a canvas names a path from the top, whole.
            TargetForm::CanvasFile => format!("/{}", fold_name(&link.path)),
            TargetForm::Note(_) | TargetForm::CanvasText(_) => fold_name(&link.path),
        };
        let Self { names, folder: here, keep, cache: known } = self;
        known.entry(folded).or_insert_with_key(|folded| {
            let mut found = candidates_from(*names, folded, here);
            found.retain(|path| keep(path));
            found
        })
    }

    /// The file that `link` means.
    pub(crate) fn first(&mut self, link: &LinkText) -> Option<&'n NotePath> {
        self.all(link).first().copied()
    }

    /// The first of the files that `link` could mean.
    pub(crate) fn first_few(&mut self, link: &LinkText) -> Vec<NotePath> {
        self.all(link).iter().take(MAX_TARGETS).map(|path| (*path).clone()).collect()
    }
}
