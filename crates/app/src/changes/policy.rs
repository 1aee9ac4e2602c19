//! Decides whether a plan is applied at once, reviewed by the user or refused. Pure.

use protocol::{Mode, Origin};

use crate::changes::policy::Decision::{Apply, Refuse, Review};
use crate::models::permissions::RunKind;

/// The facts about a plan that the decision needs. A plan is judged whole, by its strictest path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PolicyFacts {
    /// The user's choice.
    pub(crate) mode: Mode,
    /// The channel the turn came through.
    pub(crate) origin: Origin,
    /// Whether the turn works on a message of the hub, also on one that the user sent again in the window.
    pub(crate) requested_by_hub: bool,
    pub(crate) effect: llm::tool_api::tool::ToolEffect,
    /// Whether the user's message names every note of the plan, or it is open in the window.
    pub(crate) named: bool,
    /// Whether every note of the plan is one that hub messages may add to.
    pub(crate) hub_writable: bool,
    /// Whether it builds on a pending change.
    pub(crate) builds_on_pending: bool,
    /// Notes that this turn has planned changes for, this plan included.
    pub(crate) notes_in_turn: usize,
    /// Whether the vault takes writes.
    pub(crate) writable: bool,
    /// `ask --write`, for turns of the command line.
    pub(crate) may_write: bool,
    /// Whether it touches rules for the assistant after the turn has heard of more than the user.
    pub(crate) changes_rules: bool,
    /// Whether a private note would be less private with it.
    pub(crate) lowers_privacy: bool,
    /// Whether text that only models on this computer see may come into a note that every model sees.
    pub(crate) copies_private: bool,
    /// Whether a turn on a message of the hub puts text into one of the hub's notes that may come from other notes.
    pub(crate) copies_for_hub: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decision {
    /// Written now.
    Apply,
    /// The user decides.
    Review,
    /// Not planned; the text goes to the model.
    Refuse(&'static str),
}

/// From this many notes a turn on, every change needs a review.
const MAX_NOTES_WITHOUT_REVIEW: usize = 11;

/// The table of `docs/architecture.md`, "When changes need review".
pub(crate) fn decide(facts: &PolicyFacts) -> Decision {
    use llm::tool_api::tool::ToolEffect::{
        Create, Delete, Edit, End, Folder, Move, Overwrite, Read, Speak,
    };
    if RunKind::from_origin(facts.origin) == RunKind::Utility {
        return Refuse("No note can be changed here.");
    }
    if facts.mode == Mode::ReadOnly {
        return Refuse("The user has set the mode to Read only: no note can be changed. Say so.");
    }
    if !facts.writable {
        return Refuse("The vault is read-only: nothing can be changed in it. Say so.");
    }
    if facts.changes_rules || facts.lowers_privacy || facts.copies_private {
        return Review;
    }
    if facts.origin == Origin::Cli {
        return if facts.may_write { Apply } else { Review };
    }
    if facts.builds_on_pending || facts.notes_in_turn >= MAX_NOTES_WITHOUT_REVIEW {
        return Review;
    }
    match facts.effect {
        Create if !facts.requested_by_hub => Apply,
        Create if facts.hub_writable && !facts.copies_for_hub => Apply,
        Edit if facts.mode == Mode::Auto && !facts.requested_by_hub && facts.named => Apply,
        Create | Edit | Overwrite | Move | Delete | Folder => Review,
        Read | Speak | End => Refuse("This tool doesn’t change notes."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use llm::tool_api::tool::ToolEffect;

    const PLAIN: PolicyFacts = PolicyFacts {
        mode: Mode::Review,
        origin: Origin::Window,
        requested_by_hub: false,
        effect: ToolEffect::Create,
        named: false,
        hub_writable: false,
        builds_on_pending: false,
        notes_in_turn: 1,
        writable: true,
        may_write: false,
        changes_rules: false,
        lowers_privacy: false,
        copies_private: false,
        copies_for_hub: false,
    };

    fn check(facts: PolicyFacts, expected: Decision) {
        assert_eq!(decide(&facts), expected, "{facts:?}");
    }

    #[test]
    fn creations_go_through_and_edits_need_a_review() {
        check(PLAIN, Apply);
        check(PolicyFacts { effect: ToolEffect::Edit, named: true, ..PLAIN }, Review);
        check(PolicyFacts { effect: ToolEffect::Overwrite, ..PLAIN }, Review);
    }

    #[test]
    fn auto_also_edits_notes_that_the_user_named_and_only_those() {
        let auto = PolicyFacts { mode: Mode::Auto, effect: ToolEffect::Edit, ..PLAIN };
        check(PolicyFacts { named: true, ..auto }, Apply);
        check(auto, Review);
        for effect in
            [ToolEffect::Overwrite, ToolEffect::Move, ToolEffect::Delete, ToolEffect::Folder]
        {
            check(PolicyFacts { effect, named: true, ..auto }, Review);
        }
    }

    #[test]
    fn the_hub_adds_in_its_places_only_and_never_edits() {
        let auto = PolicyFacts { mode: Mode::Auto, named: true, ..PLAIN };
        // A message of the hub may be sent again in the window.
        for origin in [Origin::HubVoice, Origin::Window] {
            let hub = PolicyFacts { origin, requested_by_hub: true, ..auto };
            check(hub, Review);
            check(PolicyFacts { hub_writable: true, ..hub }, Apply);
            check(PolicyFacts { hub_writable: true, effect: ToolEffect::Edit, ..hub }, Review);
            check(PolicyFacts { hub_writable: true, copies_for_hub: true, ..hub }, Review);
        }
    }

    #[test]
    fn a_note_gets_less_private_only_with_a_review() {
        let edit = PolicyFacts {
            mode: Mode::Auto,
            effect: ToolEffect::Edit,
            named: true,
            lowers_privacy: true,
            ..PLAIN
        };
        check(edit, Review);
        check(PolicyFacts { origin: Origin::Cli, may_write: true, ..edit }, Review);
    }

    #[test]
    fn private_text_comes_into_an_open_note_only_with_a_review() {
        let copy = PolicyFacts { copies_private: true, ..PLAIN };
        check(copy, Review);
        check(
            PolicyFacts { mode: Mode::Auto, named: true, effect: ToolEffect::Edit, ..copy },
            Review,
        );
        check(PolicyFacts { origin: Origin::Cli, may_write: true, ..copy }, Review);
    }

    #[test]
    fn a_change_on_a_pending_one_and_the_eleventh_note_need_a_review() {
        check(PolicyFacts { builds_on_pending: true, ..PLAIN }, Review);
        check(PolicyFacts { notes_in_turn: 10, ..PLAIN }, Apply);
        check(PolicyFacts { notes_in_turn: 11, ..PLAIN }, Review);
    }

    #[test]
    fn the_command_line_writes_only_when_told_to() {
        let cli = PolicyFacts { origin: Origin::Cli, effect: ToolEffect::Overwrite, ..PLAIN };
        check(cli, Review);
        check(PolicyFacts { may_write: true, ..cli }, Apply);
    }

    #[test]
    fn rules_for_the_assistant_from_foreign_text_always_need_a_review() {
        let told = PolicyFacts { changes_rules: true, named: true, mode: Mode::Auto, ..PLAIN };
        for origin in [Origin::Window, Origin::HubVoice, Origin::Cli] {
            check(PolicyFacts { origin, hub_writable: true, may_write: true, ..told }, Review);
            check(
                PolicyFacts { origin, effect: ToolEffect::Edit, may_write: true, ..told },
                Review,
            );
        }
        check(PolicyFacts { changes_rules: false, ..told }, Apply);
    }

    #[test]
    fn nothing_is_planned_in_read_only_mode_in_a_read_only_folder_or_for_nobody() {
        for facts in [
            PolicyFacts { mode: Mode::ReadOnly, ..PLAIN },
            PolicyFacts { writable: false, ..PLAIN },
            PolicyFacts { origin: Origin::Unknown, ..PLAIN },
        ] {
            assert!(matches!(decide(&facts), Refuse(_)), "{facts:?}");
        }
    }
}
