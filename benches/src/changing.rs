//! Durable edits: of one note, and of sixty as one change set.

use std::error::Error;
use std::fs;

use tempfile::TempDir;

use crate::bare::Bare;
use crate::ours::Ours;
use crate::pairs::{Ratio, measure};
use crate::text::{name, note};

/// Measures edits of so many notes at once, beside the bare ones of as many files.
pub(crate) async fn edits(notes: usize, pairs: usize) -> Result<Ratio, Box<dyn Error>> {
    let place = Place::new(notes)?;
    let ours = Ours::over(&place.folder("ours"), &place.folder("ours.db")).await?;
    let mut bare = Bare::over(&place.folder("bare"), &place.folder("bare.db")).await?;
    let (mut our_edits, mut bare_edits) = (0, 0);
    let our_edit = async || {
        let names: Vec<_> = (0..notes).map(name).collect();
        let texts: Vec<_> =
            (0..notes).map(|at| (note(at, our_edits), note(at, our_edits + 1))).collect();
        our_edits += 1;
        let all = names.iter().zip(&texts);
        let all = all.map(|(name, (before, after))| (&**name, Some(&**before), &**after));
        ours.edit(all).await
    };
    let bare_edit = async || {
        bare_edits += 1;
        let files: Vec<_> = (0..notes).map(|at| (name(at), note(at, bare_edits))).collect();
        bare.edit(&files).await
    };
    measure(pairs, our_edit, bare_edit).await
}

/// Two folders of the same notes on one disk, with room for two databases.
struct Place(TempDir);

impl Place {
    fn new(notes: usize) -> Result<Self, Box<dyn Error>> {
        let place = Self(tempfile::tempdir()?);
        for side in ["ours", "bare"] {
            fs::create_dir(place.folder(side))?;
            for number in 0..notes {
                fs::write(place.folder(side).join(name(number)), note(number, 0))?;
            }
        }
        Ok(place)
    }

    fn folder(&self, name: &str) -> std::path::PathBuf {
        self.0.path().join(name)
    }
}
