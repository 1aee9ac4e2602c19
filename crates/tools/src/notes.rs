//! The notes as a conversation sees them: the files, with the changes that wait on top.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use index::{Coverage, Index, SearchError};
use llm::tool::{Scope, ToolContext, ToolFailure};
use protocol::{
    Change, ChangeKind, ChangeSet, ContentHash, FolderContents, NotePath, Seen, Source, Unplannable,
};
use vault::{Note, Setting, Vault, VaultError};

use crate::candidates::{self, Candidates};
use crate::daily::{self, DAILY};
use crate::desk::{Desk, means_today};

/// How long a tool waits for the index.
const PATIENCE: Duration = Duration::from_secs(10);

/// Reads for one catalog.
#[derive(Clone)]
pub(crate) struct Notes {
    vault: Vault,
    index: Index,
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

/// Something that can be moved or deleted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Thing {
    /// A note or another file.
    File(NotePath),
    /// A folder.
    Folder(NotePath),
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
    pub(crate) const fn new(vault: Vault, index: Index, desk: Arc<dyn Desk>) -> Self {
        Self { vault, index, desk }
    }

    /// The existing note that `asked` means, named as freely as a person would.
    pub(crate) async fn named(
        &self,
        asked: &str,
        context: &ToolContext,
    ) -> Result<Current, ToolFailure> {
        if context.overlay.is_empty()
            && let Some(note) = self.vault.at_hand(self.meant(asked).trim())
        {
            note_read(&note, context);
            let Note { path, bytes, hash, .. } = note;
            self.note_name(asked, &path, context);
            return Ok(Current { path, bytes, hash, waiting: false });
        }
        let path = self.path_of(asked, context).await?;
        self.current(path, context).await
    }

    /// The path of the existing file that `asked` means, named as freely as a person would. What of
    /// it the call did not spell is noted.
    pub(crate) async fn path_of(
        &self,
        asked: &str,
        context: &ToolContext,
    ) -> Result<NotePath, ToolFailure> {
        let path = self.found(asked, context).await?;
        self.note_name(asked, &path, context);
        Ok(path)
    }

    /// Notes a name that the call learns from the vault. One that it spelled itself, case and `.md`
    /// aside, is none, and neither is that of today's note, which the settings say.
    fn note_name(&self, asked: &str, path: &NotePath, context: &ToolContext) {
        if !path.is_spelled_by(&self.meant(asked)) {
            context.shows.name(path);
            // That it is the only one of the name is told of all notes.
            context.shows.searched(&Scope::Vault);
        }
    }

    async fn found(&self, asked: &str, context: &ToolContext) -> Result<NotePath, ToolFailure> {
        let meant = self.meant(asked);
        let asked = meant.trim();
        if let Some(path) = self.planned(asked, context).await? {
            return Ok(path);
        }
        match self.resolve(asked).await? {
            Ok(path) => context.overlay.seen_from(&path).ok_or_else(|| gone(&path)),
            Err(VaultError::NotFound { nearest, .. }) => {
                let is_called = |path: &NotePath| called(path, asked);
                match written(&context.overlay, is_called)
                    .or_else(|| moved(&context.overlay, is_called))
                {
                    Some(path) => Ok(path),
                    None => Err(self.missing(asked, &nearest, context).await?),
                }
            }
            Err(VaultError::Ambiguous { candidates, .. }) => {
                candidates.iter().for_each(|path| context.shows.note(path));
                Err(ToolFailure::labeled(candidates::several(asked, &candidates)))
            }
            Err(error) => Err(failure(&error)),
        }
    }

    /// The file or folder that `asked` means: a folder when no file has the name, or with a `/`
    /// at its end.
    pub(crate) async fn thing(
        &self,
        asked: &str,
        context: &ToolContext,
    ) -> Result<Thing, ToolFailure> {
        let folder = self.folder_called(asked, context).await;
        if asked.trim().ends_with('/')
            && let Some(folder) = folder.clone()?
        {
            return Ok(Thing::Folder(folder));
        }
        match (self.path_of(asked, context).await, folder) {
            (Ok(path), _) => Ok(Thing::File(path)),
            (Err(_), Ok(Some(folder))) => Ok(Thing::Folder(folder)),
            (Err(missing), Ok(None)) => Err(self.or_folders(asked, missing, context).await?),
            // Who could not look must not say that there is nothing.
            (Err(_), Err(unlisted)) => Err(unlisted),
        }
    }

    /// Refuses to move what is no ordinary file of its own, and a folder that holds notes which are
    /// private: they must not lose what protects them.
    pub(crate) async fn may_move(
        &self,
        thing: &Thing,
        context: &ToolContext,
    ) -> Result<(), ToolFailure> {
        let (vault, thing, overlay) = (self.vault.clone(), thing.clone(), context.overlay.clone());
        let judged = off_thread(move || match &thing {
            Thing::File(path) => match overlay.seen_at(path) {
                Seen::OnDisk(path) => vault.admits(&path),
                Seen::Planned(_) | Seen::Gone => Ok(()),
            },
            Thing::Folder(path) => vault.admits_folder(path),
        });
        judged.await?.map_err(|error| failure(&error))
    }

