//! Answers that a hub will not show, as the user is told of them.

use protocol::UserError;

/// `count` answers go to a hub that takes them and shows them no more.
pub(super) fn undelivered_error(count: i64) -> UserError {
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
pub(super) fn expired_error(count: usize) -> UserError {
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
