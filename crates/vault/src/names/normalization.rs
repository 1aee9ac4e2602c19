//! Names that are one to a person and two to the disk: an accent can be stored in two ways (Unicode NFC and
//! NFD), and some file systems keep both apart. A path means both, so nothing is changed under it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use protocol::{FileId, NotePath};
use rustix::fs::FileType;
use rustix::io::Errno;
use unicode_normalization::UnicodeNormalization;

use crate::filesystem::folder::{FolderHandle, file_id_of};
use crate::{Vault, VaultError};

/// The spellings of the names in a folder, by their NFC form.
type SpellingsByName = HashMap<String, Vec<String>>;

/// The names in the folders that an order changes, listed once and not for each note: one order may change
/// all notes of a large folder.
///
/// Names come and go meanwhile. So before a listing is used again, the disk is asked for the NFC and the NFD
/// form of the name, and whether a spelling that was listed is still there. Only a new name that mixes both
/// forms escapes until the folder is listed again. A folder that takes the path of another one is listed.
#[derive(Debug, Default)]
pub(crate) struct FolderNames(HashMap<FileId, SpellingsByName>);

impl Vault {
    /// A handle for staging one order, for carrying it out, or for one recovery: [`check_unambiguous`] lists each
    /// folder once with it. It must not be kept for longer.
    pub(crate) fn with_folder_names(&self) -> Self {
        let mut vault = self.clone();
        vault.folder_names = Some(Arc::default());
        vault
    }
}

/// Refuses a path that a second name in the same folder means as well; `except` is the file that
/// gets the path itself.
pub(crate) fn check_unambiguous(
    vault: &Vault,
    path: &NotePath,
    except: Option<&NotePath>,
) -> Result<(), VaultError> {
    let alone = Mutex::default();
    let shared = vault.folder_names.as_deref().unwrap_or(&alone);
    let mut names = shared.lock().unwrap_or_else(PoisonError::into_inner);
    let mut above = String::new();
    for part in path.parts() {
        let here = if above.is_empty() { None } else { Some(above.as_str()) };
        if !part.is_ascii() && names.has_equivalent_name(vault, here, part, except) {
            return Err(VaultError::Twin { path: path.clone() });
        }
        if !above.is_empty() {
            above.push('/');
        }
        above.push_str(part);
    }
    Ok(())
}

impl FolderNames {
    fn has_equivalent_name(
        &mut self,
        vault: &Vault,
        folder: Option<&str>,
        name: &str,
        except: Option<&NotePath>,
    ) -> bool {
        let Ok(open) = vault.root().open_folder_or_self(folder) else { return false };
        let except = except.filter(|except| except.folder() == folder).map(NotePath::name);
        let counts = |other: &&str| *other != name && Some(*other) != except;
        let composed: String = name.nfc().collect();
        let id = file_id_of(&open).ok();
        if let Some(known) = id.and_then(|id| self.0.get(&id)) {
            let listed: Vec<&str> = spellings(known, &composed).filter(counts).collect();
            if listed.iter().any(|other| is_other_entry(&open, other, name)) {
                return true;
            }
            let decomposed: String = name.nfd().collect();
            let mut forms = [composed.as_str(), decomposed.as_str()].into_iter().filter(counts);
            let is_new = forms.any(|form| is_other_entry(&open, form, name));
            // It may be the name itself by now, on a disk that takes both for one name.
            let is_unsure = listed.iter().any(|other| open.stat(other).is_ok());
            if !is_new && !is_unsure {
                return false;
            }
        }
        #[cfg(test)]
        vault.name_listings.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        let Some(now) = list_spellings(&open) else { return false };
        let is_twin = spellings(&now, &composed).any(|other| counts(&other));
        if let Some(id) = id {
            self.0.insert(id, now);
        }
        is_twin
    }
}

fn list_spellings(folder: &FolderHandle) -> Option<SpellingsByName> {
    let mut names = SpellingsByName::new();
    for entry in folder.entries().ok()?.flatten() {
        if let Ok(name) = entry.file_name().to_str() {
            names.entry(name.nfc().collect()).or_default().push(name.to_owned());
        }
    }
    Some(names)
}

fn spellings<'a>(
    names: &'a SpellingsByName,
    composed: &str,
) -> impl Iterator<Item = &'a str> + use<'a> {
    names.get(composed).into_iter().flatten().map(String::as_str)
}

/// Whether `other` leads to something in the folder that may not be what `name` leads to. A disk that takes both
/// for one name finds the same file by each; but two hard links are two names.
fn is_other_entry(folder: &FolderHandle, other: &str, name: &str) -> bool {
    let found = match folder.stat(other) {
        Ok(found) => found,
        Err(Errno::NOENT | Errno::NAMETOOLONG) => return false,
        Err(_) => return true,
    };
    let Ok(own) = folder.stat(name) else { return true };
    let is_folder = FileType::from_raw_mode(own.st_mode) == FileType::Directory;
    (found.st_dev, found.st_ino) != (own.st_dev, own.st_ino) || (own.st_nlink > 1 && !is_folder)
}

#[allow(clippy::disallowed_methods, reason = "tests make the files of the vault")]
#[cfg(test)]
mod tests;
