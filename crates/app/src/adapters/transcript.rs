//! Implements `llm::Transcript` over the store. The end of a hub turn and its notifications are one commit.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use llm::ports::transcript::{FullHistory, History, Transcript};
use protocol::{
    CallResult, Compaction, ConversationId, Message, NewTurn, NotePath, OpenTurn, TurnEnding,
    TurnId, TurnStep, UserError, UtilityRequest,
};
use store::Store;
use tokio::sync::Notify;

use crate::adapters::turn_cache::{LookBack, PriorTurns, TurnCache};
use crate::hub::outbox;
use crate::hub::outbox::TurnNotifications;
use crate::hub::outbox::disclosure::{HubDisclosure, judge_turn};
use crate::privacy::PrivacyGuard;
use crate::settings::config::Config;
use crate::support::clock::now;
use crate::workspace::crash_recovery;

/// The transcript of one vault's conversations.
pub(crate) struct StoreTranscript {
    pub(crate) store: Store,
    /// Notified when notifications were queued.
    pub(crate) outbox_ready: Arc<Notify>,
    /// Filters what is private out of what a turn may hear.
    pub(crate) privacy_guard: Arc<PrivacyGuard>,
    /// Says where the hub may write, and of what it may hear.
    pub(crate) config: Config,
    pub(crate) turn_cache: Arc<TurnCache>,
}

#[async_trait]
impl Transcript for StoreTranscript {
    async fn submit(&self, new: &NewTurn) -> Result<(), UserError> {
        self.store.submit_turn(new).await?;
        Ok(())
    }

    async fn begin(&self, conversation: &ConversationId) -> Result<Option<OpenTurn>, UserError> {
        // One task runs the turns of a conversation, and it asks for the next one: a turn that
        // still counts as running has lost its end, and would hold up all others.
        crash_recovery::end_cut_turn(&self.store, conversation).await?;
        let begun = self.store.begin_turn(conversation).await?;
        if let Some(turn) = &begun {
            self.turn_cache.begin(&turn.turn);
        }
        Ok(begun)
    }

    async fn has_queued(&self, conversation: &ConversationId) -> Result<bool, UserError> {
        Ok(self.store.has_queued_turn(conversation).await?)
    }

    async fn history(
        &self,
        conversation: &ConversationId,
        turn: &TurnId,
    ) -> Result<History, UserError> {
        if self.privacy_guard.sees_everything(turn).await? {
            let before = self.prior_turns(conversation, turn, LookBack::Recent).await?;
            let compaction = before.compaction.as_ref().map(|row| row.compaction.clone());
            return Ok(History { compaction, rows: self.with_turn_messages(&before, turn).await? });
        }
        // Whether a summary may be heard is known by what it stands in for.
        let VisibleHistory { compaction, covered, mut rows, .. } =
            self.visible_history(conversation, turn).await?;
        let rows = rows.split_off(covered.min(rows.len()));
        Ok(History { compaction, ..History::of(rows) })
    }

    async fn full_history(
        &self,
        conversation: &ConversationId,
        turn: &TurnId,
    ) -> Result<FullHistory, UserError> {
        let VisibleHistory { compaction, rows, hidden_fingerprint: privacy_view, .. } =
            self.visible_history(conversation, turn).await?;
        let asking = self.store.question_calls(conversation).await?;
        let questions = asking.into_iter().map(|(turn, call, id)| ((turn, call), id)).collect();
        Ok(FullHistory { compaction, rows, questions, privacy_view })
    }

    async fn messages_of_turn(&self, turn: &TurnId) -> Result<Vec<Message>, UserError> {
        Ok(self.store.messages_of_turn(turn).await?)
    }

    async fn step(&self, turn: &TurnId, step: &TurnStep) -> Result<(), UserError> {
        self.store.store_step(turn, step).await?;
        Ok(())
    }

    async fn results(&self, turn: &TurnId, results: &[CallResult]) -> Result<(), UserError> {
        self.store.store_results(turn, results).await?;
        Ok(())
    }

    async fn finish(&self, turn: &TurnId, ending: &TurnEnding) -> Result<(), UserError> {
        self.turn_cache.end(turn);
        let inbox = self.store.inbox_of_turn(turn).await?;
        let Some(row) = inbox.filter(|_| outbox::may_be_final(ending)) else {
            return Ok(self.store.finish_turn(turn, ending).await?);
        };
        let notifications = match &row.conversation {
            Some(conversation) => {
                let own = self.store.messages_of_turn(turn).await?;
                let waiting = self.pending_notes(conversation, turn).await?;
                let reach = match outbox::is_only_captured(&own) {
                    true => HubDisclosure::Within,
                    false => {
                        let results = ending.results.iter();
                        let last = results.flat_map(|result| result.sources.clone()).collect();
                        let (hub, privacy_guard) = (self.config.get().hub, &self.privacy_guard);
                        judge_turn(&self.store, privacy_guard, hub, turn, ending.at, last).await?
                    }
                };
                outbox::turn_notifications(&row, &own, ending, &waiting, reach)
            }
            None => TurnNotifications::default(),
        };
        if !notifications.are_final(ending) {
            return Ok(self.store.finish_turn(turn, ending).await?);
        }
        let TurnNotifications { now: said, needs_approval: held } = notifications;
        self.store.finish_hub_turn(turn, ending, &said, &held).await?;
        self.outbox_ready.notify_one();
        Ok(())
    }

