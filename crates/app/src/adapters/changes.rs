//! Implements `llm::ChangeApplier`: judges a plan by policy, then applies it or makes it pending.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use llm::ports::change_applier::{ChangeApplier, ChangeOutcome, NoteOverlay};
use llm::tool_api::tool::{ChangePlan, ToolEffect};
use protocol::{
    CallId, Change, ChangeAction, ChangeKind, ChangeSet, ContentHash, Mode, NotePath, OpenTurn,
    PlannedState, Privacy, Source, ToolEvent, UserError,
};
use store::{ChangeSetDecision, Store};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;
use tools::plan_outcome::PlanOutcome;
use vault::{Applied, ChangeBatch, PlannedChange, Progress, Vault, VaultError};

use crate::adapters::ledger::StoreLedger;
use crate::adapters::pending_overlay::{PendingOverlay, withheld_text};
use crate::adapters::turn_cache::{self, TurnCache};
use crate::changes::diff::line_counts;
use crate::changes::policy::{Decision, PolicyFacts, decide};
use crate::events::domain_event::{DomainEvent, DomainEvents};
use crate::hub::capture_conflicts::capture_conflicts;
use crate::hub::fallback_capture::capture_call::is_capture_call;
use crate::hub::writable_notes::WritableNotes;
use crate::notes::indexer::Indexer;
use crate::privacy::provenance::quoted_message::HubRequest;
use crate::privacy::provenance::{self, RULES_REVIEW_MESSAGE};
use crate::privacy::{PrivacyGuard, was_told_model_title};
use crate::settings::config::Config;
use crate::settings::run_mode::RunMode;
use crate::support::blocking::run_blocking;
use crate::support::clock::{local_now, new_id, now};
use crate::workspace::vault_lock::VaultLock;

pub(crate) struct VaultChanges {
    pub(crate) vault: Vault,
    pub(crate) indexer: Indexer,
    pub(crate) store: Store,
    pub(crate) config: Config,
    pub(crate) run_mode: RunMode,
    pub(crate) domain_events: DomainEvents,
    pub(crate) turn_cache: Arc<TurnCache>,
    /// Held while a plan or a decision is carried out, so that neither sees the other half-way.
    pub(crate) change_lock: Arc<Mutex<()>>,
    /// Knows what the model may not hear of.
    pub(crate) privacy_guard: Arc<PrivacyGuard>,
    /// Keeps the vault locked while notes are changed, also after the rest of the application let
    /// go.
    pub(crate) _lock: Arc<VaultLock>,
}

#[async_trait]
impl ChangeApplier for VaultChanges {
    async fn note_overlay(&self, turn: &OpenTurn, calls: &[CallId]) -> NoteOverlay {
        if !calls.is_empty() && calls.iter().all(|call| is_capture(turn, call)) {
            // The words go into the file, whatever is pending.
            return NoteOverlay::default();
        }
        let (pending, seen) = tokio::join!(self.pending_overlay(turn), self.seen_contents(turn));
        let PendingOverlay { shown, withheld } = pending.unwrap_or_default();
        let seen = seen.unwrap_or_default();
        NoteOverlay { overlay: Arc::new(shown), withheld: Arc::new(withheld), seen: Arc::new(seen) }
    }

    async fn decide(
        &self,
        turn: &OpenTurn,
        call: &CallId,
        effect: ToolEffect,
        plan: ChangePlan,
        stop: &CancellationToken,
    ) -> ChangeOutcome {
        let _alone = self.change_lock.lock().await;
        match self.withheld_by_plan(turn, call, &plan).await {
            Ok(None) => {}
            Ok(Some(path)) => return refused_outcome(withheld_text(&path)),
            Err(error) => return refused_outcome(error.message),
        }
        let facts = match self.policy_facts(turn, call, effect, &plan).await {
            Ok(facts) => facts,
            Err(error) => return refused_outcome(error.message),
        };
        let judged = decide(&facts);
        let result = match judged {
            Decision::Apply => {
                let applied = self.apply_plan(turn, call, &plan, stop).await;
                if is_capture(turn, call) {
                    self.mark_capture_conflicts(turn, &plan).await;
                }
                applied
            }
            Decision::Review => self.add_pending(turn, call, &plan).await,
            Decision::Refuse(why) => Err(UserError::other(why)),
        };
        let mut outcome = result.unwrap_or_else(|error| refused_outcome(error.message));
        if facts.changes_rules && judged == Decision::Review && !outcome.is_error {
            outcome.output.push_str(RULES_REVIEW_MESSAGE);
        }
        // A plan may keep links in notes that the model does not see.
        let told = self.privacy_guard.redact_names(&turn.turn, outcome.output).await;
        outcome.output = told.unwrap_or_else(|error| error.message);
        outcome.sources.extend(provenance::plan_source(effect, facts.hub_writable));
        outcome
    }
}

