//! The user says that a folder is a vault that was elsewhere: it gets that one's history.

use std::path::Path;

use protocol::UserError;
use vault::Vault;

use super::record::{self, Record};
use super::{Home, records};
use crate::data_dir::DataDir;
use crate::lock::{NotTaken, VaultLock};
use crate::purpose::Purpose;
use crate::trouble::not_opened;

/// Gives the vault in `folder` the data folder of the vault that was last seen at `from`. Both have to
/// carry the same id, that vault must not stand there any more, and neither may be open. What the
/// folder had of its own stays on the disk and belongs to nobody. Cut in between, the vault has no
/// history yet, and the same call goes on.
pub fn adopt(data: &DataDir, folder: &Path, from: &Path) -> Result<(), UserError> {
    let vault = Vault::open(folder).map_err(|error| not_opened(&error))?;
    let own = Home::find(&vault, data)?;
    let from = std::path::absolute(from).unwrap_or_else(|_| from.to_owned());
    let all = records(&data.vaults());
    let is_meant = |record: &&Record| record.place == from && record.dir != own.dir;
    let Some(old) = all.iter().find(is_meant).filter(|_| own.now.card.is_some()) else {
        return Err(UserError::other(format!(
            "No history of a vault at {} is kept. Check the path: it is the one where the vault was.",
            from.display()
        )));
    };
    if old.card != own.now.card {
        return Err(UserError::other(format!(
            "{} and the vault that was at {} carry different ids, so they are not one vault. Nothing \
             was changed.",
            folder.display(),
            from.display()
        )));
    }
    if old.still_stands() {
        return Err(UserError::other(format!(
            "The vault at {} is still there and keeps its history. Nothing was changed.",
            from.display()
        )));
    }
    let taken = |dir: &Path| match VaultLock::take(dir, folder, Purpose::Ask) {
        Ok(lock) => Ok(lock),
        Err(NotTaken::Ending(error) | NotTaken::Refused(error)) => Err(error),
    };
    let _theirs = taken(&old.dir)?;
    own.make()?;
    let _ours = taken(&own.dir)?;
    record::leave(&own.dir)?;
    let (mark, card_mark, place) = (own.now.mark, own.now.card_mark, own.now.place.clone());
    Record { mark, card_mark, place, ..old.clone() }.write()
}
