//! The diff of a note since one of its changes was applied.

use protocol::changes::history::ChangedSince;
use protocol::{EffectId, UserError};
use vault::undo::{UndoRequest, VaultReader as _, current_path};

use crate::App;
use crate::adapters::notes::VaultNotes;
use crate::changes::diff::separate_hunks;
use crate::changes::history::{before_and_after, find_effect};
use crate::support::blocking::run_blocking;
use crate::user_texts;

impl App {
    /// The changes in a note since a change of it was applied, by any program, wherever the note is
    /// now.
    pub async fn diff_since(&self, effect: &EffectId) -> Result<ChangedSince, UserError> {
        let open = self.session().await?;
        let changes = &open.changes;
        let found = find_effect(&changes.store, effect).await?;
        if found.purged.is_some() || found.after.is_none() {
            return Err(UserError::other(user_texts::change_too_old_to_compare()));
        }
        let (_, left) = before_and_after(&changes.store, &found).await?;
        let effects = changes.store.effects_since(effect).await?;
        let history =
            changes.history_with_contents(effects, &UndoRequest::undo([effect.clone()])).await?;
        let (notes, effect) = (VaultNotes(changes.vault.clone()), effect.clone());
        run_blocking(move || {
            let now = current_path(&history, &effect, &notes);
            let now = now.and_then(|path| Some((notes.bytes(&path)?, path)));
            let (path, hunks) = match now {
                Some((bytes, path)) => (Some(path), separate_hunks(&left, &bytes)),
                None => (None, Vec::new()),
            };
            ChangedSince { effect, path, hunks }
        })
        .await
    }
}
