//! The order in which the notes of a long list are named in a context block.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use protocol::notes::query::PrivateNote;
use protocol::{ConversationId, NotePath, Privacy, UserError};
use store::Store;

use crate::chat::prompt::name_list::{self, NameRank};
use crate::privacy::PrivacyGuard;
use crate::support::blocking::run_blocking;

/// The notes that calls named, in any spelling.
#[derive(Debug, Default)]
pub(super) struct CalledNotes(HashSet<String>);

impl CalledNotes {
    /// The notes of these arguments of calls.
    pub(super) fn from_arguments(paths: &[String]) -> Self {
        Self(paths.iter().map(|path| NotePath::spelling_key(path)).collect())
    }

    /// Whether a call named the note.
    pub(super) fn contain(&self, note: &NotePath) -> bool {
        self.0.contains(&NotePath::spelling_key(note.as_str()))
    }
}

/// The ranks of the notes of some lists.
#[derive(Debug)]
pub(super) struct NameRanks<'a> {
    called: &'a CalledNotes,
    private: HashMap<NotePath, Privacy>,
}

impl<'a> NameRanks<'a> {
    /// The ranks of notes whose changes are planned or decided. A note that moves is as private as the more
    /// private of its places. Reads notes only where there are too many for a list.
    pub(super) async fn load(
        store: &Store,
        guard: &Arc<PrivacyGuard>,
        conversation: &ConversationId,
        notes: BTreeSet<NotePath>,
        called: &'a CalledNotes,
    ) -> Result<Self, UserError> {
        if name_list::fits(&notes.iter().collect::<Vec<_>>()) {
            return Ok(Self { called, private: HashMap::new() });
        }
        let planned = store.planned_names(conversation).await?;
        let guard = Arc::clone(guard);
        let private = run_blocking(move || {
            let moves = planned.into_iter().filter_map(|plan| Some((plan.path, plan.target?)));
            let moves = moves.filter(|(note, _)| notes.contains(note));
            let own_places = notes.iter().map(|note| (note.clone(), note.clone()));
            let (names, places): (Vec<NotePath>, Vec<NotePath>) = own_places.chain(moves).unzip();
            let kept = guard.kept_from(Privacy::Open, &places);
            let mut private: HashMap<NotePath, Privacy> = HashMap::new();
            for (name, kept) in names.into_iter().zip(kept) {
                let level = private.entry(name).or_default();
                *level = (*level).max(privacy_of(kept));
            }
            private
        });
        Ok(Self { called, private: private.await? })
    }

    /// The rank of one of the notes.
    pub(super) fn rank(&self, note: &NotePath) -> NameRank {
        let privacy = self.private.get(note).copied().unwrap_or_default();
        NameRank { privacy, is_called: self.called.contain(note) }
    }
}

const fn privacy_of(kept: Option<PrivateNote>) -> Privacy {
    match kept {
        None => Privacy::Open,
        Some(PrivateNote::LocalOnly) => Privacy::Local,
        Some(PrivateNote::Never) => Privacy::Never,
    }
}
