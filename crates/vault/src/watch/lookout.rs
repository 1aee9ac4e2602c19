//! The thread behind a watch: puts a watch on every folder, and gathers what is reported.

use std::collections::{BTreeSet, HashSet};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use notify::{ErrorKind, RecommendedWatcher, RecursiveMode, Watcher};
use protocol::NotePath;
use rustix::fs::FileType;

use super::Changed;
use super::extra::Extra;
use super::inside::inside;
use super::mark::Mark;
use super::queue::Queue;
use super::rounds::{News, Rounds};
use super::sighting::{Befell, Sighting, sightings};
use super::succession::{Follower, Moment};
use crate::Vault;

/// A save is told when it has ended. What is half-way, a file that is being written or one that has
/// left its name, waits so long for what follows, and so does what comes with it.
const HOLD: Duration = Duration::from_millis(5);

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
    /// `None` while the system gives none: then every folder is in the rounds.
    watcher: Option<Box<dyn Watcher + Send>>,
    /// Folders with a watch, without the top one.
    folders: HashSet<NotePath>,
    /// Folders without one, those of extra roots among them.
    rounds: Rounds,
    extra: Extra,
    files: BTreeSet<NotePath>,
    /// Those of them that are half-way.
    half_way: BTreeSet<NotePath>,
    /// Whether anything may have changed.
    everything: bool,
    is_gone: bool,
    is_late: bool,
    follower: Follower,
    mark: Option<Mark>,
}

