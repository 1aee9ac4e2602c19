//! The thread behind a watch: puts a watch on every folder, and gathers what is reported.

use std::collections::{BTreeSet, HashSet};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use notify::{ErrorKind, RecommendedWatcher, RecursiveMode, Watcher};
use protocol::NotePath;
use rustix::fs::FileType;

use super::VaultChange;
use super::event::{HiddenFileEvent, WatchEvent, parse_events};
use super::extra_roots::WatchedExtraRoots;
use super::listing::list_folder;
use super::polling::{PollResult, PolledFolders};
use super::queue::ChangeQueue;
use super::replacement::{EventTime, ReplacementTracker};
use super::sync_cookie::SyncCookie;
use crate::Vault;
use crate::filesystem::remote_disk;

/// A save is reported when it has ended. A half-finished save (a file that is being written, or one
/// that has left its name) waits this long for the rest, and so do the changes that come with it.
const DEBOUNCE: Duration = Duration::from_millis(5);

/// How often to check that the folder still has its name, besides the check after every change: it
/// may be removed, a folder above it renamed, or its disk unmounted, without a report.
const CHECK_INTERVAL: Duration = Duration::from_secs(2);

/// The same while it does not.
const CHECK_INTERVAL_WHILE_GONE: Duration = Duration::from_millis(250);

/// The number of reports that may wait for the thread; more are "everything".
const MAX_QUEUED_EVENTS: usize = 1 << 16;

/// Sends events to the thread; clones send to the same one.
#[derive(Debug, Clone)]
pub(super) struct EventSender {
    events: SyncSender<WatchEvent>,
    overflowed: Arc<AtomicBool>,
    stopped: Arc<AtomicBool>,
}

/// The two ends of the channel to a thread.
pub(super) fn event_channel() -> (EventSender, Receiver<WatchEvent>) {
    let (events, receiver) = sync_channel(MAX_QUEUED_EVENTS);
    (EventSender { events, overflowed: Arc::default(), stopped: Arc::default() }, receiver)
}

impl EventSender {
    /// Ends the thread, soon.
    pub(super) fn stop(&self) {
        self.stopped.store(true, Ordering::Release);
        self.send(WatchEvent::Top);
    }

    /// Never waits: the system's reports must be taken while the thread is busy.
    fn send(&self, event: WatchEvent) {
        if self.events.try_send(event).is_err() {
            self.overflowed.store(true, Ordering::Release);
        }
    }
}

/// Keeps watch over one vault.
pub(super) struct WatchThread {
    vault: Vault,
    queue: Arc<ChangeQueue>,
    sender: EventSender,
    /// `None` while the system gives none: then every folder is in the rounds.
    watcher: Option<Box<dyn Watcher + Send>>,
    /// Folders with a watch, without the top one.
    folders: HashSet<NotePath>,
    /// Folders without one, those of extra roots among them.
    polled: PolledFolders,
    extra_roots: WatchedExtraRoots,
    files: BTreeSet<NotePath>,
    /// Those of them that are half-way.
    unfinished: BTreeSet<NotePath>,
    /// Whether anything may have changed.
    needs_rescan: bool,
    is_gone: bool,
    told_polling: bool,
    tracker: ReplacementTracker,
    cookie: Option<SyncCookie>,
    /// Whether what is in a folder may change without a report.
    changes_unreported: fn(BorrowedFd<'_>) -> bool,
}

impl WatchThread {
    pub(super) fn new(vault: Vault, queue: Arc<ChangeQueue>, sender: EventSender) -> Self {
        let mut thread = Self {
            vault,
            queue,
            sender,
            watcher: None,
            folders: HashSet::new(),
            polled: PolledFolders::default(),
            extra_roots: WatchedExtraRoots::default(),
            files: BTreeSet::new(),
            unfinished: BTreeSet::new(),
            needs_rescan: false,
            is_gone: false,
            told_polling: false,
            tracker: ReplacementTracker::default(),
            cookie: SyncCookie::create(),
            changes_unreported: |folder| remote_disk::changes_unreported(folder),
        };
        thread.create_watcher();
        thread
    }

