//! `llm`'s changes: judges a plan by policy, then applies it or adds it to what waits.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use async_trait::async_trait;
use llm::changes::{Changes, Surroundings, Verdict};
use llm::tool::{Effect, Plan};
use protocol::{
    Act, CallId, Change, ChangeKind, ChangeSet, ContentHash, Message, Mode, NotePath, OpenTurn,
    Reaction, Seen, UserError,
};
use store::{PlannedRow, Store};
use tokio::sync::{Mutex, mpsc};
use tokio_util::sync::CancellationToken;
use tools::verdict::Became;
use vault::{Applied, Order, Planned, Progress, Vault, VaultError};

use crate::announce::News;
use crate::aside::aside;
use crate::clock::{fresh, now};
use crate::config::Config;
use crate::diff::line_counts;
use crate::hub_places::HubPlaces;
use crate::indexing::Indexing;
use crate::lock::VaultLock;
use crate::naming::{name, own_words};
use crate::policy::{Decision, Facts, decide};
use crate::ports::earlier::{self, Recollection};
use crate::ports::ledger::StoreLedger;
use crate::privacy::Keeper;
use crate::purpose::Purpose;
use crate::taint::{self, RULES_WAIT, is_rules_file};
use crate::trouble::{not_applied, of_note, user_error};

/// The changes of one vault.
pub(crate) struct VaultChanges {
    pub(crate) vault: Vault,
    pub(crate) indexing: Indexing,
    pub(crate) store: Store,
    pub(crate) config: Config,
    pub(crate) purpose: Purpose,
    pub(crate) news: mpsc::UnboundedSender<News>,
    pub(crate) recollection: Arc<Recollection>,
    /// Held while a plan or a verdict is carried out: neither sees the other half-way.
    pub(crate) deciding: Arc<Mutex<()>>,
    /// Knows what the model may not hear of.
    pub(crate) keeper: Arc<Keeper>,
    /// Whoever changes notes holds the vault, also when the rest of the application let go.
    pub(crate) _lock: Arc<VaultLock>,
}

#[async_trait]
impl Changes for VaultChanges {
    async fn surroundings(&self, turn: &OpenTurn) -> Surroundings {
        let (waiting, seen) =
            tokio::join!(self.store.open_change_set(&turn.conversation), self.seen(turn));
        let overlay = match waiting {
            Ok(Some(set)) => self.shown(set.planned).await,
            _ => ChangeSet::default(),
        };
        let seen = seen.unwrap_or_default();
        Surroundings { overlay: Arc::new(overlay), seen: Arc::new(seen) }
    }

    async fn decide(
        &self,
        turn: &OpenTurn,
        call: &CallId,
        effect: Effect,
        plan: Plan,
        stop: &CancellationToken,
    ) -> Verdict {
        let _alone = self.deciding.lock().await;
        let facts = match self.facts(turn, effect, &plan).await {
            Ok(facts) => facts,
            Err(error) => return refused(error.message),
        };
        let judged = decide(&facts);
        let outcome = match judged {
            Decision::Apply => self.apply(turn, call, &plan, stop).await,
            Decision::Review => self.hold(turn, call, &plan).await,
            Decision::Refuse(why) => Err(UserError::other(why)),
        };
        let mut verdict = outcome.unwrap_or_else(|error| refused(error.message));
        if facts.tells_rules && judged == Decision::Review && !verdict.is_error {
            verdict.output.push_str(RULES_WAIT);
        }
        // A plan may keep links in notes that the model does not see.
        let told = self.keeper.redacted(&turn.turn, verdict.output).await;
        verdict.output = told.unwrap_or_else(|error| error.message);
        verdict.sources.extend(taint::of_plan(effect, facts.hub_place));
        verdict
    }
}

