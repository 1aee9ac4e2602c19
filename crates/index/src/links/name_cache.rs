//! The files of the names that links end in. A name may be that of thousands of files, and a note may have thousands of
//! links to them, each spelled in its own way: all of these together look at each file a few times, not once a link.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::resolver::{FileNames, NamedFile, file_name};

/// Asks for the files of each name once.
pub(crate) struct NameCache<'n, N> {
    names: &'n N,
    /// By name, folded.
    known: HashMap<String, FilesOfName<'n>>,
}

struct FilesOfName<'n> {
    files: Vec<NamedFile<'n>>,
    /// Whether paths that end alike stand together. A name that is asked for once is not worth it.
    is_sorted: bool,
}

impl<'n, N: FileNames> NameCache<'n, N> {
    pub(crate) fn new(names: &'n N) -> Self {
        Self { names, known: HashMap::new() }
    }

    /// All files whose paths end in `path`, which is folded, and perhaps others with its last part for their name.
    /// Those with one folded path are in the order in which the names have them.
    pub(super) fn files_ending_in(&mut self, path: &str) -> &[NamedFile<'n>] {
        let name = file_name(path);
        match self.known.entry(name.to_owned()) {
            Entry::Occupied(known) => known.into_mut().ending_in(path),
            Entry::Vacant(free) => {
                let files = self.names.files_named(name);
                &free.insert(FilesOfName { files, is_sorted: false }).files
            }
        }
    }
}

impl<'n> FilesOfName<'n> {
    fn ending_in(&mut self, path: &str) -> &[NamedFile<'n>] {
        if !self.is_sorted {
            self.files.sort_by(|a, b| compare_backwards(&a.folded, &b.folded));
            self.is_sorted = true;
        }
        let before = |file: &NamedFile<'_>| compare_backwards(&file.folded, path).is_lt();
        let start = self.files.partition_point(before);
        let rest = self.files.get(start..).unwrap_or_default();
        let count = rest.partition_point(|file| file.folded.ends_with(path));
        rest.get(..count).unwrap_or_default()
    }
}

/// Compares two texts from their ends.
fn compare_backwards(one: &str, other: &str) -> Ordering {
    one.bytes().rev().cmp(other.bytes().rev())
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use proptest::prelude::*;
    use protocol::NotePath;

    use super::*;
    use crate::links::link_text::{LinkText, TargetForm};
    use crate::links::resolver::candidates_from;
    use crate::links::{LinkResolver, TargetCache};
    use crate::parser::LinkForm;

    struct CountedNames {
        resolver: LinkResolver,
        asked: Cell<usize>,
    }

    impl FileNames for CountedNames {
        fn files_named<'n>(&'n self, name: &str) -> Vec<NamedFile<'n>> {
            self.asked.set(self.asked.get() + 1);
            self.resolver.files_named(name)
        }
    }

    fn path(text: &str) -> NotePath {
        NotePath::parse(text).unwrap()
    }

    #[test]
    fn the_files_of_a_name_are_asked_for_once_however_their_links_are_spelled() {
        let files = (0..300).map(|n| path(&format!("{n}/Same.md")));
        let names = CountedNames { resolver: files.collect(), asked: Cell::new(0) };
        let mut targets = TargetCache::for_note(&names, &path("x.md"), |_| true);
        for n in 0..3_000 {
            for spelled in [format!("{n}/Same"), format!("/{n}/same.md"), format!("./{n}/Same")] {
                let link = LinkText {
                    at: 0..0,
                    line: 1,
                    path: spelled,
                    subpath: String::new(),
                    is_embed: false,
                    form: TargetForm::Note(LinkForm::Wiki),
                };
                let expected = (n < 300).then(|| path(&format!("{n}/Same.md")));
                assert_eq!(targets.first(&link), expected.as_ref(), "{link:?}");
            }
        }
        assert_eq!(names.asked.get(), 3, "for `same`, `same.md` and `same.md.md`");
    }

    proptest! {
        #[test]
        fn a_name_that_was_asked_for_gives_the_same_files_again(
            files in prop::collection::vec("((a|A|b|ab|é)/){0,3}[nN](\\.md)?", 0..12),
            links in prop::collection::vec("(/|\\./|\\.\\./)?((a|A|b|ab|é)/){0,3}n(\\.md)?", 0..12),
            here in "(a|b|ab|a/b)?",
        ) {
            let resolver: LinkResolver = files.iter().map(|file| path(file)).collect();
            let mut known = NameCache::new(&resolver);
            for link in &links {
                let again = candidates_from(&mut known, link, &here);
                let once = candidates_from(&mut NameCache::new(&resolver), link, &here);
                prop_assert_eq!(again, once, "{} in {}", link, here);
            }
        }
    }
}
