//! Whether a turn that was cut goes on by itself, and what the user decides about one that does not.

use protocol::{ConversationId, NotePath, OpenTurn, Origin, Resume, Timestamp, TurnId, UserError};

use crate::App;
use crate::announce::News;
use crate::hub_places::is_inbox;
use crate::open_vault::OpenVault;
use crate::submit::{WithNote, Words};
use crate::trouble::user_error;

/// A turn that is older than this is not remembered by who began it: it does not go on by itself.
const YOUNG: i64 = 10 * 60 * 1000;

/// What becomes of a turn that was cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It goes on where it was.
    GoesOn,
    /// The user is asked.
    Offered,
    /// It is over: nobody waits for it, or somebody else tries again.
    Ends,
}

/// Decides about a turn that changed, or plans to change, these notes; `inbox` is the note that keeps the
/// words of hub messages.
pub(crate) fn fate(
    turn: &OpenTurn,
    changed: &[NotePath],
    inbox: Option<&NotePath>,
    how: Resume,
    now: Timestamp,
) -> Fate {
    if matches!(turn.origin, Origin::Cli | Origin::Unknown) {
        // Whoever asked from the command line has gone, or we do not know them.
        return Fate::Ends;
    }
    let captures =
        turn.origin.is_hub() && changed.iter().all(|note| is_inbox(note) || Some(note) == inbox);
    let surprises_nobody = (changed.is_empty() || captures)
        && turn.resumed == 0
        && now.0.saturating_sub(turn.at.0) < YOUNG;
    match how {
        Resume::Always => Fate::GoesOn,
        Resume::Ask if surprises_nobody => Fate::GoesOn,
        // A hub message is tried again with a turn of its own, and its sender is told.
        Resume::Ask | Resume::Never if turn.origin.is_hub() => Fate::Ends,
        Resume::Ask | Resume::Never => Fate::Offered,
    }
}

impl App {
    /// Goes on: with the turn that was cut, where it was; else, after a limit or a failure, with a
    /// new turn in the same conversation.
    pub async fn continue_turn(&self, conversation: &ConversationId) -> Result<(), UserError> {
        let open = self.open().await?;
        if let Some(cut) = open.store.offered_turn(conversation).await.map_err(user_error)? {
            return open.take_up(conversation, &cut).await;
        }
        let last = open.store.last_turn(conversation).await.map_err(user_error)?;
        let open_note = last.map_or(WithNote::Shown(None), WithNote::AsIn);
        let words = Words::new("Continue.".to_owned(), Origin::Window, open_note);
        let prepared = open.new_turn(conversation, &words).await?;
        open.submit(prepared).await
    }

    /// Leaves a turn that was cut as it is; what was typed behind it runs then.
    pub async fn leave_turn(&self, turn: &TurnId) -> Result<(), UserError> {
        let open = self.open().await?;
        let left = open.store.leave_turn(turn).await.map_err(user_error)?;
        let Some(conversation) = left else {
            return Err(UserError::other("This was decided already: nothing waits for you here."));
        };
        open.announce(News::Reordered(conversation.clone()));
        open.service.wake(&conversation);
        Ok(())
    }
}

impl OpenVault {
    async fn take_up(&self, conversation: &ConversationId, turn: &TurnId) -> Result<(), UserError> {
        self.store.take_up_turn(turn, &[]).await.map_err(user_error)?;
        self.announce(News::Reordered(conversation.clone()));
        self.service.wake(conversation);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use protocol::TurnStatus;

    use super::*;

    const NOW: Timestamp = Timestamp(100_000_000);

    fn cut(origin: Origin) -> OpenTurn {
        OpenTurn {
            turn: "t".into(),
            conversation: "c".into(),
            message: "m".into(),
            origin,
            status: TurnStatus::Running,
            at: Timestamp(NOW.0 - 1_000),
            resumed: 0,
        }
    }

    fn note(path: &str) -> Vec<NotePath> {
        vec![NotePath::parse(path).expect("a path")]
    }

    #[test]
    fn a_young_turn_that_only_read_goes_on_once() {
        let young = cut(Origin::Window);
        assert_eq!(fate(&young, &[], None, Resume::Ask, NOW), Fate::GoesOn);
        let again = OpenTurn { resumed: 1, ..young.clone() };
        assert_eq!(fate(&again, &[], None, Resume::Ask, NOW), Fate::Offered);
        let old = OpenTurn { at: Timestamp(NOW.0 - YOUNG), ..young.clone() };
        assert_eq!(fate(&old, &[], None, Resume::Ask, NOW), Fate::Offered);
        assert_eq!(fate(&young, &note("a.md"), None, Resume::Ask, NOW), Fate::Offered);
    }

    #[test]
    fn a_hub_message_goes_on_while_it_only_captured_and_is_never_offered() {
        let hub = cut(Origin::HubVoice);
        assert_eq!(fate(&hub, &note("inbox/Inbox.md"), None, Resume::Ask, NOW), Fate::GoesOn);
        assert_eq!(fate(&hub, &note("Plans.md"), None, Resume::Ask, NOW), Fate::Ends);
        let again = OpenTurn { resumed: 1, ..hub.clone() };
        assert_eq!(fate(&again, &[], None, Resume::Ask, NOW), Fate::Ends);
        assert_eq!(fate(&hub, &[], None, Resume::Never, NOW), Fate::Ends);
    }

    #[test]
    fn always_takes_up_whatever_it_was_and_never_nothing_but_the_command_line_is_gone() {
        let old = OpenTurn { at: Timestamp(0), resumed: 9, ..cut(Origin::Window) };
        assert_eq!(fate(&old, &note("a.md"), None, Resume::Always, NOW), Fate::GoesOn);
        assert_eq!(fate(&cut(Origin::Window), &[], None, Resume::Never, NOW), Fate::Offered);
        assert_eq!(fate(&cut(Origin::Cli), &[], None, Resume::Always, NOW), Fate::Ends);
    }
}
