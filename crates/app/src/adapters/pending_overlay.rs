//! The pending changes as a turn sees them.
//!
//! A turn is not shown a change that may tell it of a private note, and plans nothing on top of one: its plan
//! would take the place of a text that the user has not decided about.

use std::collections::{BTreeMap, BTreeSet};

use llm::tool_api::tool::ChangePlan;
use protocol::{CallId, ChangeKind, ChangeSet, NotePath, OpenTurn, Timestamp, TurnId, UserError};
use store::PlannedChangeRow;

use crate::adapters::changes::{VaultChanges, is_capture};
use crate::support::blocking::run_blocking;

/// The pending changes of a conversation for one of its turns.
#[derive(Debug, Default)]
pub(super) struct PendingOverlay {
    /// Those that the turn sees.
    pub(super) shown: ChangeSet,
    /// The paths of those that it may not see.
    pub(super) withheld: BTreeSet<NotePath>,
}

/// The answer to a plan that meets a pending change which the turn may not see.
pub(super) fn withheld_text(path: &NotePath) -> String {
    format!(
        "A change of `{path}` waits for review, and this model may not see it. Ask the user to decide about it \
         first."
    )
}

impl VaultChanges {
    /// The pending changes of the turn's conversation, as the turn may see them.
    pub(super) async fn pending_overlay(
        &self,
        turn: &OpenTurn,
    ) -> Result<PendingOverlay, UserError> {
        let open = self.store.open_change_set(&turn.conversation).await?;
        let Some(set) = open else { return Ok(PendingOverlay::default()) };
        let (replaced, calls) = tokio::try_join!(
            self.replaced(&set.planned),
            self.privacy_guard.withheld_plans(turn, &set.planned)
        )?;
        let is_withheld =
            |row: &PlannedChangeRow| calls.contains(&(row.turn.clone(), row.call.clone()));
        // Changes of a unit are shown all or not at all.
        let units: BTreeSet<CallId> = set
            .planned
            .iter()
            .filter(|row| is_withheld(row))
            .filter_map(|row| row.unit.clone())
            .collect();
        let vault = self.privacy_guard.vault_for_models();
        let rows: Vec<(PlannedChangeRow, bool)> = set
            .planned
            .into_iter()
            .map(|row| {
                let is_of_unit = row.unit.as_ref().is_some_and(|unit| units.contains(unit));
                let may_show =
                    !is_withheld(&row) && !is_of_unit && !replaced.contains(&row.change.path);
                (row, may_show)
            })
            .collect();
        run_blocking(move || split_overlay(&rows, &vault)).await
    }

    /// The path where a plan meets a pending change that the turn may not see. A capture meets none: it goes
    /// into the file.
    pub(super) async fn withheld_by_plan(
        &self,
        turn: &OpenTurn,
        call: &CallId,
        plan: &ChangePlan,
    ) -> Result<Option<NotePath>, UserError> {
        if is_capture(turn, call) {
            return Ok(None);
        }
        let withheld = self.pending_overlay(turn).await?.withheld;
        let changes = plan.change_set.changes();
        let mut paths = changes.flat_map(|change| [Some(&change.path), change.target()]).flatten();
        let meets = |path: &&NotePath| {
            withheld.iter().any(|other| path.is_in(other) || other.is_in(path) || *path == other)
        };
        Ok(paths.find(meets).cloned())
    }

    /// Notes with pending changes that another file has replaced since.
    async fn replaced(
        &self,
        waiting: &[PlannedChangeRow],
    ) -> Result<BTreeSet<NotePath>, UserError> {
        if self.privacy_guard.vault_for_models().shows_all() {
            return Ok(BTreeSet::new());
        }
        let of_notes = || waiting.iter().filter(|row| row.change.kind() != ChangeKind::Create);
        let turns: Vec<&TurnId> =
            of_notes().map(|row| &row.turn).collect::<BTreeSet<_>>().into_iter().collect();
        let times = self.store.turn_times(&turns).await?;
        let mut read: BTreeMap<NotePath, Timestamp> = BTreeMap::new();
        for row in of_notes() {
            let Some(begun) = times.get(&row.turn).map(|times| times.begun) else { continue };
            let first = read.entry(row.change.path.clone()).or_insert(begun);
            *first = begun.min(*first);
        }
        self.privacy_guard.replaced_for_any(read).await
    }
}

/// The changes that may be shown, and the paths of the others, as far as their notes are no private ones.
fn split_overlay(rows: &[(PlannedChangeRow, bool)], vault: &vault::Vault) -> PendingOverlay {
    let all: ChangeSet = rows.iter().map(|(row, _)| row.change.clone()).collect();
    let renames = all.renames();
    let mut shown = Vec::new();
    let mut withheld = BTreeSet::new();
    for (PlannedChangeRow { change, .. }, may_show) in rows {
        // A pending text may make the note private.
        let shows = |path: &NotePath| {
            !vault.hides(path) && change.after().is_none_or(|text| vault.shows(path, text, None))
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
        let paths = || [Some(&change.path), change.target()].into_iter().flatten();
        if !*may_show || !paths().all(shows) {
            withheld.extend(paths().filter(|path| !vault.hides(path)).cloned());
        } else if stands() {
            shown.push(change.clone());
        }
    }
    PendingOverlay { shown: shown.into_iter().collect(), withheld }
}
