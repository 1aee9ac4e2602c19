//! The notes as a conversation sees them: the files, with the pending changes on top.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use index::{Coverage, Index, SearchError};
use llm::tool_api::tool::{LookupScope, ToolContext, ToolFailure};
use protocol::{
    Change, ChangeKind, ChangeSet, ChangeSetConflict, ContentHash, FolderContents, NotePath,
    PlannedState, Source,
};
use vault::{Note, ObsidianFile, Vault, VaultError};

use crate::notes::daily_note::{self, DAILY_NAME};
use crate::ports::environment::{Environment, means_today};
use crate::text::suggestions::{self, NameSuggestions};

/// How long a tool waits for the index.
const INDEX_TIMEOUT: Duration = Duration::from_secs(10);

/// Reads for one catalog.
#[derive(Clone)]
pub(crate) struct NotesView {
    vault: Vault,
    index: Index,
    environment: Arc<dyn Environment>,
}

/// A note as it is for this conversation now.
#[derive(Debug)]
pub(crate) struct CurrentNote {
    pub(crate) path: NotePath,
    pub(crate) bytes: Vec<u8>,
    pub(crate) hash: ContentHash,
    /// Whether the bytes hold pending changes.
    pub(crate) pending: bool,
}

/// Something that can be moved or deleted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FileOrFolder {
    /// A note or another file.
    File(NotePath),
    /// A folder with everything in it.
    Folder(NotePath),
}

/// The state of a path that was given whole.
#[derive(Debug)]
pub(crate) enum PathState {
    /// Nothing: a note may be made there.
    Free(NotePath),
    /// The note or file that is there.
    Taken(CurrentNote),
}

impl NotesView {
    pub(crate) const fn new(vault: Vault, index: Index, environment: Arc<dyn Environment>) -> Self {
        Self { vault, index, environment }
    }

    /// The existing note that `asked` means, named as freely as a person would.
    pub(crate) async fn find_note(
        &self,
        asked: &str,
        context: &ToolContext,
    ) -> Result<CurrentNote, ToolFailure> {
        if context.overlay.is_empty()
            && let Some(note) = self.vault.read_cached(self.expand_daily(asked).trim())
        {
            record_read(&note, context);
            let Note { path, bytes, hash, .. } = note;
            self.record_name(asked, &path, context);
            return Ok(CurrentNote { path, bytes, hash, pending: false });
        }
        let path = self.find_path(asked, context).await?;
        self.read_current(path, context).await
    }

    /// The path of the existing file that `asked` means, named as freely as a person would. What of
    /// it the call did not spell is noted.
    pub(crate) async fn find_path(
        &self,
        asked: &str,
        context: &ToolContext,
    ) -> Result<NotePath, ToolFailure> {
        let path = self.resolve_path(asked, context).await?;
        self.record_name(asked, &path, context);
        Ok(path)
    }

    /// Notes a name that the call learns from the vault. One that it spelled itself, case and `.md`
    /// aside, is none, and neither is that of today's note, which the settings say.
    fn record_name(&self, asked: &str, path: &NotePath, context: &ToolContext) {
        if !path.matches_spelling(&self.expand_daily(asked)) {
            context.sources.record_name(path);
            // That it is the only one of the name is told of all notes.
            context.sources.record_search(&LookupScope::Vault);
        }
    }

