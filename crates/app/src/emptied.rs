//! The database of a vault is opened; that it lost its past is told, with what is left of that.

use std::path::Path;

use protocol::UserError;
use store::{Emptied, Store};
use vault::Vault;

use crate::aside::aside;
use crate::clock;
use crate::trouble::user_error;

/// So many temporary files are named.
const NAMED: usize = 5;

/// The database in the data folder `home`, and what the user has to hear of it.
pub(crate) async fn opened(
    vault: &Vault,
    home: &Path,
) -> Result<(Store, Option<UserError>), UserError> {
    let opened = Store::open_known(&home.join("vaultmate.db"), &clock::file_date()).await;
    let (store, emptied) = opened.map_err(user_error)?;
    let Some(emptied) = emptied else { return Ok((store, None)) };
    let vault = vault.clone();
    let left = aside(move || vault.leftovers(NAMED)).await.unwrap_or_default();
    Ok((store, Some(UserError::other(told(&emptied, home, &left)))))
}

fn told(emptied: &Emptied, home: &Path, left: &[String]) -> String {
    let kept = match &emptied.kept {
        Some(folder) => format!("What was left of it is kept in {}.", folder.display()),
        None => format!("Nothing was left of it in {}; restore a backup.", home.display()),
    };
    let begun = "The database of this vault was emptied, so its conversations and the list of changes \
                 begin anew.";
    match left {
        [] => format!("{begun} {kept}"),
        left => format!(
            "{begun} {kept} Changes that were cut left these files in the vault: {}. Each may hold the \
             only copy of a text.",
            left.join(", ")
        ),
    }
}
