//! Notes that are not where they were when somebody was told their words, and may be private by now.
//!
//! Such a note may lie in a private folder, or may have been private by what it said last. It counts as open
//! only where a change of ours moved it to a place that is open, or put it into the trash while it was.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use protocol::{ChangeKind, Effect, Message, NotePath, Privacy, Source, TurnId, UserError};
use store::Store;
use vault::Vault;

use super::replaced::read_at;
use super::{Keeper, Told, View};
use crate::aside::aside;
use crate::trouble::user_error;

/// A note that was moved more often in a row is followed no further.
const MOVES: usize = 16;

impl Keeper {
    /// From now on what was done to notes by `past` is known.
    pub(crate) fn know_past(&self, past: Store) {
        // There is one for each vault.
        let _first_stays = self.past.set(past);
    }

    /// Those of the notes that are not there and may be private, whatever runs.
    pub(crate) async fn gone_from_any(
        &self,
        notes: BTreeSet<NotePath>,
    ) -> Result<BTreeSet<NotePath>, UserError> {
        let view = self.view(Privacy::Open).await?;
        self.gone_of(&view, notes).await
    }

    /// The notes which those rows were told words of, and that are gone now and may be private.
    pub(super) async fn gone(
        &self,
        view: &Arc<View>,
        rows: &[Message],
        told: &Told,
    ) -> Result<Arc<BTreeSet<NotePath>>, UserError> {
        if view.hides_nothing() {
            return Ok(Arc::default());
        }
        let mut notes: BTreeSet<NotePath> = told.values().flatten().filter_map(note).collect();
        // A note that is to be made is not there yet, and says nothing that its turn did not write. One that is
        // to be changed was there.
        if let (Some(past), Some(row)) = (self.past.get(), rows.first()) {
            let open = past.open_change_set(&row.conversation).await.map_err(user_error)?;
            let planned = open.into_iter().flat_map(|set| set.planned);
            for made in planned.filter(|planned| planned.change.kind() == ChangeKind::Create) {
                notes.remove(&made.change.path);
            }
        }
        let mut gone = self.gone_of(view, notes).await?;
        gone.extend(self.replaced(view, read_at(rows, told)).await?);
        Ok(Arc::new(gone))
    }

    pub(super) async fn gone_of(
        &self,
        view: &View,
        mut notes: BTreeSet<NotePath>,
    ) -> Result<BTreeSet<NotePath>, UserError> {
        if !view.rules.hide_any(view.most) {
            return Ok(BTreeSet::new());
        }
        notes.retain(|path| view.rules.by_path(path) <= view.most);
        let seen = self.seen_by(view);
        let vault = seen.clone();
        let missing = aside(move || {
            notes.retain(|path| !is_there(&vault, path));
            notes
        })
        .await?;
        let mut gone = BTreeSet::new();
        for path in missing {
            if !self.is_known_open(&seen, &path).await? {
                gone.insert(path);
            }
        }
        Ok(gone)
    }

    /// Whether a note that is gone went to a place by a change of ours where it may be seen, or to the trash
    /// while it might.
    async fn is_known_open(&self, seen: &Vault, from: &NotePath) -> Result<bool, UserError> {
        let Some(past) = self.past.get() else { return Ok(false) };
        let mut path = from.clone();
        for _ in 0..MOVES {
            let changes = past.changes_at(&path, None).await.map_err(user_error)?;
            let Some(last) = changes.into_iter().next().filter(|last| last.path == path) else {
                return Ok(false);
            };
            match (last.kind, &last.target) {
                (ChangeKind::Rename, Some(to)) => path = to.clone(),
                (ChangeKind::Trash, _) => return was_open(past, seen, &last).await,
                _ => return Ok(false),
            }
            let (vault, at) = (seen.clone(), path.clone());
            let judged = aside(move || is_there(&vault, &at).then(|| !vault.hides(&at))).await?;
            if let Some(is_open) = judged {
                return Ok(is_open);
            }
        }
        Ok(false)
    }
}

/// Whether a note might be seen when it went to the trash; not where its text is not kept any more.
async fn was_open(past: &Store, seen: &Vault, trashed: &Effect) -> Result<bool, UserError> {
    let Some(hash) = trashed.before.clone() else { return Ok(false) };
    let mut kept = past.contents(std::slice::from_ref(&hash)).await.map_err(user_error)?;
    let Some(text) = kept.remove(&hash) else { return Ok(false) };
    let (vault, path) = (seen.clone(), trashed.path.clone());
    aside(move || vault.shows(&path, &text, None)).await
}

/// Of each turn the notes that are gone and that it may know words of: its own and those of the turns
/// before it. Turns that know of none are left out.
pub(super) fn heard_of(
    rows: &[Message],
    told: &Told,
    gone: &BTreeSet<NotePath>,
) -> HashMap<TurnId, BTreeSet<NotePath>> {
    let mut found = HashMap::new();
    if gone.is_empty() {
        return found;
    }
    let mut so_far = BTreeSet::new();
    for row in rows {
        if found.contains_key(&row.turn) {
            continue;
        }
        let own = told.get(&row.turn).into_iter().flatten().filter_map(note);
        so_far.extend(own.filter(|path| gone.contains(path)));
        if !so_far.is_empty() {
            found.insert(row.turn.clone(), so_far.clone());
        }
    }
    found
}

/// Whether the file can be read there, a link to it followed where links are.
pub(super) fn is_there(seen: &Vault, path: &NotePath) -> bool {
    seen.dates(path).is_ok()
}

pub(super) fn note(source: &Source) -> Option<NotePath> {
    match source {
        Source::Note(path) => Some(path.clone()),
        _ => None,
    }
}
