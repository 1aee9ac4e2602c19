//! A view as it would be if planned changes were carried out.

use std::borrow::Cow;

use protocol::{Act, ChangeSet, NotePath, Timestamp};
use vault::{Entry, EntryKind, Vault};

use super::{Now, View};
use crate::facts::Facts;
use crate::snapshot::{Looked, unmarked};

impl View {
    /// What a reader finds when `plan` counts as done; `vault` says how private it is then.
    pub(crate) fn planned(&self, plan: &ChangeSet, vault: &Vault) -> Cow<'_, Self> {
        if plan.is_empty() {
            return Cow::Borrowed(self);
        }
        let written = plan.written().into_iter().map(|(path, bytes)| {
            let judged = vault.judged(bytes).filter(|judged| judged.rules == self.snapshot.rules());
            let by_text = judged.map(|judged| judged.by_text);
            let looked = Looked { by_text, ..written(&path, bytes) };
            (path, Now::Held(looked))
        });
        let moved = self.moved(plan);
        Cow::Owned(self.with(moved.into_iter().chain(written)))
    }

    /// What is elsewhere, or in the trash. All that goes comes before all that arrives.
    fn moved(&self, plan: &ChangeSet) -> Vec<(NotePath, Now)> {
        let moving = |act: &Act| {
            matches!(act, Act::Trash { .. } | Act::TrashFolder { .. } | Act::Rename { .. })
        };
        let from: Vec<&NotePath> = plan
            .changes()
            .filter(|change| moving(&change.act))
            .map(|change| &change.path)
            .collect();
        if from.is_empty() {
            return Vec::new();
        }
        let touched = self.all().filter(|held| from.iter().any(|from| held.path().is_in(from)));
        let whereabouts = plan.whereabouts();
        let (mut gone, mut come) = (Vec::new(), Vec::new());
        for held in touched {
            let seen = whereabouts.of(held.path());
            if seen.as_ref() == Some(held.path()) {
                continue;
            }
            gone.push((held.path().clone(), Now::Gone));
            if let Some(path) = seen {
                let entry = Entry { path: path.clone(), ..held.entry() };
                let (text, facts) = (held.text().to_vec(), held.facts().encode());
                let by_text = held.by_text();
                come.push((path, Now::Held(Looked { entry, stamp: None, text, facts, by_text })));
            }
        }
        gone.into_iter().chain(come).collect()
    }
}

/// A file that a plan makes or rewrites.
fn written(path: &NotePath, bytes: &[u8]) -> Looked {
    let text = unmarked(bytes);
    let facts = Facts::of(path, &text).encode();
    let is_note = path.is_markdown();
    let entry = Entry {
        path: path.clone(),
        size: bytes.len() as u64,
        modified: Timestamp(i64::MAX),
        kind: if is_note { EntryKind::Note } else { EntryKind::Attachment },
    };
    let text = if is_note { text.into_owned() } else { Vec::new() };
    Looked { entry, stamp: None, text, facts, by_text: None }
}
