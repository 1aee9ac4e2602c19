//! Entering a vault: its folder is opened, its data folder is found, its lock is taken.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use protocol::{ErrorCode, UserError};
use vault::Vault;

use crate::aside::aside;
use crate::data_dir::DataDir;
use crate::home::Home;
use crate::lock::{NotTaken, VaultLock};
use crate::purpose::Purpose;
use crate::trouble::not_opened;

/// A program that was killed lets go of its lock only when the last of its threads has ended and
/// the kernel has put away what it held: so long a start right after a crash waits.
const LETTING_GO: Duration = Duration::from_secs(15);
/// So long a holder may look alive although it was told to end.
const ABOUT_TO_END: Duration = Duration::from_secs(2);
/// How often it looks again.
const LOOK_AGAIN: Duration = Duration::from_millis(25);

/// Opens the folder and takes its lock, aside; a lock whose holder has ended is asked for again.
pub(crate) async fn entered(
    folder: &Path,
    data: &DataDir,
    purpose: Purpose,
) -> Result<(Vault, PathBuf, Arc<VaultLock>), UserError> {
    let asked = Instant::now();
    loop {
        let (named, data) = (folder.to_owned(), data.clone());
        match aside(move || enter(&named, &data, purpose)).await? {
            Err(NotTaken::Ending(_)) if asked.elapsed() < LETTING_GO => {
                tokio::time::sleep(LOOK_AGAIN).await;
            }
            Err(NotTaken::Refused(error))
                if error.code == ErrorCode::Busy && asked.elapsed() < ABOUT_TO_END =>
            {
                tokio::time::sleep(LOOK_AGAIN).await;
            }
            Err(NotTaken::Ending(error) | NotTaken::Refused(error)) => return Err(error),
            Ok(entered) => return Ok(entered),
        }
    }
}

/// Opens the folder and takes its lock; the path is that of its data.
fn enter(
    folder: &Path,
    data: &DataDir,
    purpose: Purpose,
) -> Result<(Vault, PathBuf, Arc<VaultLock>), NotTaken> {
    let vault = Vault::open(folder).map_err(|error| NotTaken::Refused(not_opened(&error)))?;
    let Home { dir, id } = Home::of(&vault, data).map_err(NotTaken::Refused)?;
    vault.will_be(id);
    let lock = VaultLock::take(&dir, folder, purpose)?;
    Ok((vault, dir, Arc::new(lock)))
}
