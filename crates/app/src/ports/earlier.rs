//! What was said before the turns that run: read once, for nothing changes it while they run.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use protocol::{ContentHash, ConversationId, Message, NotePath, TurnId, UserError};
use store::{CompactionRow, Store};

use crate::trouble::user_error;

/// How far back somebody looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Back {
    /// To the end of what something stands in for.
    Recent,
    /// To the beginning.
    All,
}

/// The turns before one.
pub(crate) struct Earlier {
    /// What stands in for the first of them.
    pub(crate) told: Option<CompactionRow>,
    /// What was said in those that were looked at, oldest first.
    pub(crate) rows: Vec<Arc<Message>>,
}

/// The content of each note as it was last read or written.
pub(crate) type Seen = BTreeMap<NotePath, ContentHash>;

/// What is known of the turns before those that run.
#[derive(Default)]
pub(crate) struct Recollection(Mutex<HashMap<TurnId, Known>>);

#[derive(Default)]
struct Known {
    recent: Option<Arc<Earlier>>,
    all: Option<Arc<Earlier>>,
    seen: Option<Arc<Seen>>,
}

impl Known {
    fn of(&mut self, back: Back) -> &mut Option<Arc<Earlier>> {
        match back {
            Back::Recent => &mut self.recent,
            Back::All => &mut self.all,
        }
    }
}

impl Recollection {
    /// The turn runs from now on.
    pub(crate) fn begin(&self, turn: &TurnId) {
        self.known().insert(turn.clone(), Known::default());
    }

    /// Something else stands in for the turns before it.
    pub(crate) fn forget(&self, turn: &TurnId) {
        if let Some(known) = self.known().get_mut(turn) {
            *known = Known::default();
        }
    }

    /// The turn runs no more.
    pub(crate) fn end(&self, turn: &TurnId) {
        self.known().remove(turn);
    }

    /// What was said before `turn`.
    pub(crate) async fn before(
        &self,
        store: &Store,
        conversation: &ConversationId,
        turn: &TurnId,
        back: Back,
    ) -> Result<Arc<Earlier>, UserError> {
        let known = self.known().get_mut(turn).and_then(|known| known.of(back).clone());
        if let Some(known) = known {
            return Ok(known);
        }
        // Its calls need it next, and must not wait for it then.
        let (read, _) = tokio::try_join!(
            read(store, conversation, turn, back),
            self.seen(store, conversation, turn),
        )?;
        let read = Arc::new(read);
        if let Some(known) = self.known().get_mut(turn) {
            *known.of(back) = Some(Arc::clone(&read));
        }
        Ok(read)
    }

    /// The content of each note as it was last read or written before `turn`.
    pub(crate) async fn seen(
        &self,
        store: &Store,
        conversation: &ConversationId,
        turn: &TurnId,
    ) -> Result<Arc<Seen>, UserError> {
        let known = self.known().get(turn).and_then(|known| known.seen.clone());
        if let Some(known) = known {
            return Ok(known);
        }
        let read = store.seen_before(conversation, turn).await.map_err(user_error)?;
        let read = Arc::new(read);
        if let Some(known) = self.known().get_mut(turn) {
            known.seen = Some(Arc::clone(&read));
        }
        Ok(read)
    }

    /// The map is whole after each statement, so a panic elsewhere does not spoil it.
    fn known(&self) -> MutexGuard<'_, HashMap<TurnId, Known>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn read(
    store: &Store,
    conversation: &ConversationId,
    turn: &TurnId,
    back: Back,
) -> Result<Earlier, UserError> {
    let (told, rows) = match back {
        Back::Recent => store.recent_history(conversation, turn).await.map_err(user_error)?,
        Back::All => {
            let told = store.compaction(conversation, turn).await.map_err(user_error)?;
            (told, store.history(conversation, turn).await.map_err(user_error)?)
        }
    };
    let before = rows.into_iter().filter(|row| row.turn != *turn);
    Ok(Earlier { told, rows: before.map(Arc::new).collect() })
}
