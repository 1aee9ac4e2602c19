//! The messages before the running turns: read once, because nothing changes them meanwhile.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use protocol::{ContentHash, ConversationId, Message, NotePath, TurnId, UserError};
use store::{CompactionRow, Store};

/// How far back somebody looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LookBack {
    /// To the end of what something stands in for.
    Recent,
    /// To the beginning.
    All,
}

/// The turns before one.
pub(crate) struct PriorTurns {
    /// The summary of the first of them.
    pub(crate) compaction: Option<CompactionRow>,
    /// Messages of the turns that were read, oldest first.
    pub(crate) rows: Vec<Arc<Message>>,
}

/// The content of each note as it was last read or written.
pub(crate) type SeenContents = BTreeMap<NotePath, ContentHash>;

/// Caches the turns before those that run.
#[derive(Default)]
pub(crate) struct TurnCache(Mutex<HashMap<TurnId, CachedTurn>>);

#[derive(Default)]
struct CachedTurn {
    recent: Option<Arc<PriorTurns>>,
    all: Option<Arc<PriorTurns>>,
    seen: Option<Arc<SeenContents>>,
}

impl CachedTurn {
    fn slot(&mut self, look_back: LookBack) -> &mut Option<Arc<PriorTurns>> {
        match look_back {
            LookBack::Recent => &mut self.recent,
            LookBack::All => &mut self.all,
        }
    }
}

impl TurnCache {
    /// The turn runs from now on.
    pub(crate) fn begin(&self, turn: &TurnId) {
        self.lock().insert(turn.clone(), CachedTurn::default());
    }

    /// Something else stands in for the turns before it.
    pub(crate) fn invalidate(&self, turn: &TurnId) {
        if let Some(known) = self.lock().get_mut(turn) {
            *known = CachedTurn::default();
        }
    }

    /// The turn runs no more.
    pub(crate) fn end(&self, turn: &TurnId) {
        self.lock().remove(turn);
    }

    /// The messages before `turn`.
    pub(crate) async fn prior_turns(
        &self,
        store: &Store,
        conversation: &ConversationId,
        turn: &TurnId,
        look_back: LookBack,
    ) -> Result<Arc<PriorTurns>, UserError> {
        let known = self.lock().get_mut(turn).and_then(|known| known.slot(look_back).clone());
        if let Some(known) = known {
            return Ok(known);
        }
        // Its calls need it next, and must not wait for it then.
        let (read, _) = tokio::try_join!(
            load(store, conversation, turn, look_back),
            self.seen_contents(store, conversation, turn),
        )?;
        let read = Arc::new(read);
        if let Some(known) = self.lock().get_mut(turn) {
            *known.slot(look_back) = Some(Arc::clone(&read));
        }
        Ok(read)
    }

    /// The content of each note as it was last read or written before `turn`.
    pub(crate) async fn seen_contents(
        &self,
        store: &Store,
        conversation: &ConversationId,
        turn: &TurnId,
    ) -> Result<Arc<SeenContents>, UserError> {
        let known = self.lock().get(turn).and_then(|known| known.seen.clone());
        if let Some(known) = known {
            return Ok(known);
        }
        let read = store.read_state_before(conversation, turn).await?;
        let read = Arc::new(read);
        if let Some(known) = self.lock().get_mut(turn) {
            known.seen = Some(Arc::clone(&read));
        }
        Ok(read)
    }

    /// The map is whole after each statement, so a panic elsewhere does not spoil it.
    fn lock(&self) -> MutexGuard<'_, HashMap<TurnId, CachedTurn>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn load(
    store: &Store,
    conversation: &ConversationId,
    turn: &TurnId,
    look_back: LookBack,
) -> Result<PriorTurns, UserError> {
    let (told, rows) = match look_back {
        LookBack::Recent => store.recent_history(conversation, turn).await?,
        LookBack::All => {
            let told = store.compaction(conversation, turn).await?;
            (told, store.history(conversation, turn).await?)
        }
    };
    let before = rows.into_iter().filter(|row| row.turn != *turn);
    Ok(PriorTurns { compaction: told, rows: before.map(Arc::new).collect() })
}
