//! Whether a hub message may answer an open question: the hub's protocol has no reply-to.
//!
//! While a question of a hub turn is open that was asked at most an hour before the message came, the tool `resolve_question`
//! is offered, and the model decides. A question of the window is never offered to the hub.

use protocol::{OpenTurn, Timestamp, TurnId, UserError};
use store::{AnswerableQuestion, Store};

/// The time after a question within which the hub's next message may answer it.
const REPLY_WINDOW_MS: i64 = 60 * 60 * 1000;

/// How a message of the hub stands to a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReplyMatch {
    /// It was asked in the window, and is answered there.
    Elsewhere,
    /// It was asked after the message had come.
    TooEarly,
    /// It was asked long before.
    TooLate,
    /// Another message has answered it.
    Settled,
    /// This message has answered it.
    Answered,
    /// The message may answer it.
    MayAnswer,
}

impl ReplyMatch {
    /// Of a message that came at `received_at` and is worked on in `turn`, once it is.
    pub(crate) fn classify(
        asked: &AnswerableQuestion,
        received_at: Timestamp,
        turn: Option<&TurnId>,
    ) -> Self {
        let (since, until) = asked_between(received_at);
        let asked_at = asked.question.asked_at;
        match &asked.answered_by {
            Some(by) if turn == Some(by) => Self::Answered,
            Some(_) => Self::Settled,
            None if !asked.origin.is_hub() => Self::Elsewhere,
            None if asked_at > until => Self::TooEarly,
            None if asked_at < since => Self::TooLate,
            None => Self::MayAnswer,
        }
    }
}

/// From when until when a question was asked that a message may answer.
pub(crate) const fn asked_between(received_at: Timestamp) -> (Timestamp, Timestamp) {
    (Timestamp(received_at.0.saturating_sub(REPLY_WINDOW_MS)), received_at)
}

/// The question that the message of a turn may answer, or has answered.
pub(crate) async fn question_for_turn(
    store: &Store,
    turn: &OpenTurn,
) -> Result<Option<AnswerableQuestion>, UserError> {
    if turn.origin.is_hub() { question_for_turn_id(store, &turn.turn).await } else { Ok(None) }
}

/// The same for a turn of which only the id is known; none for one that no hub message opened.
pub(crate) async fn question_for_turn_id(
    store: &Store,
    turn: &TurnId,
) -> Result<Option<AnswerableQuestion>, UserError> {
    let message = store.inbox_of_turn(turn).await?;
    let Some((message, conversation)) = message.and_then(|row| {
        let conversation = row.conversation.clone()?;
        Some((row, conversation))
    }) else {
        return Ok(None);
    };
    let asked = store.question_for_turn(&conversation, turn).await?;
    let may_be = |row: &AnswerableQuestion| {
        let standing = ReplyMatch::classify(row, message.received_at, Some(turn));
        matches!(standing, ReplyMatch::MayAnswer | ReplyMatch::Answered)
    };
    Ok(asked.filter(may_be))
}

#[cfg(test)]
mod tests {
    use protocol::{Origin, Question};

    use super::*;

    fn asked(origin: Origin, answered_by: Option<&str>) -> AnswerableQuestion {
        let question = Question {
            id: "q".into(),
            conversation: "c".into(),
            turn: "asker".into(),
            call: "call".into(),
            original_message: "m".into(),
            text: "Which?".into(),
            options: Vec::new(),
            tool_calls_completed: 0,
            asked_at: Timestamp(1_000),
        };
        AnswerableQuestion { question, origin, answered_by: answered_by.map(TurnId::from) }
    }

    #[test]
    fn the_next_message_of_the_hub_within_an_hour_may_answer_its_question() {
        let turn = TurnId::from("t");
        let stands = |row: &AnswerableQuestion, at: i64| {
            ReplyMatch::classify(row, Timestamp(at), Some(&turn))
        };
        for origin in [Origin::HubText, Origin::HubVoice] {
            let open = asked(origin, None);
            for (at, standing) in [
                (999, ReplyMatch::TooEarly),
                (1_000, ReplyMatch::MayAnswer),
                (1_000 + REPLY_WINDOW_MS, ReplyMatch::MayAnswer),
                (1_001 + REPLY_WINDOW_MS, ReplyMatch::TooLate),
            ] {
                assert_eq!(stands(&open, at), standing, "{at}");
            }
            assert_eq!(stands(&asked(origin, Some("t")), 2_000), ReplyMatch::Answered);
            assert_eq!(stands(&asked(origin, Some("u")), 2_000), ReplyMatch::Settled);
        }
        for origin in [Origin::Window, Origin::Cli, Origin::Unknown] {
            assert_eq!(stands(&asked(origin, None), 2_000), ReplyMatch::Elsewhere);
        }
    }
}