impl VaultChanges {
    /// The contents that the turn has seen, over those that were seen before it.
    async fn seen_contents(&self, turn: &OpenTurn) -> Result<turn_cache::SeenContents, UserError> {
        let OpenTurn { conversation, turn, .. } = turn;
        let (before, own) = tokio::join!(
            self.turn_cache.seen_contents(&self.store, conversation, turn),
            self.store.read_state_of_turn(turn)
        );
        let mut seen = Arc::unwrap_or_clone(before?);
        seen.extend(own?);
        Ok(seen)
    }

    async fn policy_facts(
        &self,
        turn: &OpenTurn,
        call: &CallId,
        effect: ToolEffect,
        plan: &ChangePlan,
    ) -> Result<PolicyFacts, UserError> {
        let waiting = self.store.open_change_set(&turn.conversation).await?;
        let waiting = waiting.map(|set| set.planned).unwrap_or_default();
        let waiting: ChangeSet = waiting.into_iter().map(|row| row.change).collect();
        let waits =
            |path: &NotePath| waiting.planned_state(path) != PlannedState::OnDisk(path.clone());
        let paths: Vec<&NotePath> = plan.change_set.changes().map(|change| &change.path).collect();
        let so_far = self.store.turn_changes(&turn.turn).await?;
        let mut notes = so_far.changed;
        notes.extend(paths.iter().map(|path| (*path).clone()));
        notes.sort();
        notes.dedup();
        let (vault, settings) = (self.vault.clone(), self.config.get());
        let mode = settings.mode;
        let changed: Vec<NotePath> = paths.iter().map(|path| (*path).clone()).collect();
        let (writable, hub_place, places) = run_blocking(move || {
            let places = WritableNotes::from_settings(&vault, &settings.hub, &local_now());
            let allowed = changed.iter().all(|path| places.allows_change(&vault, path));
            (vault.is_writable(), allowed, places)
        })
        .await?;
        let is_capture = is_capture(turn, call);
        let requested_by_hub = self.is_requested_by_hub(turn, &paths).await?;
        Ok(PolicyFacts {
            mode,
            origin: turn.origin,
            requested_by_hub,
            effect,
            named: mode == Mode::Auto
                && effect == ToolEffect::Edit
                && self.are_mentioned(turn, &paths).await?,
            hub_writable: hub_place,
            builds_on_pending: paths.iter().any(|path| waits(path)) && !(is_capture && hub_place),
            notes_in_turn: notes.len(),
            writable,
            may_write: self.run_mode.may_write(),
            changes_rules: self.changes_rules(turn, plan).await?,
            lowers_privacy: self.lowers_privacy(plan).await?,
            copies_private: !is_capture && self.copies_private(turn, plan).await?,
            copies_for_hub: requested_by_hub
                && !is_capture
                && self.copies_for_hub(turn, plan, &places).await?,
        })
    }

    async fn lowers_privacy(&self, plan: &ChangePlan) -> Result<bool, UserError> {
        let (changes, rules) = (plan.change_set.clone(), self.config.private_rules());
        run_blocking(move || provenance::lowers_privacy(&changes, &rules)).await
    }

    async fn copies_private(&self, turn: &OpenTurn, plan: &ChangePlan) -> Result<bool, UserError> {
        let (changes, rules) = (plan.change_set.clone(), self.config.private_rules());
        if !rules.has_local_only() {
            return Ok(false);
        }
        let vault = self.vault.clone();
        let is_there = move |folder: &NotePath| vault.file_id(folder).is_some();
        let writes = move || provenance::writes_open_note(&changes, &rules, is_there);
        if !run_blocking(writes).await? {
            return Ok(false);
        }
        let told = self.store.context_sources_by_turn(&turn.turn).await?;
        // How many notes match, and text of an unknown source such as a list of tags, may be of any note that
        // the model sees.
        if self.privacy_guard.looked_beyond_open(&turn.turn, &told).await?
            || self.privacy_guard.was_told_hidden_title(&turn.turn).await?
        {
            return Ok(true);
        }
        self.privacy_guard.hides_told(Privacy::Open, &told).await
    }

