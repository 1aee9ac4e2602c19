//! The notes as a conversation sees them: the files, with the changes that wait on top.

use std::sync::Arc;

use llm::tool::{ToolContext, ToolFailure};
use protocol::{ChangeSet, ContentHash, NotePath, Seen, Unplannable};
use vault::{Entry, EntryKind, Vault, VaultError};

use crate::candidates;
use crate::desk::{Desk, means_today};

/// Reads for one catalog.
#[derive(Clone)]
pub(crate) struct Notes {
    vault: Vault,
    desk: Arc<dyn Desk>,
}

/// A note as it is for this conversation now.
#[derive(Debug)]
pub(crate) struct Current {
    pub(crate) path: NotePath,
    pub(crate) bytes: Vec<u8>,
    pub(crate) hash: ContentHash,
    /// Whether the bytes hold changes that wait for the user.
    pub(crate) waiting: bool,
}

/// What stands at a path that was given whole.
#[derive(Debug)]
pub(crate) enum Place {
    /// Nothing: a note may be made there.
    Free(NotePath),
    /// This note.
    Taken(Current),
}

impl Notes {
    pub(crate) const fn new(vault: Vault, desk: Arc<dyn Desk>) -> Self {
        Self { vault, desk }
    }

    /// The existing note that `asked` means, named as freely as a person would.
    pub(crate) async fn named(
        &self,
        asked: &str,
        context: &ToolContext,
    ) -> Result<Current, ToolFailure> {
        let asked = asked.trim();
        if let Some(current) = self.planned(asked, context).await? {
            return Ok(current);
        }
        match self.resolve(asked).await? {
            Ok(path) => match context.overlay.seen_from(&path) {
                Some(path) => self.current(path, context).await,
                None => Err(gone(&path)),
            },
            Err(VaultError::NotFound { nearest, .. }) => {
                match written(&context.overlay, |path| called(path, asked)) {
                    Some(current) => Ok(current),
                    None => Err(ToolFailure(self.missing(asked, &nearest).await?)),
                }
            }
            Err(VaultError::Ambiguous { candidates, .. }) => {
                Err(ToolFailure(candidates::several(asked, &candidates)))
            }
            Err(error) => Err(failure(&error)),
        }
    }

    /// What stands at exactly the path `asked`; `.md` is added when it has no extension.
    pub(crate) async fn place(
        &self,
        asked: &str,
        context: &ToolContext,
    ) -> Result<Place, ToolFailure> {
        // A blank at an end is refused, not removed: the name made is the name that was written.
        let asked = asked.to_owned();
        if let Some(current) = self.planned(&asked, context).await? {
            return Ok(Place::Taken(current));
        }
        let vault = self.vault.clone();
        match off_thread(move || vault.new_path(&asked)).await? {
            Ok(path) => Ok(Place::Free(path.into())),
            Err(VaultError::Exists { path }) => self.current(path, context).await.map(Place::Taken),
            Err(error) => Err(failure(&error)),
        }
    }

    /// The existing note that `asked` means, else the free place of that path. With a folder in
    /// it, `asked` is a path and means itself.
    pub(crate) async fn named_or_free(
        &self,
        asked: &str,
        context: &ToolContext,
    ) -> Result<Place, ToolFailure> {
        if asked.contains('/') {
            return self.place(asked, context).await;
        }
        match self.named(asked, context).await {
            Ok(current) => Ok(Place::Taken(current)),
            Err(missing) => match candidates::read(&missing.0) {
                Some(candidates::Candidates::Near(_)) => self.place(asked, context).await,
                _ => Err(missing),
            },
        }
    }

    /// The vault, for searches that walk it.
    pub(crate) fn vault(&self) -> Vault {
        self.vault.clone()
    }

    async fn missing(&self, asked: &str, nearest: &[NotePath]) -> Result<String, ToolFailure> {
        if self.is_folder(asked).await? {
            return Ok(candidates::folder(asked));
        }
        let words = candidates::none(asked, nearest);
        if means_today(asked) {
            let today = self.desk.now().date();
            return Ok(format!(
                "{words}\nToday's daily note, if there is one, is called `{today}`."
            ));
        }
        Ok(words)
    }

