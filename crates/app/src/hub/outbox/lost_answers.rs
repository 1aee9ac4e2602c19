//! Answers that a hub will not show, as the user is told of them.

use protocol::UserError;

use crate::user_texts;

/// `count` answers go to a hub that takes them and shows them no more.
pub(super) fn undelivered_error(count: i64) -> UserError {
    UserError::other(match count {
        1 => user_texts::one_answer_not_shown(),
        count => user_texts::answers_not_shown(count.to_string()),
    })
}

/// `count` answers were dropped because their hub was offline for a day, and nobody can be asked about them.
pub(super) fn expired_error(count: usize) -> UserError {
    UserError::other(match count {
        1 => user_texts::one_answer_not_delivered(),
        count => user_texts::answers_not_delivered(count.to_string()),
    })
}