impl VaultChanges {
    /// What the turn has seen, over what was seen before it.
    async fn seen(&self, turn: &OpenTurn) -> Result<earlier::Seen, UserError> {
        let OpenTurn { conversation, turn, .. } = turn;
        let (before, own) = tokio::join!(
            self.recollection.seen(&self.store, conversation, turn),
            self.store.seen_in(turn)
        );
        let mut seen = Arc::unwrap_or_clone(before?);
        seen.extend(own.map_err(user_error)?);
        Ok(seen)
    }

    /// What waits, without what models may not see.
    async fn shown(&self, waiting: Vec<PlannedRow>) -> ChangeSet {
        let Ok(replaced) = self.replaced(&waiting).await else { return ChangeSet::default() };
        let waiting = waiting.into_iter().map(|row| row.change);
        let (overlay, vault) = (waiting.collect::<ChangeSet>(), self.keeper.seen());
        let shown = aside(move || {
            let renames = overlay.renames();
            overlay.filter(|change| {
                // A text that waits may make the note private.
                let shows = |path: &NotePath| {
                    !vault.hides(path)
                        && change.after().is_none_or(|text| vault.shows(path, text, None))
                };
                // A note that left its place may be private where it is now.
                let is_there = |path: &NotePath| vault.file_id(path).is_some();
                // The path of a rename may be one that an earlier rename of the set gives.
                let first = || renames.back(change.target()?);
                let stands = || {
                    use ChangeKind::{Create, MakeFolder, RestoreFolder};
                    matches!(change.kind(), Create | MakeFolder | RestoreFolder)
                        || is_there(&change.path)
                        || first().is_some_and(|path| is_there(&path))
                };
                !replaced.contains(&change.path)
                    && shows(&change.path)
                    && change.target().is_none_or(shows)
                    && stands()
            })
        });
        shown.await.unwrap_or_default()
    }

    /// Notes that wait, in whose place another file stands than the one that was to be changed.
    async fn replaced(&self, waiting: &[PlannedRow]) -> Result<BTreeSet<NotePath>, UserError> {
        if self.keeper.seen().shows_all() {
            return Ok(BTreeSet::new());
        }
        let mut planned = BTreeMap::new();
        for row in waiting.iter().filter(|row| row.change.kind() != ChangeKind::Create) {
            let said = self.store.said_in(&row.turn).await.map_err(user_error)?;
            planned.extend(said.last().map(|last| (row.change.path.clone(), last.at)));
        }
        self.keeper.replaced_for_any(planned).await
    }

    async fn facts(
        &self,
        turn: &OpenTurn,
        effect: Effect,
        plan: &Plan,
    ) -> Result<Facts, UserError> {
        let waiting = self.store.open_change_set(&turn.conversation).await.map_err(user_error)?;
        let waiting = waiting.map(|set| set.planned).unwrap_or_default();
        let waiting: ChangeSet = waiting.into_iter().map(|row| row.change).collect();
        let waits = |path: &NotePath| waiting.seen_at(path) != Seen::OnDisk(path.clone());
        let paths: Vec<&NotePath> = plan.change_set.changes().map(|change| &change.path).collect();
        let mut notes = self.store.turn_changed_paths(&turn.turn).await.map_err(user_error)?;
        notes.extend(paths.iter().map(|path| (*path).clone()));
        notes.sort();
        notes.dedup();
        let (vault, settings) = (self.vault.clone(), self.config.get());
        let mode = settings.mode;
        let changed: Vec<NotePath> = paths.iter().map(|path| (*path).clone()).collect();
        let (writable, hub_place) = aside(move || {
            let places = HubPlaces::of(&vault, &settings.hub, &jiff::Zoned::now());
            (vault.is_writable(), changed.iter().all(|path| places.take(&vault, path)))
        })
        .await?;
        Ok(Facts {
            mode,
            origin: turn.origin,
            effect,
            named: mode == Mode::Auto
                && effect == Effect::Edit
                && self.are_named(turn, &paths).await?,
            hub_place,
            builds_on_waiting: paths.iter().any(|path| waits(path)),
            notes_in_turn: notes.len(),
            writable,
            may_write: self.purpose.may_write(),
            tells_rules: self.tells_rules(turn, plan).await?,
        })
    }

