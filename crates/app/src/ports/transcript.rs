//! `llm`'s transcript, kept in the store. The end of a hub turn takes its notifications with it.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use llm::transcript::{History, Originals, Transcript};
use protocol::{
    CallResult, Compaction, ConversationId, Ending, Message, NewTurn, NotePath, OpenTurn, Step,
    TurnId, UserError, Utility,
};
use store::Store;
use tokio::sync::Notify;

use crate::aside::aside;
use crate::clock::now;
use crate::config::Config;
use crate::hub_places::HubPlaces;
use crate::outbox::{Outcome, Reach};
use crate::ports::earlier::{Back, Earlier, Recollection};
use crate::privacy::Keeper;
use crate::trouble::user_error;
use crate::{outbox, recover, taint};

/// The transcript of one vault's conversations.
pub(crate) struct StoreTranscript {
    pub(crate) store: Store,
    /// Rung when notifications were queued.
    pub(crate) bell: Arc<Notify>,
    /// Filters what is private out of what a turn may hear.
    pub(crate) keeper: Arc<Keeper>,
    /// Says where the hub may write, and of what it may hear.
    pub(crate) config: Config,
    pub(crate) recollection: Arc<Recollection>,
}

#[async_trait]
impl Transcript for StoreTranscript {
    async fn submit(&self, new: &NewTurn) -> Result<(), UserError> {
        self.store.submit_turn(new).await.map_err(user_error)
    }

    async fn begin(&self, conversation: &ConversationId) -> Result<Option<OpenTurn>, UserError> {
        // One task runs the turns of a conversation, and it asks for the next one: a turn that
        // still counts as running has lost its end, and would hold up all others.
        recover::end_cut_turn(&self.store, conversation).await?;
        let begun = self.store.begin_turn(conversation).await.map_err(user_error)?;
        if let Some(turn) = &begun {
            self.recollection.begin(&turn.turn);
        }
        Ok(begun)
    }

    async fn history(
        &self,
        conversation: &ConversationId,
        turn: &TurnId,
    ) -> Result<History, UserError> {
        if self.keeper.hears_all(turn).await? {
            let before = self.before(conversation, turn, Back::Recent).await?;
            let compaction = before.told.as_ref().map(|row| row.compaction.clone());
            return Ok(History { compaction, rows: self.with_own(&before, turn).await? });
        }
        // Whether a summary may be heard is known by what it stands in for.
        let Heard { compaction, covered, mut rows, .. } = self.heard(conversation, turn).await?;
        let rows = rows.split_off(covered.min(rows.len()));
        Ok(History { compaction, ..History::of(rows) })
    }

    async fn originals(
        &self,
        conversation: &ConversationId,
        turn: &TurnId,
    ) -> Result<Originals, UserError> {
        let Heard { compaction, rows, mark, .. } = self.heard(conversation, turn).await?;
        let asking = self.store.asking_calls(conversation).await.map_err(user_error)?;
        let questions = asking.into_iter().map(|(turn, call, id)| ((turn, call), id)).collect();
        Ok(Originals { compaction, rows, questions, mark })
    }

    async fn said_in(&self, turn: &TurnId) -> Result<Vec<Message>, UserError> {
        self.store.said_in(turn).await.map_err(user_error)
    }

    async fn step(&self, turn: &TurnId, step: &Step) -> Result<(), UserError> {
        self.store.store_step(turn, step).await.map_err(user_error)
    }

    async fn results(&self, turn: &TurnId, results: &[CallResult]) -> Result<(), UserError> {
        self.store.store_results(turn, results).await.map_err(user_error)
    }

    async fn finish(&self, turn: &TurnId, ending: &Ending) -> Result<(), UserError> {
        self.recollection.end(turn);
        let inbox = self.store.inbox_of_turn(turn).await.map_err(user_error)?;
        let Some(row) = inbox.filter(|_| outbox::is_an_outcome(ending.status)) else {
            return self.store.finish_turn(turn, ending).await.map_err(user_error);
        };
        let Outcome { said, held } = match &row.conversation {
            Some(conversation) => {
                let own = self.store.said_in(turn).await.map_err(user_error)?;
                let waiting = self.waiting(conversation, turn).await?;
                let reach = self.reach(turn, ending).await?;
                outbox::outcome(&row, &own, ending, &waiting, reach)
            }
            None => Outcome::default(),
        };
        self.store.finish_hub_turn(turn, ending, &said, &held).await.map_err(user_error)?;
        self.bell.notify_one();
        Ok(())
    }

    async fn compact(
        &self,
        turn: &OpenTurn,
        new: &Compaction,
        mark: &str,
        asked: Option<&Utility>,
    ) -> Result<(), UserError> {
        let stored = self.store.store_compaction(&turn.turn, new, mark, asked, now()).await;
        self.recollection.forget(&turn.turn);
        stored.map_err(user_error)
    }

    async fn charge(&self, turn: &TurnId, asked: &Utility) -> Result<(), UserError> {
        self.store.charge(turn, asked).await.map_err(user_error)
    }
}

/// All that may be heard in a turn.
struct Heard {
    /// What stands in for the first `covered` rows.
    compaction: Option<Compaction>,
    covered: usize,
    rows: Vec<Message>,
    /// What is hidden.
    mark: String,
}

