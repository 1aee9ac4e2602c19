//! Entering a vault: its folder is opened, its data folder is found, its lock is taken.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use protocol::{ErrorCode, UserError};
use vault::Vault;

use crate::settings::run_mode::RunMode;
use crate::support::blocking::run_blocking;
use crate::user_texts;
use crate::workspace::data_dir::DataDir;
use crate::workspace::vault_lock::{VaultLock, VaultLockError};
use crate::workspace::vault_registry::VaultDataDir;

/// A vault whose data folder is this process's alone for as long as the lock lives.
pub(crate) struct LockedVault {
    pub(crate) vault: Vault,
    pub(crate) home: VaultDataDir,
    pub(crate) lock: Arc<VaultLock>,
}

/// How often the data folder may turn out to be another one once its lock is held.
const MAX_ATTEMPTS: u32 = 3;
/// The time that a start right after a crash waits. The lock of a killed program is released only
/// when the last of its threads has ended and the kernel has cleaned up.
const KERNEL_RELEASE_TIMEOUT: Duration = Duration::from_secs(15);
/// The time for which a holder may look alive although it was told to end.
const HOLDER_EXIT_TIMEOUT: Duration = Duration::from_secs(2);
/// How often it looks again.
const RETRY_INTERVAL: Duration = Duration::from_millis(25);

/// Opens the folder and takes its lock on a blocking thread; tries again for a lock whose holder
/// has ended.
pub(crate) async fn open_and_lock(
    folder: &Path,
    data: &DataDir,
    run_mode: RunMode,
) -> Result<LockedVault, UserError> {
    let asked = Instant::now();
    loop {
        let (named, data) = (folder.to_owned(), data.clone());
        match run_blocking(move || try_open_and_lock(&named, &data, run_mode)).await? {
            Err(VaultLockError::Ending(_)) if asked.elapsed() < KERNEL_RELEASE_TIMEOUT => {
                tokio::time::sleep(RETRY_INTERVAL).await;
            }
            Err(VaultLockError::Refused(error))
                if error.code == ErrorCode::Busy && asked.elapsed() < HOLDER_EXIT_TIMEOUT =>
            {
                tokio::time::sleep(RETRY_INTERVAL).await;
            }
            Err(VaultLockError::Ending(error) | VaultLockError::Refused(error)) => {
                return Err(error);
            }
            Ok(entered) => return Ok(entered),
        }
    }
}

/// Opens the folder, finds its data folder and takes the lock there.
///
/// Which data folder it is may change until the lock is held: another process may have opened the
/// same folder for the first time. So it is found again under the lock.
fn try_open_and_lock(
    folder: &Path,
    data: &DataDir,
    run_mode: RunMode,
) -> Result<LockedVault, VaultLockError> {
    let vault = Vault::open(folder).map_err(|error| VaultLockError::Refused(error.into()))?;
    let find = || VaultDataDir::find(&vault, data).map_err(VaultLockError::Refused);
    let mut home = find()?;
    for _ in 0..MAX_ATTEMPTS {
        home.create().map_err(VaultLockError::Refused)?;
        let lock = Arc::new(VaultLock::take(&home.dir, folder, run_mode)?);
        let now = find()?;
        if now.dir == home.dir {
            now.save().map_err(VaultLockError::Refused)?;
            let registered = now.clone();
            let on_written = move || registered.record_written_id();
            vault.set_pending_id(now.id.as_str().to_owned(), on_written);
            // Without its id, changes that a crash interrupted would count as those of another folder.
            if now.has_lost_id {
                vault.write_pending_id();
            }
            return Ok(LockedVault { vault, home: now, lock });
        }
        home = now;
    }
    Err(VaultLockError::Refused(UserError::new(ErrorCode::Busy, user_texts::folder_being_opened())))
}
