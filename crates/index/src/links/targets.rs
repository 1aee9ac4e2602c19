//! What the links of one note mean, each path found out once however often it stands there.

use std::collections::HashMap;

use protocol::NotePath;

use super::resolver::{Names, candidates_from, fold};
use super::spelled::{Form, Spelled};

/// So many of the files that a link could mean are told; a name may be that of thousands.
pub const MOST_TARGETS: usize = 10;

/// Resolves the links of a note.
pub(crate) struct Targets<'n, N, K> {
    names: &'n N,
    /// The folder of the note, folded.
    here: String,
    /// Which files count.
    keep: K,
    /// By what a link means, folded.
    known: HashMap<String, Vec<&'n NotePath>>,
}

impl<'n, N: Names, K: Fn(&NotePath) -> bool> Targets<'n, N, K> {
    /// Of the note `source`, among the files that `keep` lets count.
    pub(crate) fn of(names: &'n N, source: &NotePath, keep: K) -> Self {
        let here = source.folder().map(fold).unwrap_or_default();
        Self { names, here, keep, known: HashMap::new() }
    }

    /// The files that `link` could mean, the one it means first.
    pub(crate) fn all(&mut self, link: &Spelled) -> &[&'n NotePath] {
        let folded = match link.form {
            // A card of a canvas names a path from the top, whole.
            Form::CanvasFile => format!("/{}", fold(&link.path)),
            Form::Note(_) | Form::CanvasText(_) => fold(&link.path),
        };
        let Self { names, here, keep, known } = self;
        known.entry(folded).or_insert_with_key(|folded| {
            let mut found = candidates_from(*names, folded, here);
            found.retain(|path| keep(path));
            found
        })
    }

    /// The file that `link` means.
    pub(crate) fn first(&mut self, link: &Spelled) -> Option<&'n NotePath> {
        self.all(link).first().copied()
    }

    /// The first of the files that `link` could mean.
    pub(crate) fn told(&mut self, link: &Spelled) -> Vec<NotePath> {
        self.all(link).iter().take(MOST_TARGETS).map(|path| (*path).clone()).collect()
    }
}
