//! The scenarios: the changes of a model, the user's edits after them, and the undo or redo.

use std::fs;
use std::path::Path;

use protocol::changes::history::{AppliedBy, AppliedSet, UndoScope};
use serde_json::{Value, json};

use crate::fault_injection::folder_tree::FolderTree;

/// Back or back again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum UndoOrRedo {
    /// As if it had never been.
    #[default]
    Undo,
    /// As it was before the undo.
    Redo,
}

/// How much of what the model did.
#[derive(Debug, Clone, Copy)]
enum ScenarioScope {
    Set,
    Turn,
    Conversation,
    /// The second hunk of the first change.
    Hunk,
}

/// One story up to a deed.
#[derive(Debug)]
pub(super) struct UndoScenario {
    /// The name in the report.
    pub(super) name: &'static str,
    /// The notes before the model changed them.
    pub(super) notes: FolderTree,
    /// The calls of the model; the user accepts all of it.
    pub(super) calls: Vec<(&'static str, Value)>,
    pub(super) way: UndoOrRedo,
    scope: ScenarioScope,
    /// The user's edits in the folder afterwards.
    user_edits: &'static [UserEdit],
    /// The notes after the undo, where they differ from the initial ones.
    undone: &'static [(&'static str, Option<&'static str>)],
}

#[derive(Debug)]
enum UserEdit {
    Write(&'static str, &'static str),
    Rename(&'static str, &'static str),
}

impl UndoOrRedo {
    /// Its name in the report.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Undo => "undo",
            Self::Redo => "redo",
        }
    }
}

impl UndoScenario {
    /// The scope of the undo, chosen from all applied changes, newest first.
    pub(super) fn undo_scope(&self, sets: &[AppliedSet]) -> UndoScope {
        let planned = sets.iter().rfind(|set| set.by == AppliedBy::Assistant);
        let set = planned.expect("a set of the model");
        match self.scope {
            ScenarioScope::Set => UndoScope::ChangeSet { change_set: set.id.clone() },
            ScenarioScope::Turn => UndoScope::Turn { turn: set.turn.clone() },
            ScenarioScope::Conversation => UndoScope::Conversation {
                conversation: set.conversation.clone().expect("a conversation"),
            },
            ScenarioScope::Hunk => {
                UndoScope::Effect { effect: set.notes[0].effect.clone(), hunks: vec![1] }
            }
        }
    }

    /// Does what the user does past the application.
    pub(super) fn apply_user_edits(&self, vault: &Path) {
        for act in self.user_edits {
            match act {
                UserEdit::Write(path, text) => fs::write(vault.join(path), text).expect("written"),
                UserEdit::Rename(from, to) => {
                    let to = vault.join(to);
                    fs::create_dir_all(to.parent().expect("a folder")).expect("made");
                    fs::rename(vault.join(from), to).expect("renamed");
                }
            }
        }
    }

    /// The notes once everything is undone.
    pub(super) fn expected_notes(&self) -> FolderTree {
        let mut tree = self.notes.clone();
        for (path, text) in self.undone {
            match text {
                Some(text) => tree.put(path, *text),
                None => {
                    tree.0.remove(*path);
                }
            }
        }
        tree
    }
}

/// All deeds.
pub(super) fn all_scenarios() -> Vec<UndoScenario> {
    let mut deeds = vec![
        move_scenario("undo a move", UndoOrRedo::Undo),
        edit_scenario("redo edits", UndoOrRedo::Redo),
    ];
    deeds.extend([
        edit_scenario("undo edits", UndoOrRedo::Undo),
        move_scenario("redo a move", UndoOrRedo::Redo),
    ]);
    deeds.extend([
        create_scenario("undo new and deleted", UndoOrRedo::Undo),
        create_scenario("redo new and deleted", UndoOrRedo::Redo),
    ]);
    deeds.extend([hunk_scenario(), user_rename_scenario(), folder_scenario()]);
    deeds
}

