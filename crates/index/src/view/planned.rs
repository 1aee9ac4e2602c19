//! A view as it would be if planned changes were carried out.

use std::borrow::Cow;

use protocol::{ChangeAction, ChangeSet, NotePath, Timestamp};
use vault::{EntryKind, Vault, VaultEntry};

use super::{IndexView, ScanOutcome};
use crate::metadata::note_metadata::NoteMetadata;
use crate::snapshot::{ScannedFile, to_utf8};

impl IndexView {
    /// The view of a reader when `plan` counts as done; `vault` knows how private it is then.
    pub(crate) fn planned(&self, plan: &ChangeSet, vault: &Vault) -> Cow<'_, Self> {
        if plan.is_empty() {
            return Cow::Borrowed(self);
        }
        let written = plan.planned_notes().into_iter().map(|(path, bytes)| {
            let judged =
                vault.text_privacy(bytes).filter(|judged| judged.rules == self.snapshot.rules());
            let by_text = judged.map(|judged| judged.by_text);
            let looked = ScannedFile { text_privacy: by_text, ..planned_file(&path, bytes) };
            (path, ScanOutcome::Held(looked))
        });
        let moved = self.moved_files(plan);
        Cow::Owned(self.with_changes(moved.into_iter().chain(written)))
    }

    /// The files that move elsewhere, or to the trash. All removals come before all additions.
    fn moved_files(&self, plan: &ChangeSet) -> Vec<(NotePath, ScanOutcome)> {
        let moving = |act: &ChangeAction| {
            matches!(
                act,
                ChangeAction::Trash { .. }
                    | ChangeAction::TrashFolder { .. }
                    | ChangeAction::Rename { .. }
            )
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
        let locations = plan.disk_locations();
        let (mut gone, mut come) = (Vec::new(), Vec::new());
        for held in touched {
            let seen = locations.locate(held.path());
            if seen.as_ref() == Some(held.path()) {
                continue;
            }
            gone.push((held.path().clone(), ScanOutcome::Gone));
            if let Some(path) = seen {
                let entry = VaultEntry { path: path.clone(), ..held.entry() };
                let (text, facts) = (held.text().to_vec(), held.metadata().encode());
                let by_text = held.text_privacy();
                come.push((
                    path,
                    ScanOutcome::Held(ScannedFile {
                        entry,
                        stamp: None,
                        text,
                        metadata: facts,
                        text_privacy: by_text,
                    }),
                ));
            }
        }
        gone.into_iter().chain(come).collect()
    }
}

/// A file that a plan makes or rewrites.
fn planned_file(path: &NotePath, bytes: &[u8]) -> ScannedFile {
    let text = to_utf8(bytes);
    let facts = NoteMetadata::from_file(path, &text).encode();
    let is_note = path.is_markdown();
    let entry = VaultEntry {
        path: path.clone(),
        size: bytes.len() as u64,
        modified: Timestamp(i64::MAX),
        kind: if is_note { EntryKind::Note } else { EntryKind::Attachment },
    };
    let text = if is_note { text.into_owned() } else { Vec::new() };
    ScannedFile { entry, stamp: None, text, metadata: facts, text_privacy: None }
}