    async fn compact(
        &self,
        turn: &OpenTurn,
        new: &Compaction,
        mark: &str,
        asked: Option<&UtilityRequest>,
    ) -> Result<(), UserError> {
        let stored = self.store.store_compaction(&turn.turn, new, mark, asked, now()).await;
        self.turn_cache.invalidate(&turn.turn);
        Ok(stored?)
    }

    async fn record_usage(&self, turn: &TurnId, asked: &UtilityRequest) -> Result<(), UserError> {
        self.store.record_turn_usage(turn, asked).await?;
        Ok(())
    }
}

/// All that may be heard in a turn.
struct VisibleHistory {
    /// Stands in for the first `covered` rows.
    compaction: Option<Compaction>,
    covered: usize,
    rows: Vec<Message>,
    /// Names the view under which the rows were filtered.
    hidden_fingerprint: String,
}

impl StoreTranscript {
    /// A summary is sent to models with the same view as the one that made it, and to those that
    /// may see everything it stands for. Others get the turns without it.
    async fn visible_history(
        &self,
        conversation: &ConversationId,
        turn: &TurnId,
    ) -> Result<VisibleHistory, UserError> {
        let before = self.prior_turns(conversation, turn, LookBack::All).await?;
        let all = self.with_turn_messages(&before, turn).await?;
        let all: Vec<Message> = all.into_iter().map(Arc::unwrap_or_clone).collect();
        let turns: BTreeSet<&TurnId> = all.iter().map(|row| &row.turn).collect();
        let turns: Vec<&TurnId> = turns.into_iter().collect();
        let sources = self.store.turn_sources(&turns).await?;
        let Some(told) = before.compaction.clone() else {
            let (rows, mark) = self.privacy_guard.redact_for_turn(turn, all, &sources).await?;
            return Ok(VisibleHistory {
                compaction: None,
                covered: 0,
                rows,
                hidden_fingerprint: mark,
            });
        };
        let (rows, mark) = self.privacy_guard.redact_for_turn(turn, all.clone(), &sources).await?;
        let until = &told.compaction.until;
        let covered = all.iter().rposition(|row| row.turn == *until).map_or(0, |last| last + 1);
        let may_hear = mark == told.privacy_view || rows.get(..covered) == all.get(..covered);
        Ok(match may_hear && covered > 0 {
            true => VisibleHistory {
                compaction: Some(told.compaction),
                covered,
                rows,
                hidden_fingerprint: mark,
            },
            false => {
                VisibleHistory { compaction: None, covered: 0, rows, hidden_fingerprint: mark }
            }
        })
    }

    async fn prior_turns(
        &self,
        conversation: &ConversationId,
        turn: &TurnId,
        look_back: LookBack,
    ) -> Result<Arc<PriorTurns>, UserError> {
        self.turn_cache.prior_turns(&self.store, conversation, turn, look_back).await
    }

    /// The messages before the turn, then those of the turn so far.
    async fn with_turn_messages(
        &self,
        before: &PriorTurns,
        turn: &TurnId,
    ) -> Result<Vec<Arc<Message>>, UserError> {
        let own = self.store.messages_of_turn(turn).await?;
        Ok(before.rows.iter().cloned().chain(own.into_iter().map(Arc::new)).collect())
    }

    /// Notes with pending changes of this turn.
    async fn pending_notes(
        &self,
        conversation: &ConversationId,
        turn: &TurnId,
    ) -> Result<Vec<NotePath>, UserError> {
        let open = self.store.open_change_set(conversation).await?;
        let planned = open.map(|set| set.planned).unwrap_or_default().into_iter();
        Ok(planned.filter(|row| row.turn == *turn).map(|row| row.change.path).collect())
    }
}

#[cfg(test)]
mod tests {
    use protocol::{MessageId, MessagePart, Origin, Role, Timestamp, TurnStatus};

    use super::*;

    fn says(turn: &str) -> NewTurn {
        let message = Message {
            id: MessageId::from(turn),
            conversation: ConversationId::from("c"),
            turn: TurnId::from(turn),
            role: Role::User,
            parts: vec![MessagePart::Text { text: "words".into() }],
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
        let privacy_guard = PrivacyGuard::new(&vault, &index, rules);
        let data = crate::workspace::data_dir::DataDir::at(folder.path().join("data"))
            .expect("a directory");
        let (config, _outdated) = Config::load(&data);
        let transcript = StoreTranscript {
            store: store.clone(),
            outbox_ready: Arc::default(),
            privacy_guard,
            config,
            turn_cache: Arc::default(),
        };
        let next = transcript.begin(&conversation).await.expect("begun").expect("a turn");
        assert_eq!(next.turn, TurnId::from("next"));
        let status = store.turn_status(&lost.turn).await.expect("read");
        assert_eq!(status, Some(TurnStatus::Interrupted));
    }
}
