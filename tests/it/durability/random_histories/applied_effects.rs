//! The applied changes as the application lists them, each with the lines that it says it changed.

use std::collections::{BTreeMap, BTreeSet};

use protocol::changes::history::{
    AppliedBy, AppliedHunks, AppliedNote, AppliedSet, ChangeStatus, ListApplied, UndoScope,
};
use protocol::changes::review::{DiffLine, DiffLineKind, NoteHunk};
use protocol::{ChangeKind, ChangeSetId, ConversationId, EffectId, TurnId};
use testkit::vaults::temp_vault::Files;

use super::tracked_notes::{
    NoteNumber, count_words, is_below, is_in_trash, marking_words, text_of,
};
use crate::harness::test_app::RunningApp;

/// The marking words of one hunk; those of lines that were only reworded are in neither list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct HunkWords {
    pub(super) removed: BTreeSet<String>,
    pub(super) added: BTreeSet<String>,
}

impl HunkWords {
    pub(super) fn of(hunk: &NoteHunk) -> Self {
        let (before, after) =
            (words_of(hunk, DiffLineKind::Removed), words_of(hunk, DiffLineKind::Added));
        Self::between(&before, &after)
    }

    fn between(before: &BTreeSet<String>, after: &BTreeSet<String>) -> Self {
        Self { removed: before - after, added: after - before }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.removed.is_empty() && self.added.is_empty()
    }
}

/// The marking words of the lines of a hunk with this sign.
pub(super) fn words_of(hunk: &NoteHunk, sign: DiffLineKind) -> BTreeSet<String> {
    let lines = hunk.lines.iter().filter(|line| line.sign == sign);
    let text =
        |line: &DiffLine| line.words.iter().map(|span| span.text.as_str()).collect::<String>();
    lines.flat_map(|line| marking_words(&text(line))).collect()
}

/// An applied change.
#[derive(Debug, Clone)]
pub(super) struct ListedEffect {
    pub(super) set: ChangeSetId,
    pub(super) turn: TurnId,
    pub(super) conversation: Option<ConversationId>,
    pub(super) by: AppliedBy,
    pub(super) note: AppliedNote,
    /// The note that it changed.
    pub(super) number: Option<NoteNumber>,
    pub(super) hunks: Vec<HunkWords>,
    /// The places of its hunks that are undone.
    pub(super) undone: BTreeSet<usize>,
}

impl ListedEffect {
    /// The words of the hunks that stand, or of those that do not.
    pub(super) fn words_where(&self, stands: bool) -> Vec<&HunkWords> {
        let is_undone = |place: usize| match self.note.standing {
            ChangeStatus::Undone => true,
            ChangeStatus::PartlyUndone => self.undone.contains(&place),
            ChangeStatus::Stands | ChangeStatus::Overwritten => false,
        };
        let hunks = self.hunks.iter().enumerate();
        hunks.filter(|(place, _)| is_undone(*place) != stands).map(|(_, hunk)| hunk).collect()
    }

    pub(super) fn is_undone(&self) -> bool {
        self.note.standing == ChangeStatus::Undone
    }

    /// Whether the user asked for it in a message, so that it is undone and redone by what is listed of it.
    pub(super) fn is_own(&self) -> bool {
        matches!(self.by, AppliedBy::Assistant | AppliedBy::Save)
    }

    /// Whether it says that it changed what is at a path.
    pub(super) fn names(&self, path: &str) -> bool {
        let targets = self.note.target.iter().chain([&self.note.path]);
        targets.into_iter().any(|named| named.as_str() == path || is_below(path, named.as_str()))
    }
}

/// All applied changes in their order.
#[derive(Debug, Default)]
pub(super) struct AppliedEffects {
    pub(super) all: BTreeMap<EffectId, ListedEffect>,
}

impl AppliedEffects {
    /// Whether another change that stands made this hunk in the same note too.
    pub(super) fn made_again(&self, effect: &ListedEffect, hunk: &HunkWords) -> bool {
        let is_other = |other: &&ListedEffect| {
            other.note.effect != effect.note.effect && other.number == effect.number
        };
        let mut stand =
            self.all.values().filter(is_other).flat_map(|other| other.words_where(true));
        !hunk.is_empty() && stand.any(|other| other == hunk)
    }

