//! The user says that a folder is a vault that was elsewhere: it gets that one's history.

use std::path::Path;

use protocol::UserError;
use vault::Vault;

use super::record::{self, VaultRecord};
use super::{VaultDataDir, read_records};
use crate::settings::run_mode::RunMode;
use crate::workspace::data_dir::DataDir;
use crate::workspace::vault_lock::{VaultLock, VaultLockError};

/// Gives the vault in `folder` the data folder of the vault that was last seen at `from`. Both have to
/// carry the same id, that vault must not stand there any more, and neither may be open. What the
/// folder had of its own stays on the disk and belongs to nobody. Cut in between, the vault has no
/// history yet, and the same call goes on.
pub fn adopt(data: &DataDir, folder: &Path, from: &Path) -> Result<(), UserError> {
    let vault = Vault::open(folder)?;
    let own = VaultDataDir::find(&vault, data)?;
    let from = std::path::absolute(from).unwrap_or_else(|_| from.to_owned());
    let all = read_records(&data.vaults());
    let is_meant = |record: &&VaultRecord| record.path == from && record.dir != own.dir;
    let Some(old) = all.iter().find(is_meant).filter(|_| own.record.vault_id.is_some()) else {
        return Err(UserError::other(format!(
            "No history of a vault at {} is kept. Check the path: it is the one where the vault was.",
            from.display()
        )));
    };
    if own.record.vault_id.as_deref() != Some(old.expected_vault_id()) {
        return Err(UserError::other(format!(
            "{} and the vault that was at {} carry different ids, so they aren’t the same vault. Nothing \
             was changed.",
            folder.display(),
            from.display()
        )));
    }
    if old.is_at_recorded_path() {
        return Err(UserError::other(format!(
            "The vault at {} is still there and keeps its history. Nothing was changed.",
            from.display()
        )));
    }
    let taken = |dir: &Path| match VaultLock::take(dir, folder, RunMode::Ask) {
        Ok(lock) => Ok(lock),
        Err(VaultLockError::Ending(error) | VaultLockError::Refused(error)) => Err(error),
    };
    let _theirs = taken(&old.dir)?;
    own.create()?;
    let _ours = taken(&own.dir)?;
    record::abandon(&own.dir)?;
    let VaultRecord { vault_id, identity, card_mark, path, .. } = own.record;
    VaultRecord { vault_id, identity, card_mark, path, ..old.clone() }.write()
}
