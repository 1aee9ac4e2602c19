//! Of many files with one name, the one that a link means, found without a look at each of them for every note.

use std::ops::Range;

use protocol::NotePath;

use super::resolver::NamedFile;

/// The files that one link could mean. The cost of an answer grows with the logarithm of their number.
#[derive(Debug)]
pub(super) struct SameNameFiles<'n> {
    /// The shortest path first; paths of one length are in the order of their folded forms.
    ranked: Vec<NamedFile<'n>>,
    /// How many paths are as short as the first.
    shortest: usize,
    /// A tree of least ranks. Its second half are the ranks in the order of folded paths; an entry `n` of the first half
    /// is the lesser of the entries `2 * n` and `2 * n + 1`.
    least: Vec<usize>,
}

impl<'n> SameNameFiles<'n> {
    /// Files that are folded alike keep their order.
    pub(super) fn new(mut ranked: Vec<NamedFile<'n>>) -> Self {
        ranked.sort_by_cached_key(|file| (length(file), file.folded.to_string()));
        let least_length = ranked.first().map(length);
        let shortest = ranked.partition_point(|file| Some(length(file)) == least_length);
        let mut by_path: Vec<(&str, usize)> =
            ranked.iter().zip(0..).map(|(file, rank)| (&*file.folded, rank)).collect();
        by_path.sort_unstable();
        let least = least_ranks(by_path.into_iter().map(|(_, rank)| rank).collect());
        Self { ranked, shortest, least }
    }

    /// The file that the link means in a note of the folder `here`, folded; empty at the top.
    pub(super) fn meant_from(&self, here: &str) -> Option<&'n NotePath> {
        let found = if here.is_empty() {
            self.ranked.first()
        } else {
            self.shortest_below(here).or_else(|| self.nearest_of_shortest(here))
        };
        found.map(|file| file.path)
    }

    fn shortest_below(&self, here: &str) -> Option<&NamedFile<'n>> {
        let inside = format!("{here}/");
        let by_path = self.least.get(self.ranked.len()..).unwrap_or_default();
        let start = by_path.partition_point(|rank| self.folded(*rank) < inside.as_str());
        let rest = by_path.get(start..).unwrap_or_default();
        let count = rest.partition_point(|rank| self.folded(*rank).starts_with(&inside));
        self.ranked.get(self.least_rank(start..start + count))
    }

    /// Of the shortest paths the first that has the most folders in common with `here`.
    fn nearest_of_shortest(&self, here: &str) -> Option<&NamedFile<'n>> {
        let shortest = self.ranked.get(..self.shortest).unwrap_or_default();
        let first_from =
            |path: &str| shortest.get(shortest.partition_point(|file| &*file.folded < path));
        let mut folder = Some(here);
        while let Some(path) = folder {
            let inside = format!("{path}/");
            // A file may have the name of a folder in other letters.
            let itself = first_from(path).filter(|file| file.folded == path);
            let below = || first_from(&inside).filter(|file| file.folded.starts_with(&inside));
            let found = itself.or_else(below);
            if found.is_some() {
                return found;
            }
            folder = path.rsplit_once('/').map(|(parent, _)| parent);
        }
        shortest.first()
    }

    fn folded(&self, rank: usize) -> &str {
        self.ranked.get(rank).map(|file| &*file.folded).unwrap_or_default()
    }

    /// The least rank in a range of the order of folded paths; of an empty range no file has it.
    fn least_rank(&self, range: Range<usize>) -> usize {
        let count = self.ranked.len();
        let (mut from, mut to) = (range.start + count, range.end + count);
        let mut least = usize::MAX;
        while from < to {
            if from % 2 == 1 {
                least = least.min(rank_at(&self.least, from));
                from += 1;
            }
            if to % 2 == 1 {
                to -= 1;
                least = least.min(rank_at(&self.least, to));
            }
            (from, to) = (from / 2, to / 2);
        }
        least
    }
}

