//! Entering a vault: its folder is opened, its data folder is found, its lock is taken.

use std::path::Path;
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

/// A vault whose data folder is this process's alone for as long as the lock lives.
pub(crate) struct Entered {
    pub(crate) vault: Vault,
    pub(crate) home: Home,
    pub(crate) lock: Arc<VaultLock>,
}

/// So often the data folder may turn out to be another one once its lock is held.
const ATTEMPTS: u32 = 3;
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
) -> Result<Entered, UserError> {
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

/// Opens the folder, finds its data folder and takes the lock there.
///
/// Which data folder it is may change until the lock is held: another process may have opened the
/// same folder for the first time. So it is found again under the lock.
fn enter(folder: &Path, data: &DataDir, purpose: Purpose) -> Result<Entered, NotTaken> {
    let vault = Vault::open(folder).map_err(|error| NotTaken::Refused(not_opened(&error)))?;
    let find = || Home::find(&vault, data).map_err(NotTaken::Refused);
    let mut home = find()?;
    for _ in 0..ATTEMPTS {
        home.make().map_err(NotTaken::Refused)?;
        let lock = Arc::new(VaultLock::take(&home.dir, folder, purpose)?);
        let now = find()?;
        if now.dir == home.dir {
            now.keep().map_err(NotTaken::Refused)?;
            vault.will_be(now.id.as_str().to_owned());
            return Ok(Entered { vault, home: now, lock });
        }
        home = now;
    }
    Err(NotTaken::Refused(UserError::new(
        ErrorCode::Busy,
        "Another Vaultmate is opening this folder. Wait a moment, then open it again.",
    )))
}
