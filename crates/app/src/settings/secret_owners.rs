//! Files of the data directory that say for whom each saved secret is: a line for each, with the secret, a blank and its
//! owner.
#![expect(clippy::disallowed_methods, reason = "the files are in the data directory")]

use std::collections::BTreeMap;
use std::path::Path;

use protocol::UserError;

use crate::workspace::data_dir::DataDir;

/// The owners by secret; none where the file cannot be read. Blocks.
pub(crate) fn read(file: &Path) -> BTreeMap<String, String> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let lines = text.lines().filter_map(|line| line.split_once(' '));
    lines.map(|(secret, owner)| (secret.to_owned(), owner.to_owned())).collect()
}

/// Changes the owners under the lock of the data directory. Blocks.
pub(crate) fn change(
    data: &DataDir,
    file: &Path,
    change: impl Fn(&mut BTreeMap<String, String>),
) -> Result<(), UserError> {
    let lock = data.lock()?;
    let before = read(file);
    let mut after = before.clone();
    change(&mut after);
    if after == before {
        return Ok(());
    }
    let text: String = after.iter().map(|(secret, owner)| format!("{secret} {owner}\n")).collect();
    lock.replace(file, text.as_bytes())
}
