//! Whether a hub may be told what a turn says. It is judged when the turn ends and again when its words are sent, each
//! time by the settings and private rules of that moment.

use std::collections::BTreeSet;

use jiff::tz::TimeZone;
use protocol::settings::HubSettings;
use protocol::{Privacy, Source, Timestamp, TurnId, UserError};
use store::Store;

use crate::hub::writable_notes::WritableNotes;
use crate::privacy::{PrivacyGuard, provenance, was_told_model_title};
use crate::support::blocking::run_blocking;
use crate::support::clock::local_now;

/// Whether the hub may be told what a turn says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HubDisclosure {
    /// All that was read lies in its places, and every model may see it.
    Within,
    /// Something else was read: the user decides.
    Beyond,
}

/// Whether the turn has heard of nothing but what the hub may use: in its places, and nothing that only models on this
/// computer may see. `unstored` are sources of the turn that the store does not have yet. The daily note that the turn
/// could write is one of the places, also on the next day.
pub(crate) async fn judge_turn(
    store: &Store,
    privacy_guard: &PrivacyGuard,
    settings: HubSettings,
    turn: &TurnId,
    ended_at: Timestamp,
    unstored: Vec<Source>,
) -> Result<HubDisclosure, UserError> {
    let mut told = store.context_sources_by_turn(turn).await?;
    told.entry(turn.clone()).or_default().extend(unstored);
    let mut heard: BTreeSet<Source> = told.values().flatten().cloned().collect();
    if was_told_model_title(store, turn).await? {
        heard.insert(Source::Foreign);
    }
    let vault = privacy_guard.vault_for_models();
    let ended_at = jiff::Timestamp::from_millisecond(ended_at.0)
        .map_or_else(|_| local_now(), |at| at.to_zoned(TimeZone::system()));
    let places =
        run_blocking(move || WritableNotes::from_settings(&vault, &settings, &ended_at)).await?;
    // Where it cannot be told whether a note is private, the user decides.
    let is_beyond = provenance::exceeds_hub_access(&places, &heard)
        || privacy_guard.looked_beyond_open(turn, &told).await.unwrap_or(true)
        || privacy_guard.hides_told(Privacy::Open, &told).await.unwrap_or(true);
    Ok(if is_beyond { HubDisclosure::Beyond } else { HubDisclosure::Within })
}