    async fn resolve_path(
        &self,
        asked: &str,
        context: &ToolContext,
    ) -> Result<NotePath, ToolFailure> {
        let meant = self.meant_path(asked).await?;
        let asked = meant.trim();
        if let Some(path) = self.pending_path(asked, context).await? {
            return Ok(path);
        }
        match self.resolve(asked).await? {
            Ok(path) => context.overlay.disk_path(&path).ok_or_else(|| pending_removal(&path)),
            Err(VaultError::NotFound { nearest, .. }) => {
                let is_called = |path: &NotePath| is_name_of(path, asked);
                match pending_write(&context.overlay, is_called)
                    .or_else(|| pending_move(&context.overlay, is_called))
                {
                    Some(path) => Ok(path),
                    None => Err(self.not_found(asked, &nearest, context).await?),
                }
            }
            Err(VaultError::Ambiguous { candidates, .. }) => {
                candidates.iter().for_each(|path| context.sources.record_note(path));
                Err(ToolFailure::labeled(suggestions::ambiguous_name(asked, &candidates)))
            }
            Err(error) => Err(vault_failure(&error)),
        }
    }

    /// The file or folder that `asked` means: a folder when no file has the name, or with a `/`
    /// at its end. A name of several files is refused, also when a folder has it.
    pub(crate) async fn find_file_or_folder(
        &self,
        asked: &str,
        context: &ToolContext,
    ) -> Result<FileOrFolder, ToolFailure> {
        let folder = self.find_folder(asked, context).await;
        if asked.trim().ends_with('/')
            && let Some(folder) = folder.clone()?
        {
            return Ok(FileOrFolder::Folder(folder));
        }
        match (self.find_path(asked, context).await, folder) {
            (Ok(path), _) => Ok(FileOrFolder::File(path)),
            (Err(missing), Ok(Some(folder))) => match suggestions::parse(&missing.text) {
                Some(NameSuggestions::Near(_)) => Ok(FileOrFolder::Folder(folder)),
                Some(NameSuggestions::Several(_)) | None => Err(missing),
            },
            (Err(missing), Ok(None)) => {
                Err(self.or_suggest_folders(asked, missing, context).await?)
            }
            // After a failed look, the answer must not be that there is nothing.
            (Err(_), Err(unlisted)) => Err(unlisted),
        }
    }

    /// Refuses to move what is no ordinary file of its own, and a folder that holds notes which are
    /// private: they must not lose what protects them.
    pub(crate) async fn require_movable(
        &self,
        thing: &FileOrFolder,
        context: &ToolContext,
    ) -> Result<(), ToolFailure> {
        let (vault, thing, overlay) = (self.vault.clone(), thing.clone(), context.overlay.clone());
        let judged = run_blocking(move || match &thing {
            FileOrFolder::File(path) => match overlay.planned_state(path) {
                PlannedState::OnDisk(path) => vault.check_changeable(&path),
                PlannedState::Planned(_) | PlannedState::Gone => Ok(()),
            },
            FileOrFolder::Folder(path) => vault.check_folder_movable(path),
        });
        judged.await?.map_err(|error| vault_failure(&error))
    }

    /// The current contents of a folder.
    pub(crate) async fn folder_contents(
        &self,
        folder: &NotePath,
    ) -> Result<FolderContents, ToolFailure> {
        let (vault, folder) = (self.vault.clone(), folder.clone());
        let found = run_blocking(move || vault.folder_contents(&folder));
        found.await?.map_err(|error| vault_failure(&error))
    }

    /// Refuses to change anything in an additional folder, anything that is read through a link,
    /// and notes that this user may not write.
    pub(crate) async fn require_writable(&self, note: &CurrentNote) -> Result<(), ToolFailure> {
        let (vault, path) = (self.vault.clone(), note.path.clone());
        let judged = run_blocking(move || {
            vault.check_not_in_extra_root(&path)?;
            if vault.follow_symlinks(&path)? != path {
                return Err(VaultError::NotANote { path, what: "a link" });
            }
            vault.check_writable(&path)
        });
        judged.await?.map_err(|error| vault_failure(&error))
    }

