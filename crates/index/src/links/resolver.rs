//! Which file a link means.
//!
//! As Obsidian does it: a name that only one file has is that file, whatever its folder. Of
//! several, those at or below the folder of the note that holds the link come first, and of these
//! the one with the shortest path. `./` and `../` begin at the note's folder, `/` at the top of
//! the vault. Case and Unicode form do not matter, `.md` may be left out.

use std::cmp::Reverse;
use std::collections::HashMap;

use protocol::NotePath;
use unicode_normalization::UnicodeNormalization;

/// The files of a vault by name.
#[derive(Debug, Clone, Default)]
pub struct Resolver {
    by_name: HashMap<String, Vec<File>>,
}

#[derive(Debug, Clone)]
struct File {
    path: NotePath,
    folded: String,
}

impl FromIterator<NotePath> for Resolver {
    fn from_iter<I: IntoIterator<Item = NotePath>>(files: I) -> Self {
        let mut resolver = Self::default();
        for path in files {
            resolver.add(path);
        }
        resolver
    }
}

impl Resolver {
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
        let folded = fold(link);
        let here = source.folder().map(fold).unwrap_or_default();
        if folded.starts_with("./") || folded.starts_with("../") {
            return self.exactly(relative_to(&here, &folded).as_deref());
        }
        if let Some(whole) = folded.strip_prefix('/') {
            return self.exactly(Some(whole));
        }
        let mut found = self.ending_in(&folded);
        // Two files of one name are rare: usually nothing is to be put in order.
        if found.len() > 1 {
            found.sort_by_cached_key(|file| {
                let is_below = here.is_empty() || is_in(&file.folded, &here);
                let shared = shared_folders(&file.folded, &here);
                (!is_below, file.folded.chars().count(), Reverse(shared), file.folded.clone())
            });
        }
        found.into_iter().map(|file| &file.path).collect()
    }

    /// Whether a file has a name that a link could mean `path` by, in whatever folder.
    pub(super) fn has_name_of(&self, path: &NotePath) -> bool {
        let folded = fold(path.name());
        let bare = folded.strip_suffix(".md").unwrap_or(&folded);
        let longer = format!("{folded}.md");
        [folded.as_str(), bare, &longer].iter().any(|name| !self.named(name).is_empty())
    }

    /// Takes a file in.
    pub(super) fn add(&mut self, path: NotePath) {
        let folded = fold(path.as_str());
        let name = name(&folded).to_owned();
        self.by_name.entry(name).or_default().push(File { path, folded });
    }

    /// Forgets a file.
    pub(super) fn remove(&mut self, path: &NotePath) {
        if let Some(files) = self.by_name.get_mut(name(&fold(path.as_str()))) {
            files.retain(|file| file.path != *path);
        }
    }

    fn named(&self, name: &str) -> &[File] {
        self.by_name.get(name).map_or(&[], Vec::as_slice)
    }

    /// The file at a path from the top, with or without `.md`.
    fn exactly(&self, whole: Option<&str>) -> Vec<&NotePath> {
        let Some(whole) = whole else { return Vec::new() };
        let with_md = format!("{whole}.md");
        let spellings = [whole, with_md.as_str()];
        let found = spellings.iter().find_map(|spelling| {
            self.named(name(spelling)).iter().find(|file| file.folded == **spelling)
        });
        found.into_iter().map(|file| &file.path).collect()
    }

    /// The files whose path ends in `path`, at a `/`. A name with its extension counts first.
    fn ending_in(&self, path: &str) -> Vec<&File> {
        let with_md = format!("{path}.md");
        for spelling in [path, with_md.as_str()] {
            let ends = |file: &&File| {
                let folders = file.folded.strip_suffix(spelling);
                folders.is_some_and(|folders| folders.is_empty() || folders.ends_with('/'))
            };
            let found: Vec<&File> = self.named(name(spelling)).iter().filter(ends).collect();
            if !found.is_empty() {
                return found;
            }
        }
        Vec::new()
    }
}

/// `link` from the folder `here`; `None` when it leads out of the vault.
pub(super) fn relative_to(here: &str, link: &str) -> Option<String> {
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
pub(super) fn fold(text: &str) -> String {
    if text.is_ascii() {
        text.to_ascii_lowercase()
    } else {
        text.nfc().collect::<String>().to_lowercase()
    }
}

fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn is_in(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

fn shared_folders(path: &str, folder: &str) -> usize {
    path.split('/').zip(folder.split('/')).take_while(|(a, b)| a == b).count()
}
