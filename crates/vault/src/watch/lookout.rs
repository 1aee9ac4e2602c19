//! The thread behind a watch: puts a watch on every folder, and gathers what is reported.

use std::collections::{BTreeSet, HashSet};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use notify::{ErrorKind, RecommendedWatcher, RecursiveMode, Watcher};
use protocol::NotePath;
use rustix::fs::{self, AtFlags, FileType};
use rustix::io::Errno;

use super::Changed;
use super::queue::Queue;
use super::sighting::{Sighting, sightings};
use crate::Vault;
use crate::folder::Folder;

/// Changes are told once there was none for so long …
const QUIET: Duration = Duration::from_millis(5);

/// … or the first of them is so old.
const HOLD: Duration = Duration::from_millis(25);

/// How often to see whether the folder still stands under its name, beside after every change: it
/// may be removed, a folder above it renamed, or its disk unmounted, without a report.
const ROUND: Duration = Duration::from_secs(2);

/// The same while it does not.
const ROUND_WHILE_GONE: Duration = Duration::from_millis(250);

/// So many reports may wait for the thread; more are "everything".
const REPORTS: usize = 1 << 16;

/// Rings for the thread; clones are the same bell.
#[derive(Debug, Clone)]
pub(super) struct Bell {
    reports: SyncSender<Sighting>,
    lost: Arc<AtomicBool>,
    stopped: Arc<AtomicBool>,
}

/// A bell, and where it is heard.
pub(super) fn bell() -> (Bell, Receiver<Sighting>) {
    let (reports, heard) = sync_channel(REPORTS);
    (Bell { reports, lost: Arc::default(), stopped: Arc::default() }, heard)
}

impl Bell {
    /// Ends the thread, soon.
    pub(super) fn stop(&self) {
        self.stopped.store(true, Ordering::Release);
        self.report(Sighting::Top);
    }

    /// Never waits: the system's reports must be taken while the thread is busy.
    fn report(&self, sighting: Sighting) {
        if self.reports.try_send(sighting).is_err() {
            self.lost.store(true, Ordering::Release);
        }
    }
}

/// Keeps watch over one vault.
pub(super) struct Lookout {
    vault: Vault,
    queue: Arc<Queue>,
    bell: Bell,
    watcher: Box<dyn Watcher + Send>,
    /// Folders with a watch, without the top one.
    folders: HashSet<NotePath>,
    files: BTreeSet<NotePath>,
    /// Whether anything may have changed.
    everything: bool,
    is_gone: bool,
    is_blind: bool,
}

impl Lookout {
    pub(super) fn new(vault: Vault, queue: Arc<Queue>, bell: Bell) -> io::Result<Self> {
        let watcher = watcher(vault.folder(), &bell).map_err(io::Error::other)?;
        Ok(Self {
            vault,
            queue,
            bell,
            watcher,
            folders: HashSet::new(),
            files: BTreeSet::new(),
            everything: false,
            is_gone: false,
            is_blind: false,
        })
    }