    /// A free path for a folder (no `from`) or for what `from` is to become.
    pub(crate) async fn free_path(
        &self,
        asked: &str,
        from: Option<&FileOrFolder>,
        context: &ToolContext,
    ) -> Result<NotePath, ToolFailure> {
        let (vault, text, thing) = (self.vault.clone(), asked.to_owned(), from.cloned());
        let judged = run_blocking(move || match &thing {
            Some(FileOrFolder::File(from)) => vault.new_path_for_rename(from, &text),
            Some(FileOrFolder::Folder(from)) => vault.new_folder_for_rename(from, &text),
            None => vault.new_folder(&text),
        });
        let path: NotePath = match judged.await? {
            Ok(path) => path.into(),
            Err(VaultError::Exists { path }) if context.overlay.disk_path(&path).is_none() => {
                return Err(pending_removal(&path));
            }
            Err(VaultError::Exists { path }) => {
                return Err(self.path_taken(asked, &path, from, context).await?);
            }
            Err(error) => return Err(vault_failure(&error)),
        };
        match context.overlay.planned_state(&path) {
            PlannedState::OnDisk(before) if before == path => Ok(path),
            PlannedState::Gone => Err(pending_removal(&path)),
            PlannedState::OnDisk(_) | PlannedState::Planned(_) => {
                Err(self.path_taken(asked, &path, from, context).await?)
            }
        }
    }

    /// The state of exactly the path `asked`; `.md` is added when it has no extension.
    pub(crate) async fn path_state(
        &self,
        asked: &str,
        context: &ToolContext,
    ) -> Result<PathState, ToolFailure> {
        // A blank at an end is refused, not removed: the name made is the name that was written.
        let asked = asked.to_owned();
        if let Some(path) = self.pending_path(&asked, context).await? {
            return self.read_current(path, context).await.map(PathState::Taken);
        }
        let vault = self.vault.clone();
        let below = asked.clone();
        match run_blocking(move || vault.new_path(&asked)).await? {
            Ok(path) => Ok(PathState::Free(path.into())),
            // A file stands there in the place of a folder.
            Err(VaultError::Exists { path }) if is_below(&below, &path) => {
                let what = "a file, not a folder";
                Err(vault_failure(&VaultError::NotANote { path, what }))
            }
            Err(VaultError::Exists { path }) => {
                self.read_current(path, context).await.map(PathState::Taken)
            }
            Err(error) => Err(vault_failure(&error)),
        }
    }

    /// The existing note that `asked` means, else the free place of that path. With a folder in
    /// it, `asked` is a path and means itself.
    pub(crate) async fn find_or_free_path(
        &self,
        asked: &str,
        context: &ToolContext,
    ) -> Result<PathState, ToolFailure> {
        let asked = self.meant_path(asked).await?;
        if asked.contains('/') {
            return self.path_state(&asked, context).await;
        }
        match self.find_note(&asked, context).await {
            Ok(current) => Ok(PathState::Taken(current)),
            Err(missing) => match suggestions::parse(&missing.text) {
                Some(NameSuggestions::Near(_)) => self.path_state(&asked, context).await,
                _ => Err(missing),
            },
        }
    }

    /// The path of today's daily note, as the vault's settings have it.
    pub(crate) fn daily_note_path(&self) -> String {
        daily_note::path(
            self.vault.obsidian_config(ObsidianFile::DailyNotes).as_deref(),
            &self.environment.now(),
        )
    }

