//! Decides whether an interrupted turn continues automatically, and carries out the user's decision
//! about one that does not.

use protocol::{
    ConversationId, NotePath, OpenTurn, Origin, ResumePolicy, Timestamp, TurnId, TurnStatus,
    UserError,
};

use store::TurnChanges;

use crate::App;
use crate::chat::user_message::{UserMessage, WithNote};
use crate::events::domain_event::DomainEvent;
use crate::hub::writable_notes::is_inbox;
use crate::vault_session::VaultSession;

/// A turn that is older than this is no longer in its user's mind, so it does not continue
/// automatically.
const MAX_RESUME_AGE_MS: i64 = 10 * 60 * 1000;

/// The decision about an interrupted turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ResumeDecision {
    /// The turn continues from its stored steps.
    GoesOn,
    /// The user is asked.
    Offered,
    /// It is over: nobody waits for it, or its sender tries again.
    Ends,
}

/// Decides about a turn by what it changed or plans to change; `inbox` is the note that keeps the text of hub
/// messages. A change of which nobody can tell whether it was made is never repeated unasked.
pub(crate) fn resume_decision(
    turn: &OpenTurn,
    TurnChanges { changed, uncertain }: &TurnChanges,
    inbox: Option<&NotePath>,
    how: ResumePolicy,
    now: Timestamp,
) -> ResumeDecision {
    if matches!(turn.origin, Origin::Cli | Origin::Unknown) {
        // The process that asked on the command line has ended, or the origin is unknown.
        return ResumeDecision::Ends;
    }
    let captures =
        turn.origin.is_hub() && changed.iter().all(|note| is_inbox(note) || Some(note) == inbox);
    let surprises_nobody = (changed.is_empty() || captures)
        && uncertain.is_empty()
        && turn.resumed == 0
        && now.0.saturating_sub(turn.at.0) < MAX_RESUME_AGE_MS;
    match how {
        ResumePolicy::Always => ResumeDecision::GoesOn,
        ResumePolicy::Ask if surprises_nobody => ResumeDecision::GoesOn,
        // A hub message is tried again with a turn of its own, and its sender is told.
        ResumePolicy::Ask | ResumePolicy::Never if turn.origin.is_hub() => ResumeDecision::Ends,
        ResumePolicy::Ask | ResumePolicy::Never => ResumeDecision::Offered,
    }
}

impl App {
    /// Goes on: with the turn that was cut, where it was; else, after a limit or a failure, with a
    /// new turn in the same conversation. That is refused while a turn runs or is queued, and where the
    /// turn that was cut has gone on to its end: a second press sends no message.
    pub async fn continue_turn(&self, conversation: &ConversationId) -> Result<(), UserError> {
        let open = self.session().await?;
        if let Some(cut) = open.store.resume_offer(conversation).await? {
            return open.resume_turn(conversation, &cut).await;
        }
        open.ensure_idle(conversation).await?;
        let last = open.store.last_shown_turn(conversation).await?;
        if last.as_ref().is_some_and(has_gone_on) {
            return Err(dealt_with());
        }
        let open_note = last.map_or(WithNote::Shown(None), |last| WithNote::AsIn(last.turn));
        let message = UserMessage::new("Continue.".to_owned(), Origin::Window, open_note);
        let message = UserMessage { only_when_idle: true, ..message };
        let prepared = open.prepare_turn(conversation, &message).await?;
        open.submit(prepared).await
    }

    /// Leaves a turn that was cut as it is; what was typed behind it runs then.
    pub async fn dismiss_interrupted_turn(&self, turn: &TurnId) -> Result<(), UserError> {
        let open = self.session().await?;
        let left = open.store.decline_resume(turn).await?;
        let Some(conversation) = left else {
            return Err(dealt_with());
        };
        open.emit(DomainEvent::Reordered(conversation.clone()));
        open.service.wake(&conversation);
        Ok(())
    }
}