    /// What is in a folder now.
    pub(crate) async fn folder_contents(
        &self,
        folder: &NotePath,
    ) -> Result<FolderContents, ToolFailure> {
        let (vault, folder) = (self.vault.clone(), folder.clone());
        let found = off_thread(move || vault.folder_contents(&folder));
        found.await?.map_err(|error| failure(&error))
    }

    /// Refuses to change what is in a folder beside the vault, what is read through a link, and what
    /// this user may not write.
    pub(crate) async fn may_change(&self, note: &Current) -> Result<(), ToolFailure> {
        let (vault, path) = (self.vault.clone(), note.path.clone());
        let judged = off_thread(move || {
            vault.takes_changes(&path)?;
            if vault.followed(&path)? != path {
                return Err(VaultError::NotANote { path, what: "a link" });
            }
            vault.may_write(&path)
        });
        judged.await?.map_err(|error| failure(&error))
    }

    /// A free path for a folder (no `from`) or for what `from` is to become.
    pub(crate) async fn free_path(
        &self,
        asked: &str,
        from: Option<&Thing>,
        context: &ToolContext,
    ) -> Result<NotePath, ToolFailure> {
        let (vault, text, thing) = (self.vault.clone(), asked.to_owned(), from.cloned());
        let judged = off_thread(move || match &thing {
            Some(Thing::File(from)) => vault.new_path_of(from, &text),
            Some(Thing::Folder(_)) | None => vault.new_folder(&text),
        });
        let path: NotePath = match judged.await? {
            Ok(path) => path.into(),
            Err(VaultError::Exists { path }) if context.overlay.seen_from(&path).is_none() => {
                return Err(gone(&path));
            }
            Err(VaultError::Exists { path }) => {
                return Err(self.taken(asked, &path, from, context).await?);
            }
            Err(error) => return Err(failure(&error)),
        };
        match context.overlay.seen_at(&path) {
            Seen::OnDisk(before) if before == path => Ok(path),
            Seen::Gone => Err(gone(&path)),
            Seen::OnDisk(_) | Seen::Planned(_) => {
                Err(self.taken(asked, &path, from, context).await?)
            }
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
        if let Some(path) = self.planned(&asked, context).await? {
            return self.current(path, context).await.map(Place::Taken);
        }
        let vault = self.vault.clone();
        let below = asked.clone();
        match off_thread(move || vault.new_path(&asked)).await? {
            Ok(path) => Ok(Place::Free(path.into())),
            // What stands there is a file in the place of a folder, and not what was asked for.
            Err(VaultError::Exists { path }) if is_below(&below, &path) => {
                let what = "a file, not a folder";
                Err(failure(&VaultError::NotANote { path, what }))
            }
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
        let asked = self.meant(asked);
        if asked.contains('/') {
            return self.place(&asked, context).await;
        }
        match self.named(&asked, context).await {
            Ok(current) => Ok(Place::Taken(current)),
            Err(missing) => match candidates::read(&missing.text) {
                Some(Candidates::Near(_)) => self.place(&asked, context).await,
                _ => Err(missing),
            },
        }
    }

    /// The path of today's daily note, as the vault's settings have it.
    pub(crate) fn daily(&self) -> String {
        daily::path(self.vault.obsidian(Setting::DailyNotes).as_deref(), &self.desk.now())
    }

    fn meant<'a>(&self, asked: &'a str) -> Cow<'a, str> {
        if asked.trim() == DAILY { self.daily().into() } else { asked.into() }
    }

    /// The index, for searches.
    pub(crate) fn index(&self) -> Index {
        self.index.clone()
    }

    /// The index once it stands; while it is being built that is waited for, but not for long.
    pub(crate) async fn standing_index(&self) -> Result<Index, ToolFailure> {
        let index = self.index();
        let (asked, coverage) = off_thread(move || {
            index.wait(PATIENCE);
            (index.clone(), index.coverage())
        })
        .await?;
        if coverage.stands {
            return Ok(asked);
        }
        let Coverage { done, all, .. } = coverage;
        Err(ToolFailure::labeled(format!(
            "The notes are still being looked through ({done} of {all}). Call again in a moment, or \
             use search_files, which does not wait."
        )))
    }

    /// The vault, for searches that walk it.
    pub(crate) fn vault(&self) -> Vault {
        self.vault.clone()
    }

    async fn missing(
        &self,
        asked: &str,
        nearest: &[NotePath],
        context: &ToolContext,
    ) -> Result<ToolFailure, ToolFailure> {
        if self.folder_called(asked, context).await?.is_some() {
            return Ok(ToolFailure::labeled(candidates::folder(asked)));
        }
        nearest.iter().for_each(|path| context.shows.note(path));
        context.shows.searched(&Scope::Vault);
        let words = candidates::none(asked, nearest);
        Ok(ToolFailure::labeled(match means_today(asked) {
            true => format!("{words}\nFor today's daily note give path `{DAILY}`."),
            false => words,
        }))
    }