    /// Works until [`EventSender::stop`] is called.
    pub(super) fn run(&mut self, receiver: &Receiver<WatchEvent>) {
        self.watch_all();
        self.flush();
        while !self.is_stopped() {
            let round = if self.is_gone { CHECK_INTERVAL_WHILE_GONE } else { CHECK_INTERVAL };
            match receiver.recv_timeout(round) {
                Ok(event) => {
                    self.handle_event(event);
                    self.collect_events(receiver);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            self.check_vault_folder();
            if self.sender.overflowed.swap(false, Ordering::AcqRel) {
                self.restart_watching();
            }
            if !self.is_gone {
                self.check_extra_roots();
                if self.polled.is_due() {
                    self.poll_unwatched();
                }
            }
            self.flush();
        }
        self.queue.end();
    }

    /// Takes the reports so far, and waits for the rest of half-finished saves. A program that
    /// never pauses does not keep the others waiting.
    fn collect_events(&mut self, receiver: &Receiver<WatchEvent>) {
        let end = Instant::now() + DEBOUNCE;
        while let Some(left) = end.checked_duration_since(Instant::now()) {
            let timeout = if self.unfinished.is_empty() { Duration::ZERO } else { left };
            match receiver.recv_timeout(timeout) {
                Ok(event) => self.handle_event(event),
                Err(_) => return,
            }
        }
    }

    fn handle_event(&mut self, event: WatchEvent) {
        match event {
            WatchEvent::Saved(path) => {
                self.tracker.written(path.as_str());
                self.on_saved(path);
            }
            WatchEvent::Touched(path) => {
                self.tracker.written(path.as_str());
                self.on_touched(path);
            }
            WatchEvent::Created(path) => self.on_created(path),
            WatchEvent::Removed(path) => {
                self.tracker.removed(self.vault.tracked_files(), path.as_str(), EventTime::now());
                self.on_touched(path);
            }
            WatchEvent::Arrived(path) => self.on_arrived(path),
            WatchEvent::Left(path) => self.on_left(path),
            WatchEvent::Renamed(from, to) => {
                let files = self.vault.tracked_files();
                self.tracker.renamed(files, &from, to.as_str(), EventTime::now());
            }
            WatchEvent::Hidden(path, event) => self.on_hidden(&path, event),
            WatchEvent::CaughtUp => self.on_cookie(),
            WatchEvent::FolderRemoved(path) => {
                self.vault.tracked_files().untrack_below(path.as_str());
                self.tracker.remove_below(path.as_str());
                self.folders.remove(&path);
                // No watch told of the files that were in it.
                self.files.extend(self.polled.remove(Some(&path)).unwrap_or_default());
                self.extra_roots.remove(&path);
            }
            // The top is looked at after every change.
            WatchEvent::Top => {}
            WatchEvent::Lost => self.sender.overflowed.store(true, Ordering::Release),
        }
    }

    fn on_arrived(&mut self, path: NotePath) {
        if self.vault.root().open_folder(path.as_str()).is_ok() {
            self.tracker.remove_below(path.as_str());
            let files = self.watch_recursively(Some(path));
            self.files.extend(files);
        } else {
            let now = self.vault.file_id(&path);
            self.tracker.arrived(self.vault.tracked_files(), path.as_str(), now, EventTime::now());
            self.on_saved(path);
        }
    }

    fn on_created(&mut self, path: NotePath) {
        let now = self.vault.file_id(&path);
        self.tracker.created(self.vault.tracked_files(), path.as_str(), now, EventTime::now());
        self.on_touched(path);
    }

    fn on_hidden(&mut self, path: &str, event: HiddenFileEvent) {
        let (tracked, at) = (self.vault.tracked_files(), EventTime::now());
        let now = || self.vault.root().file_id(path).ok();
        match event {
            HiddenFileEvent::Created => self.tracker.created(tracked, path, now(), at),
            HiddenFileEvent::Written => self.tracker.written(path),
            HiddenFileEvent::Arrived => self.tracker.arrived(tracked, path, now(), at),
            HiddenFileEvent::Left => self.tracker.left(tracked, path, now(), at),
            HiddenFileEvent::Removed => self.tracker.removed(tracked, path, at),
        }
    }

    fn on_saved(&mut self, path: NotePath) {
        self.unfinished.remove(&path);
        self.files.insert(path);
    }

    fn on_touched(&mut self, path: NotePath) {
        self.unfinished.insert(path.clone());
        self.files.insert(path);
    }

    /// A folder that leaves moves its contents too, without a report of them.
    fn on_left(&mut self, path: NotePath) {
        self.extra_roots.remove(&path);
        if !self.folders.remove(&path) && self.polled.remove(Some(&path)).is_none() {
            let now = self.vault.file_id(&path);
            self.tracker.left(self.vault.tracked_files(), path.as_str(), now, EventTime::now());
            return self.on_touched(path);
        }
        self.vault.tracked_files().untrack_below(path.as_str());
        self.tracker.remove_below(path.as_str());
        let inside = format!("{path}/");
        self.folders.retain(|folder| !folder.as_str().starts_with(&inside));
        self.polled.remove_below(&inside);
        self.needs_rescan = true;
    }

    fn check_vault_folder(&mut self) {
        if self.is_stopped() {
            return;
        }
        if !self.is_gone && !self.vault.is_at_original_path() {
            self.is_gone = true;
            self.needs_rescan = false;
            self.files.clear();
            self.queue.add(VaultChange::Gone);
        }
        if self.is_gone && self.vault.reattach() {
            self.is_gone = false;
            self.queue.add(VaultChange::Back);
            self.restart_watching();
        }
    }

    /// Reports were lost, folders among them perhaps: every watch is set up again.
    fn restart_watching(&mut self) {
        self.tracker.clear();
        if let Some(cookie) = &mut self.cookie {
            cookie.acknowledge();
        }
        self.create_watcher();
        self.watch_all();
    }

    fn create_watcher(&mut self) {
        match system_watcher(self.vault.folder(), &self.sender, self.cookie.as_ref()) {
            Ok(watcher) => self.watcher = Some(watcher),
            Err(error) => {
                self.watcher = None;
                self.tell_polling(&format!("{error}. Close other programs that watch many files."));
            }
        }
    }

    fn watch_all(&mut self) {
        self.folders.clear();
        self.polled.clear();
        self.extra_roots = WatchedExtraRoots::default();
        self.watch_recursively(None);
        self.check_extra_roots();
        self.check_tracked_files();
        self.needs_rescan = true;
    }

    /// Stops following files that were replaced before the watches stood, when nobody saw it.
    fn check_tracked_files(&self) {
        let stands = |path: &str, file| self.vault.root().file_id(path).ok() == Some(file);
        self.vault.tracked_files().retain(stands);
    }

    /// Watches a folder, or the top one for `None`, and all in it; the files that are there. Each
    /// is listed after its watch stands, so that nothing is missed in between.
    fn watch_recursively(&mut self, folder: Option<NotePath>) -> Vec<NotePath> {
        let (mut files, mut folders) = (Vec::new(), vec![folder]);
        while let Some(path) = folders.pop() {
            if self.is_stopped() {
                break;
            }
            match self.watch_folder(path.as_ref()) {
                WatchMode::Never => continue,
                WatchMode::InRounds => {
                    let news = self.polled.add(&self.vault, path);
                    folders.extend(news.folders.into_iter().map(Some));
                    files.extend(news.files);
                }
                WatchMode::Always => {
                    for inside in list_folder(&self.vault, path.as_ref()) {
                        match inside.kind {
                            FileType::Directory => folders.push(Some(inside.path)),
                            _ => files.push(inside.path),
                        }
                    }
                    self.folders.extend(path);
                }
            }
        }
        files
    }

    fn watch_folder(&mut self, path: Option<&NotePath>) -> WatchMode {
        if path.is_some_and(|path| self.extra_roots.has(path)) {
            return WatchMode::InRounds;
        }
        let top = self.vault.folder();
        let folder = path.map_or_else(|| top.to_owned(), |path| top.join(path.as_str()));
        let Some(watcher) = &mut self.watcher else { return WatchMode::InRounds };
        match watcher.watch(&folder, RecursiveMode::NonRecursive).map_err(|error| error.kind) {
            // It reports the changes of this computer at once, the rounds find those of others.
            Ok(()) if self.changes_unreported(path) => WatchMode::InRounds,
            Ok(()) => WatchMode::Always,
            Err(ErrorKind::MaxFilesWatch) => {
                self.tell_polling("it watches no more folders. Raise fs.inotify.max_user_watches.");
                WatchMode::InRounds
            }
            // It is gone again, or we may not look into it.
            Err(_) => WatchMode::Never,
        }
    }

    fn changes_unreported(&self, folder: Option<&NotePath>) -> bool {
        let folder = self.vault.root().open_folder_or_self(folder.map(NotePath::as_str));
        folder.is_ok_and(|folder| (self.changes_unreported)(folder.as_fd()))
    }

    /// Takes the extra roots that came into the rounds, and those that went out of them. Where one
    /// went because the vault has something under its name now, that is watched.
    fn check_extra_roots(&mut self) {
        let Some((gone, come)) = self.extra_roots.refresh(&self.vault) else { return };
        for name in gone.iter().chain(&come) {
            self.polled.remove(Some(name));
            self.polled.remove_below(&format!("{name}/"));
        }
        for name in gone.into_iter().chain(come) {
            self.watch_recursively(Some(name));
        }
        self.needs_rescan = true;
    }

    /// Looks at the folders without a watch. Those that the system watches by now leave the
    /// rounds, after one more look.
    fn poll_unwatched(&mut self) {
        if self.watcher.is_none() {
            self.create_watcher();
            if self.watcher.is_some() {
                return self.watch_all();
            }
        }
        let watched = self.upgrade_polled_folders();
        if !watched.is_empty() {
            self.check_tracked_files();
        }
        let PollResult { files, folders } = self.polled.poll_all(&self.vault);
        self.files.extend(files);
        for folder in watched {
            self.polled.remove(folder.as_ref());
            self.folders.extend(folder);
        }
        for folder in folders {
            if !self.folders.contains(&folder) {
                let files = self.watch_recursively(Some(folder));
                self.files.extend(files);
            }
        }
    }

    /// The folders of the rounds that have a watch now.
    fn upgrade_polled_folders(&mut self) -> Vec<Option<NotePath>> {
        let mut watched = Vec::new();
        let mut folders = self.polled.folders();
        folders.retain(|folder| {
            !folder.as_ref().is_some_and(|path| self.extra_roots.has(path))
                && !self.changes_unreported(folder.as_ref())
        });
        for folder in folders {
            match self.watch_folder(folder.as_ref()) {
                WatchMode::Always => watched.push(folder),
                WatchMode::Never => {}
                WatchMode::InRounds => break,
            }
        }
        watched
    }

    /// Says once that changes come late, and why.
    fn tell_polling(&mut self, why: &str) {
        if !self.told_polling {
            tracing::warn!(why, "changes of other programs are noticed late");
            self.told_polling = true;
            self.queue.add(VaultChange::Late {
                why: format!(
                    "Changes that other programs make to some notes are noticed seconds late, \
                     because the system is short of watches: {why}"
                ),
            });
        }
    }

    /// Everything that was reported before the cookie was touched is known by now.
    fn on_cookie(&mut self) {
        if let Some(cookie) = &mut self.cookie
            && cookie.acknowledge()
        {
            let certain = self.tracker.take_certain(self.vault.tracked_files());
            if !certain.is_empty() {
                self.queue.add(VaultChange::Replaced(certain));
            }
        }
    }

    fn flush(&mut self) {
        self.unfinished.clear();
        if self.tracker.has_pending() && self.cookie.as_mut().is_some_and(SyncCookie::touch) {
            self.tracker.set_mark();
        }
        let files = std::mem::take(&mut self.files);
        if std::mem::take(&mut self.needs_rescan) {
            self.queue.add(VaultChange::Everything);
        } else if !files.is_empty() {
            self.queue.add(VaultChange::Notes(files.into_iter().collect()));
        }
    }

    fn is_stopped(&self) -> bool {
        self.sender.stopped.load(Ordering::Acquire)
    }
}

/// How a folder is watched.
enum WatchMode {
    /// By the system.
    Always,
    /// By looking at it from time to time.
    InRounds,
    /// It cannot be.
    Never,
}

fn system_watcher(
    top: &Path,
    sender: &EventSender,
    cookie: Option<&SyncCookie>,
) -> notify::Result<Box<dyn Watcher + Send>> {
    let (top, sender) = (top.to_owned(), sender.clone());
    let cookie_path = cookie.map(|cookie| cookie.path().to_owned());
    let reported_path = cookie_path.clone();
    let on_report = move |report: notify::Result<notify::Event>| {
        if report
            .as_ref()
            .is_ok_and(|event| event.paths.iter().any(|path| Some(path) == reported_path.as_ref()))
        {
            return sender.send(WatchEvent::CaughtUp);
        }
        parse_events(&top, report).into_iter().for_each(|event| sender.send(event));
    };
    let mut watcher = RecommendedWatcher::new(on_report, notify::Config::default())?;
    if let Some(path) = cookie_path {
        watcher.watch(&path, RecursiveMode::NonRecursive)?;
    }
    Ok(Box::new(watcher))
}

#[cfg(test)]
mod flood;
#[cfg(test)]
mod tests;