impl Lookout {
    pub(super) fn new(vault: Vault, queue: Arc<Queue>, bell: Bell) -> Self {
        let mut lookout = Self {
            vault,
            queue,
            bell,
            watcher: None,
            folders: HashSet::new(),
            rounds: Rounds::default(),
            extra: Extra::default(),
            files: BTreeSet::new(),
            half_way: BTreeSet::new(),
            everything: false,
            is_gone: false,
            is_late: false,
            follower: Follower::default(),
            mark: Mark::make(),
        };
        lookout.ask_for_watcher();
        lookout
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
            if !self.is_gone {
                self.look_at_extra_roots();
                if self.rounds.are_due() {
                    self.go_round();
                }
            }
            self.tell();
        }
        self.queue.end();
    }

    /// Takes what was reported, and waits for the rest of what is half-way. A writer that never
    /// pauses does not keep the others waiting.
    fn gather(&mut self, heard: &Receiver<Sighting>) {
        let end = Instant::now() + HOLD;
        while let Some(left) = end.checked_duration_since(Instant::now()) {
            let patience = if self.half_way.is_empty() { Duration::ZERO } else { left };
            match heard.recv_timeout(patience) {
                Ok(sighting) => self.take(sighting),
                Err(_) => return,
            }
        }
    }

    fn take(&mut self, sighting: Sighting) {
        match sighting {
            Sighting::Saved(path) => {
                self.follower.written(path.as_str());
                self.saved(path);
            }
            Sighting::Touched(path) => {
                self.follower.written(path.as_str());
                self.touched(path);
            }
            Sighting::Created(path) => self.created(path),
            Sighting::Removed(path) => {
                self.follower.removed(self.vault.seats(), path.as_str(), Moment::now());
                self.touched(path);
            }
            Sighting::Arrived(path) => self.arrived(path),
            Sighting::Left(path) => self.left(path),
            Sighting::Renamed(from, to) => {
                self.follower.renamed(self.vault.seats(), &from, to.as_str(), Moment::now());
            }
            Sighting::Hidden(path, befell) => self.hidden(&path, befell),
            Sighting::CaughtUp => self.caught_up(),
            Sighting::FolderRemoved(path) => {
                self.vault.seats().leave_below(path.as_str());
                self.follower.forget_below(path.as_str());
                self.folders.remove(&path);
                self.rounds.leave(Some(&path));
                self.extra.forget(&path);
            }
            // The top is looked at after every change.
            Sighting::Top => {}
            Sighting::Lost => self.bell.lost.store(true, Ordering::Release),
        }
    }

    fn arrived(&mut self, path: NotePath) {
        if self.vault.root().folder(path.as_str()).is_ok() {
            self.follower.forget_below(path.as_str());
            let files = self.watch_from(Some(path));
            self.files.extend(files);
        } else {
            let now = self.vault.file_id(&path);
            self.follower.arrived(self.vault.seats(), path.as_str(), now, Moment::now());
            self.saved(path);
        }
    }

    fn created(&mut self, path: NotePath) {
        let now = self.vault.file_id(&path);
        self.follower.created(self.vault.seats(), path.as_str(), now, Moment::now());
        self.touched(path);
    }

    fn hidden(&mut self, path: &str, befell: Befell) {
        let (seats, at) = (self.vault.seats(), Moment::now());
        let now = || self.vault.root().file_id(path).ok();
        match befell {
            Befell::Created => self.follower.created(seats, path, now(), at),
            Befell::Written => self.follower.written(path),
            Befell::Arrived => self.follower.arrived(seats, path, now(), at),
            Befell::Left => self.follower.left(seats, path, now(), at),
            Befell::Removed => self.follower.removed(seats, path, at),
        }
    }

    fn saved(&mut self, path: NotePath) {
        self.half_way.remove(&path);
        self.files.insert(path);
    }

    fn touched(&mut self, path: NotePath) {
        self.half_way.insert(path.clone());
        self.files.insert(path);
    }

    /// A folder takes along what was in it, and nobody says what that was.
    fn left(&mut self, path: NotePath) {
        self.extra.forget(&path);
        if !self.folders.remove(&path) && !self.rounds.leave(Some(&path)) {
            let now = self.vault.file_id(&path);
            self.follower.left(self.vault.seats(), path.as_str(), now, Moment::now());
            return self.touched(path);
        }
        self.vault.seats().leave_below(path.as_str());
        self.follower.forget_below(path.as_str());
        let inside = format!("{path}/");
        self.folders.retain(|folder| !folder.as_str().starts_with(&inside));
        self.rounds.leave_below(&inside);
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
        self.follower.forget();
        if let Some(mark) = &mut self.mark {
            mark.is_heard();
        }
        self.ask_for_watcher();
        self.watch_all();
    }

    fn ask_for_watcher(&mut self) {
        match watcher(self.vault.folder(), &self.bell, self.mark.as_ref()) {
            Ok(watcher) => self.watcher = Some(watcher),
            Err(error) => {
                self.watcher = None;
                self.late(&format!("{error}. Close other programs that watch many files."));
            }
        }
    }

    fn watch_all(&mut self) {
        self.folders.clear();
        self.rounds.clear();
        self.extra = Extra::default();
        self.watch_from(None);
        self.look_at_extra_roots();
        self.look_at_followed();
        self.everything = true;
    }

    /// Stops following files that were replaced before the watches stood, when nobody saw it.
    fn look_at_followed(&self) {
        let stands = |path: &str, file| self.vault.root().file_id(path).ok() == Some(file);
        self.vault.seats().keep_those_that(stands);
    }

    /// Watches a folder, or the top one for `None`, and all in it; the files that are there. Each
    /// is listed after its watch stands, so that nothing is missed in between.
    fn watch_from(&mut self, folder: Option<NotePath>) -> Vec<NotePath> {
        let (mut files, mut folders) = (Vec::new(), vec![folder]);
        while let Some(path) = folders.pop() {
            if self.is_stopped() {
                break;
            }
            match self.watch_one(path.as_ref()) {
                Watching::Never => continue,
                Watching::InRounds => {
                    let news = self.rounds.take_on(&self.vault, path);
                    folders.extend(news.folders.into_iter().map(Some));
                    files.extend(news.files);
                }
                Watching::Always => {
                    for inside in inside(&self.vault, path.as_ref()) {
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

    fn watch_one(&mut self, path: Option<&NotePath>) -> Watching {
        if path.is_some_and(|path| self.extra.has(path)) {
            return Watching::InRounds;
        }
        let top = self.vault.folder();
        let folder = path.map_or_else(|| top.to_owned(), |path| top.join(path.as_str()));
        let Some(watcher) = &mut self.watcher else { return Watching::InRounds };
        match watcher.watch(&folder, RecursiveMode::NonRecursive).map_err(|error| error.kind) {
            Ok(()) => Watching::Always,
            Err(ErrorKind::MaxFilesWatch) => {
                self.late("it watches no more folders. Raise fs.inotify.max_user_watches.");
                Watching::InRounds
            }
            // It is gone again, or we may not look into it.
            Err(_) => Watching::Never,
        }
    }

    /// Takes the extra roots that came into the rounds, and those that went out of them. Where one
    /// went because the vault has something under its name now, that is watched.
    fn look_at_extra_roots(&mut self) {
        let Some((gone, come)) = self.extra.renew(&self.vault) else { return };
        for name in gone.iter().chain(&come) {
            self.rounds.leave(Some(name));
            self.rounds.leave_below(&format!("{name}/"));
        }
        for name in gone.into_iter().chain(come) {
            self.watch_from(Some(name));
        }
        self.everything = true;
    }

    /// Looks at the folders without a watch. Those that the system watches by now leave the
    /// rounds, after one more look.
    fn go_round(&mut self) {
        if self.watcher.is_none() {
            self.ask_for_watcher();
            if self.watcher.is_some() {
                return self.watch_all();
            }
        }
        let watched = self.watch_by_now();
        if !watched.is_empty() {
            self.look_at_followed();
        }
        let News { files, folders } = self.rounds.walk(&self.vault);
        self.files.extend(files);
        for folder in watched {
            self.rounds.leave(folder.as_ref());
            self.folders.extend(folder);
        }
        for folder in folders {
            if !self.folders.contains(&folder) {
                let files = self.watch_from(Some(folder));
                self.files.extend(files);
            }
        }
    }

    /// The folders of the rounds that have a watch now.
    fn watch_by_now(&mut self) -> Vec<Option<NotePath>> {
        let mut watched = Vec::new();
        let ours =
            |folder: &Option<NotePath>| !folder.as_ref().is_some_and(|path| self.extra.has(path));
        let folders: Vec<_> = self.rounds.folders().into_iter().filter(ours).collect();
        for folder in folders {
            match self.watch_one(folder.as_ref()) {
                Watching::Always => watched.push(folder),
                Watching::Never => {}
                Watching::InRounds => break,
            }
        }
        watched
    }

    /// Says once that changes come late, and why.
    fn late(&mut self, why: &str) {
        if !self.is_late {
            tracing::warn!(why, "changes of other programs are noticed late");
            self.is_late = true;
            self.queue.add(Changed::Late {
                why: format!(
                    "Changes that other programs make to some notes are noticed seconds late, \
                     because the system is short of watches: {why}"
                ),
            });
        }
    }

    /// Whatever was reported before the mark was touched is known by now.
    fn caught_up(&mut self) {
        if let Some(mark) = &mut self.mark
            && mark.is_heard()
        {
            let certain = self.follower.certain(self.vault.seats());
            if !certain.is_empty() {
                self.queue.add(Changed::Replaced(certain));
            }
        }
    }

    fn tell(&mut self) {
        self.half_way.clear();
        if self.follower.waits() && self.mark.as_mut().is_some_and(Mark::touch) {
            self.follower.mark();
        }
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

/// How a folder is watched.
enum Watching {
    /// By the system.
    Always,
    /// By looking at it from time to time.
    InRounds,
    /// It cannot be.
    Never,
}

fn watcher(
    top: &Path,
    bell: &Bell,
    mark: Option<&Mark>,
) -> notify::Result<Box<dyn Watcher + Send>> {
    let (top, bell) = (top.to_owned(), bell.clone());
    let place = mark.map(|mark| mark.place().to_owned());
    let marked = place.clone();
    let hear = move |report: notify::Result<notify::Event>| {
        if report
            .as_ref()
            .is_ok_and(|event| event.paths.iter().any(|path| Some(path) == marked.as_ref()))
        {
            return bell.report(Sighting::CaughtUp);
        }
        sightings(&top, report).into_iter().for_each(|sighting| bell.report(sighting));
    };
    let mut watcher = RecommendedWatcher::new(hear, notify::Config::default())?;
    if let Some(place) = place {
        watcher.watch(&place, RecursiveMode::NonRecursive)?;
    }
    Ok(Box::new(watcher))
}

#[cfg(test)]
mod flood;
#[cfg(test)]
mod tests;