    /// Whether the user's own words name each of these notes, or it is the open note that was sent with
    /// them.
    async fn are_named(&self, turn: &OpenTurn, paths: &[&NotePath]) -> Result<bool, UserError> {
        let opening = self.store.opening(&turn.turn).await.map_err(user_error)?;
        let message = opening.map(|(message, _)| message);
        let open = message.as_ref().and_then(|message| message.open_note().flatten());
        let is_open = |path: &NotePath| open.is_some_and(|note| note.path == *path);
        let others = paths.iter().filter(|path| !is_open(path));
        let others: Vec<NotePath> = others.map(|path| (*path).clone()).collect();
        if others.is_empty() {
            return Ok(true);
        }
        let said = message.as_ref().map(Message::text).unwrap_or_default();
        let options = self.store.options_in(&turn.conversation).await.map_err(user_error)?;
        if options.iter().any(|option| option.trim() == said.trim()) {
            return Ok(false);
        }
        let (words, vault) = (own_words(&said), self.vault.whole());
        let are_named = move || -> Result<bool, VaultError> {
            if !others.iter().all(|path| name(&words, path, &[])) {
                return Ok(false);
            }
            let files = vault.list()?.entries.into_iter().map(|entry| entry.path);
            let files: Vec<NotePath> = files.collect();
            Ok(others.iter().all(|path| name(&words, path, &files)))
        };
        aside(are_named).await?.map_err(|error| of_note(&error))
    }

    /// Whether it words rules for the assistant after more was heard than the user.
    async fn tells_rules(&self, turn: &OpenTurn, plan: &Plan) -> Result<bool, UserError> {
        let is_rules = |change: &Change| {
            is_rules_file(&change.path) || change.target().is_some_and(is_rules_file)
        };
        if !plan.change_set.changes().any(is_rules) {
            return Ok(false);
        }
        let heard = self.store.heard_sources(&turn.turn).await.map_err(user_error)?;
        Ok(taint::tells_rules(&plan.change_set, &heard))
    }

    async fn apply(
        &self,
        turn: &OpenTurn,
        call: &CallId,
        plan: &Plan,
        stop: &CancellationToken,
    ) -> Result<Verdict, UserError> {
        let unit = plan.change_set.is_unit().then(|| call.clone());
        let changes = plan.change_set.changes().map(|change| Planned {
            change: change.clone(),
            turn: turn.turn.clone(),
            call: call.clone(),
            unit: unit.clone(),
            file: None,
        });
        let order = Order { change_set: fresh(), changes: changes.collect() };
        let made: Vec<_> =
            order.changes.iter().map(|one| (one.turn.clone(), &one.change)).collect();
        self.store.pass_on_taint(&made).await.map_err(user_error)?;
        let set = order.change_set.clone();
        let applied = self.carry_out(order, stop).await?;
        if !applied.done.is_empty() {
            // Nobody listens once the vault is being closed.
            let _ = self.news.send(News::Applied(vec![set]));
        }
        let done = plan.change_set.filter(|change| applied.done.contains(&change.path));
        let as_made = |change: &Change| {
            let made = applied.rebased.iter().find(|made| made.path == change.path);
            made.filter(|_| !change.is_rename()).unwrap_or(change).clone()
        };
        let summary = if applied.rebased.is_empty() {
            plan.summary.clone()
        } else {
            tools::verdict::rebased(&plan.summary)
        };
        let done = done.changes().map(as_made).collect();
        let mut verdict = told(&summary, done, Became::Applied).await?;
        let is_stopped =
            |(_, error): &(NotePath, VaultError)| matches!(error, VaultError::Stopped { .. });
        if applied.problems.iter().any(is_stopped) {
            return self.hold_rest(turn, call, plan, &applied, verdict).await;
        }
        if let Some((_, error)) = applied.problems.first() {
            verdict.output = format!("Not changed: {error}");
            verdict.is_error = true;
        }
        Ok(verdict)
    }

