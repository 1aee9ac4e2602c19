//! Folders that the system does not watch: they are looked at in rounds.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use protocol::NotePath;
use rustix::fs::{FileType, Stat};
use rustix::io::Errno;

use super::listing::list_with_stat;
use crate::Vault;

/// From the end of one round to the next, at least.
const POLL_INTERVAL: Duration = Duration::from_secs(2);

/// Rounds may take at most one part in this many of the time.
const MAX_TIME_SHARE: u32 = 20;

/// The folders, each with its files as they were seen last.
#[derive(Default)]
pub(super) struct PolledFolders {
    folders: BTreeMap<Option<NotePath>, BTreeMap<NotePath, PolledFile>>,
    due: Option<Instant>,
}

/// The result of one round.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct PollResult {
    /// Files that came, went or were written.
    pub(super) files: Vec<NotePath>,
    /// Folders that are not in the rounds; who watches them is for the caller to know.
    pub(super) folders: Vec<NotePath>,
}

/// A file that has the same stamp is taken for the same.
#[derive(PartialEq, Eq)]
struct PolledFile {
    inode: u64,
    size: i64,
    written: (i64, i64),
}

impl PolledFile {
    fn from_stat(stat: &Stat) -> Self {
        let nanos = i64::try_from(stat.st_mtime_nsec).unwrap_or_default();
        Self { inode: stat.st_ino, size: stat.st_size, written: (stat.st_mtime, nanos) }
    }
}

impl PolledFolders {
    /// From now on `folder`, or the top one for `None`, is looked at. Its files and folders are
    /// news.
    pub(super) fn add(&mut self, vault: &Vault, folder: Option<NotePath>) -> PollResult {
        let mut news = PollResult::default();
        self.folders.insert(folder.clone(), BTreeMap::new());
        self.poll_folder(vault, &folder, &mut news);
        self.due.get_or_insert_with(|| Instant::now() + POLL_INTERVAL);
        news
    }

    /// Ends looking at a folder. Returns its files as they were seen last, or `None` if it was not in the rounds.
    pub(super) fn remove(&mut self, folder: Option<&NotePath>) -> Option<Vec<NotePath>> {
        self.folders.remove(&folder.cloned()).map(|files| files.into_keys().collect())
    }

    /// Ends looking at what is below a folder.
    pub(super) fn remove_below(&mut self, below: &str) {
        let is_below = |path: &Option<NotePath>| {
            path.as_ref().is_some_and(|path| path.as_str().starts_with(below))
        };
        self.folders.retain(|path, _| !is_below(path));
    }

    /// Ends all of it.
    pub(super) fn clear(&mut self) {
        self.folders.clear();
        self.due = None;
    }

    /// The folders in the rounds.
    pub(super) fn folders(&self) -> Vec<Option<NotePath>> {
        self.folders.keys().cloned().collect()
    }

    /// Whether it is time for the next round.
    pub(super) fn is_due(&self) -> bool {
        !self.folders.is_empty() && self.due.is_some_and(|due| due <= Instant::now())
    }

    /// Looks at every folder once.
    pub(super) fn poll_all(&mut self, vault: &Vault) -> PollResult {
        let began = Instant::now();
        let mut news = PollResult::default();
        for folder in self.folders() {
            self.poll_folder(vault, &folder, &mut news);
        }
        self.due = Some(
            Instant::now() + POLL_INTERVAL.max(began.elapsed().saturating_mul(MAX_TIME_SHARE)),
        );
        news
    }

    fn poll_folder(&mut self, vault: &Vault, folder: &Option<NotePath>, news: &mut PollResult) {
        let found = match list_with_stat(vault, folder.as_ref()) {
            Ok(found) => found,
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => {
                let files = self.folders.remove(folder).unwrap_or_default();
                news.files.extend(files.into_keys());
                return;
            }
            // It may be readable in the next round.
            Err(_) => return,
        };
        let mut files = BTreeMap::new();
        for (inside, stat) in found {
            if inside.kind != FileType::Directory {
                files.extend(stat.map(|stat| (inside.path, PolledFile::from_stat(&stat))));
            } else if !self.folders.contains_key(&Some(inside.path.clone())) {
                news.folders.push(inside.path);
            }
        }
        let known = self.folders.entry(folder.clone()).or_default();
        let fresh = files.iter().filter(|(path, stamp)| known.get(path) != Some(stamp));
        news.files.extend(fresh.map(|(path, _)| path.clone()));
        news.files.extend(known.keys().filter(|path| !files.contains_key(path)).cloned());
        *known = files;
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests make the files of the vault")]
mod tests {
    use super::*;

    fn names(paths: &[NotePath]) -> Vec<&str> {
        paths.iter().map(NotePath::as_str).collect()
    }

    #[test]
    fn a_round_finds_what_came_went_and_was_written_and_nothing_else() {
        let all = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(all.path().join(name), text).unwrap();
        ["a.md", "b.md", "c.md", ".hidden.md"].iter().for_each(|name| write(name, "1"));
        let vault = Vault::open(all.path()).unwrap();
        let mut rounds = PolledFolders::default();
        let first = rounds.add(&vault, None);
        assert_eq!(first.files.len(), 3);
        assert_eq!(rounds.poll_all(&vault), PollResult::default());

        write("a.md", "longer");
        write("b.new", "2");
        std::fs::rename(all.path().join("b.new"), all.path().join("b.md")).unwrap();
        std::fs::remove_file(all.path().join("c.md")).unwrap();
        write("d.md", "1");
        std::fs::create_dir(all.path().join("deep")).unwrap();
        let mut second = rounds.poll_all(&vault);
        second.files.sort();
        assert_eq!(names(&second.files), ["a.md", "b.md", "c.md", "d.md"]);
        assert_eq!(names(&second.folders), ["deep"]);
    }

    #[test]
    fn a_folder_that_is_gone_leaves_the_rounds_and_its_files_are_news() {
        let all = tempfile::tempdir().unwrap();
        std::fs::create_dir(all.path().join("deep")).unwrap();
        std::fs::write(all.path().join("deep/a.md"), "1").unwrap();
        let vault = Vault::open(all.path()).unwrap();
        let mut rounds = PolledFolders::default();
        rounds.add(&vault, NotePath::parse("deep").ok());
        std::fs::remove_dir_all(all.path().join("deep")).unwrap();
        assert_eq!(names(&rounds.poll_all(&vault).files), ["deep/a.md"]);
        assert!(rounds.folders().is_empty());
        assert_eq!(rounds.poll_all(&vault), PollResult::default());
    }
}
