//! Files of the data directory that say for whom each saved secret is: a line for each, with the secret, a blank and its
//! owner.
#![expect(clippy::disallowed_methods, reason = "the files are in the data directory")]

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use protocol::{ErrorCode, UserError};

use crate::workspace::data_dir::{DataDir, plain_reason};

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
        let (file, why) = (file.display(), plain_reason(&error));
        let words = format!(
            "Couldn’t read {file}, which says where your saved API keys or token may be sent: \
             {why}. Make the file readable. Or remove your saved keys and token, delete the file, \
             and paste them again."
        );
        UserError::new(ErrorCode::Key, words)
    })
}

/// Changes the owners under the lock of the data directory. A file that cannot be read stays as it is. Blocks.
pub(crate) fn change(
    data: &DataDir,
    file: &Path,
    change: impl Fn(&mut BTreeMap<String, String>),
) -> Result<(), UserError> {
    let lock = data.lock()?;
    let before = read_or_explain(file)?;
    let mut after = before.clone();
    change(&mut after);
    if after == before {
        return Ok(());
    }
    let text: String = after.iter().map(|(secret, owner)| format!("{secret} {owner}\n")).collect();
    lock.replace(file, text.as_bytes())
}
