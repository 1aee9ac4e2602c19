//! Durable edits: of one note, and of sixty as one change set.

use std::error::Error;
use std::fs;

use tempfile::TempDir;

use crate::durability::bare_edit::BareEdit;
use crate::durability::vault_and_ledger::VaultAndLedger;
use crate::paired_timing::{Ratio, measure};
use crate::sample_notes::{note_name, note_text};

/// Measures edits of so many notes at once, compared with the bare ones of as many files.
pub(crate) async fn measure_edits(notes: usize, pairs: usize) -> Result<Ratio, Box<dyn Error>> {
    let place = EditFolders::new(notes)?;
    let ours = VaultAndLedger::open(&place.folder("ours"), &place.folder("ours.db")).await?;
    let mut bare = BareEdit::open(&place.folder("bare"), &place.folder("bare.db")).await?;
    let (mut our_edits, mut bare_edits) = (0, 0);
    let our_edit = async || {
        let names: Vec<_> = (0..notes).map(note_name).collect();
        let texts: Vec<_> =
            (0..notes).map(|at| (note_text(at, our_edits), note_text(at, our_edits + 1))).collect();
        our_edits += 1;
        let all = names.iter().zip(&texts);
        let all = all.map(|(name, (before, after))| (&**name, Some(&**before), &**after));
        ours.edit(all).await
    };
    let bare_edit = async || {
        bare_edits += 1;
        let files: Vec<_> =
            (0..notes).map(|at| (note_name(at), note_text(at, bare_edits))).collect();
        bare.edit(&files).await
    };
    measure(pairs, our_edit, bare_edit).await
}

/// Two folders of the same notes on one disk, with room for two databases.
struct EditFolders(TempDir);

impl EditFolders {
    fn new(notes: usize) -> Result<Self, Box<dyn Error>> {
        let place = Self(tempfile::tempdir()?);
        for side in ["ours", "bare"] {
            fs::create_dir(place.folder(side))?;
            for number in 0..notes {
                fs::write(place.folder(side).join(note_name(number)), note_text(number, 0))?;
            }
        }
        Ok(place)
    }

    fn folder(&self, name: &str) -> std::path::PathBuf {
        self.0.path().join(name)
    }
}
