//! `llm`'s changes: judges a plan by policy, then applies it or adds it to what waits.

use std::sync::Arc;

use async_trait::async_trait;
use llm::changes::{Changes, Surroundings, Verdict};
use llm::tool::{Effect, Plan};
use protocol::{
    AppEvent, CallId, ContentHash, ConversationId, NotePath, OpenTurn, Origin, Reaction, UserError,
};
use store::Store;
use vault::{Order, Planned, Vault};

use crate::capture::INBOX;
use crate::clock::{fresh, now};
use crate::config::Config;
use crate::context::names;
use crate::diff::line_counts;
use crate::feed::Feed;
use crate::policy::{Decision, Facts, decide};
use crate::ports::desk::OpenNote;
use crate::ports::ledger::StoreLedger;
use crate::review;
use crate::trouble::{not_applied, user_error};

/// The changes of one vault.
pub(crate) struct VaultChanges {
    pub(crate) vault: Vault,
    pub(crate) store: Store,
    pub(crate) config: Config,
    pub(crate) active: OpenNote,
    pub(crate) feed: Feed,
    /// Whether turns of the command line may write (`ask --write`).
    pub(crate) cli_may_write: bool,
}

#[async_trait]
impl Changes for VaultChanges {
    async fn surroundings(&self, conversation: &ConversationId) -> Surroundings {
        let overlay = match self.store.open_change_set(conversation).await {
            Ok(Some(set)) => set.planned.into_iter().map(|row| row.change).collect(),
            _ => protocol::ChangeSet::default(),
        };
        let seen = self.store.seen(conversation).await.unwrap_or_default();
        Surroundings { overlay: Arc::new(overlay), seen: Arc::new(seen) }
    }

    async fn decide(&self, turn: &OpenTurn, call: &CallId, effect: Effect, plan: Plan) -> Verdict {
        let judged = match self.facts(turn, effect, &plan).await {
            Ok(facts) => decide(&facts),
            Err(error) => return refused(error.message),
        };
        let outcome = match judged {
            Decision::Apply => self.apply(turn, call, &plan).await,
            Decision::Review => self.hold(turn, call, &plan).await,
            Decision::Refuse(why) => Err(UserError::other(why)),
        };
        outcome.unwrap_or_else(|error| refused(error.message))
    }
}

impl VaultChanges {
    async fn facts(&self, turn: &OpenTurn, effect: Effect, plan: &Plan) -> Result<Facts, UserError> {
        let surroundings = self.surroundings(&turn.conversation).await;
        let paths: Vec<&NotePath> = plan.change_set.changes().iter().map(|c| &c.path).collect();
        let history = self.store.history(&turn.conversation, &turn.turn).await.map_err(user_error)?;
        let words = history
            .iter()
            .find(|message| message.id == turn.message)
            .map(protocol::Message::text)
            .unwrap_or_default();
        let open = self.active.path();
        let mut notes = self.store.turn_changed_paths(&turn.turn).await.map_err(user_error)?;
        notes.extend(paths.iter().map(|path| (*path).clone()));
        notes.sort();
        notes.dedup();
        Ok(Facts {
            mode: self.config.get().mode,
            origin: turn.origin,
            effect,
            named: paths.iter().all(|path| names(&words, path) || open.as_ref() == Some(*path)),
            hub_place: paths.iter().all(|path| is_hub_place(path)),
            builds_on_waiting: paths.iter().any(|path| surroundings.overlay.at(path).is_some()),
            notes_in_turn: notes.len(),
            writable: self.vault.is_writable(),
            may_write: self.cli_may_write,
        })
    }

    async fn apply(&self, turn: &OpenTurn, call: &CallId, plan: &Plan) -> Result<Verdict, UserError> {
        let changes = plan.change_set.changes().iter().map(|change| Planned {
            change: change.clone(),
            turn: turn.turn.clone(),
            call: call.clone(),
        });
        let order = Order { change_set: fresh(), changes: changes.collect() };
        let applied = self
            .vault
            .apply(order, &StoreLedger(self.store.clone()))
            .await
            .map_err(|error| not_applied(&error))?;
        let mut verdict = self.verdict(plan, false, |path| applied.done.contains(path));
        if let Some((_, error)) = applied.problems.first() {
            verdict.output = format!("Not changed: {error}");
            verdict.is_error = true;
        }
        Ok(verdict)
    }

    async fn hold(&self, turn: &OpenTurn, call: &CallId, plan: &Plan) -> Result<Verdict, UserError> {
        self.store
            .add_planned(
                &turn.conversation,
                &fresh(),
                plan.change_set.changes(),
                &turn.turn,
                call,
                now(),
            )
            .await
            .map_err(user_error)?;
        if turn.origin != Origin::Cli {
            let review = review::standing(&self.store, &turn.conversation).await?;
            let conversation = turn.conversation.clone();
            self.feed.tell(AppEvent::ReviewChanged { conversation, review });
        }
        let mut verdict = self.verdict(plan, true, |_| true);
        verdict.output = tools::verdict::waiting(&plan.summary);
        Ok(verdict)
    }

    fn verdict(&self, plan: &Plan, waiting: bool, counts: impl Fn(&NotePath) -> bool) -> Verdict {
        let changes = plan.change_set.changes().iter().filter(|change| counts(&change.path));
        let mut reactions = Vec::new();
        let mut seen: Vec<(NotePath, ContentHash)> = Vec::new();
        for change in changes {
            let (added, removed) = line_counts(change);
            let created = change.before.is_none();
            let path = change.path.clone();
            seen.push((path.clone(), change.after_hash()));
            reactions.push(Reaction::Changed { path, created, added, removed, waiting });
        }
        Verdict { output: plan.summary.clone(), is_error: false, reactions, seen }
    }
}

/// Notes that a hub message may add to at once: those of the inbox folder.
fn is_hub_place(path: &NotePath) -> bool {
    let folder = INBOX.rsplit_once('/').map(|(folder, _)| folder);
    path.folder() == folder
}

fn refused(why: String) -> Verdict {
    Verdict { output: why, is_error: true, reactions: Vec::new(), seen: Vec::new() }
}