    /// The path that `asked` means. A private daily note is not named.
    async fn meant_path<'a>(&self, asked: &'a str) -> Result<Cow<'a, str>, ToolFailure> {
        let meant = self.expand_daily(asked);
        let (vault, path) = (self.vault.clone(), NotePath::parse(&meant));
        let is_hidden = move || path.is_ok_and(|path| vault.hides(&path));
        if matches!(meant, Cow::Owned(_)) && run_blocking(is_hidden).await? {
            return Err(ToolFailure::labeled(daily_note::PRIVATE));
        }
        Ok(meant)
    }

    fn expand_daily<'a>(&self, asked: &'a str) -> Cow<'a, str> {
        if asked.trim() == DAILY_NAME { self.daily_note_path().into() } else { asked.into() }
    }

    /// The index, for searches.
    pub(crate) fn index(&self) -> Index {
        self.index.clone()
    }

    /// The index once it stands; while it is being built that is waited for, but not for long.
    pub(crate) async fn ready_index(&self, context: &ToolContext) -> Result<Index, ToolFailure> {
        let index = self.index();
        let (asked, coverage) = run_blocking(move || {
            index.wait_until_ready(INDEX_TIMEOUT);
            (index.clone(), index.coverage())
        })
        .await?;
        if coverage.is_ready {
            return Ok(asked);
        }
        let Coverage { done, all, .. } = coverage;
        Err(ToolFailure::labeled(format!(
            "The notes are still being looked through ({done} of {all}). Call again in a moment{}.",
            context.offered.hint(&["search_files"], ", or use search_files, which does not wait")
        )))
    }

    /// The vault, for searches that walk it.
    pub(crate) fn vault(&self) -> Vault {
        self.vault.clone()
    }

    async fn not_found(
        &self,
        asked: &str,
        nearest: &[NotePath],
        context: &ToolContext,
    ) -> Result<ToolFailure, ToolFailure> {
        if self.find_folder(asked, context).await?.is_some() {
            return Ok(ToolFailure::labeled(suggestions::not_a_note(asked, &context.offered)));
        }
        nearest.iter().for_each(|path| context.sources.record_note(path));
        context.sources.record_search(&LookupScope::Vault);
        let words = suggestions::no_note(asked, nearest, &context.offered);
        Ok(ToolFailure::labeled(match means_today(asked) {
            true => format!("{words}\nFor today's daily note give path `{DAILY_NAME}`."),
            false => words,
        }))
    }

    async fn resolve(&self, asked: &str) -> Result<Result<NotePath, VaultError>, ToolFailure> {
        let (vault, asked) = (self.vault.clone(), asked.to_owned());
        run_blocking(move || vault.resolve(&asked)).await
    }

    /// The path `asked`, if pending changes have created, rewritten or moved something there.
    async fn pending_path(
        &self,
        asked: &str,
        context: &ToolContext,
    ) -> Result<Option<NotePath>, ToolFailure> {
        if context.overlay.is_empty() {
            return Ok(None);
        }
        if let Some(path) = pending_write(&context.overlay, |path| is_path_of(path, asked)) {
            return Ok(Some(path));
        }
        let spellings = [asked.to_owned(), format!("{asked}.md")];
        for path in spellings.iter().filter_map(|asked| NotePath::parse(asked).ok()) {
            match context.overlay.planned_state(&path) {
                PlannedState::OnDisk(before) if before != path && self.is_file(&before).await? => {
                    return Ok(Some(path));
                }
                PlannedState::Gone => return Err(pending_removal(&path)),
                PlannedState::OnDisk(_) | PlannedState::Planned(_) => {}
            }
        }
        Ok(None)
    }

    async fn is_file(&self, path: &NotePath) -> Result<bool, ToolFailure> {
        Ok(self.resolve(path.as_str()).await?.is_ok_and(|found| found == *path))
    }

    /// Notes from where the note at `path` is read, if that is elsewhere.
    pub(crate) async fn record_real_path(
        &self,
        path: &NotePath,
        context: &ToolContext,
    ) -> Result<(), ToolFailure> {
        let (vault, at) = (self.vault.clone(), path.clone());
        match run_blocking(move || vault.follow_symlinks(&at)).await? {
            Ok(real) if real == *path => {}
            Ok(real) => context.sources.record_note(&real),
            Err(_) => context.sources.record(Source::Foreign),
        }
        Ok(())
    }

    /// The note at a path that [`NotesView::find_path`] gave.
    pub(crate) async fn read_current(
        &self,
        path: NotePath,
        context: &ToolContext,
    ) -> Result<CurrentNote, ToolFailure> {
        let (before, waiting) = match context.overlay.planned_state(&path) {
            PlannedState::Planned(bytes) => {
                let bytes = bytes.to_vec();
                let hash = ContentHash::of(&bytes);
                context.sources.record_note(&path);
                return Ok(CurrentNote { path, bytes, hash, pending: true });
            }
            PlannedState::Gone => return Err(pending_removal(&path)),
            PlannedState::OnDisk(before) => (before.clone(), before != path),
        };
        let vault = self.vault.clone();
        let read = move || {
            let is_itself = || vault.follow_symlinks(&before).is_ok_and(|real| real == before);
            vault.read(&before).map_err(|error| (error, is_itself()))
        };
        let note = run_blocking(read).await?.map_err(|(error, is_itself)| match error {
            VaultError::NotFound { .. } | VaultError::Ambiguous { .. } => vault_failure(&error),
            // It names this note and no other.
            error if is_itself => {
                context.sources.record_name(&path);
                ToolFailure::labeled(error.to_string())
            }
            error => vault_failure(&error),
        })?;
        record_read(&note, context);
        let path = if waiting { path } else { note.path };
        Ok(CurrentNote { path, bytes: note.bytes, hash: note.hash, pending: waiting })
    }
}