impl StoreTranscript {
    /// A summary is heard by those from whom the same is hidden as from whoever made it, and by those
    /// who may hear all that it stands in for. For others it is as if there were none.
    async fn heard(
        &self,
        conversation: &ConversationId,
        turn: &TurnId,
    ) -> Result<Heard, UserError> {
        let before = self.before(conversation, turn, Back::All).await?;
        let all = self.with_own(&before, turn).await?;
        let all: Vec<Message> = all.into_iter().map(Arc::unwrap_or_clone).collect();
        let turns: BTreeSet<&TurnId> = all.iter().map(|row| &row.turn).collect();
        let turns: Vec<&TurnId> = turns.into_iter().collect();
        let sources = self.store.own_sources(&turns).await.map_err(user_error)?;
        let Some(told) = before.told.clone() else {
            let (rows, mark) = self.keeper.heard_in(turn, all, &sources).await?;
            return Ok(Heard { compaction: None, covered: 0, rows, mark });
        };
        let (rows, mark) = self.keeper.heard_in(turn, all.clone(), &sources).await?;
        let until = &told.compaction.until;
        let covered = all.iter().rposition(|row| row.turn == *until).map_or(0, |last| last + 1);
        let may_hear = mark == told.heard || rows.get(..covered) == all.get(..covered);
        Ok(match may_hear && covered > 0 {
            true => Heard { compaction: Some(told.compaction), covered, rows, mark },
            false => Heard { compaction: None, covered: 0, rows, mark },
        })
    }

    async fn before(
        &self,
        conversation: &ConversationId,
        turn: &TurnId,
        back: Back,
    ) -> Result<Arc<Earlier>, UserError> {
        self.recollection.before(&self.store, conversation, turn, back).await
    }

    /// What was said before the turn, and what it has said itself so far.
    async fn with_own(
        &self,
        before: &Earlier,
        turn: &TurnId,
    ) -> Result<Vec<Arc<Message>>, UserError> {
        let own = self.store.said_in(turn).await.map_err(user_error)?;
        Ok(before.rows.iter().cloned().chain(own.into_iter().map(Arc::new)).collect())
    }

    /// Whether the turn has heard of nothing but what the hub may use.
    async fn reach(&self, turn: &TurnId, ending: &Ending) -> Result<Reach, UserError> {
        let mut heard = self.store.heard_sources(turn).await.map_err(user_error)?;
        heard.extend(ending.results.iter().flat_map(|result| result.sources.iter().cloned()));
        let (vault, hub) = (self.keeper.seen(), self.config.get().hub);
        let places = aside(move || HubPlaces::of(&vault, &hub, &jiff::Zoned::now())).await?;
        Ok(if taint::is_beyond(&places, &heard) { Reach::Beyond } else { Reach::Within })
    }

    /// Notes for which changes of this turn wait.
    async fn waiting(
        &self,
        conversation: &ConversationId,
        turn: &TurnId,
    ) -> Result<Vec<NotePath>, UserError> {
        let open = self.store.open_change_set(conversation).await.map_err(user_error)?;
        let planned = open.map(|set| set.planned).unwrap_or_default().into_iter();
        Ok(planned.filter(|row| row.turn == *turn).map(|row| row.change.path).collect())
    }
}

#[cfg(test)]
mod tests {
    use protocol::{MessageId, Origin, Part, Role, Timestamp, TurnStatus};

    use super::*;

    fn says(turn: &str) -> NewTurn {
        let message = Message {
            id: MessageId::from(turn),
            conversation: ConversationId::from("c"),
            turn: TurnId::from(turn),
            role: Role::User,
            parts: vec![Part::Text { text: "words".into() }],
            at: Timestamp(1),
        };
        NewTurn {
            turn: TurnId::from(turn),
            message,
            origin: Origin::Window,
            answers: None,
            shown: Vec::new(),
        }
    }

    #[tokio::test]
    async fn a_turn_whose_end_was_lost_does_not_hold_up_those_behind_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::open(&folder.path().join("vault.db")).await.expect("a store");
        let conversation = ConversationId::from("c");
        store.create_conversation(&conversation, "c", None, Timestamp(0)).await.expect("begun");
        for turn in ["lost", "next"] {
            store.submit_turn(&says(turn)).await.expect("stored");
        }
        let lost = store.begin_turn(&conversation).await.expect("begun").expect("a turn");
        // The control: to the store alone it runs for ever.
        assert_eq!(store.begin_turn(&conversation).await.expect("asked"), None);
        let vault = vault::Vault::open(folder.path()).expect("a vault");
        let rules = protocol::PrivateRules::default();
        let index = index::Index::new(&vault, rules.clone(), &folder.path().join("index"));
        let keeper = Keeper::new(&vault, &index, rules);
        let data = crate::data_dir::DataDir::at(folder.path().join("data")).expect("a directory");
        let (config, _outdated) = Config::load(&data);
        let transcript = StoreTranscript {
            store: store.clone(),
            bell: Arc::default(),
            keeper,
            config,
            recollection: Arc::default(),
        };
        let next = transcript.begin(&conversation).await.expect("begun").expect("a turn");
        assert_eq!(next.turn, TurnId::from("next"));
        let status = store.turn_status(&lost.turn).await.expect("read");
        assert_eq!(status, Some(TurnStatus::Interrupted));
    }
}
