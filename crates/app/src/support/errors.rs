//! Errors of the crates below as sentences for a person.

use protocol::{ErrorCode, UserError};
use store::StoreError;
use vault::{ApplyError, OpenError, VaultError};

/// A failure of the store.
pub(crate) fn store_error(error: StoreError) -> UserError {
    let code = match &error {
        StoreError::AlreadyAnswered { .. } | StoreError::AnsweredSo | StoreError::Withdrawn => {
            ErrorCode::Answered
        }
        StoreError::Full { .. } => ErrorCode::Write,
        _ => ErrorCode::Other,
    };
    let what_to_do = match &error {
        StoreError::Sql { .. } => " Check the disk that contains the data folder, then try again.",
        StoreError::File { .. } => " Check the permissions of the data folder, then try again.",
        _ => "",
    };
    UserError::new(code, format!("{}{what_to_do}", sentence(&error_chain(&error))))
}

/// An error of a lower crate as a sentence that stands alone.
pub(crate) fn sentence(words: &str) -> String {
    let mut characters = words.chars();
    let first = characters.next().into_iter().flat_map(char::to_uppercase);
    let mut sentence: String = first.chain(characters).collect();
    if !sentence.ends_with(['.', '?', '!']) {
        sentence.push('.');
    }
    sentence
}

/// The error with its causes, as one sentence.
fn error_chain(error: &dyn std::error::Error) -> String {
    let mut sentence = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        sentence = format!("{sentence}: {inner}");
        cause = inner.source();
    }
    sentence
}

/// A vault that could not be opened.
pub(crate) fn open_error(error: &OpenError) -> UserError {
    UserError::new(ErrorCode::Vault, error.to_string())
}

/// A note that could not be read or changed.
pub(crate) fn note_error(error: &VaultError) -> UserError {
    let code = match error {
        VaultError::NoSpace { .. } | VaultError::ReadOnly { .. } | VaultError::Denied { .. } => {
            ErrorCode::Write
        }
        VaultError::Unlistable { .. } => ErrorCode::Vault,
        _ => ErrorCode::Other,
    };
    UserError::new(code, error.to_string())
}

/// A change set that could not be begun: nothing was changed.
pub(crate) fn apply_error(error: &ApplyError) -> UserError {
    UserError::new(ErrorCode::Write, sentence(&error.to_string()))
}

/// `count` answers go to a hub that takes them and shows them no more.
pub(crate) fn undelivered_error(count: i64) -> UserError {
    UserError::other(match count {
        1 => "More came over the hub than it remembers, so it may not show one answer. Read the \
              answer in the hub’s conversation."
            .to_owned(),
        count => format!(
            "More came over the hub than it remembers, so it may not show {count} answers. Read \
             them in the hub’s conversation."
        ),
    })
}

/// `count` answers were dropped because their hub was offline for a day, and nobody can be asked about them.
pub(crate) fn expired_error(count: usize) -> UserError {
    UserError::other(match count {
        1 => "The hub was offline for a day, so one answer was never delivered. Read it in the \
              hub’s conversation, unless you have deleted that."
            .to_owned(),
        count => format!(
            "The hub was offline for a day, so {count} answers were never delivered. Read them in \
             the hub’s conversation, unless you have deleted that."
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::sentence;

    #[test]
    fn an_error_of_a_lower_crate_becomes_a_sentence() {
        assert_eq!(
            sentence("the disk is full. Free some space"),
            "The disk is full. Free some space."
        );
        assert_eq!(sentence("élan"), "Élan.");
        assert_eq!(sentence("Is it running?"), "Is it running?");
    }
}
