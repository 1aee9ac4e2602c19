//! The sources of what a turn has read besides the user's messages, and their consequences. Wording
//! never counts.

use std::collections::BTreeSet;

use llm::tool_api::tool::ToolEffect;
use protocol::{ChangeSet, NotePath, Source};
use unicode_casefold::UnicodeCaseFold as _;
use unicode_normalization::UnicodeNormalization as _;

use crate::hub::writable_notes::WritableNotes;

/// Files that tell the assistant how to work, at the top of the vault or of any folder in it.
pub(crate) const RULES_FILES: [&str; 2] = ["AGENTS.md", "CLAUDE.md"];

/// The reason why a plan that touches a rules file needs a review.
pub(crate) const RULES_REVIEW_MESSAGE: &str = " It holds rules for the assistant, and more than the user's own words was read here, so it \
     waits in every mode.";

/// Whether the note tells the assistant how to work, on any system that the folder may sync to: upper
/// and lower case are one, and so are the Unicode forms of a name. The name decides, since no rules file
/// is read through a link.
pub(crate) fn is_rules_file(path: &NotePath) -> bool {
    let folded = |name: &str| name.nfd().case_fold().nfc().collect::<String>();
    let name = folded(path.name());
    RULES_FILES.iter().any(|file| name == folded(file))
}

/// Whether the plan touches such a note although the turn has read sources other than the user and
/// that note itself.
pub(crate) fn changes_rules_from_foreign(plan: &ChangeSet, heard: &BTreeSet<Source>) -> bool {
    let touched = |path: &NotePath| is_rules_file(path) && has_foreign_source(path, heard);
    plan.changes().any(|change| touched(&change.path) || change.target().is_some_and(touched))
}

/// Whether a source is neither the user nor the note.
pub(crate) fn has_foreign_source(path: &NotePath, heard: &BTreeSet<Source>) -> bool {
    heard.iter().any(|source| match source {
        Source::User | Source::Tool(_) | Source::Vault => false,
        Source::Note(note) => note != path,
        Source::Hub | Source::Foreign => true,
    })
}

/// Whether something was read that the hub is not to be told without the user.
pub(crate) fn exceeds_hub_access(places: &WritableNotes, heard: &BTreeSet<Source>) -> bool {
    heard.iter().any(|source| match source {
        Source::Note(note) => !places.contains(note),
        Source::Vault | Source::Foreign => true,
        Source::User | Source::Hub | Source::Tool(_) => false,
    })
}

/// The source of a plan's outcome beside its wording. That a text was found, a property set or a
/// note moved reveals something of a note, as a failure would. Appending to a note or creating one
/// reveals only that, and so do changes in the hub's places. The source holds no text of a note, so
/// it makes no rules wait.
pub(crate) fn plan_source(effect: ToolEffect, hub_place: bool) -> Option<Source> {
    (effect != ToolEffect::Create && !hub_place).then_some(Source::Vault)
}

#[cfg(test)]
mod tests {
    use protocol::Change;

    use super::*;

    fn path(text: &str) -> NotePath {
        NotePath::parse(text).expect("a path")
    }

    fn plan(text: &str) -> ChangeSet {
        std::iter::once(Change::create(path(text), b"x".to_vec())).collect()
    }

    #[test]
    fn rules_are_told_by_others_when_a_note_or_the_hub_was_heard_and_not_by_the_user_alone() {
        let user = BTreeSet::from([Source::User, Source::Tool("list_files".into())]);
        let heard = |more: Source| user.iter().cloned().chain([more]).collect::<BTreeSet<_>>();
        for file in ["AGENTS.md", "claude.md", "Work/Agents.md", "agent\u{17f}.md"] {
            let plan = plan(file);
            assert!(!changes_rules_from_foreign(&plan, &user), "{file}");
            assert!(
                !changes_rules_from_foreign(&plan, &heard(Source::Note(path(file)))),
                "{file} itself"
            );
            assert!(
                changes_rules_from_foreign(&plan, &heard(Source::Note(path("Clip.md")))),
                "{file}"
            );
            assert!(changes_rules_from_foreign(&plan, &heard(Source::Hub)), "{file}");
            assert!(changes_rules_from_foreign(&plan, &heard(Source::Foreign)), "{file}");
        }
        // That nothing was found commands nobody.
        assert!(!changes_rules_from_foreign(&plan("AGENTS.md"), &heard(Source::Vault)));
        assert!(!changes_rules_from_foreign(&plan("AGENTS.txt.md"), &heard(Source::Hub)));
    }

    #[test]
    fn what_stands_outside_its_places_is_beyond_the_hub() {
        let places = WritableNotes::default();
        let of = |note: &str| BTreeSet::from([Source::Hub, Source::Note(path(note))]);
        assert!(exceeds_hub_access(&places, &of("Diary.md")));
        assert!(!exceeds_hub_access(&places, &of("inbox/Inbox.md")));
        assert!(!exceeds_hub_access(&places, &of("inbox")));
        assert!(exceeds_hub_access(&places, &of("Projects")));
        assert!(exceeds_hub_access(&places, &BTreeSet::from([Source::Hub, Source::Vault])));
        assert!(exceeds_hub_access(&places, &BTreeSet::from([Source::Hub, Source::Foreign])));
        assert!(!exceeds_hub_access(&places, &BTreeSet::from([Source::Hub, Source::User])));
    }

    #[test]
    fn a_plan_tells_of_a_note_beyond_the_hub_unless_it_only_adds() {
        use ToolEffect::{Create, Delete, Edit, Folder, Move, Overwrite};
        for effect in [Edit, Overwrite, Move, Delete, Folder] {
            assert_eq!(plan_source(effect, false), Some(Source::Vault), "{effect:?}");
            assert_eq!(plan_source(effect, true), None, "{effect:?}");
        }
        assert_eq!(plan_source(Create, false), None);
    }
}
