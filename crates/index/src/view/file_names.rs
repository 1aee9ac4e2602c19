//! The files of a view by the ends of their paths.

use protocol::NotePath;
use vault::EntryKind;

use super::{FreshLookup, IndexView, ViewEntry};
use crate::links::{FileNames, NamedFile, fold_name};

impl FileNames for IndexView {
    fn files_ending_in<'n>(&'n self, path: &str) -> impl Iterator<Item = NamedFile<'n>> {
        self.stored_ending_in(path).chain(self.fresh_ending_in(path))
    }

    fn file_at<'n>(&'n self, path: &str) -> Option<&'n NotePath> {
        let is_at = |file: &NamedFile<'_>| file.folded == path;
        let stored = self.stored_ending_in(path).next().filter(is_at);
        let found = stored.or_else(|| self.fresh_ending_in(path).next().filter(is_at));
        found.map(|file| file.path)
    }
}

impl IndexView {
    /// Of the files as in the snapshot.
    fn stored_ending_in<'n>(&'n self, path: &str) -> impl Iterator<Item = NamedFile<'n>> {
        let rows = self.lookup.rows_ending_in(path, |row| {
            let row = usize::try_from(row).ok().and_then(|at| self.snapshot.rows().get(at));
            row.map(|row| fold_name(row.path.as_str())).unwrap_or_default().into()
        });
        let stored = rows.iter().filter_map(move |row| self.entry_at(usize::try_from(*row).ok()?));
        stored.filter(is_file).map(named_file)
    }

    /// Of the other files.
    fn fresh_ending_in<'n>(&'n self, path: &str) -> impl Iterator<Item = NamedFile<'n>> {
        self.fresh_lookup().files_ending_in(path).filter(is_file).map(named_file)
    }
}

impl FreshLookup {
    fn files_ending_in<'f>(&'f self, path: &str) -> impl Iterator<Item = ViewEntry<'f>> {
        let file = move |at: u32| usize::try_from(at).ok().and_then(|at| self.files.get(at));
        let rows = self.lookup.rows_ending_in(path, |at| {
            file(at).map(|fresh| fresh.folded_path.as_str()).unwrap_or_default().into()
        });
        rows.iter().filter_map(move |at| file(*at)).map(|fresh| ViewEntry::Fresh(fresh))
    }
}

fn is_file(held: &ViewEntry<'_>) -> bool {
    !matches!(held.kind(), EntryKind::Folder | EntryKind::Link)
}

fn named_file(held: ViewEntry<'_>) -> NamedFile<'_> {
    match held {
        ViewEntry::Stored(_, row) => {
            NamedFile { path: &row.path, folded: fold_name(row.path.as_str()).into() }
        }
        ViewEntry::Fresh(fresh) => {
            NamedFile { path: &fresh.scanned.entry.path, folded: fresh.folded_path.as_str().into() }
        }
    }
}