fn initial_notes() -> FolderTree {
    let mut tree = FolderTree::default();
    tree.put("Alpha.md", ALPHA);
    tree.put("Beta.md", "# Beta\r\n\r\nto [[Gamma]] and [[Alpha]]\r\n");
    tree.put("Deep/Gamma.md", "back to [[Beta]]\n");
    tree.put("Old/Gone.md", "gone\n");
    tree.put("Old/Er/Last.md", "last\n");
    tree.put("List.md", "# List\n\n- bread\n");
    tree
}

const ALPHA: &str = "# Alpha\n\none\ntwo\nthree\nfour\nfive\nsix\nseven\n";

fn edit_call(path: &str, old: &str, new: &str) -> (&'static str, Value) {
    ("edit_file", json!({ "path": path, "old_text": old, "new_text": new }))
}

/// Three notes, one of which the user wrote in since.
fn edit_scenario(name: &'static str, direction: UndoOrRedo) -> UndoScenario {
    let calls = vec![
        edit_call("Alpha.md", "one\n", "ONE\n"),
        edit_call("Beta.md", "# Beta", "# BETA"),
        edit_call("List.md", "- bread", "- bread\n- milk"),
    ];
    UndoScenario {
        name,
        notes: initial_notes(),
        calls,
        way: direction,
        scope: ScenarioScope::Turn,
        user_edits: &[UserEdit::Write("Alpha.md", "# Alpha\n\nONE\ntwo\nthree\nby hand\n")],
        undone: &[("Alpha.md", Some("# Alpha\n\none\ntwo\nthree\nby hand\n"))],
    }
}

/// A note with the links to it, one of which the user has added since.
fn move_scenario(name: &'static str, direction: UndoOrRedo) -> UndoScenario {
    let call = json!({ "source": "Deep/Gamma.md", "destination": "Far/Away/Delta.md" });
    UndoScenario {
        name,
        notes: initial_notes(),
        calls: vec![("move_file", call)],
        way: direction,
        scope: ScenarioScope::Set,
        user_edits: &[UserEdit::Write("List.md", "# List\n\n- [[Delta]]\n")],
        undone: &[("List.md", Some("# List\n\n- [[Gamma]]\n"))],
    }
}

fn create_scenario(name: &'static str, direction: UndoOrRedo) -> UndoScenario {
    let calls = vec![
        ("write_file", json!({ "path": "New/Folder/Made.md", "content": "made\n" })),
        ("append_file", json!({ "path": "List.md", "content": "- milk" })),
        ("delete_file", json!({ "path": "Old/Gone.md" })),
        ("create_folder", json!({ "path": "Empty/Folder" })),
    ];
    let (notes, scope) = (initial_notes(), ScenarioScope::Conversation);
    UndoScenario { name, notes, calls, way: direction, scope, user_edits: &[], undone: &[] }
}

fn hunk_scenario() -> UndoScenario {
    UndoScenario {
        name: "undo one hunk",
        notes: initial_notes(),
        calls: vec![
            edit_call("Alpha.md", "one\n", "ONE\n"),
            edit_call("Alpha.md", "seven", "SEVEN"),
        ],
        way: UndoOrRedo::Undo,
        scope: ScenarioScope::Hunk,
        user_edits: &[],
        undone: &[("Alpha.md", Some("# Alpha\n\nONE\ntwo\nthree\nfour\nfive\nsix\nseven\n"))],
    }
}

/// That is found out, and noted as a set of its own.
fn user_rename_scenario() -> UndoScenario {
    UndoScenario {
        name: "undo where renamed by hand",
        notes: initial_notes(),
        calls: vec![
            edit_call("Alpha.md", "one\n", "ONE\n"),
            edit_call("List.md", "- bread", "- buns"),
        ],
        way: UndoOrRedo::Undo,
        scope: ScenarioScope::Turn,
        user_edits: &[UserEdit::Rename("Alpha.md", "Elsewhere/Omega.md")],
        undone: &[("Alpha.md", None), ("Elsewhere/Omega.md", Some(ALPHA))],
    }
}

fn folder_scenario() -> UndoScenario {
    UndoScenario {
        name: "undo a deleted folder",
        notes: initial_notes(),
        calls: vec![("delete_file", json!({ "path": "Old/" }))],
        way: UndoOrRedo::Undo,
        scope: ScenarioScope::Set,
        user_edits: &[],
        undone: &[],
    }
}
