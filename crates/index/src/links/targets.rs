//! The targets of links: for many notes together, and for one note, each path resolved once however often it occurs.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use markdown::{LinkText, TargetForm};
use protocol::NotePath;

use super::resolver::{
    FileNames, LinkResolver, candidates_from, ending_in, fold_name, is_whole_path, sort_for_folder,
};
use super::same_name::SameNameFiles;

/// The number of files that a link could mean and that are told at most; a name may be that of
/// thousands.
pub const MAX_TARGETS: usize = 10;

/// Up to this number, the files that a link could mean are looked at again for each note.
const MAX_UNRANKED: usize = 16;

/// Resolves the links of many notes. For a path that many files end in, these are put in order once and not for each note;
/// with 100,000 files that order takes about ten megabytes, until the last of the notes.
pub(crate) struct LinkTargets<'n, N, K> {
    names: &'n N,
    /// Which files count.
    keep: K,
    /// By what a link means, folded; of those that many files end in.
    ranked: RwLock<HashMap<String, Arc<SameNameFiles<'n>>>>,
}

/// Targets among all files of a resolver.
pub(super) type AllTargets<'n> = LinkTargets<'n, LinkResolver, fn(&NotePath) -> bool>;

impl<'n> AllTargets<'n> {
    /// Every file counts.
    pub(super) fn among_all(resolver: &'n LinkResolver) -> Self {
        Self::new(resolver, |_| true)
    }

    pub(super) const fn resolver(&self) -> &'n LinkResolver {
        self.names
    }

    /// Whether `link`, a path as a link means it, stands for `target` in the note `source`; a link without a path stands
    /// for its note.
    pub(super) fn leads_to(&self, link: &str, source: &NotePath, target: &NotePath) -> bool {
        if link.is_empty() {
            return source == target;
        }
        let here = source.folder().map(fold_name).unwrap_or_default();
        self.first(&fold_name(link), &here) == Some(target)
    }
}

impl<'n, N: FileNames, K: Fn(&NotePath) -> bool> LinkTargets<'n, N, K> {
    /// Among the files that `keep` lets count.
    pub(crate) fn new(names: &'n N, keep: K) -> Self {
        Self { names, keep, ranked: RwLock::default() }
    }

    /// The file that `link` means in a note of the folder `here`, both [folded](fold_name).
    pub(super) fn first(&self, link: &str, here: &str) -> Option<&'n NotePath> {
        if is_whole_path(link) {
            return self.all(link, here).first().copied();
        }
        if let Some(known) = self.known(link) {
            return known.meant_from(here);
        }
        let mut few = ending_in(self.names, link, MAX_UNRANKED + 1, |_| true);
        if few.len() > MAX_UNRANKED {
            return self.rank(link).meant_from(here);
        }
        few.retain(|file| (self.keep)(file.path));
        sort_for_folder(&mut few, here);
        few.first().map(|file| file.path)
    }

    /// The files that it could mean there, the one it means first.
    fn all(&self, link: &str, here: &str) -> Vec<&'n NotePath> {
        let mut found = candidates_from(self.names, link, here);
        found.retain(|path| (self.keep)(path));
        found
    }

    fn known(&self, link: &str) -> Option<Arc<SameNameFiles<'n>>> {
        self.ranked.read().unwrap_or_else(PoisonError::into_inner).get(link).cloned()
    }

    fn rank(&self, link: &str) -> Arc<SameNameFiles<'n>> {
        // The other threads wait: each would do the same work.
        let mut ranked = self.ranked.write().unwrap_or_else(PoisonError::into_inner);
        let files = ranked.entry(link.to_owned()).or_insert_with(|| {
            Arc::new(SameNameFiles::new(ending_in(self.names, link, usize::MAX, &self.keep)))
        });
        Arc::clone(files)
    }
}

/// Resolves the links of a note.
pub(crate) struct TargetCache<'t, 'n, N, K> {
    targets: &'t LinkTargets<'n, N, K>,
    /// The folder of the note, folded.
    folder: String,
    /// By what a link means, folded.
    first: HashMap<String, Option<&'n NotePath>>,
    all: HashMap<String, Vec<&'n NotePath>>,
}

/// Resolves the links of a note among all files of a resolver.
pub(super) type AllTargetCache<'t, 'n> = TargetCache<'t, 'n, LinkResolver, fn(&NotePath) -> bool>;

impl<'t, 'n, N: FileNames, K: Fn(&NotePath) -> bool> TargetCache<'t, 'n, N, K> {
    /// Of the note `source`.
    pub(crate) fn for_note(targets: &'t LinkTargets<'n, N, K>, source: &NotePath) -> Self {
        let folder = source.folder().map(fold_name).unwrap_or_default();
        Self { targets, folder, first: HashMap::new(), all: HashMap::new() }
    }

    /// The files that `link` could mean, the one it means first.
    pub(crate) fn all(&mut self, link: &LinkText) -> &[&'n NotePath] {
        let Self { targets, folder, all, .. } = self;
        all.entry(meant_path(link)).or_insert_with_key(|path| targets.all(path, folder))
    }

    /// The file that `link` means.
    pub(crate) fn first(&mut self, link: &LinkText) -> Option<&'n NotePath> {
        let Self { targets, folder, first, .. } = self;
        *first.entry(meant_path(link)).or_insert_with_key(|path| targets.first(path, folder))
    }

    /// The first of the files that `link` could mean.
    pub(crate) fn first_few(&mut self, link: &LinkText) -> Vec<NotePath> {
        self.all(link).iter().take(MAX_TARGETS).map(|path| (*path).clone()).collect()
    }
}

/// The path of a link as it is looked up, folded.
fn meant_path(link: &LinkText) -> String {
    match link.form {
        // A card of a canvas names a path from the top, whole.
        TargetForm::CanvasFile => format!("/{}", fold_name(&link.path)),
        TargetForm::Note(_) | TargetForm::CanvasText(_) => fold_name(&link.path),
    }
}
