//! Finds the file that a link means.
//!
//! As Obsidian does it: a name that only one file has is that file, whatever its folder. Of
//! several, those at or below the folder of the note that holds the link come first, and of these
//! the one with the shortest path. `./` and `../` begin at the note's folder, `/` at the top of
//! the vault. Case and Unicode form do not matter, `.md` is optional.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use protocol::NotePath;
use unicode_normalization::UnicodeNormalization;

use super::backward_order::{compare_backwards, compare_with_end, equal_run};

/// The files of a vault by name.
#[derive(Debug, Clone, Default)]
pub struct LinkResolver {
    /// By name, folded. The files of one name are in [backward order](super::backward_order).
    by_name: HashMap<String, Vec<FoldedPath>>,
}

#[derive(Debug, Clone)]
struct FoldedPath {
    path: NotePath,
    folded: String,
}

/// A source that knows all files by their names.
pub(crate) trait FileNames {
    /// The files whose path is `path` or ends in it at a `/`. `path` is [folded](fold_name) and has its extension.
    /// Files of one folded path are in a fixed order. The cost does not grow with the number of other files.
    fn files_ending_in<'n>(&'n self, path: &str) -> impl Iterator<Item = NamedFile<'n>>;

    /// The file whose folded path is `path`; of several the first of [those that end in it](Self::files_ending_in).
    fn file_at<'n>(&'n self, path: &str) -> Option<&'n NotePath>;
}

/// A file, and its path folded.
#[derive(Debug, Clone)]
pub(crate) struct NamedFile<'n> {
    pub(crate) path: &'n NotePath,
    pub(crate) folded: Cow<'n, str>,
}

impl FromIterator<NotePath> for LinkResolver {
    fn from_iter<I: IntoIterator<Item = NotePath>>(files: I) -> Self {
        let mut resolver = Self::default();
        resolver.add_all(files);
        resolver
    }
}

impl FileNames for LinkResolver {
    fn files_ending_in<'n>(&'n self, path: &str) -> impl Iterator<Item = NamedFile<'n>> {
        let files = self.run_ending_in(path).iter();
        files.map(|kept| NamedFile { path: &kept.path, folded: (&kept.folded).into() })
    }

    fn file_at<'n>(&'n self, path: &str) -> Option<&'n NotePath> {
        // The whole path has the fewest parts of those that end in it.
        let first = self.run_ending_in(path).first().filter(|first| first.folded == path);
        first.map(|first| &first.path)
    }
}

impl LinkResolver {
    /// The file that `link`, a path as a link means it, stands for in the note `source`; a link
    /// without a path stands for its note.
    #[must_use]
    pub fn resolve(&self, link: &str, source: &NotePath) -> Option<NotePath> {
        if link.is_empty() {
            return Some(source.clone());
        }
        self.candidates(link, source).into_iter().next().cloned()
    }

    /// All files that `link` could mean in `source`, the one it does mean first. More than one: the
    /// link is ambiguous.
    #[must_use]
    pub fn candidates(&self, link: &str, source: &NotePath) -> Vec<&NotePath> {
        candidates(self, link, source)
    }

    /// Whether a file has a name that a link could mean `path` by, in whatever folder.
    pub(super) fn has_name_of(&self, path: &NotePath) -> bool {
        let folded = fold_name(path.name());
        let bare = folded.strip_suffix(".md").unwrap_or(&folded);
        let longer = format!("{folded}.md");
        [folded.as_str(), bare, &longer].iter().any(|name| self.by_name.contains_key(*name))
    }

    /// Whether `path`, folders and a name or a name alone, could mean one file and no other.
    pub(super) fn means_one_file(&self, path: &str) -> bool {
        ending_in(self, &fold_name(path), 2, |_| true).len() == 1
    }

    /// Takes files in, at a cost that grows with the number of all files.
    pub(super) fn add_all(&mut self, paths: impl IntoIterator<Item = NotePath>) {
        for path in paths {
            let folded = fold_name(path.as_str());
            let name = file_name(&folded).to_owned();
            self.by_name.entry(name).or_default().push(FoldedPath { path, folded });
        }
        for files in self.by_name.values_mut() {
            files.sort_by(|a, b| compare_backwards(&a.folded, &b.folded));
        }
    }

    fn run_ending_in(&self, path: &str) -> &[FoldedPath] {
        let files = self.by_name.get(file_name(path)).map_or(&[][..], Vec::as_slice);
        equal_run(files, |file| compare_with_end(&file.folded, path))
    }

