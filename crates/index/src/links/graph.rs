//! All files of a vault and the links between them, read from their bytes when asked.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use protocol::NotePath;

use super::LinkFormat;
use super::mention::Mention;
use super::resolver::Resolver;
use super::spelled::{Form, Spelled, links, may_link};

/// Gives a file's bytes; `None` for a file that is gone or cannot be read.
pub type Reading<'a> = dyn Fn(&NotePath) -> Option<Vec<u8>> + Sync + 'a;

/// The files and how to read them.
pub struct Graph<'a> {
    pub(super) files: Vec<NotePath>,
    pub(super) resolver: Resolver,
    pub(super) read: &'a Reading<'a>,
    pub(super) format: Option<LinkFormat>,
}

/// A link that leaves a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outgoing {
    /// As it stands there.
    pub link: Spelled,
    /// The files it could mean, the one it means first; empty when there is none.
    pub targets: Vec<NotePath>,
}

/// A link that leads to a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Backlink {
    /// The file that holds it.
    pub source: NotePath,
    /// As it stands there.
    pub link: Spelled,
}

impl<'a> Graph<'a> {
    /// Over `files`, which are all files that a link may lead to, folders left out.
    #[must_use]
    pub fn new(files: Vec<NotePath>, read: &'a Reading<'a>, format: Option<LinkFormat>) -> Self {
        let resolver = files.iter().cloned().collect();
        Self { files, resolver, read, format }
    }

    /// The links of one file in order, those that stay in it left out; empty when it holds no text.
    #[must_use]
    pub fn outgoing(&self, source: &NotePath) -> Vec<Outgoing> {
        let Some(bytes) = (self.read)(source).filter(|_| may_link(source)) else {
            return Vec::new();
        };
        let links = links(source, &bytes).unwrap_or_default().into_iter();
        let leaving = links.filter(|link| !link.path.is_empty());
        let outgoing = leaving.map(|link| {
            let targets = targets(&self.resolver, &link, source).into_iter().cloned().collect();
            Outgoing { link, targets }
        });
        outgoing.collect()
    }

    /// The links of all other files that lead to `target`, in the order of the files.
    #[must_use]
    pub fn backlinks(&self, target: &NotePath) -> Vec<Backlink> {
        let mention = Mention::of(std::iter::once(target));
        let found = self.each(|source| {
            if source == target {
                return None;
            }
            let bytes = (self.read)(source).filter(|bytes| mention.is_in(bytes))?;
            let mut links = links(source, &bytes).ok()?;
            links.retain(|link| {
                !link.path.is_empty()
                    && targets(&self.resolver, link, source).first().is_some_and(|to| *to == target)
            });
            Some((source.clone(), links))
        });
        let flat = found.into_iter().flat_map(|(source, links)| {
            links.into_iter().map(move |link| Backlink { source: source.clone(), link })
        });
        flat.collect()
    }

    /// Looks at every file that may hold links, on all cores; results in the order of the files.
    pub(super) fn each<T: Send>(&self, look: impl Fn(&NotePath) -> Option<T> + Sync) -> Vec<T> {
        const BATCH: usize = 32;
        let next = AtomicUsize::new(0);
        let work = || {
            let mut found = Vec::new();
            loop {
                let start = next.fetch_add(BATCH, Ordering::Relaxed);
                let batch = self.files.get(start..).unwrap_or_default();
                if batch.is_empty() {
                    return found;
                }
                let linking =
                    batch.iter().take(BATCH).zip(start..).filter(|(path, _)| may_link(path));
                found.extend(linking.filter_map(|(path, at)| Some((at, look(path)?))));
            }
        };
        let threads = thread::available_parallelism().map_or(1, NonZeroUsize::get).min(8);
        let mut found: Vec<(usize, T)> = thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
            let mut all = work();
            // A thread that panicked has no result; the panic was reported when it happened.
            all.extend(others.into_iter().filter_map(|other| other.join().ok()).flatten());
            all
        });
        found.sort_unstable_by_key(|(at, _)| *at);
        found.into_iter().map(|(_, found)| found).collect()
    }
}

/// The files that `link` in `source` could mean, the one it means first.
pub(super) fn targets<'r>(
    resolver: &'r Resolver,
    link: &Spelled,
    source: &NotePath,
) -> Vec<&'r NotePath> {
    match link.form {
        // A card of a canvas names a path from the top, whole.
        Form::CanvasFile => resolver.candidates(&format!("/{}", link.path), source),
        Form::Note(_) | Form::CanvasText(_) => resolver.candidates(&link.path, source),
    }
}