    async fn carry_out(
        &self,
        order: Order,
        stop: &CancellationToken,
    ) -> Result<Applied, UserError> {
        let (progress, ledger) = (Progress::default(), StoreLedger(self.store.clone()));
        let applying = self.indexing.apply(&self.vault, order, &ledger, &progress);
        tokio::pin!(applying);
        let applied = tokio::select! {
            applied = &mut applying => applied,
            () = stop.cancelled() => {
                progress.stop();
                applying.await
            }
        };
        applied.map_err(|error| not_applied(&error))
    }

    /// The user stopped in the middle: what was not done is put before them.
    async fn hold_rest(
        &self,
        turn: &OpenTurn,
        call: &CallId,
        plan: &Plan,
        applied: &Applied,
        done: Verdict,
    ) -> Result<Verdict, UserError> {
        let left = plan.change_set.filter(|change| !applied.done.contains(&change.path));
        let rest = Plan { change_set: left, ..plan.clone() };
        let mut verdict = self.hold(turn, call, &rest).await?;
        let paths: Vec<&str> = applied.done.iter().map(NotePath::as_str).collect();
        verdict.output = format!(
            "The user stopped in the middle. Done: {}. The rest waits for the user's review.",
            if paths.is_empty() { "nothing".to_owned() } else { paths.join(", ") }
        );
        verdict.reactions.extend(done.reactions);
        verdict.seen.extend(done.seen);
        Ok(verdict)
    }

    async fn hold(
        &self,
        turn: &OpenTurn,
        call: &CallId,
        plan: &Plan,
    ) -> Result<Verdict, UserError> {
        self.store
            .add_planned(&turn.conversation, &fresh(), &plan.change_set, &turn.turn, call, now())
            .await
            .map_err(user_error)?;
        // Nobody listens once the vault is being closed.
        let _ = self.news.send(News::Planned(turn.conversation.clone()));
        let summary = tools::verdict::waiting(&plan.summary);
        told(&summary, plan.change_set.clone(), Became::Waiting).await
    }
}

/// What the model and the window are told of changes. Counting lines can take long.
async fn told(output: &str, changes: ChangeSet, became: Became) -> Result<Verdict, UserError> {
    let waiting = became == Became::Waiting;
    let one = move |change: &Change| {
        let seen = change.after_hash().map(|hash| (change.path.clone(), hash));
        (reaction(change, waiting), seen)
    };
    let told = aside(move || changes.changes().map(one).collect::<Vec<_>>()).await?;
    let (reactions, seen): (Vec<_>, Vec<Option<(NotePath, ContentHash)>>) =
        told.into_iter().unzip();
    let seen = seen.into_iter().flatten().collect();
    Ok(Verdict { output: output.to_owned(), reactions, seen, ..Verdict::default() })
}

fn reaction(change: &Change, waiting: bool) -> Reaction {
    let path = change.path.clone();
    match &change.act {
        Act::Rename { to, .. } => Reaction::Moved { path, to: to.clone(), waiting },
        Act::Trash { .. } | Act::TrashFolder { .. } => Reaction::Trashed { path, waiting },
        Act::MakeFolder | Act::RestoreFolder { .. } => Reaction::FolderMade { path, waiting },
        Act::Create { .. } | Act::Replace { .. } => {
            let (added, removed) = line_counts(change);
            let created = change.kind() == ChangeKind::Create;
            Reaction::Changed { path, created, added, removed, waiting }
        }
    }
}

fn refused(why: String) -> Verdict {
    Verdict { output: why, is_error: true, ..Verdict::default() }
}
