//! The sources of what a turn has read besides the user's messages, and their consequences. Wording
//! never counts.

pub(crate) mod quoted_message;

use std::collections::BTreeSet;

use llm::tool_api::tool::ToolEffect;
use protocol::{
    Change, ChangeAction, ChangeKind, ChangeSet, NotePath, Privacy, PrivateRules, Source,
};
use unicode_casefold::UnicodeCaseFold as _;
use unicode_normalization::UnicodeNormalization as _;

use crate::hub::writable_notes::WritableNotes;
use quoted_message::HubRequest;

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

/// Whether the change is one of such a note, or makes one.
pub(crate) fn touches_rules_file(change: &Change) -> bool {
    is_rules_file(&change.path) || change.target().is_some_and(is_rules_file)
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
        Source::User | Source::Tool(_) | Source::Vault | Source::Hints(_) => false,
        Source::Note(note) => note != path,
        Source::Hub | Source::Foreign => true,
    })
}

/// Whether something was read that the hub is not to be told without the user.
pub(crate) fn exceeds_hub_access(places: &WritableNotes, heard: &BTreeSet<Source>) -> bool {
    heard.iter().any(|source| match source {
        Source::Note(note) => !places.contains(note),
        Source::Vault | Source::Foreign => true,
        Source::User | Source::Hub | Source::Tool(_) | Source::Hints(_) => false,
    })
}

/// Whether the plan of a hub turn puts more than a phrase of the hub's message into a note after something was read
/// that the hub is not to be told without the user: text, or how many notes match. Later messages may ask for that
/// note, and nobody is asked again.
pub(crate) fn copies_for_hub(
    plan: &ChangeSet,
    request: &HubRequest<'_>,
    heard: &BTreeSet<Source>,
) -> bool {
    exceeds_hub_access(request.places, heard) && !request.is_quoted_by(plan)
}

/// Whether a note of the plan is less private by the rules with its new text, or at its new path.
pub(crate) fn lowers_privacy(plan: &ChangeSet, rules: &PrivateRules) -> bool {
    let by_text = |text: Option<&[u8]>| text.map(|text| markdown::privacy(rules, text));
    plan.changes().any(|change| {
        let moves_out = change
            .target()
            .is_some_and(|target| rules.by_path(target) < rules.strictest_below(&change.path));
        moves_out
            || match (by_text(change.before()), by_text(change.after())) {
                (Some(before), Some(after)) => after < before,
                _ => false,
            }
    })
}

