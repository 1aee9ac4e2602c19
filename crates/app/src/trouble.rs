//! Errors of the crates below as sentences for a person.

use protocol::{ErrorCode, UserError};
use store::StoreError;
use vault::{ApplyError, OpenError, VaultError};

/// A failure of the store.
pub(crate) fn user_error(error: StoreError) -> UserError {
    let code = match &error {
        StoreError::AlreadyAnswered { .. } | StoreError::Withdrawn => ErrorCode::Answered,
        StoreError::Full { .. } => ErrorCode::Write,
        _ => ErrorCode::Other,
    };
    UserError::new(code, whole(&error))
}

/// The error with its causes, as one sentence.
fn whole(error: &dyn std::error::Error) -> String {
    let mut sentence = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        sentence = format!("{sentence}: {inner}");
        cause = inner.source();
    }
    sentence
}

/// A vault that could not be opened.
pub(crate) fn not_opened(error: &OpenError) -> UserError {
    UserError::new(ErrorCode::Vault, error.to_string())
}

/// A note that could not be read or changed.
pub(crate) fn of_note(error: &VaultError) -> UserError {
    let code = match error {
        VaultError::NoSpace { .. } | VaultError::ReadOnly { .. } | VaultError::Denied { .. } => {
            ErrorCode::Write
        }
        _ => ErrorCode::Other,
    };
    UserError::new(code, error.to_string())
}

/// A change set that could not be begun: nothing was changed.
pub(crate) fn not_applied(error: &ApplyError) -> UserError {
    UserError::new(ErrorCode::Write, error.to_string())
}