/// Records the source of a note that was read. Text that was read through a link is that of its
/// target, whatever the link is called.
fn record_read(note: &Note, context: &ToolContext) {
    context.sources.record_note(&note.path);
    context.sources.record_note(&note.real);
}

/// Runs what blocks on the disk where it holds up nobody.
pub(crate) async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ToolFailure> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|_| ToolFailure::labeled("The work was interrupted. Call again."))
}

/// The vault's errors already say what to do.
pub(crate) fn vault_failure(error: &VaultError) -> ToolFailure {
    ToolFailure::new(error.to_string())
}

/// A search that could not be made; the call holds the invalid query.
pub(crate) fn search_failure(error: &SearchError) -> ToolFailure {
    match error {
        SearchError::Vault(error) => vault_failure(error),
        error => ToolFailure::labeled(error.to_string()),
    }
}

/// A pending move or deletion took it away.
fn pending_removal(path: &NotePath) -> ToolFailure {
    ToolFailure::new(ChangeSetConflict { path: path.clone() }.to_string())
}

fn pending_write(overlay: &ChangeSet, means: impl Fn(&NotePath) -> bool) -> Option<NotePath> {
    overlay.planned_notes().into_iter().map(|(path, _)| path).find(|path| means(path))
}

/// The new path of a file with a pending move, if it `means` what is asked for.
fn pending_move(overlay: &ChangeSet, means: impl Fn(&NotePath) -> bool) -> Option<NotePath> {
    let renames = overlay.renames();
    let files = overlay.changes().filter(|change| change.kind() == ChangeKind::Rename);
    let mut targets = files.filter_map(Change::target);
    targets.find(|to| means(to) && renames.back(to).is_some()).cloned()
}

/// Whether `asked` is this path, with or without its `.md`.
fn is_path_of(path: &NotePath, asked: &str) -> bool {
    NotePath::parse(asked).is_ok_and(|asked| asked == *path)
        || NotePath::parse(&format!("{asked}.md")).is_ok_and(|asked| asked == *path)
}

/// Whether a person would call this note `asked`.
fn is_name_of(path: &NotePath, asked: &str) -> bool {
    let asked = asked.to_lowercase();
    let asked = asked.strip_suffix(".md").unwrap_or(&asked);
    let whole = path.as_str().to_lowercase();
    path.title().to_lowercase() == asked || whole.strip_suffix(".md").unwrap_or(&whole) == asked
}

/// Whether `asked` is a path that leads on from `path`.
fn is_below(asked: &str, path: &NotePath) -> bool {
    NotePath::parse(asked).is_ok_and(|asked| asked != *path && asked.is_in(path))
}
