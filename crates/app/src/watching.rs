//! What the open vault does when its files change, whoever changes them.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use protocol::event::VaultInfo;
use protocol::{AppEvent, NotePath, Succession, UserError};
use tokio::sync::Notify;
use vault::{Changed, Watch};

use crate::aside::aside;
use crate::indexing::Indexing;
use crate::open_vault::OpenVault;

/// The notes are counted at most so often.
const PAUSE: Duration = Duration::from_millis(500);

/// So many notes that were changed here are followed, the newest changes first.
const FOLLOWED: u32 = 20_000;

/// The share of the time that counting a large vault may take is one in so many.
const SHARE: u32 = 10;

/// What was noticed of the vault as a whole.
#[derive(Default)]
pub(crate) struct Noticed(Mutex<State>);

#[derive(Default)]
struct State {
    /// What the window was told last.
    told: Option<VaultInfo>,
    is_gone: bool,
    /// Why changes of other programs are noticed late, or not.
    unwatched: Option<UserError>,
}

impl Noticed {
    /// Adds to what was just seen of the vault what is known beside: a folder that is gone keeps
    /// its last count.
    pub(crate) fn complete(&self, mut seen: VaultInfo, indexing: &Indexing) -> VaultInfo {
        let mut state = self.lock();
        // Under the lock, so that of two who tell the window the later one knows more.
        (seen.indexing, seen.revision) = (indexing.progress(), indexing.revision());
        if state.is_gone {
            seen.notes = state.told.as_ref().map_or(seen.notes, |told| told.notes);
            seen.trouble = Some(format!(
                "The folder with your notes is not there any more: {}. Bring it back, or open another one in the settings.",
                seen.folder
            ));
        }
        state.told = Some(seen.clone());
        seen
    }

    /// What was told last, with how far the index is now.
    pub(crate) fn known(&self, indexing: &Indexing) -> Option<VaultInfo> {
        let mut state = self.lock();
        let told = state.told.as_mut()?;
        (told.indexing, told.revision) = (indexing.progress(), indexing.revision());
        Some(told.clone())
    }

    /// What a window that opens now should hear of.
    pub(crate) fn problem(&self) -> Option<UserError> {
        self.lock().unwatched.clone()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenVault {
    /// Listens to the folder until the vault is closed. Where the system offers no watch, that is
    /// told once, and the vault goes on without.
    pub(crate) async fn watch(self: Arc<Self>) {
        self.follow_files().await;
        let vault = self.vault.clone();
        match aside(move || vault.watch()).await {
            Ok(Ok(watch)) => self.follow(watch).await,
            Ok(Err(error)) => self.unwatched(UserError::other(error.to_string())),
            Err(error) => self.unwatched(error),
        }
    }

    async fn follow(self: &Arc<Self>, mut watch: Watch) {
        let (recount, touched) = (Arc::new(Notify::new()), Arc::<Touched>::default());
        self.spawn(Arc::clone(self).count(Arc::clone(&recount)));
        self.spawn(Arc::clone(self).compare(Arc::clone(&touched)));
        while let Some(changed) = watch.next().await {
            match changed {
                Changed::Notes(files) => {
                    self.indexing.refresh(files.clone()).await;
                    self.look_at_shown(|path| files.binary_search(path).is_ok()).await;
                    // Other files are not counted, but links lead to them.
                    recount.notify_one();
                    touched.add(files);
                }
                Changed::Replaced(files) => self.remember_files(&files).await,
                Changed::Everything => {
                    self.indexing.look_again();
                    self.look_at_shown(|_| true).await;
                    recount.notify_one();
                }
                Changed::Gone => self.stands(Standing::Gone).await,
                Changed::Back => self.stands(Standing::Here).await,
                Changed::Late { why } => self.unwatched(UserError::other(why)),
            }
        }
    }

    /// Has the watch follow the notes that were changed here, wherever other programs save them.
    async fn follow_files(&self) {
        let files = match self.store.files_left(FOLLOWED).await {
            Ok(files) => files,
            Err(error) => return tracing::warn!(%error, "changed notes are not followed"),
        };
        let vault = self.vault.clone();
        if let Err(error) = aside(move || vault.follow_files(files)).await {
            tracing::warn!(%error, "changed notes are not followed");
        }
    }

    /// Without it an undo asks which note is meant, and harms none.
    pub(crate) async fn remember_files(&self, files: &[Succession]) {
        if let Err(error) = self.store.add_successions(files).await {
            tracing::warn!(%error, "it is not remembered which file took the place of a note's");
        }
    }

    /// Compares what was touched with our own changes. It asks the database, and no save waits for
    /// that to be found.
    async fn compare(self: Arc<Self>, touched: Arc<Touched>) {
        loop {
            touched.news.notified().await;
            let files = std::mem::take(&mut *touched.lock());
            self.look_for_overwritten(&files).await;
        }
    }

    /// Counts the notes again each time it is asked to, at its own pace.
    async fn count(self: Arc<Self>, asked: Arc<Notify>) {
        let mut pause = PAUSE;
        loop {
            asked.notified().await;
            tokio::time::sleep(pause).await;
            let began = Instant::now();
            self.tell_info().await;
            pause = PAUSE.max(began.elapsed().saturating_mul(SHARE));
        }
    }

    async fn stands(&self, standing: Standing) {
        self.noticed.lock().is_gone = standing == Standing::Gone;
        self.tell_info().await;
    }

    /// Tells how the vault stands, if the window does not know yet.
    async fn tell_info(&self) {
        let before = self.noticed.lock().told.clone();
        self.info().await;
        let state = self.noticed.lock();
        if state.told != before {
            self.feed.tell(AppEvent::VaultChanged { vault: state.told.clone() });
        }
    }

    /// Tells how the vault stands now that it is open.
    pub(crate) async fn tell_opened(&self) {
        self.info().await;
        let state = self.noticed.lock();
        self.feed.tell(AppEvent::VaultChanged { vault: state.told.clone() });
    }

    /// Tells how the index stands, if the window heard of the vault and does not know yet.
    pub(crate) fn tell_index(&self) {
        let mut state = self.noticed.lock();
        let Some(told) = state.told.as_mut() else { return };
        let now = (self.indexing.progress(), self.indexing.revision());
        if now != (told.indexing, told.revision) {
            (told.indexing, told.revision) = now;
            self.feed.tell(AppEvent::VaultChanged { vault: Some(told.clone()) });
        }
    }

    /// How the vault stands for a window that opens: as it was told last, for nobody waits until
    /// the notes of a large vault are counted. Where nothing is noticed they are counted behind that.
    pub(crate) async fn info_as_told(self: &Arc<Self>) -> VaultInfo {
        let Some(known) = self.noticed.known(&self.indexing) else { return self.info().await };
        if self.noticed.problem().is_some() {
            let open = Arc::clone(self);
            self.spawn(async move { open.tell_info().await });
        }
        known
    }

    fn unwatched(&self, error: UserError) {
        self.noticed.lock().unwatched = Some(error.clone());
        self.feed.tell(AppEvent::Problem { error });
    }
}

/// Files that were touched and not compared yet, each once.
#[derive(Default)]
struct Touched {
    files: Mutex<BTreeSet<NotePath>>,
    news: Notify,
}

impl Touched {
    fn add(&self, files: Vec<NotePath>) {
        self.lock().extend(files);
        self.news.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, BTreeSet<NotePath>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether the folder stands under its name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Standing {
    Here,
    Gone,
}
