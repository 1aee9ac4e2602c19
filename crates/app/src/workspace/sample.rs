//! The sample vault that came with the application: a writable copy for those who want to try.
#![expect(clippy::disallowed_methods, reason = "the copy is written before it becomes a vault")]

use std::path::{Path, PathBuf};

use include_dir::{Dir, DirEntry, include_dir};
use protocol::UserError;

use crate::workspace::data_dir::{DataDir, FileAction, io_error};

static SAMPLE: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../vault-fixtures/sample");

/// The folder of the copy. Notes that are there already are left as they are.
pub(crate) fn copy_sample(data: &DataDir) -> Result<PathBuf, UserError> {
    let root = data.sample();
    if !root.join(".complete").exists() {
        write(&SAMPLE, &root)?;
        let mark = root.join(".complete");
        std::fs::write(&mark, b"").map_err(|error| io_error(FileAction::Write, &mark, &error))?;
    }
    Ok(root)
}

fn write(dir: &Dir<'_>, root: &Path) -> Result<(), UserError> {
    let here = root.join(dir.path());
    std::fs::create_dir_all(&here)
        .map_err(|error| io_error(FileAction::CreateFolder, &here, &error))?;
    for entry in dir.entries() {
        match entry {
            DirEntry::Dir(inner) => write(inner, root)?,
            DirEntry::File(file) => {
                let path = root.join(file.path());
                if !path.exists() {
                    std::fs::write(&path, file.contents())
                        .map_err(|error| io_error(FileAction::Write, &path, &error))?;
                }
            }
        }
    }
    Ok(())
}
