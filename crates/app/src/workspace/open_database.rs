//! Opens the database of a vault. If it lost its contents, the user is told, with the place of what
//! is left.

use std::path::Path;

use protocol::UserError;
use store::{LostDatabase, Store};
use vault::Vault;

use crate::support::blocking::run_blocking;
use crate::support::clock;

/// The number of temporary files that are named.
const MAX_LISTED_FILES: usize = 5;

/// The database in the data folder `home`, and what the user has to hear of it.
pub(crate) async fn open_database(
    vault: &Vault,
    home: &Path,
) -> Result<(Store, Option<UserError>), UserError> {
    let (store, emptied) =
        Store::open_detecting_loss(&home.join("vaultmate.db"), &clock::file_timestamp()).await?;
    let Some(emptied) = emptied else { return Ok((store, None)) };
    let vault = vault.clone();
    let left =
        run_blocking(move || vault.leftover_temp_files(MAX_LISTED_FILES)).await.unwrap_or_default();
    Ok((store, Some(UserError::other(data_loss_message(&emptied, home, &left)))))
}

fn data_loss_message(emptied: &LostDatabase, home: &Path, left: &[String]) -> String {
    let kept = match &emptied.moved_to {
        Some(folder) => format!("The remains are stored in {}.", folder.display()),
        None => format!("There are no remains in {}. Restore a backup.", home.display()),
    };
    let begun = "The database of this vault was emptied, so its conversations and the list of changes \
                 start over.";
    match left {
        [] => format!("{begun} {kept}"),
        left => format!(
            "{begun} {kept} Interrupted changes left these files in the vault: {}. Each may \
             contain the only copy of a text.",
            left.join(", ")
        ),
    }
}
