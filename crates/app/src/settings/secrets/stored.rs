//! Which secrets are in the keyring, by name: one that is locked or gone cannot be asked.

use std::collections::BTreeSet;

use super::Secret;
use crate::workspace::data_dir::DataDir;

/// Whether the secret was in the keyring when that could be looked into.
pub(super) fn has(data: &DataDir, secret: Secret) -> bool {
    names(data).contains(secret.keyring_account())
}

/// The secret is in the keyring.
pub(super) fn note(data: &DataDir, secret: Secret) {
    change(data, |names| names.insert(secret.keyring_account().to_owned()));
}

/// The secret is not in the keyring.
pub(super) fn strike(data: &DataDir, secret: Secret) {
    change(data, |names| names.remove(secret.keyring_account()));
}

fn names(data: &DataDir) -> BTreeSet<String> {
    let text = std::fs::read_to_string(data.in_keyring_file()).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// A file that cannot be written costs no more than a sentence about a locked keyring.
fn change(data: &DataDir, change: impl Fn(&mut BTreeSet<String>) -> bool) {
    if !change(&mut names(data)) {
        return;
    }
    let changed = data.lock().and_then(|lock| {
        let mut names = names(data);
        change(&mut names);
        let text: String = names.iter().flat_map(|name| [name, "\n"]).collect();
        lock.replace(&data.in_keyring_file(), text.as_bytes())
    });
    if let Err(why) = changed {
        tracing::warn!(%why, "it is not remembered what is in the keyring");
    }
}