fn least_ranks(ranks: Vec<usize>) -> Vec<usize> {
    let count = ranks.len();
    let mut least = vec![usize::MAX; count];
    least.extend(ranks);
    for at in (1..count).rev() {
        let lesser = rank_at(&least, 2 * at).min(rank_at(&least, 2 * at + 1));
        if let Some(entry) = least.get_mut(at) {
            *entry = lesser;
        }
    }
    least
}

fn rank_at(least: &[usize], at: usize) -> usize {
    least.get(at).copied().unwrap_or(usize::MAX)
}

fn length(file: &NamedFile<'_>) -> usize {
    file.folded.chars().count()
}

#[cfg(test)]
mod tests {
    use std::cmp::Reverse;

    use proptest::prelude::*;

    use super::*;
    use crate::links::resolver::FileNames as _;
    use crate::links::targets::LinkTargets;
    use crate::links::{LinkResolver, fold_name};

    /// The file that a link means by a look at each of those that it could mean.
    fn meant_by_each<'n>(files: &[NamedFile<'n>], here: &str) -> Option<&'n NotePath> {
        let best = files.iter().min_by_key(|file| {
            let is_inside =
                |rest: Option<&str>| rest.is_some_and(|rest: &str| rest.starts_with('/'));
            let is_below = here.is_empty() || is_inside(file.folded.strip_prefix(here));
            let both = file.folded.split('/').zip(here.split('/'));
            let shared = both.take_while(|(a, b)| a == b).count();
            (!is_below, length(file), Reverse(shared), file.folded.to_string())
        });
        best.map(|file| file.path)
    }

    fn paths(files: &[String]) -> impl Iterator<Item = NotePath> {
        files.iter().map(|file| NotePath::parse(file).unwrap())
    }

    #[test]
    fn a_file_whose_name_is_that_of_a_folder_counts_as_the_nearest() {
        let files = ["a/n.md", "b/n.md"].map(str::to_owned);
        let resolver: LinkResolver = paths(&files).collect();
        let files: Vec<NamedFile<'_>> = resolver.files_ending_in("n.md").collect();
        let known = SameNameFiles::new(files.clone());
        for here in ["b/n.md", "b/n.md/x", "b/n", "b", "c", "", "a/x/y"] {
            assert_eq!(known.meant_from(here), meant_by_each(&files, here), "in {here}");
        }
        assert_eq!(known.meant_from("b/n.md/x").map(NotePath::as_str), Some("b/n.md"));
        assert_eq!(SameNameFiles::new(Vec::new()).meant_from("a"), None);
    }

    proptest! {
        #[test]
        fn a_link_means_the_file_that_a_look_at_each_finds(
            files in prop::collection::vec("((a|A|b|ab|a b|é|n\\.md)/){0,4}[nN]\\.md", 0..60),
            here in "((a|b|ab|a b|é|n\\.md)(/(a|b|ab|a b|é|n\\.md)){0,3})?",
            end in "((a|b|é)/)?n\\.md",
            dropped in 2..5_usize,
        ) {
            let resolver: LinkResolver = paths(&files).collect();
            let here = fold_name(&here);
            let mut ending: Vec<NamedFile<'_>> = resolver.files_ending_in(&fold_name(&end)).collect();
            let known = SameNameFiles::new(ending.clone());
            prop_assert_eq!(known.meant_from(&here), meant_by_each(&ending, &here));
            // Some do not count, and a link leaves `.md` out.
            let counts = |path: &NotePath| !path.as_str().len().is_multiple_of(dropped);
            let targets = LinkTargets::new(&resolver, counts);
            ending.retain(|file| counts(file.path));
            let link = fold_name(end.trim_end_matches(".md"));
            for _ in 0..2 {
                prop_assert_eq!(targets.first(&link, &here), meant_by_each(&ending, &here));
            }
        }
    }
}