    async fn is_folder(&self, asked: &str) -> Result<bool, ToolFailure> {
        let Ok(asked) = NotePath::parse(&asked.to_lowercase()) else { return Ok(false) };
        let vault = self.vault.clone();
        let is_asked = move |entry: &Entry| {
            entry.kind == EntryKind::Folder
                && NotePath::parse(&entry.path.as_str().to_lowercase())
                    .is_ok_and(|path| path == asked)
        };
        let listing = off_thread(move || vault.list()).await?;
        Ok(listing.is_ok_and(|listing| listing.entries.iter().any(is_asked)))
    }

    async fn resolve(&self, asked: &str) -> Result<Result<NotePath, VaultError>, ToolFailure> {
        let (vault, asked) = (self.vault.clone(), asked.to_owned());
        off_thread(move || vault.resolve(&asked)).await
    }

    /// The note that waits under the path `asked`, made, rewritten or moved there.
    async fn planned(
        &self,
        asked: &str,
        context: &ToolContext,
    ) -> Result<Option<Current>, ToolFailure> {
        if context.overlay.is_empty() {
            return Ok(None);
        }
        if let Some(current) = written(&context.overlay, |path| spelled(path, asked)) {
            return Ok(Some(current));
        }
        let spellings = [asked.to_owned(), format!("{asked}.md")];
        for path in spellings.iter().filter_map(|asked| NotePath::parse(asked).ok()) {
            match context.overlay.seen_at(&path) {
                Seen::OnDisk(before) if before != path => {
                    if let Ok(current) = self.current(path, context).await {
                        return Ok(Some(current));
                    }
                }
                Seen::Gone => return Err(gone(&path)),
                Seen::OnDisk(_) | Seen::Planned(_) => {}
            }
        }
        Ok(None)
    }

    async fn current(&self, path: NotePath, context: &ToolContext) -> Result<Current, ToolFailure> {
        let (before, waiting) = match context.overlay.seen_at(&path) {
            Seen::Planned(bytes) => {
                let bytes = bytes.to_vec();
                let hash = ContentHash::of(&bytes);
                return Ok(Current { path, bytes, hash, waiting: true });
            }
            Seen::Gone => return Err(gone(&path)),
            Seen::OnDisk(before) => (before.clone(), before != path),
        };
        let vault = self.vault.clone();
        let note =
            off_thread(move || vault.read(&before)).await?.map_err(|error| failure(&error))?;
        let path = if waiting { path } else { note.path };
        Ok(Current { path, bytes: note.bytes, hash: note.hash, waiting })
    }
}

/// Runs what blocks on the disk where it holds up nobody.
pub(crate) async fn off_thread<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ToolFailure> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|_| ToolFailure("The work was interrupted. Call again.".to_owned()))
}

/// The vault's errors already say what to do.
fn failure(error: &VaultError) -> ToolFailure {
    ToolFailure(error.to_string())
}

/// A move or a deletion that waits took it away.
fn gone(path: &NotePath) -> ToolFailure {
    ToolFailure(Unplannable { path: path.clone() }.to_string())
}

fn written(overlay: &ChangeSet, means: impl Fn(&NotePath) -> bool) -> Option<Current> {
    let (path, bytes) = overlay.written().into_iter().find(|(path, _)| means(path))?;
    Some(Current { path, bytes: bytes.to_vec(), hash: ContentHash::of(bytes), waiting: true })
}

/// Whether `asked` is this path, with or without its `.md`.
fn spelled(path: &NotePath, asked: &str) -> bool {
    NotePath::parse(asked).is_ok_and(|asked| asked == *path)
        || NotePath::parse(&format!("{asked}.md")).is_ok_and(|asked| asked == *path)
}

/// Whether a person would call this note `asked`.
fn called(path: &NotePath, asked: &str) -> bool {
    let asked = asked.to_lowercase();
    let asked = asked.strip_suffix(".md").unwrap_or(&asked);
    let whole = path.as_str().to_lowercase();
    path.title().to_lowercase() == asked || whole.strip_suffix(".md").unwrap_or(&whole) == asked
}
