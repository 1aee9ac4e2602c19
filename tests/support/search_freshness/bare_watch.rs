//! The rival: a bare watch on one folder, whose reader opens each file that was saved there and
//! keeps what it holds. Nobody can know of a save earlier and with less.

use std::collections::HashMap;
use std::fs;
use std::mem::MaybeUninit;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;

use rustix::fs::inotify::{CreateFlags, Reader, WatchFlags, add_watch, init};

/// The first line of the file that ends the reading.
const END_MARKER: &str = "nothing more";

/// When the first line of each save was read.
#[derive(Debug)]
pub(crate) struct BareWatch {
    folder: PathBuf,
    seen: Arc<Mutex<HashMap<String, Instant>>>,
    reader: Option<JoinHandle<()>>,
}

impl BareWatch {
    /// Over the files of `folder`.
    pub(crate) fn start(folder: &Path) -> Self {
        let system = init(CreateFlags::CLOEXEC).expect("a watch");
        add_watch(&system, folder, WatchFlags::CLOSE_WRITE | WatchFlags::MOVED_TO)
            .expect("a watch");
        let seen = Arc::<Mutex<HashMap<_, _>>>::default();
        let (told, at) = (Arc::clone(&seen), folder.to_owned());
        let read = move || {
            let mut room = [MaybeUninit::uninit(); 4096];
            let mut reports = Reader::new(system, &mut room);
            while let Ok(report) = reports.next() {
                let Some(name) = report.file_name().and_then(|name| name.to_str().ok()) else {
                    continue;
                };
                let text = fs::read_to_string(at.join(name)).unwrap_or_default();
                let first = text.lines().next().unwrap_or_default();
                if first == END_MARKER {
                    return;
                }
                let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
                told.entry(first.to_owned()).or_insert_with(Instant::now);
            }
        };
        Self { folder: folder.to_owned(), seen, reader: Some(std::thread::spawn(read)) }
    }

    /// When it had read this first line, once it has.
    pub(crate) fn seen_at(&self, first: &str) -> Option<Instant> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).get(first).copied()
    }
}

impl Drop for BareWatch {
    fn drop(&mut self) {
        let file = self.folder.join(".end");
        if fs::write(&file, END_MARKER).is_ok() {
            let _ = self.reader.take().map(JoinHandle::join);
        }
        let _ = fs::remove_file(file);
    }
}
