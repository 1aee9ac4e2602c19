//! Decides whether an interrupted turn continues automatically.

use protocol::{NotePath, OpenTurn, Origin, ResumePolicy, Timestamp};
use store::TurnChanges;

use crate::hub::writable_notes::is_inbox;

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
