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

use super::name_cache::NameCache;

/// The files of a vault by name.
#[derive(Debug, Clone, Default)]
pub struct LinkResolver {
    by_name: HashMap<String, Vec<FoldedPath>>,
}

#[derive(Debug, Clone)]
struct FoldedPath {
    path: NotePath,
    folded: String,
}

/// A source that knows all files by their names.
pub(crate) trait FileNames {
    /// The files called `name`, which is [folded](fold_name) and has its extension.
    fn files_named<'n>(&'n self, name: &str) -> Vec<NamedFile<'n>>;
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
        for path in files {
            resolver.add(path);
        }
        resolver
    }
}

impl FileNames for LinkResolver {
    fn files_named<'n>(&'n self, name: &str) -> Vec<NamedFile<'n>> {
        let kept = self.by_name.get(name).map_or(&[][..], Vec::as_slice);
        let file =
            |kept: &'n FoldedPath| NamedFile { path: &kept.path, folded: (&kept.folded).into() };
        kept.iter().map(file).collect()
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

    /// Takes a file in.
    pub(super) fn add(&mut self, path: NotePath) {
        let folded = fold_name(path.as_str());
        let name = file_name(&folded).to_owned();
        self.by_name.entry(name).or_default().push(FoldedPath { path, folded });
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
    candidates_from(&mut NameCache::new(names), link, &here)
}

/// The same for a link that stands in a note of the folder `here`, [folded](fold_name); empty at the top.
pub(crate) fn candidates_from<'n>(
    names: &mut NameCache<'n, impl FileNames>,
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
    let mut found = ending_in(names, &folded);
    // Two files of one name are rare: usually there is nothing to sort.
    if found.len() > 1 {
        found.sort_by_cached_key(|file| {
            let is_below = here.is_empty() || is_inside(&file.folded, here);
            let shared = shared_folders(&file.folded, here);
            (!is_below, file.folded.chars().count(), Reverse(shared), file.folded.to_string())
        });
    }
    found.into_iter().map(|file| file.path).collect()
}

/// The file at a path from the top, with or without `.md`.
fn at_exact_path<'n>(
    names: &mut NameCache<'n, impl FileNames>,
    whole: Option<&str>,
) -> Vec<&'n NotePath> {
    let Some(whole) = whole else { return Vec::new() };
    let with_md = format!("{whole}.md");
    let found = [whole, with_md.as_str()].into_iter().find_map(|spelling| {
        let files = names.files_ending_in(spelling);
        files.iter().find(|file| file.folded == spelling).map(|file| file.path)
    });
    found.into_iter().collect()
}

/// The files whose path ends in `path`, at a `/`. A name with its extension counts first.
fn ending_in<'n>(names: &mut NameCache<'n, impl FileNames>, path: &str) -> Vec<NamedFile<'n>> {
    let with_md = format!("{path}.md");
    for spelling in [path, with_md.as_str()] {
        let ends_in_it = |file: &&NamedFile<'_>| {
            let folders = file.folded.strip_suffix(spelling);
            folders.is_some_and(|folders| folders.is_empty() || folders.ends_with('/'))
        };
        let files = names.files_ending_in(spelling).iter();
        let found: Vec<NamedFile<'n>> = files.filter(ends_in_it).cloned().collect();
        if !found.is_empty() {
            return found;
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