    async fn copies_for_hub(
        &self,
        turn: &OpenTurn,
        plan: &ChangePlan,
        places: &WritableNotes,
    ) -> Result<bool, UserError> {
        let heard = self.told_sources(turn).await?;
        let message = self.store.request_text(&turn.turn).await?;
        let so_far = self.store.turn_changes(&turn.turn).await?;
        let request = HubRequest {
            message: &message,
            places,
            today: local_now().date(),
            has_changed_notes: !so_far.changed.is_empty() || !so_far.uncertain.is_empty(),
        };
        Ok(provenance::copies_for_hub(&plan.change_set, &request, &heard))
    }

    /// Whether the plan writes rules for the assistant after the turn read more than the user's
    /// messages.
    async fn changes_rules(&self, turn: &OpenTurn, plan: &ChangePlan) -> Result<bool, UserError> {
        if !plan.change_set.changes().any(provenance::touches_rules_file) {
            return Ok(false);
        }
        let heard = self.told_sources(turn).await?;
        Ok(provenance::changes_rules_from_foreign(&plan.change_set, &heard))
    }

    /// The sources of all that the turn was told. A title that a model made is stored without one.
    async fn told_sources(&self, turn: &OpenTurn) -> Result<BTreeSet<Source>, UserError> {
        let mut told = self.store.context_sources(&turn.turn).await?;
        if was_told_model_title(&self.store, &turn.turn).await? {
            told.insert(Source::Foreign);
        }
        Ok(told)
    }

    async fn apply_plan(
        &self,
        turn: &OpenTurn,
        call: &CallId,
        plan: &ChangePlan,
        stop: &CancellationToken,
    ) -> Result<ChangeOutcome, UserError> {
        let unit = plan.change_set.is_unit().then(|| call.clone());
        let changes = plan.change_set.changes().map(|change| PlannedChange {
            change: change.clone(),
            turn: turn.turn.clone(),
            call: call.clone(),
            unit: unit.clone(),
            file: None,
        });
        let order = ChangeBatch { change_set: new_id(), changes: changes.collect() };
        let made: Vec<_> =
            order.changes.iter().map(|one| (one.turn.clone(), &one.change)).collect();
        self.store.propagate_taint(&made).await?;
        let set = order.change_set.clone();
        let applied = self.apply_order(order, stop).await?;
        if !applied.done.is_empty() {
            self.domain_events.emit(DomainEvent::Applied(vec![set]));
        }
        let done = plan.change_set.filter(|change| applied.done.contains(&change.path));
        let as_made = |change: &Change| {
            let made = applied.rebased.iter().find(|made| made.path == change.path);
            made.filter(|_| !change.is_rename()).unwrap_or(change).clone()
        };
        let summary = if applied.rebased.is_empty() {
            tools::plan_outcome::applied_text(&plan.summary)
        } else {
            tools::plan_outcome::rebased_text(&plan.summary)
        };
        let done = done.changes().map(as_made).collect();
        let mut outcome = outcome_of(&summary, done, PlanOutcome::Applied).await?;
        let is_stopped =
            |(_, error): &(NotePath, VaultError)| matches!(error, VaultError::Stopped { .. });
        if applied.problems.iter().any(is_stopped) {
            return self.add_rest_pending(turn, call, plan, &applied, outcome).await;
        }
        if let Some((_, error)) = applied.problems.first() {
            outcome.output = match error {
                VaultError::Parked { .. } | VaultError::Unsure { .. } => error.to_string(),
                _ => format!("Not changed: {error}"),
            };
            outcome.is_error = true;
        }
        Ok(outcome)
    }

    /// Shows in the review which pending changes do not fit the note any more to which a hub message was added.
    async fn mark_capture_conflicts(&self, turn: &OpenTurn, plan: &ChangePlan) {
        let mark = async {
            let open = self.store.open_change_set(&turn.conversation).await?;
            let Some(set) = open else { return Ok(()) };
            let (vault, pending) = (self.vault.clone(), set.planned);
            let paths: Vec<_> = plan.change_set.changes().map(|one| one.path.clone()).collect();
            let find = move || {
                let now =
                    paths.iter().filter_map(|path| Some((path, vault.read_bytes(path).ok()?)));
                now.flat_map(|(path, now)| capture_conflicts(&pending, path, &now)).collect()
            };
            let problems: Vec<(NotePath, String)> = run_blocking(find).await?;
            if !problems.is_empty() {
                let told = ChangeSetDecision { problems, ..ChangeSetDecision::default() };
                self.store.decide(&set.id, &told, now()).await?;
                self.domain_events.emit(DomainEvent::Planned(turn.conversation.clone()));
            }
            Ok::<(), UserError>(())
        };
        if let Err(error) = mark.await {
            // The words are saved; a change that does not fit is refused when it is accepted.
            tracing::warn!(%error.message, "pending changes of the inbox note were not looked at");
        }
    }

