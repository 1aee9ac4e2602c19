//! Names that are one to a person and two to the disk: an accent can be stored in two ways (Unicode NFC and
//! NFD), and some file systems keep both apart. A path means both, so nothing is changed under it.

use protocol::NotePath;
use unicode_normalization::UnicodeNormalization;

use crate::{Vault, VaultError};

/// Refuses a path that a second name in the same folder means as well; `except` is the file that
/// gets the path itself.
pub(crate) fn check_unambiguous(
    vault: &Vault,
    path: &NotePath,
    except: Option<&NotePath>,
) -> Result<(), VaultError> {
    let mut above = String::new();
    for part in path.parts() {
        let here = if above.is_empty() { None } else { Some(above.as_str()) };
        if !part.is_ascii() && has_equivalent_name(vault, here, part, except) {
            return Err(VaultError::Twin { path: path.clone() });
        }
        if !above.is_empty() {
            above.push('/');
        }
        above.push_str(part);
    }
    Ok(())
}

fn has_equivalent_name(
    vault: &Vault,
    folder: Option<&str>,
    name: &str,
    except: Option<&NotePath>,
) -> bool {
    let Ok(entries) = vault.root().open_folder_or_self(folder).and_then(|folder| folder.entries())
    else {
        return false;
    };
    let is_twin = |other: &str| {
        let is_itself =
            except.is_some_and(|except| except.folder() == folder && except.name() == other);
        other != name && !is_itself && other.nfc().eq(name.nfc())
    };
    entries.flatten().any(|entry| entry.file_name().to_str().is_ok_and(is_twin))
}
