//! What a model did, what the user did after it, and what is taken back or put back of it.

use std::fs;
use std::path::Path;

use protocol::applied::{AppliedBy, AppliedSet, UndoScope};
use serde_json::{Value, json};

use crate::faults::tree::Tree;

/// Back or back again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Way {
    /// As if it had never been.
    #[default]
    Undo,
    /// As it was before it was taken back.
    Redo,
}

/// How much of what the model did.
#[derive(Debug, Clone, Copy)]
enum Scope {
    Set,
    Turn,
    Conversation,
    /// The second hunk of the first change.
    Hunk,
}

/// One story up to a deed.
#[derive(Debug)]
pub(super) struct Deed {
    /// What it is called in the report.
    pub(super) name: &'static str,
    /// The notes before the model changed them.
    pub(super) notes: Tree,
    /// What the model calls; the user accepts all of it.
    pub(super) calls: Vec<(&'static str, Value)>,
    pub(super) way: Way,
    scope: Scope,
    /// What the user does to the folder afterwards.
    by_hand: &'static [ByHand],
    /// What the notes say once it is taken back, where that is not what they said at first.
    undone: &'static [(&'static str, Option<&'static str>)],
}

#[derive(Debug)]
enum ByHand {
    Write(&'static str, &'static str),
    Rename(&'static str, &'static str),
}

impl Way {
    /// Its name in the report.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Undo => "undo",
            Self::Redo => "redo",
        }
    }
}

impl Deed {
    /// What is to be taken back, picked from all that was applied, newest first.
    pub(super) fn scope(&self, sets: &[AppliedSet]) -> UndoScope {
        let planned = sets.iter().rfind(|set| set.by == AppliedBy::Assistant);
        let set = planned.expect("a set of the model");
        match self.scope {
            Scope::Set => UndoScope::ChangeSet { change_set: set.id.clone() },
            Scope::Turn => UndoScope::Turn { turn: set.turn.clone() },
            Scope::Conversation => UndoScope::Conversation {
                conversation: set.conversation.clone().expect("a conversation"),
            },
            Scope::Hunk => {
                UndoScope::Effect { effect: set.notes[0].effect.clone(), hunks: vec![1] }
            }
        }
    }

    /// Does what the user does past the application.
    pub(super) fn change_by_hand(&self, vault: &Path) {
        for act in self.by_hand {
            match act {
                ByHand::Write(path, text) => fs::write(vault.join(path), text).expect("written"),
                ByHand::Rename(from, to) => {
                    let to = vault.join(to);
                    fs::create_dir_all(to.parent().expect("a folder")).expect("made");
                    fs::rename(vault.join(from), to).expect("renamed");
                }
            }
        }
    }

    /// The notes once all is taken back.
    pub(super) fn undone(&self) -> Tree {
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
pub(super) fn deeds() -> Vec<Deed> {
    let mut deeds = vec![moved("undo a move", Way::Undo), edited("redo edits", Way::Redo)];
    deeds.extend([edited("undo edits", Way::Undo), moved("redo a move", Way::Redo)]);
    deeds
        .extend([made("undo new and deleted", Way::Undo), made("redo new and deleted", Way::Redo)]);
    deeds.extend([one_hunk(), renamed_by_hand(), folder()]);
    deeds
}

fn notes() -> Tree {
    let mut tree = Tree::default();
    tree.put("Alpha.md", ALPHA);
    tree.put("Beta.md", "# Beta\r\n\r\nto [[Gamma]] and [[Alpha]]\r\n");
    tree.put("Deep/Gamma.md", "back to [[Beta]]\n");
    tree.put("Old/Gone.md", "gone\n");
    tree.put("Old/Er/Last.md", "last\n");
    tree.put("List.md", "# List\n\n- bread\n");
    tree
}

const ALPHA: &str = "# Alpha\n\none\ntwo\nthree\nfour\nfive\nsix\nseven\n";

fn edit(path: &str, old: &str, new: &str) -> (&'static str, Value) {
    ("edit_file", json!({ "path": path, "old_text": old, "new_text": new }))
}

/// Three notes, one of which the user wrote in since.
fn edited(name: &'static str, way: Way) -> Deed {
    let calls = vec![
        edit("Alpha.md", "one\n", "ONE\n"),
        edit("Beta.md", "# Beta", "# BETA"),
        edit("List.md", "- bread", "- bread\n- milk"),
    ];
    Deed {
        name,
        notes: notes(),
        calls,
        way,
        scope: Scope::Turn,
        by_hand: &[ByHand::Write("Alpha.md", "# Alpha\n\nONE\ntwo\nthree\nby hand\n")],
        undone: &[("Alpha.md", Some("# Alpha\n\none\ntwo\nthree\nby hand\n"))],
    }
}

/// A note with the links to it, one of which the user has added since.
fn moved(name: &'static str, way: Way) -> Deed {
    let call = json!({ "source": "Deep/Gamma.md", "destination": "Far/Away/Delta.md" });
    Deed {
        name,
        notes: notes(),
        calls: vec![("move_file", call)],
        way,
        scope: Scope::Set,
        by_hand: &[ByHand::Write("List.md", "# List\n\n- [[Delta]]\n")],
        undone: &[("List.md", Some("# List\n\n- [[Gamma]]\n"))],
    }
}

fn made(name: &'static str, way: Way) -> Deed {
    let calls = vec![
        ("write_file", json!({ "path": "New/Folder/Made.md", "content": "made\n" })),
        ("append_file", json!({ "path": "List.md", "content": "- milk" })),
        ("delete_file", json!({ "path": "Old/Gone.md" })),
        ("create_folder", json!({ "path": "Empty/Folder" })),
    ];
    let (notes, scope) = (notes(), Scope::Conversation);
    Deed { name, notes, calls, way, scope, by_hand: &[], undone: &[] }
}

fn one_hunk() -> Deed {
    Deed {
        name: "undo one hunk",
        notes: notes(),
        calls: vec![edit("Alpha.md", "one\n", "ONE\n"), edit("Alpha.md", "seven", "SEVEN")],
        way: Way::Undo,
        scope: Scope::Hunk,
        by_hand: &[],
        undone: &[("Alpha.md", Some("# Alpha\n\nONE\ntwo\nthree\nfour\nfive\nsix\nseven\n"))],
    }
}

/// That is found out, and noted as a set of its own.
fn renamed_by_hand() -> Deed {
    Deed {
        name: "undo where renamed by hand",
        notes: notes(),
        calls: vec![edit("Alpha.md", "one\n", "ONE\n"), edit("List.md", "- bread", "- buns")],
        way: Way::Undo,
        scope: Scope::Turn,
        by_hand: &[ByHand::Rename("Alpha.md", "Elsewhere/Omega.md")],
        undone: &[("Alpha.md", None), ("Elsewhere/Omega.md", Some(ALPHA))],
    }
}

fn folder() -> Deed {
    Deed {
        name: "undo a deleted folder",
        notes: notes(),
        calls: vec![("delete_file", json!({ "path": "Old/" }))],
        way: Way::Undo,
        scope: Scope::Set,
        by_hand: &[],
        undone: &[],
    }
}
