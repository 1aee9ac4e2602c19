//! Removes a secret from the keyring, and makes sure that it is gone: a locked keyring that shows nothing of what it
//! holds reports success, and gives the secret back later.

use desktop::{InKeyring, Keyring, KeyringError};

/// Why the keyring may still have a secret that it was told to remove.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyringRemovalError {
    /// It is locked, and has the secret.
    Locked,
    /// It is locked, and does not show what it has.
    Hidden,
    /// The secret is still there and nothing is locked: the keyring wants to ask its user first.
    Refused,
    /// There is no keyring, or it does not answer.
    Unreachable,
}

/// Removes the secret of an account. `Ok` only where the keyring shows that it has none any more.
pub(super) async fn remove(keyring: &Keyring, account: &str) -> Result<(), KeyringRemovalError> {
    match keyring.remove(account).await {
        Ok(()) => ensure_gone(&keyring.look(account).await),
        Err(KeyringError::Locked) => Err(KeyringRemovalError::Locked),
        Err(KeyringError::Unreachable(why) | KeyringError::Failed(why)) => {
            tracing::debug!(why, account, "nothing was removed from the keyring");
            Err(KeyringRemovalError::Unreachable)
        }
    }
}

fn ensure_gone(left: &InKeyring) -> Result<(), KeyringRemovalError> {
    match left {
        InKeyring::Nothing => Ok(()),
        InKeyring::Secret(_) => Err(KeyringRemovalError::Refused),
        InKeyring::Locked => Err(KeyringRemovalError::Locked),
        InKeyring::Unknown => Err(KeyringRemovalError::Hidden),
        InKeyring::Unavailable => Err(KeyringRemovalError::Unreachable),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_gone_only_where_the_keyring_shows_that_it_has_none() {
        assert_eq!(ensure_gone(&InKeyring::Nothing), Ok(()));
        for (left, why) in [
            (InKeyring::Secret("sk-1".into()), KeyringRemovalError::Refused),
            (InKeyring::Locked, KeyringRemovalError::Locked),
            (InKeyring::Unknown, KeyringRemovalError::Hidden),
            (InKeyring::Unavailable, KeyringRemovalError::Unreachable),
        ] {
            assert_eq!(ensure_gone(&left), Err(why), "{left:?}");
        }
    }
}