impl VaultSession {
    async fn resume_turn(
        &self,
        conversation: &ConversationId,
        turn: &TurnId,
    ) -> Result<(), UserError> {
        self.store.resume_turn(turn, &[]).await?;
        self.emit(DomainEvent::Reordered(conversation.clone()));
        self.service.wake(conversation);
        Ok(())
    }
}

/// Whether a turn was cut, was resumed and came to its end.
fn has_gone_on(turn: &OpenTurn) -> bool {
    turn.resumed > 0 && matches!(turn.status, TurnStatus::Done | TurnStatus::Asked)
}

fn dealt_with() -> UserError {
    UserError::other("This interrupted answer has already been dealt with.")
}

#[cfg(test)]
mod tests {
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

    fn nothing() -> TurnChanges {
        TurnChanges::default()
    }

    fn changed(path: &str) -> TurnChanges {
        let changed = vec![NotePath::parse(path).expect("a path")];
        TurnChanges { changed, ..nothing() }
    }

    #[test]
    fn a_turn_with_a_change_of_which_nobody_can_tell_does_not_go_on_by_itself() {
        let uncertain = |path| TurnChanges { uncertain: changed(path).changed, ..nothing() };
        let decide = |origin, path| {
            resume_decision(&cut(origin), &uncertain(path), None, ResumePolicy::Ask, NOW)
        };
        assert_eq!(decide(Origin::Window, "a.md"), ResumeDecision::Offered);
        assert_eq!(decide(Origin::HubVoice, "inbox/Inbox.md"), ResumeDecision::Ends);
    }

    #[test]
    fn a_young_turn_that_only_read_goes_on_once() {
        let young = cut(Origin::Window);
        assert_eq!(
            resume_decision(&young, &nothing(), None, ResumePolicy::Ask, NOW),
            ResumeDecision::GoesOn
        );
        let again = OpenTurn { resumed: 1, ..young.clone() };
        assert_eq!(
            resume_decision(&again, &nothing(), None, ResumePolicy::Ask, NOW),
            ResumeDecision::Offered
        );
        let old = OpenTurn { at: Timestamp(NOW.0 - MAX_RESUME_AGE_MS), ..young.clone() };
        assert_eq!(
            resume_decision(&old, &nothing(), None, ResumePolicy::Ask, NOW),
            ResumeDecision::Offered
        );
        assert_eq!(
            resume_decision(&young, &changed("a.md"), None, ResumePolicy::Ask, NOW),
            ResumeDecision::Offered
        );
    }

    #[test]
    fn a_hub_message_goes_on_while_it_only_captured_and_is_never_offered() {
        let hub = cut(Origin::HubVoice);
        assert_eq!(
            resume_decision(&hub, &changed("inbox/Inbox.md"), None, ResumePolicy::Ask, NOW),
            ResumeDecision::GoesOn
        );
        assert_eq!(
            resume_decision(&hub, &changed("Plans.md"), None, ResumePolicy::Ask, NOW),
            ResumeDecision::Ends
        );
        let again = OpenTurn { resumed: 1, ..hub.clone() };
        assert_eq!(
            resume_decision(&again, &nothing(), None, ResumePolicy::Ask, NOW),
            ResumeDecision::Ends
        );
        assert_eq!(
            resume_decision(&hub, &nothing(), None, ResumePolicy::Never, NOW),
            ResumeDecision::Ends
        );
    }

    #[test]
    fn always_takes_up_whatever_it_was_and_never_nothing_but_the_command_line_is_gone() {
        let old = OpenTurn { at: Timestamp(0), resumed: 9, ..cut(Origin::Window) };
        assert_eq!(
            resume_decision(&old, &changed("a.md"), None, ResumePolicy::Always, NOW),
            ResumeDecision::GoesOn
        );
        assert_eq!(
            resume_decision(&cut(Origin::Window), &nothing(), None, ResumePolicy::Never, NOW),
            ResumeDecision::Offered
        );
        assert_eq!(
            resume_decision(&cut(Origin::Cli), &nothing(), None, ResumePolicy::Always, NOW),
            ResumeDecision::Ends
        );
    }
}
