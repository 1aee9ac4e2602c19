//! The keyring of the system. Looking into it never asks the user for anything where the system allows
//! that; [`Keyring::unlock`] does.

use secrecy::SecretString;

#[cfg(not(target_os = "linux"))]
mod native;
#[cfg(target_os = "linux")]
mod secret_service;

#[cfg(not(target_os = "linux"))]
pub use native::Keyring;
#[cfg(target_os = "linux")]
pub use secret_service::Keyring;

/// The application that owns the secrets, an attribute of each entry.
const APPLICATION: &str = "vaultmate";

/// The content of the keyring under an account, as far as it can be known without asking the user.
#[derive(Debug)]
pub enum InKeyring {
    /// This secret, unlocked.
    Secret(SecretString),
    /// The keyring is there and has no secret under the account.
    Nothing,
    /// Something, and it is locked.
    Locked,
    /// Nothing that can be seen while it is locked.
    Unknown,
    /// There is no keyring, or it does not answer.
    Unavailable,
}

/// Why the keyring did not do what it was asked to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyringError {
    /// The keyring is locked; the user can unlock it.
    Locked,
    /// There is none, or it failed before it was given what it is to store, which it has not: in its
    /// own words.
    Unreachable(String),
    /// It does not answer, or it failed: in its own words. It may have done what it was asked to.
    Failed(String),
}
