//! Tells when the settings file may have changed, whichever program changes it.

#[cfg(target_os = "linux")]
use std::mem::MaybeUninit;
#[cfg(target_os = "linux")]
use std::os::fd::OwnedFd;
#[cfg(target_os = "linux")]
use std::path::PathBuf;

use std::time::Duration;

#[cfg(target_os = "linux")]
use rustix::fs::inotify::CreateFlags;
#[cfg(target_os = "linux")]
use rustix::fs::inotify::Reader;
#[cfg(target_os = "linux")]
use rustix::fs::inotify::WatchFlags;
#[cfg(target_os = "linux")]
use rustix::fs::inotify::add_watch;
#[cfg(target_os = "linux")]
use rustix::fs::inotify::init;
#[cfg(target_os = "linux")]
use tokio::io::unix::AsyncFd;

use crate::workspace::data_dir::DataDir;

/// The time between two looks at the file where the system tells nothing (another system, a link to
/// a file elsewhere, a network).
const POLL_INTERVAL: Duration = Duration::from_secs(5);

/// Tells of changes in the data directory. Ends its work when it is dropped.
#[cfg(target_os = "linux")]
pub(crate) struct ConfigWatcher {
    file: PathBuf,
    inotify: Option<AsyncFd<OwnedFd>>,
}

/// Tells of changes in the data directory.
#[cfg(not(target_os = "linux"))]
pub(crate) struct Watch;

#[cfg(target_os = "linux")]
impl ConfigWatcher {
    /// Begins to watch. Must be called inside a tokio runtime.
    pub(crate) fn start(data: &DataDir) -> Self {
        let watched = || -> std::io::Result<_> {
            let told = init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)?;
            // Ends of writing, not its middle.
            let of = WatchFlags::CLOSE_WRITE
                | WatchFlags::MOVE
                | WatchFlags::DELETE
                | WatchFlags::ATTRIB
                | WatchFlags::ONLYDIR;
            add_watch(&told, data.root(), of)?;
            #[expect(
                deprecated,
                reason = "what it warns of, a descriptor that somebody else closes, an OwnedFd is not"
            )]
            AsyncFd::new(told)
        };
        let told = watched();
        if let Err(error) = &told {
            tracing::warn!(%error, "the settings file is looked at in rounds");
        }
        Self { file: data.config_file(), inotify: told.ok() }
    }

    /// Resolves when the settings file may be another one. Cancel safe.
    pub(crate) async fn next(&mut self) {
        let Some(told) = self.inotify.as_ref().filter(|_| !self.file.is_symlink()) else {
            return tokio::time::sleep(POLL_INTERVAL).await;
        };
        let name = self.file.file_name().unwrap_or_default().as_encoded_bytes();
        loop {
            let Ok(mut ready) = told.readable().await else { return };
            let mut room = [MaybeUninit::uninit(); 4096];
            let mut news = Reader::new(told.get_ref(), &mut room);
            let mut is_meant = false;
            while let Ok(event) = news.next() {
                // Without a name it is about the folder, or so much that not all of it was kept.
                is_meant |= event.file_name().is_none_or(|other| other.to_bytes() == name);
            }
            ready.clear_ready();
            if is_meant {
                return;
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
impl ConfigWatcher {
    /// Begins to watch.
    pub(crate) fn begin(_data: &DataDir) -> Self {
        Self
    }

    /// Resolves now and then. Cancel safe.
    pub(crate) async fn next(&mut self) {
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}
