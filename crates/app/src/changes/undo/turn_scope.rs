//! The undo of one turn.

use std::collections::HashSet;

use protocol::changes::history::UndoScope;
use protocol::{TurnId, UserError};
use store::Store;
use vault::undo::EffectivePart;

use crate::changes::history::effective_changes;
use crate::support::errors::store_error;

/// How many notes these turns changed, as far as that stands.
pub(crate) async fn count_changed_notes(store: &Store, turns: &[TurnId]) -> Result<u32, UserError> {
    let known = effective_changes(store).await?;
    let mut paths = HashSet::new();
    for turn in turns {
        let effects = store.effects_in_scope(&UndoScope::Turn { turn: turn.clone() }).await;
        let effects = effects.map_err(store_error)?.into_iter();
        let stands =
            effects.filter(|effect| known.effective_part(&effect.id) != EffectivePart::Nothing);
        paths.extend(stands.map(|effect| effect.path));
    }
    Ok(u32::try_from(paths.len()).unwrap_or(u32::MAX))
}
