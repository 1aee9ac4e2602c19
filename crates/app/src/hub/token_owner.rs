//! For which hub each saved token is: no other hub is shown it. A file of the data directory has a
//! line for each place, such as `keyring hub.example:443`.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use protocol::UserError;

use crate::settings::secret_owners::{self, OwnerRow};
use crate::settings::secrets::{self, Secret};
use crate::workspace::data_dir::DataDir;

/// The hub that was linked to first: the token of the environment is for that one.
static FIRST_HUB: OnceLock<String> = OnceLock::new();

/// Whether the token from `place` may be shown to `hub`. One that was saved before hubs were told
/// apart is for the hub that asks first; to none if it cannot be read or recorded for which it is, or if
/// saving it was interrupted. Blocks.
pub(crate) fn may_see(data: &DataDir, place: &str, hub: &str) -> bool {
    if place == secrets::FROM_ENVIRONMENT {
        return FIRST_HUB.get_or_init(|| hub.to_owned()) == hub;
    }
    let is_its = owners(data).and_then(|owners| match owners.get(place) {
        Some(owner) => Ok(owner == hub),
        None => owner_row(data, place).get_or_set(data, hub).map(|owner| owner == hub),
    });
    is_its
        .inspect_err(|why| tracing::warn!(%why, "the token's hub is not known or not recorded"))
        .is_ok_and(|is_its| is_its)
}

/// Whether the token from `place` is for another hub than `hub`, as far as that is known: it is for none while that
/// cannot be read. Blocks.
pub(crate) fn is_of_another(data: &DataDir, place: &str, hub: &str) -> bool {
    if place == secrets::FROM_ENVIRONMENT {
        return FIRST_HUB.get().is_some_and(|first| first != hub);
    }
    let owners = owners(data);
    !owners.is_ok_and(|owners| owners.get(place).is_none_or(|owner| owner == hub))
}

/// The line that says for which hub the token in `place` is. Without a line it is for the first that asks.
pub(crate) fn owner_row(data: &DataDir, place: &str) -> OwnerRow {
    OwnerRow::new(data.token_owner_file(), place.to_owned())
}

/// Tokens that were saved before hubs were told apart are for `hub`, which is configured when the
/// program starts. Blocks.
pub(crate) fn assign_unowned(data: &DataDir, hub: &str) -> Result<(), UserError> {
    for place in secrets::saved_places(data, Secret::HubToken) {
        if !owners(data)?.contains_key(place) {
            owner_row(data, place).get_or_set(data, hub)?;
        }
    }
    Ok(())
}

fn owners(data: &DataDir) -> Result<BTreeMap<String, String>, UserError> {
    secret_owners::read_or_explain(&data.token_owner_file())
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the file is in the data directory")]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_of_the_hub_that_it_was_saved_for_and_an_older_one_of_the_first() {
        let folder = tempfile::tempdir().expect("a folder");
        let data = DataDir::at(folder.path().to_owned()).expect("a data directory");
        assert!(!is_of_another(&data, "file", "a:1"), "nothing is known");
        assert!(may_see(&data, "file", "a:1"), "the first that asks");
        assert!(!may_see(&data, "file", "b:1/x y"));
        assert!(is_of_another(&data, "file", "b:1/x y"));
        owner_row(&data, "keyring").set(&data, Some("b:1/x y")).expect("assigned");
        assert!(may_see(&data, "keyring", "b:1/x y") && !may_see(&data, "keyring", "a:1"));
        assert!(may_see(&data, "file", "a:1"), "another place");
        owner_row(&data, "file").set(&data, None).expect("disowned");
        assert!(may_see(&data, "file", "c:1"));
        assert_eq!(
            std::fs::read_to_string(data.token_owner_file()).expect("a file"),
            "file c:1\nkeyring b:1/x y\n"
        );
    }

    #[test]
    fn a_token_is_shown_to_nobody_while_its_hub_cannot_be_recorded() {
        let folder = tempfile::tempdir().expect("a folder");
        let data = DataDir::at(folder.path().to_owned()).expect("a data directory");
        std::fs::create_dir(data.token_owner_file()).expect("a folder in its place");
        assert!(!may_see(&data, "file", "a:1"));
        std::fs::remove_dir(data.token_owner_file()).expect("removed");
        assert!(may_see(&data, "file", "a:1"), "the control: it can be recorded");
    }

    #[test]
    fn while_the_hubs_cannot_be_read_a_token_is_for_none_and_no_line_of_them_is_lost() {
        let folder = tempfile::tempdir().expect("a folder");
        let data = DataDir::at(folder.path().to_owned()).expect("a data directory");
        let bytes = b"file a:1\n\xff\n";
        std::fs::write(data.token_owner_file(), bytes).expect("written");
        assign_unowned(&data, "a:1").expect("no token is saved");
        let file = data.key_file().with_extension("hub");
        crate::workspace::data_dir::write_private(&file, b"token").expect("written");
        for place in ["file", "keyring"] {
            assert!(!may_see(&data, place, "b:1") && is_of_another(&data, place, "b:1"));
        }
        let refused = assign_unowned(&data, "a:1").expect_err("it cannot be read").message;
        assert!(refused.contains("hub-of-token"), "{refused}");
        assert!(owner_row(&data, "keyring").set(&data, Some("b:1")).is_err());
        let row = owner_row(&data, "file");
        assert!(row.set(&data, None).is_err() && row.suspend(&data).is_err());
        assert_eq!(std::fs::read(data.token_owner_file()).expect("there"), bytes);
        std::fs::remove_file(data.token_owner_file()).expect("removed");
        assert!(!is_of_another(&data, "file", "b:1") && may_see(&data, "file", "b:1"));
    }

    #[test]
    fn a_token_that_was_being_saved_is_for_no_hub_also_after_the_next_start() {
        let folder = tempfile::tempdir().expect("a folder");
        let data = DataDir::at(folder.path().to_owned()).expect("a data directory");
        let file = data.key_file().with_extension("hub");
        crate::workspace::data_dir::write_private(&file, b"token").expect("written");
        for former in [None, Some("a:1")] {
            let row = owner_row(&data, "file");
            row.set(&data, former).expect("set");
            assert_eq!(row.suspend(&data).expect("recorded").as_deref(), former);
            assign_unowned(&data, "a:1").expect("left alone");
            for hub in ["a:1", "b:1"] {
                assert!(!may_see(&data, "file", hub) && is_of_another(&data, "file", hub));
            }
        }
        owner_row(&data, "file").set(&data, Some("b:1")).expect("saved again");
        assert!(may_see(&data, "file", "b:1") && !may_see(&data, "file", "a:1"));
    }

    #[test]
    fn at_the_start_a_saved_token_is_of_the_hub_that_is_configured() {
        let folder = tempfile::tempdir().expect("a folder");
        let data = DataDir::at(folder.path().to_owned()).expect("a data directory");
        assign_unowned(&data, "a:1").expect("nothing to do");
        assert!(!data.token_owner_file().exists(), "the control: no token is saved");
        let file = data.key_file().with_extension("hub");
        crate::workspace::data_dir::write_private(&file, b"token").expect("written");
        assign_unowned(&data, "a:1").expect("assigned");
        assign_unowned(&data, "b:1").expect("left alone");
        assert!(is_of_another(&data, "file", "b:1") && may_see(&data, "file", "a:1"));
    }
}