/// Whether the plan gives text to a note that every model may see, or a name to a note or folder at such a
/// place: a name is text, too. Of a private note that is made, its text hides the name, but not those of the
/// folders that are made with it; `is_there` tells which exist.
pub(crate) fn writes_open_note(
    plan: &ChangeSet,
    rules: &PrivateRules,
    is_there: impl Fn(&NotePath) -> bool,
) -> bool {
    let is_new_and_open =
        |folder: &NotePath| rules.by_path(folder) == Privacy::Open && !is_there(folder);
    plan.changes().any(|change| {
        let is_open = |text| markdown::privacy(rules, text) == Privacy::Open;
        let writes = change.after().is_some_and(is_open);
        let place = match &change.act {
            ChangeAction::Rename { to, .. } => Some(to),
            ChangeAction::MakeFolder => Some(&change.path),
            _ => Some(&change.path).filter(|_| writes),
        };
        place.is_some_and(|path| rules.by_path(path) == Privacy::Open)
            || (change.kind() == ChangeKind::Create
                && change.path.folders().any(|folder| is_new_and_open(&folder)))
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
    fn a_hub_turn_that_read_or_searched_other_notes_adds_only_a_phrase_of_its_message_at_once() {
        let places = WritableNotes::default();
        let today = jiff::civil::date(2026, 11, 25);
        let message = "Remember oat milk!";
        let request = HubRequest { message, places: &places, today, has_changed_notes: false };
        let append = |text: &str| -> ChangeSet {
            let new = format!("- tea\n{text}");
            std::iter::once(Change::replace(path("inbox/Inbox.md"), b"- tea\n".to_vec(), new))
                .collect()
        };
        let copies = |plan: &ChangeSet, source: Source| {
            copies_for_hub(plan, &request, &BTreeSet::from([source]))
        };
        let diary = || Source::Note(path("Diary.md"));
        for source in [diary(), Source::Foreign, Source::Vault] {
            assert!(copies(&append("- Ann is pregnant\n"), source.clone()), "{source}");
            assert!(!copies(&append("- [ ] Oat milk\n"), source.clone()), "{source}");
        }
        for source in [Source::Note(path("inbox/Inbox.md")), Source::Hub] {
            assert!(!copies(&append("- Ann is pregnant\n"), source));
        }
    }

    #[test]
    fn an_edit_that_takes_the_mark_away_makes_a_note_less_private() {
        let private = protocol::settings::PrivateSettings {
            local: vec!["#home".to_owned()],
            ..Default::default()
        };
        let rules = PrivateRules::parse(&private).expect("rules");
        let edit = |before: &str, after: &str| -> ChangeSet {
            std::iter::once(Change::replace(path("A.md"), before, after)).collect()
        };
        assert!(lowers_privacy(&edit("#home text", "text"), &rules));
        assert!(!lowers_privacy(&edit("#home text", "#home other"), &rules));
        assert!(!lowers_privacy(&edit("text", "#home text"), &rules));
    }

    #[test]
    fn a_move_out_of_a_private_folder_makes_a_note_less_private() {
        let private = protocol::settings::PrivateSettings {
            local: vec!["Home/".to_owned()],
            never: vec!["Safe/".to_owned()],
            ..Default::default()
        };
        let rules = PrivateRules::parse(&private).expect("rules");
        let moved = |from: &str, to: &str| -> ChangeSet {
            std::iter::once(Change::rename(path(from), path(to))).collect()
        };
        assert!(lowers_privacy(&moved("Home", "Archive/Home"), &rules));
        assert!(lowers_privacy(&moved("Home/A.md", "A.md"), &rules));
        assert!(lowers_privacy(&moved("Safe/A.md", "Home/A.md"), &rules));
        assert!(!lowers_privacy(&moved("Home/A.md", "Home/B.md"), &rules));
        assert!(!lowers_privacy(&moved("A.md", "Home/A.md"), &rules));
    }

    #[test]
    fn an_open_note_is_one_whose_path_and_text_every_model_may_see() {
        let private = protocol::settings::PrivateSettings {
            local: vec!["Home/".to_owned(), "#home".to_owned()],
            ..Default::default()
        };
        let rules = PrivateRules::parse(&private).expect("rules");
        let writes = |file: &str, text: &str| {
            let plan = std::iter::once(Change::create(path(file), text.as_bytes().to_vec()));
            writes_open_note(&plan.collect(), &rules, |_| true)
        };
        assert!(writes("A.md", "text"));
        assert!(!writes("Home/A.md", "text") && !writes("A.md", "#home text"));
    }

    #[test]
    fn a_new_name_at_an_open_place_is_text_that_every_model_may_see() {
        let private = protocol::settings::PrivateSettings {
            local: vec!["Home/".to_owned()],
            ..Default::default()
        };
        let rules = PrivateRules::parse(&private).expect("rules");
        let names =
            |change: Change| writes_open_note(&std::iter::once(change).collect(), &rules, |_| true);
        let folder = |at: &str| Change { path: path(at), act: ChangeAction::MakeFolder };
        assert!(names(Change::rename(path("A.md"), path("Ann.md"))) && names(folder("Ann")));
        assert!(names(Change::rename_folder(path("Home/A"), path("Ann"))));
        assert!(!names(Change::rename(path("A.md"), path("Home/Ann.md"))));
        assert!(!names(folder("Home/Ann")) && !names(Change::trash(path("A.md"), "text")));
    }

    #[test]
    fn a_private_note_in_a_new_folder_gives_a_name_that_every_model_may_see() {
        let private = protocol::settings::PrivateSettings {
            local: vec!["#home".to_owned(), "Safe/Home/".to_owned()],
            ..Default::default()
        };
        let rules = PrivateRules::parse(&private).expect("rules");
        let names = |file: &str, folders: &[&str]| {
            let plan = std::iter::once(Change::create(path(file), "#home"));
            writes_open_note(&plan.collect(), &rules, |at| folders.contains(&at.as_str()))
        };
        assert!(names("Ann/A.md", &[]) && names("Work/Ann/A.md", &["Work"]));
        assert!(!names("Ann/A.md", &["Ann"]) && !names("A.md", &[]));
        assert!(!names("Safe/Home/Ann/A.md", &["Safe"]), "private folders");
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