    /// Reads the list again. Returns the new changes in their order.
    pub(super) async fn update(
        &mut self,
        app: &RunningApp,
        before: &Files,
        after: &Files,
    ) -> Vec<EffectId> {
        let mut new = Vec::new();
        for set in list_sets(app).await.into_iter().rev() {
            for note in &set.notes {
                let effect = note.effect.clone();
                if !self.all.contains_key(&effect) {
                    let hunks = app.app.applied_hunks(&effect).await.expect("hunks");
                    self.all
                        .insert(effect.clone(), listed_effect(&set, note, &hunks, (before, after)));
                    new.push(effect.clone());
                }
                let known = self.all.get_mut(&effect).expect("it is there");
                known.note = note.clone();
                if note.standing == ChangeStatus::PartlyUndone {
                    let hunks = app.app.applied_hunks(&effect).await.expect("hunks");
                    known.undone = hunks.undone.iter().map(|place| *place as usize).collect();
                }
            }
        }
        new.sort();
        new
    }

    pub(super) fn get(&self, effect: &EffectId) -> &ListedEffect {
        &self.all[effect]
    }

    /// The changes that a scope names, with all that are undone together with them.
    pub(super) fn in_scope(&self, scope: &UndoScope) -> Vec<&ListedEffect> {
        let is_named = |one: &ListedEffect| match scope {
            UndoScope::Effect { effect, hunks } => {
                let named = self.get(effect);
                let same_unit = named.note.unit.is_some() && named.note.unit == one.note.unit;
                one.note.effect == *effect
                    || (hunks.is_empty() && same_unit && named.set == one.set)
            }
            UndoScope::ChangeSet { change_set } => one.set == *change_set,
            // The list names one turn of a set; other changes of it may be of others.
            UndoScope::Turn { turn } => {
                let of_turn = |other: &&ListedEffect| other.turn == *turn;
                let turn = self.all.values().find(of_turn);
                one.is_own() && turn.is_some_and(|turn| turn.conversation == one.conversation)
            }
            UndoScope::Conversation { conversation } => {
                one.conversation.as_ref() == Some(conversation) && one.is_own()
            }
        };
        self.all.values().filter(|one| is_named(one)).collect()
    }
}

async fn list_sets(app: &RunningApp) -> Vec<AppliedSet> {
    let mut sets: Vec<AppliedSet> = Vec::new();
    loop {
        let before = sets.last().map(|set| set.id.clone());
        let page = ListApplied { conversation: None, before };
        let page = app.app.list_applied(&page).await.expect("a list");
        sets.extend(page.sets);
        if !page.more {
            return sets;
        }
    }
}

fn listed_effect(
    set: &AppliedSet,
    note: &AppliedNote,
    hunks: &AppliedHunks,
    (before, after): (&Files, &Files),
) -> ListedEffect {
    let folder = |files: &Files| -> BTreeSet<String> {
        let inside = files.iter().filter(|(path, _)| is_below(path, note.path.as_str()));
        inside.flat_map(|(_, bytes)| marking_words(&text_of(bytes))).collect()
    };
    let none = BTreeSet::new();
    // The notes that went to the trash or left it: another note may be moved into the folder, or out of it, in the same
    // step.
    let only_in_trash_of = |files: &Files, others: &Files| -> BTreeSet<String> {
        let is_there = |path: &String| is_in_trash(path) && !others.contains_key(path);
        count_words(files.iter().filter(|(path, _)| is_there(path))).into_keys().collect()
    };
    let to_trash = || &folder(before) & &only_in_trash_of(after, before);
    let from_trash = || &folder(after) & &only_in_trash_of(before, after);
    let hunks = match note.kind {
        ChangeKind::TrashFolder => vec![HunkWords::between(&to_trash(), &none)],
        ChangeKind::RestoreFolder => vec![HunkWords::between(&none, &from_trash())],
        _ => hunks.hunks.iter().map(HunkWords::of).collect(),
    };
    ListedEffect {
        set: set.id.clone(),
        turn: set.turn.clone(),
        conversation: set.conversation.clone(),
        by: set.by,
        note: note.clone(),
        number: None,
        hunks,
        undone: BTreeSet::new(),
    }
}
