//! What has become of a note since one of its changes was applied.

use protocol::applied::ChangedSince;
use protocol::{EffectId, UserError};
use vault::undo::{Notes as _, Wanted, note_now};

use crate::App;
use crate::applied::{the_effect, versions};
use crate::aside::aside;
use crate::diff::single_hunks;
use crate::ports::notes::VaultNotes;
use crate::trouble::user_error;

impl App {
    /// What changed in a note since a change of it was applied, whoever did it and wherever the note is
    /// by now.
    pub async fn changed_since(&self, effect: &EffectId) -> Result<ChangedSince, UserError> {
        let open = self.open().await?;
        let found = the_effect(&open.store, effect).await?;
        if found.forgotten.is_some() || found.after.is_none() {
            return Err(UserError::other(
                "The text that this change left is not kept, so nothing can be compared with it.",
            ));
        }
        let (_, left) = versions(&open.store, &found).await?;
        let effects = open.store.past(effect).await.map_err(user_error)?;
        let past = open.known(effects, &Wanted::back([effect.clone()])).await?;
        let (notes, effect) = (VaultNotes(open.vault.clone()), effect.clone());
        aside(move || {
            let now = note_now(&past, &effect, &notes);
            let now = now.and_then(|path| Some((notes.bytes(&path)?, path)));
            let (path, hunks) = match now {
                Some((bytes, path)) => (Some(path), single_hunks(&left, &bytes)),
                None => (None, Vec::new()),
            };
            ChangedSince { effect, path, hunks }
        })
        .await
    }
}
