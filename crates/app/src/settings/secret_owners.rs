//! Files of the data directory that say for whom each saved secret is: a line for each, with the secret, a blank and its
//! owner.
#![expect(clippy::disallowed_methods, reason = "the files are in the data directory")]

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use protocol::{ErrorCode, UserError};

use crate::user_texts;
use crate::workspace::data_dir::{DataDir, plain_reason};

/// Stands in the place of an owner while a secret is being saved. No server and no hub has this name, so the secret is for
/// none of them; earlier versions take it for another owner, too.
const BEING_SAVED: &str = "being-saved";

/// Whether these words stand for no owner: the secret was being saved, and nobody knows which one its place holds.
pub(crate) fn is_being_saved(owner: &str) -> bool {
    owner == BEING_SAVED
}

/// The line about one secret in a file of owners.
#[derive(Debug, Clone)]
pub(crate) struct OwnerRow {
    file: PathBuf,
    secret: String,
}

impl OwnerRow {
    /// The line that begins with `secret`, which has no blank in it.
    pub(crate) const fn new(file: PathBuf, secret: String) -> Self {
        Self { file, secret }
    }

    /// From now on the secret is for `owner`; with `None` nothing is known about that. Durable when it returns. Blocks.
    pub(crate) fn set(&self, data: &DataDir, owner: Option<&str>) -> Result<(), UserError> {
        change(data, &self.file, |owners| match owner {
            Some(owner) => drop(owners.insert(self.secret.clone(), owner.to_owned())),
            None => drop(owners.remove(&self.secret)),
        })
    }

    /// The owner; where none is known, that is `owner` from now on. Blocks.
    pub(crate) fn get_or_set(&self, data: &DataDir, owner: &str) -> Result<String, UserError> {
        change(data, &self.file, |owners| {
            owners.entry(self.secret.clone()).or_insert_with(|| owner.to_owned()).clone()
        })
    }

    /// From now on the secret is for nobody, over a crash too, until [`Self::set`] gives it an owner. Returns the owner
    /// so far. Durable when it returns. Blocks.
    pub(crate) fn suspend(&self, data: &DataDir) -> Result<Option<String>, UserError> {
        change(data, &self.file, |owners| {
            owners.insert(self.secret.clone(), BEING_SAVED.to_owned())
        })
    }
}

/// The owners by secret; none while there is no such file. Where this fails, nobody knows for whom a secret is, so none
/// may be sent. Blocks.
pub(crate) fn read(file: &Path) -> io::Result<BTreeMap<String, String>> {
    let text = match std::fs::read_to_string(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        read => read?,
    };
    let lines = text.lines().filter_map(|line| line.split_once(' '));
    Ok(lines.map(|(secret, owner)| (secret.to_owned(), owner.to_owned())).collect())
}

/// The same, with an error that names the file and says what the user can do about it.
pub(crate) fn read_or_explain(file: &Path) -> Result<BTreeMap<String, String>, UserError> {
    read(file).map_err(|error| {
        let (file, why) = (file.display().to_string(), plain_reason(&error));
        UserError::new(ErrorCode::Key, user_texts::secret_owners_unreadable(file, why))
    })
}

/// Changes the owners under the lock of the data directory. A file that cannot be read stays as it is. Blocks.
fn change<T>(
    data: &DataDir,
    file: &Path,
    change: impl FnOnce(&mut BTreeMap<String, String>) -> T,
) -> Result<T, UserError> {
    let lock = data.lock()?;
    let before = read_or_explain(file)?;
    let mut after = before.clone();
    let outcome = change(&mut after);
    if after != before {
        let text: String =
            after.iter().map(|(secret, owner)| format!("{secret} {owner}\n")).collect();
        lock.replace(file, text.as_bytes())?;
    }
    Ok(outcome)
}
