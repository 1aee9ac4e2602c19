//! A hub name belongs to one vault: what a hub sends to a name must never land in other notes.
#![expect(clippy::disallowed_methods, reason = "these are files of the data directory, not notes")]

use std::fs;
use std::path::Path;

use protocol::UserError;

use crate::user_texts;
use crate::workspace::data_dir::{DataDir, FileAction, io_error};
use crate::workspace::vault_registry;

/// The name that a vault has at the hub, in its data folder.
const NAME_FILE: &str = "hub-name";

/// The name of the vault whose data is in `home`; none until it was linked once.
pub(crate) fn read_name(home: &Path) -> Option<String> {
    fs::read_to_string(home.join(NAME_FILE)).ok().filter(|name| !name.is_empty())
}

/// Gives the vault whose data is in `home` this name from now on, unless another vault that is still
/// there has it. One that is away loses it, so that it is no second one when it is back.
pub(crate) fn claim_name(data: &DataDir, home: &Path, name: &str) -> Result<(), UserError> {
    // Until it is written: another window may claim it for another vault at the same moment.
    let lock = data.lock()?;
    if read_name(home).as_deref() == Some(name) {
        return Ok(());
    }
    let others = vault_registry::other_vaults(data, home).into_iter();
    let (here, away): (Vec<_>, Vec<_>) = others
        .filter(|(dir, _)| read_name(dir).as_deref() == Some(name))
        .partition(|(_, folder)| folder.is_dir());
    if let Some((_, folder)) = here.first() {
        let folder = folder.display().to_string();
        return Err(UserError::other(user_texts::hub_name_taken(folder, name)));
    }
    for (dir, _) in away {
        let file = dir.join(NAME_FILE);
        fs::remove_file(&file).map_err(|error| io_error(FileAction::Write, &file, &error))?;
    }
    lock.replace(&home.join(NAME_FILE), name.as_bytes())
}

/// The name under which the vault whose data is in `home` is linked: the one of the settings if no
/// other vault has it, else its own from before.
pub(crate) fn choose_name(data: &DataDir, home: &Path, wanted: &str) -> Result<String, UserError> {
    match (claim_name(data, home, wanted), read_name(home)) {
        (Ok(()), _) => Ok(wanted.to_owned()),
        (Err(_), Some(own)) => Ok(own),
        (Err(refused), None) => Err(refused),
    }
}

#[cfg(test)]
mod tests {
    use vault::Vault;

    use super::*;
    use crate::workspace::vault_registry::VaultDataDir;

    #[test]
    fn a_name_is_one_vaults_until_that_has_another_or_is_gone() {
        let all = tempfile::tempdir().expect("a folder");
        let data = DataDir::at(all.path().join("data")).expect("a data directory");
        let home = |name: &str| {
            fs::create_dir_all(all.path().join(name)).expect("a vault");
            let vault = Vault::open(&all.path().join(name)).expect("a vault");
            let home = VaultDataDir::find(&vault, &data).expect("a home");
            home.create().and_then(|()| home.save()).expect("kept");
            home.dir
        };
        let (diary, work) = (home("Diary"), home("Work"));
        assert_eq!(read_name(&diary), None);
        claim_name(&data, &diary, "Notes").expect("free");
        claim_name(&data, &diary, "Notes").expect("its own");
        let refused = claim_name(&data, &work, "Notes").expect_err("taken").message;
        assert!(refused.contains("Diary") && refused.contains("“Notes”"), "{refused}");
        assert_eq!(read_name(&work), None);
        assert!(choose_name(&data, &work, "Notes").is_err(), "it has none of its own");
        claim_name(&data, &work, "Work").expect("free");
        assert_eq!(choose_name(&data, &work, "Notes").expect("its own"), "Work");
        claim_name(&data, &diary, "Diary").expect("free");
        claim_name(&data, &work, "Notes").expect("given up");
        let (place, away) = (all.path().join("Work"), all.path().join("away"));
        fs::rename(&place, &away).expect("away");
        claim_name(&data, &diary, "Notes").expect("its vault is away");
        assert_eq!(read_name(&diary).as_deref(), Some("Notes"));
        fs::rename(&away, &place).expect("back");
        assert_eq!(read_name(&work), None, "no two vaults have one name");
        assert!(choose_name(&data, &work, "Notes").is_err());
    }
}
