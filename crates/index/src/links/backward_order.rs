//! The order in which files of one name are kept. A name may be that of thousands of files: paths that end alike stand
//! together, so the files that a link could mean are found without looking at the others.

use std::cmp::Ordering;

/// A key by which paths with the same last parts stand together, the one with the fewest parts first.
pub(crate) fn backward_key(folded: &str) -> Vec<u8> {
    backwards(folded).collect()
}

/// Compares two paths as their [keys](backward_key) compare.
pub(super) fn compare_backwards(one: &str, other: &str) -> Ordering {
    backwards(one).cmp(backwards(other))
}

/// Compares `folded` with the paths that are `path` or end in it at a `/`, which count as equal.
pub(crate) fn compare_with_end(folded: &str, path: &str) -> Ordering {
    let folders = folded.strip_suffix(path);
    if folders.is_some_and(|folders| folders.is_empty() || folders.ends_with('/')) {
        return Ordering::Equal;
    }
    compare_backwards(folded, path)
}

/// The files that `compare` calls equal. It must call none before them but less, and none after them but
/// greater; it is asked about few of the files.
pub(crate) fn equal_run<T>(files: &[T], compare: impl Fn(&T) -> Ordering) -> &[T] {
    let start = files.partition_point(|file| compare(file).is_lt());
    let rest = files.get(start..).unwrap_or_default();
    let count = rest.partition_point(|file| compare(file).is_eq());
    rest.get(..count).unwrap_or_default()
}

/// The bytes of a path from its end, with a `/` before its first part as before all others.
fn backwards(path: &str) -> impl Iterator<Item = u8> {
    path.bytes().rev().chain(std::iter::once(b'/'))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use markdown::parser::LinkForm;
    use markdown::{LinkText, TargetForm};
    use proptest::prelude::*;
    use protocol::NotePath;

    use super::*;
    use crate::links::resolver::FileNames;
    use crate::links::{LinkResolver, LinkTargets, NamedFile, TargetCache, fold_name};

    /// Counts the files that are looked at after they were found.
    struct CountedNames {
        resolver: LinkResolver,
        found: Cell<usize>,
    }

    impl FileNames for CountedNames {
        fn files_ending_in<'n>(&'n self, path: &str) -> impl Iterator<Item = NamedFile<'n>> {
            let files = self.resolver.files_ending_in(path);
            files.inspect(move |_| self.found.set(self.found.get() + 1))
        }

        fn file_at<'n>(&'n self, path: &str) -> Option<&'n NotePath> {
            self.resolver.file_at(path)
        }
    }

    fn path(text: &str) -> NotePath {
        NotePath::parse(text).unwrap()
    }

    fn link(spelled: String) -> LinkText {
        LinkText {
            at: 0..0,
            line: 1,
            path: spelled,
            subpath: String::new(),
            is_embed: false,
            form: TargetForm::Note(LinkForm::Wiki),
        }
    }

    #[test]
    fn links_with_a_folder_look_at_few_of_the_files_with_their_name() {
        let files = (0..1_000).map(|n| path(&format!("posts/{n}/index.md")));
        let names = CountedNames { resolver: files.collect(), found: Cell::new(0) };
        let counted = LinkTargets::new(&names, |_: &NotePath| true);
        for n in 0..1_000 {
            let other = (n + 1) % 1_000;
            let expected = Some(path(&format!("posts/{other}/index.md")));
            let source = path(&format!("posts/{n}/index.md"));
            let mut targets = TargetCache::for_note(&counted, &source);
            for spelled in [
                format!("{other}/index"),
                format!("posts/{other}/Index.md"),
                format!("/posts/{other}/index"),
                format!("../{other}/index.md"),
            ] {
                assert_eq!(targets.first(&link(spelled)), expected.as_ref(), "from {source}");
            }
        }
        assert!(names.found.get() <= 4_000, "{} files for 4,000 links", names.found.get());
        // The control: a name alone could mean all of them.
        names.found.set(0);
        let mut targets = TargetCache::for_note(&counted, &path("x.md"));
        assert_eq!(targets.all(&link("index".to_owned())).len(), 1_000);
        assert_eq!(names.found.get(), 1_000);
    }

    #[test]
    fn few_of_many_files_are_compared() {
        let mut paths: Vec<String> = (0..4_096).map(|n| format!("{n}/Same.md")).collect();
        paths.sort_by_cached_key(|path| backward_key(path));
        let compared = Cell::new(0);
        let run = equal_run(&paths, |path| {
            compared.set(compared.get() + 1);
            compare_with_end(path, "7/Same.md")
        });
        assert_eq!(run, ["7/Same.md"], "and neither that of 17 nor that of 77");
        assert!(compared.get() <= 30, "{}", compared.get());
    }

    proptest! {
        #[test]
        fn the_files_that_end_in_a_path_are_those_that_a_look_at_each_finds(
            files in prop::collection::vec("((a|A|b|ab|é)/){0,3}[nN](\\.md)?", 0..12),
            end in "((a|b|ab|é)/){0,3}n(\\.md)?",
        ) {
            let end = fold_name(&end);
            let mut expected: Vec<&str> = files.iter().map(String::as_str).collect();
            expected.retain(|file| format!("/{}", fold_name(file)).ends_with(&format!("/{end}")));
            expected.sort_unstable();
            let resolver: LinkResolver = files.iter().map(|file| path(file)).collect();
            let found = resolver.files_ending_in(&end);
            let mut found: Vec<&str> = found.map(|file| file.path.as_str()).collect();
            found.sort_unstable();
            prop_assert_eq!(found, expected);
            let whole = files.iter().find(|file| fold_name(file) == end).map(|file| path(file));
            prop_assert_eq!(resolver.file_at(&end), whole.as_ref());
        }
    }
}
