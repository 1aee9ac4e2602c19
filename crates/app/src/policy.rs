//! What becomes of a plan: applied at once, put before the user, or refused. Pure.

use protocol::{Mode, Origin};

use crate::policy::Decision::{Apply, Refuse, Review};
use crate::profile::RunKind;

/// What the decision needs to know about a plan. Judged whole, by its strictest path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Facts {
    /// The user's choice.
    pub(crate) mode: Mode,
    /// The channel the turn came through.
    pub(crate) origin: Origin,
    /// What the plan does.
    pub(crate) effect: llm::tool::Effect,
    /// Whether the user's message names every note of the plan, or it is open in the window.
    pub(crate) named: bool,
    /// Whether every note of the plan is one that hub messages may add to.
    pub(crate) hub_place: bool,
    /// Whether it builds on a change that waits.
    pub(crate) builds_on_waiting: bool,
    /// Notes that this turn has planned changes for, this plan included.
    pub(crate) notes_in_turn: usize,
    /// Whether the vault takes writes.
    pub(crate) writable: bool,
    /// `ask --write`, for turns of the command line.
    pub(crate) may_write: bool,
    /// Whether it touches rules for the assistant after the turn has heard of more than the user.
    pub(crate) tells_rules: bool,
}

/// What becomes of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decision {
    /// Written now.
    Apply,
    /// Waits for the user.
    Review,
    /// Not planned; the words go to the model.
    Refuse(&'static str),
}

/// From this many notes a turn on, everything waits.
const MANY_NOTES: usize = 11;

/// The table of `docs/architecture.md`, "What waits".
pub(crate) fn decide(facts: &Facts) -> Decision {
    use llm::tool::Effect::{Create, Delete, Edit, End, Folder, Move, Overwrite, Read, Speak};
    if RunKind::of(facts.origin) == RunKind::Utility {
        return Refuse("No note can be changed here.");
    }
    if facts.mode == Mode::ReadOnly {
        return Refuse("The user has set the mode to Read only: no note can be changed. Say so.");
    }
    if !facts.writable {
        return Refuse("The folder of notes is read-only: nothing can be changed in it. Say so.");
    }
    if facts.tells_rules {
        return Review;
    }
    if facts.origin == Origin::Cli {
        return if facts.may_write { Apply } else { Review };
    }
    if facts.builds_on_waiting || facts.notes_in_turn >= MANY_NOTES {
        return Review;
    }
    match facts.effect {
        Create if !facts.origin.is_hub() || facts.hub_place => Apply,
        Edit if facts.mode == Mode::Auto && !facts.origin.is_hub() && facts.named => Apply,
        Create | Edit | Overwrite | Move | Delete | Folder => Review,
        Read | Speak | End => Refuse("This tool does not change notes."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use llm::tool::Effect;

    const PLAIN: Facts = Facts {
        mode: Mode::Review,
        origin: Origin::Window,
        effect: Effect::Create,
        named: false,
        hub_place: false,
        builds_on_waiting: false,
        notes_in_turn: 1,
        writable: true,
        may_write: false,
        tells_rules: false,
    };

    fn check(facts: Facts, expected: Decision) {
        assert_eq!(decide(&facts), expected, "{facts:?}");
    }

    #[test]
    fn creations_go_through_and_edits_wait_in_review() {
        check(PLAIN, Apply);
        check(Facts { effect: Effect::Edit, named: true, ..PLAIN }, Review);
        check(Facts { effect: Effect::Overwrite, ..PLAIN }, Review);
    }

    #[test]
    fn auto_also_edits_notes_that_the_user_named_and_only_those() {
        let auto = Facts { mode: Mode::Auto, effect: Effect::Edit, ..PLAIN };
        check(Facts { named: true, ..auto }, Apply);
        check(auto, Review);
        for effect in [Effect::Overwrite, Effect::Move, Effect::Delete, Effect::Folder] {
            check(Facts { effect, named: true, ..auto }, Review);
        }
    }

    #[test]
    fn the_hub_adds_in_its_places_only_and_never_edits() {
        let hub = Facts { origin: Origin::HubVoice, mode: Mode::Auto, named: true, ..PLAIN };
        check(hub, Review);
        check(Facts { hub_place: true, ..hub }, Apply);
        check(Facts { hub_place: true, effect: Effect::Edit, ..hub }, Review);
    }

    #[test]
    fn what_builds_on_a_waiting_change_waits_and_so_does_the_eleventh_note() {
        check(Facts { builds_on_waiting: true, ..PLAIN }, Review);
        check(Facts { notes_in_turn: 10, ..PLAIN }, Apply);
        check(Facts { notes_in_turn: 11, ..PLAIN }, Review);
    }

    #[test]
    fn the_command_line_writes_only_when_told_to() {
        let cli = Facts { origin: Origin::Cli, effect: Effect::Overwrite, ..PLAIN };
        check(cli, Review);
        check(Facts { may_write: true, ..cli }, Apply);
    }

    #[test]
    fn rules_for_the_assistant_that_others_may_have_worded_always_wait() {
        let told = Facts { tells_rules: true, named: true, mode: Mode::Auto, ..PLAIN };
        for origin in [Origin::Window, Origin::HubVoice, Origin::Cli] {
            check(Facts { origin, hub_place: true, may_write: true, ..told }, Review);
            check(Facts { origin, effect: Effect::Edit, may_write: true, ..told }, Review);
        }
        check(Facts { tells_rules: false, ..told }, Apply);
    }

    #[test]
    fn nothing_is_planned_in_read_only_mode_in_a_read_only_folder_or_for_nobody() {
        for facts in [
            Facts { mode: Mode::ReadOnly, ..PLAIN },
            Facts { writable: false, ..PLAIN },
            Facts { origin: Origin::Unknown, ..PLAIN },
        ] {
            assert!(matches!(decide(&facts), Refuse(_)), "{facts:?}");
        }
    }
}