    async fn resolve(&self, asked: &str) -> Result<Result<NotePath, VaultError>, ToolFailure> {
        let (vault, asked) = (self.vault.clone(), asked.to_owned());
        off_thread(move || vault.resolve(&asked)).await
    }

    /// The path `asked`, if what waits has made, rewritten or moved something there.
    async fn planned(
        &self,
        asked: &str,
        context: &ToolContext,
    ) -> Result<Option<NotePath>, ToolFailure> {
        if context.overlay.is_empty() {
            return Ok(None);
        }
        if let Some(path) = written(&context.overlay, |path| spelled(path, asked)) {
            return Ok(Some(path));
        }
        let spellings = [asked.to_owned(), format!("{asked}.md")];
        for path in spellings.iter().filter_map(|asked| NotePath::parse(asked).ok()) {
            match context.overlay.seen_at(&path) {
                Seen::OnDisk(before) if before != path && self.is_file(&before).await? => {
                    return Ok(Some(path));
                }
                Seen::Gone => return Err(gone(&path)),
                Seen::OnDisk(_) | Seen::Planned(_) => {}
            }
        }
        Ok(None)
    }

    async fn is_file(&self, path: &NotePath) -> Result<bool, ToolFailure> {
        Ok(self.resolve(path.as_str()).await?.is_ok_and(|found| found == *path))
    }

    /// Notes from where the note at `path` is read, if that is elsewhere.
    pub(crate) async fn note_real(
        &self,
        path: &NotePath,
        context: &ToolContext,
    ) -> Result<(), ToolFailure> {
        let (vault, at) = (self.vault.clone(), path.clone());
        match off_thread(move || vault.followed(&at)).await? {
            Ok(real) if real == *path => {}
            Ok(real) => context.shows.note(&real),
            Err(_) => context.shows.add(Source::Foreign),
        }
        Ok(())
    }

    /// The note at a path that [`Notes::path_of`] gave.
    pub(crate) async fn current(
        &self,
        path: NotePath,
        context: &ToolContext,
    ) -> Result<Current, ToolFailure> {
        let (before, waiting) = match context.overlay.seen_at(&path) {
            Seen::Planned(bytes) => {
                let bytes = bytes.to_vec();
                let hash = ContentHash::of(&bytes);
                context.shows.note(&path);
                return Ok(Current { path, bytes, hash, waiting: true });
            }
            Seen::Gone => return Err(gone(&path)),
            Seen::OnDisk(before) => (before.clone(), before != path),
        };
        let vault = self.vault.clone();
        let read = move || {
            let is_itself = || vault.followed(&before).is_ok_and(|real| real == before);
            vault.read(&before).map_err(|error| (error, is_itself()))
        };
        let note = off_thread(read).await?.map_err(|(error, is_itself)| match error {
            VaultError::NotFound { .. } | VaultError::Ambiguous { .. } => failure(&error),
            // It names this note and no other.
            error if is_itself => {
                context.shows.name(&path);
                ToolFailure::labeled(error.to_string())
            }
            error => failure(&error),
        })?;
        note_read(&note, context);
        let path = if waiting { path } else { note.path };
        Ok(Current { path, bytes: note.bytes, hash: note.hash, waiting })
    }
}

/// Notes where what was read comes from. Words that were read through a link are those of the note to
/// which it leads, however the link is called.
fn note_read(note: &Note, context: &ToolContext) {
    context.shows.note(&note.path);
    context.shows.note(&note.real);
}

/// Runs what blocks on the disk where it holds up nobody.
pub(crate) async fn off_thread<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ToolFailure> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|_| ToolFailure::labeled("The work was interrupted. Call again."))
}

/// The vault's errors already say what to do.
pub(crate) fn failure(error: &VaultError) -> ToolFailure {
    ToolFailure::new(error.to_string())
}

/// A search that could not be made; what is wrong with its words stands in the call.
pub(crate) fn of_search(error: &SearchError) -> ToolFailure {
    match error {
        SearchError::Vault(error) => failure(error),
        error => ToolFailure::labeled(error.to_string()),
    }
}

/// A move or a deletion that waits took it away.
fn gone(path: &NotePath) -> ToolFailure {
    ToolFailure::new(Unplannable { path: path.clone() }.to_string())
}

fn written(overlay: &ChangeSet, means: impl Fn(&NotePath) -> bool) -> Option<NotePath> {
    overlay.written().into_iter().map(|(path, _)| path).find(|path| means(path))
}

/// The new path of a file that waits to be moved, if it `means` what is asked for.
fn moved(overlay: &ChangeSet, means: impl Fn(&NotePath) -> bool) -> Option<NotePath> {
    let renames = overlay.renames();
    let files = overlay.changes().filter(|change| change.kind() == ChangeKind::Rename);
    let mut targets = files.filter_map(Change::target);
    targets.find(|to| means(to) && renames.back(to).is_some()).cloned()
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

/// Whether `asked` is a path that leads on from `path`.
fn is_below(asked: &str, path: &NotePath) -> bool {
    NotePath::parse(asked).is_ok_and(|asked| asked != *path && asked.is_in(path))
}