    /// Works until the bell says stop.
    pub(super) fn run(&mut self, heard: &Receiver<Sighting>) {
        self.watch_all();
        self.tell();
        while !self.is_stopped() {
            let round = if self.is_gone { ROUND_WHILE_GONE } else { ROUND };
            match heard.recv_timeout(round) {
                Ok(sighting) => {
                    self.take(sighting);
                    self.gather(heard);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            self.look_at_top();
            if self.bell.lost.swap(false, Ordering::AcqRel) {
                self.start_over();
            }
            self.tell();
        }
        self.queue.end();
    }

    /// Takes what follows at once. A writer that never pauses does not keep the others waiting.
    fn gather(&mut self, heard: &Receiver<Sighting>) {
        let end = Instant::now() + HOLD;
        while let Some(left) = end.checked_duration_since(Instant::now()) {
            match heard.recv_timeout(left.min(QUIET)) {
                Ok(sighting) => self.take(sighting),
                Err(_) => return,
            }
        }
    }

    fn take(&mut self, sighting: Sighting) {
        match sighting {
            Sighting::File(path) => {
                self.files.insert(path);
            }
            Sighting::Arrived(path) => self.arrived(path),
            Sighting::Left(path) => self.left(path),
            Sighting::FolderRemoved(path) => {
                self.folders.remove(&path);
            }
            // The top is looked at after every change.
            Sighting::Top => {}
            Sighting::Lost => self.bell.lost.store(true, Ordering::Release),
        }
    }

    fn arrived(&mut self, path: NotePath) {
        if self.vault.root().folder(path.as_str()).is_ok() {
            let files = self.watch_from(Some(path));
            self.files.extend(files);
        } else {
            self.files.insert(path);
        }
    }

    /// A folder takes along what was in it, and nobody says what that was.
    fn left(&mut self, path: NotePath) {
        if !self.folders.remove(&path) {
            self.files.insert(path);
            return;
        }
        let inside = format!("{path}/");
        self.folders.retain(|folder| !folder.as_str().starts_with(&inside));
        self.everything = true;
    }

    fn look_at_top(&mut self) {
        if self.is_stopped() {
            return;
        }
        if !self.is_gone && !self.vault.is_at_home() {
            self.is_gone = true;
            self.everything = false;
            self.files.clear();
            self.queue.add(Changed::Gone);
        }
        if self.is_gone && self.vault.come_home() {
            self.is_gone = false;
            self.queue.add(Changed::Back);
            self.start_over();
        }
    }

    /// Reports were lost, folders among them perhaps: every watch is made anew.
    fn start_over(&mut self) {
        match watcher(self.vault.folder(), &self.bell) {
            Ok(watcher) => self.watcher = watcher,
            Err(error) => self.blind(&error),
        }
        self.watch_all();
    }

    fn watch_all(&mut self) {
        self.folders.clear();
        self.watch_from(None);
        self.everything = true;
    }

    /// Watches a folder, or the top one for `None`, and all in it; the files that are there. Each
    /// is listed after its watch stands, so that nothing is missed in between.
    fn watch_from(&mut self, folder: Option<NotePath>) -> Vec<NotePath> {
        let (mut files, mut folders) = (Vec::new(), vec![folder]);
        while let Some(path) = folders.pop() {
            if self.is_stopped() || !self.watch_one(path.as_ref()) {
                continue;
            }
            let at = path.as_ref().map(NotePath::as_str);
            let opened = self.vault.root().folder_or_self(at);
            // What cannot be listed is gone again, or holds no notes for us either.
            let inside = opened.and_then(|folder| entries(at, &folder)).unwrap_or_default();
            for (path, kind) in inside {
                match kind {
                    FileType::Directory => folders.push(Some(path)),
                    _ => files.push(path),
                }
            }
            self.folders.extend(path);
        }
        files
    }

    /// Whether there is a watch on the folder now.
    fn watch_one(&mut self, path: Option<&NotePath>) -> bool {
        let top = self.vault.folder();
        let folder = path.map_or_else(|| top.to_owned(), |path| top.join(path.as_str()));
        match self.watcher.watch(&folder, RecursiveMode::NonRecursive) {
            Ok(()) => true,
            Err(error) => {
                if matches!(error.kind, ErrorKind::MaxFilesWatch) {
                    self.blind(&error);
                }
                false
            }
        }
    }

    fn blind(&mut self, error: &notify::Error) {
        if !self.is_blind {
            tracing::warn!(%error, "changes of other programs are not noticed everywhere");
            self.is_blind = true;
            self.queue.add(Changed::Blind);
        }
    }

    fn tell(&mut self) {
        let files = std::mem::take(&mut self.files);
        if std::mem::take(&mut self.everything) {
            self.queue.add(Changed::Everything);
        } else if !files.is_empty() {
            self.queue.add(Changed::Notes(files.into_iter().collect()));
        }
    }

    fn is_stopped(&self) -> bool {
        self.bell.stopped.load(Ordering::Acquire)
    }
}

fn watcher(top: &Path, bell: &Bell) -> notify::Result<Box<dyn Watcher + Send>> {
    let (top, bell) = (top.to_owned(), bell.clone());
    let hear = move |report| {
        sightings(&top, report).into_iter().for_each(|sighting| bell.report(sighting));
    };
    Ok(Box::new(RecommendedWatcher::new(hear, notify::Config::default())?))
}

/// What is in a folder, by paths that are ours, and whether it is a folder.
fn entries(at: Option<&str>, folder: &Folder) -> Result<Vec<(NotePath, FileType)>, Errno> {
    let mut found = Vec::new();
    for entry in folder.entries()? {
        let entry = entry?;
        let Ok(name) = entry.file_name().to_str() else { continue };
        let path = at.map_or_else(|| name.to_owned(), |at| format!("{at}/{name}"));
        if matches!(name, "." | "..") {
            continue;
        }
        let Ok(path) = NotePath::parse(&path) else { continue };
        let kind = match entry.file_type() {
            FileType::Unknown => fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)
                .map_or(FileType::Unknown, |stat| FileType::from_raw_mode(stat.st_mode)),
            known => known,
        };
        found.push((path, kind));
    }
    Ok(found)
}

#[cfg(test)]
mod tests;