    async fn apply_order(
        &self,
        batch: ChangeBatch,
        stop: &CancellationToken,
    ) -> Result<Applied, UserError> {
        let (progress, ledger) = (Progress::default(), StoreLedger(self.store.clone()));
        let applying = self.indexer.apply(&self.vault, batch, &ledger, &progress);
        tokio::pin!(applying);
        let applied = tokio::select! {
            applied = &mut applying => applied,
            () = stop.cancelled() => {
                progress.stop();
                applying.await
            }
        };
        Ok(applied?)
    }

    /// The user stopped in the middle: what was not done is put before them.
    async fn add_rest_pending(
        &self,
        turn: &OpenTurn,
        call: &CallId,
        plan: &ChangePlan,
        applied: &Applied,
        done: ChangeOutcome,
    ) -> Result<ChangeOutcome, UserError> {
        let left = plan.change_set.filter(|change| !applied.done.contains(&change.path));
        let rest = ChangePlan { change_set: left, ..plan.clone() };
        let mut outcome = self.add_pending(turn, call, &rest).await?;
        let paths: Vec<&str> = applied.done.iter().map(NotePath::as_str).collect();
        outcome.output = format!(
            "The user stopped in the middle. Done: {}. The rest waits for the user's review.",
            if paths.is_empty() { "nothing".to_owned() } else { paths.join(", ") }
        );
        outcome.reactions.extend(done.reactions);
        outcome.seen.extend(done.seen);
        Ok(outcome)
    }

    async fn add_pending(
        &self,
        turn: &OpenTurn,
        call: &CallId,
        plan: &ChangePlan,
    ) -> Result<ChangeOutcome, UserError> {
        self.store
            .add_planned_changes(
                &turn.conversation,
                &new_id(),
                &plan.change_set,
                &turn.turn,
                call,
                now(),
            )
            .await?;
        self.domain_events.emit(DomainEvent::Planned(turn.conversation.clone()));
        let summary = tools::plan_outcome::pending_text(&plan.summary);
        outcome_of(&summary, plan.change_set.clone(), PlanOutcome::Pending).await
    }
}

/// The answer for the model and the events for the window. Counting lines can take long.
async fn outcome_of(
    output: &str,
    changes: ChangeSet,
    became: PlanOutcome,
) -> Result<ChangeOutcome, UserError> {
    let waiting = became == PlanOutcome::Pending;
    let one = move |change: &Change| {
        let seen = change.after_hash().map(|hash| (change.path.clone(), hash));
        (tool_event(change, waiting), seen)
    };
    let told = run_blocking(move || changes.changes().map(one).collect::<Vec<_>>()).await?;
    let (reactions, seen): (Vec<_>, Vec<Option<(NotePath, ContentHash)>>) =
        told.into_iter().unzip();
    let seen = seen.into_iter().flatten().collect();
    Ok(ChangeOutcome { output: output.to_owned(), reactions, seen, ..ChangeOutcome::default() })
}

fn tool_event(change: &Change, waiting: bool) -> ToolEvent {
    let path = change.path.clone();
    match &change.act {
        ChangeAction::Rename { to, .. } => ToolEvent::Moved { path, to: to.clone(), waiting },
        ChangeAction::Trash { .. } | ChangeAction::TrashFolder { .. } => {
            ToolEvent::Trashed { path, waiting }
        }
        ChangeAction::MakeFolder | ChangeAction::RestoreFolder { .. } => {
            ToolEvent::FolderMade { path, waiting }
        }
        ChangeAction::Create { .. } | ChangeAction::Replace { .. } => {
            let (added, removed) = line_counts(change);
            let created = change.kind() == ChangeKind::Create;
            ToolEvent::Changed { path, created, added, removed, waiting }
        }
    }
}

/// Whether the call adds a hub message to the inbox note, and no model made it.
pub(super) fn is_capture(turn: &OpenTurn, call: &CallId) -> bool {
    turn.origin.is_hub() && is_capture_call(call)
}

fn refused_outcome(why: String) -> ChangeOutcome {
    ChangeOutcome { output: why, is_error: true, ..ChangeOutcome::default() }
}