    /// Removes files; of thousands that have one name each is compared once.
    pub(super) fn remove<'a>(&mut self, paths: impl Iterator<Item = &'a NotePath>) {
        let mut gone: HashMap<String, HashSet<&NotePath>> = HashMap::new();
        for path in paths {
            gone.entry(fold_name(path.name())).or_default().insert(path);
        }
        for (name, gone) in gone {
            let Some(files) = self.by_name.get_mut(&name) else { continue };
            files.retain(|file| !gone.contains(&file.path));
            if files.is_empty() {
                self.by_name.remove(&name);
            }
        }
    }
}

/// All files that `link` could mean in `source`, the one it does mean first.
pub(crate) fn candidates<'n>(
    names: &'n impl FileNames,
    link: &str,
    source: &NotePath,
) -> Vec<&'n NotePath> {
    let here = source.folder().map(fold_name).unwrap_or_default();
    candidates_from(names, link, &here)
}

/// The same for a link that stands in a note of the folder `here`, [folded](fold_name); empty at the top.
pub(crate) fn candidates_from<'n>(
    names: &'n impl FileNames,
    link: &str,
    here: &str,
) -> Vec<&'n NotePath> {
    let folded = fold_name(link);
    if folded.starts_with("./") || folded.starts_with("../") {
        return at_exact_path(names, relative_to(here, &folded).as_deref());
    }
    if let Some(whole) = folded.strip_prefix('/') {
        return at_exact_path(names, Some(whole));
    }
    let mut found = ending_in(names, &folded, usize::MAX, |_| true);
    sort_for_folder(&mut found, here);
    found.into_iter().map(|file| file.path).collect()
}

/// The files that `link` could mean in a note at the top of the vault and that `counts` accepts, at most `most` and in no
/// particular order. The cost does not grow with the number of files beyond these.
pub(crate) fn some_candidates<'n>(
    names: &'n impl FileNames,
    link: &str,
    most: usize,
    counts: impl Fn(&NotePath) -> bool,
) -> Vec<&'n NotePath> {
    let folded = fold_name(link);
    if is_whole_path(&folded) {
        let found = candidates_from(names, &folded, "").into_iter();
        return found.filter(|path| counts(path)).take(most).collect();
    }
    let found = ending_in(names, &folded, most, counts).into_iter();
    found.map(|file| file.path).collect()
}

/// Whether a link names folders from that of its note or from the top, and so one file only.
pub(super) fn is_whole_path(folded: &str) -> bool {
    ["./", "../", "/"].iter().any(|start| folded.starts_with(start))
}

/// Puts files that a link in a note of the folder `here` could mean in order, the one it means first.
pub(super) fn sort_for_folder(found: &mut [NamedFile<'_>], here: &str) {
    // Two files of one name are rare: usually there is nothing to sort.
    if found.len() > 1 {
        found.sort_by_cached_key(|file| {
            let is_below = here.is_empty() || is_inside(&file.folded, here);
            let shared = shared_folders(&file.folded, here);
            (!is_below, file.folded.chars().count(), Reverse(shared), file.folded.to_string())
        });
    }
}

/// The file at a path from the top, with or without `.md`.
fn at_exact_path<'n>(names: &'n impl FileNames, whole: Option<&str>) -> Vec<&'n NotePath> {
    let Some(whole) = whole else { return Vec::new() };
    let with_md = format!("{whole}.md");
    let found = names.file_at(whole).or_else(|| names.file_at(&with_md));
    found.into_iter().collect()
}

/// The files that `counts` accepts, at most `most`, whose path ends in `path` at a `/`. A name with its extension comes
/// first: no file without it is looked for where one has it, whether it counts or not.
pub(super) fn ending_in<'n>(
    names: &'n impl FileNames,
    path: &str,
    most: usize,
    counts: impl Fn(&NotePath) -> bool,
) -> Vec<NamedFile<'n>> {
    let with_md = format!("{path}.md");
    for spelling in [path, with_md.as_str()] {
        let mut found = names.files_ending_in(spelling).peekable();
        if found.peek().is_some() {
            return found.filter(|file| counts(file.path)).take(most).collect();
        }
    }
    Vec::new()
}

/// `link` from the folder `here`; `None` when it leads out of the vault.
pub(crate) fn relative_to(here: &str, link: &str) -> Option<String> {
    let mut parts: Vec<&str> = here.split('/').filter(|part| !part.is_empty()).collect();
    for part in link.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// Equal for names that differ in case or Unicode form.
pub(crate) fn fold_name(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    // At the end of a word a sigma has another small letter, and a name ends in a link where it goes on with `.md` in
    // a path. Some small letters have a composed form that their capitals lack.
    text.nfc().collect::<String>().to_lowercase().replace('ς', "σ").nfc().collect()
}

/// The last part of a path.
pub(crate) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn is_inside(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

fn shared_folders(path: &str, folder: &str) -> usize {
    path.split('/').zip(folder.split('/')).take_while(|(a, b)| a == b).count()
}
