//! The scenarios for kills: each changing tool, each act, and large sets.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use index::Index;
use protocol::{
    CallId, Change, ChangeAction, ChangeSet, ChangeSetId, ContentHash, ConversationId, NotePath,
    PrivateRules, TurnId,
};
use serde_json::{Value, json};
use tools::catalog::{ToolDeps, catalog};
use vault::{ChangeBatch, PlannedChange, Vault};

use super::folder_tree::FolderTree;
use crate::stub_tool_deps::StubToolDeps;

/// The turn and call that all changes of a scene belong to.
pub(super) const CALL_ID: &str = "one";

/// A vault and one order over it.
#[derive(Debug, Clone)]
pub(super) struct FaultScenario {
    /// The name in the report.
    pub(super) name: &'static str,
    /// All files before the order.
    pub(super) before: FolderTree,
    work: ScenarioWork,
}

#[derive(Debug, Clone)]
enum ScenarioWork {
    /// A call of a model.
    Call(&'static str, Value),
    /// Changes that are applied without a call.
    Set(Vec<Change>),
}

impl FaultScenario {
    /// The changes, planned again for each run: by the tool itself where the scenario is one of a
    /// tool's.
    pub(super) async fn changes(&self, vault: &Vault) -> Result<Vec<Change>, String> {
        match &self.work {
            ScenarioWork::Set(changes) => Ok(changes.clone()),
            ScenarioWork::Call(tool, arguments) => {
                self.plan_with_tool(vault, tool, arguments.clone()).await
            }
        }
    }

    /// The order that a host would make of it.
    #[must_use]
    pub(super) fn change_batch(changes: Vec<Change>) -> ChangeBatch {
        let set: ChangeSet = changes.into_iter().collect();
        let plan = |change: &Change| PlannedChange {
            change: change.clone(),
            turn: TurnId::from(CALL_ID),
            call: CallId::from(CALL_ID),
            unit: set.is_unit().then(|| CallId::from(CALL_ID)),
            file: None,
        };
        let changes = set.changes().map(plan).collect();
        ChangeBatch { change_set: ChangeSetId::from(CALL_ID), changes }
    }

    async fn plan_with_tool(
        &self,
        vault: &Vault,
        tool: &str,
        arguments: Value,
    ) -> Result<Vec<Change>, String> {
        let deps = ToolDeps {
            vault: vault.clone(),
            index: Index::new(vault, PrivateRules::default(), Path::new("unused")),
            archive: Arc::new(StubToolDeps),
            environment: Arc::new(StubToolDeps),
            questions: Arc::new(StubToolDeps),
        };
        let registry = catalog(deps).expect("no name twice");
        let seen: BTreeMap<_, _> = self
            .before
            .0
            .keys()
            .filter_map(|path| Some((path, self.before.file(path)?)))
            .filter_map(|(path, bytes)| Some((note_bytes(path)?, ContentHash::of(bytes))))
            .collect();
        let context = llm::tool_api::tool::ToolContext {
            conversation: ConversationId::from(CALL_ID),
            turn: TurnId::from(CALL_ID),
            call: CallId::from(CALL_ID),
            overlay: Arc::default(),
            withheld: Arc::default(),
            seen: Arc::new(seen),
            max_output_bytes: usize::MAX,
            sources: llm::tool_api::tool::SourceLog::default(),
            offered: llm::tool_api::tool::ToolOffer::default(),
        };
        match registry.call(tool, arguments, &context).await {
            llm::tool_api::tool::CallOutcome::Planned(_, plan) => {
                Ok(plan.change_set.changes().cloned().collect())
            }
            llm::tool_api::tool::CallOutcome::Outcome(outcome) => Err(outcome.output),
        }
    }
}

/// All scenes; the large ones come last.
#[must_use]
pub(super) fn all_scenarios() -> Vec<FaultScenario> {
    let mut scenes = vec![
        tool_scenario("edit text", "edit_file", json!({"old_text": "two", "new_text": "TWO"})),
        tool_scenario(
            "edit section",
            "edit_section",
            json!({"heading": "List", "action": "append", "text": "- four"}),
        ),
        tool_scenario(
            "edit property",
            "set_property",
            json!({"property": "tags", "action": "append", "value": "new"}),
        ),
        tool_scenario(
            "overwrite",
            "write_file",
            json!({"content": "all new\n", "overwrite": true}),
        ),
        tool_scenario("append", "append_file", json!({"content": "at the end"})),
        FaultScenario {
            name: "create",
            work: ScenarioWork::Call(
                "write_file",
                json!({"path": "New/Folder/Made.md", "content": "made\n"}),
            ),
            before: initial_notes(),
        },
        FaultScenario {
            name: "append to none",
            work: ScenarioWork::Call("append_file", json!({"path": "New.md", "content": "first"})),
            before: initial_notes(),
        },
    ];
    scenes.extend(folder_tool_scenarios());
    scenes.extend(change_scenarios());
    scenes.extend([sixty_changes(), undo_of_sixty(), many_links()]);
    scenes
}

/// The one with this name.
#[must_use]
pub(super) fn scenario_named(name: &str) -> FaultScenario {
    all_scenarios().into_iter().find(|scene| scene.name == name).unwrap_or_else(|| {
        panic!("there is no scene `{name}`");
    })
}

const NOTE: &str = "Notes/Note.md";

fn initial_notes() -> FolderTree {
    let mut tree = FolderTree::default();
    tree.put(NOTE, "---\ntags: [old]\n---\n# List\n\n- one\n- two\n- three\n");
    tree.put("Notes/Link.md", "to [[Note]] and [[Deep/Far]]\n");
    tree.put("Deep/Far.md", "# Far\r\n\r\nback to [[Note]]\r\n");
    tree.put("Deep/er/Last.md", "[[Note]]");
    tree.put("Old/Gone.md", "gone\n");
    tree.put(".trash/Gone.md", "gone before\n");
    tree.put(".trash/Shelf/Book.md", "a book\n");
    tree
}

fn tool_scenario(name: &'static str, tool: &'static str, mut arguments: Value) -> FaultScenario {
    arguments["path"] = json!(NOTE);
    FaultScenario { name, work: ScenarioWork::Call(tool, arguments), before: initial_notes() }
}

fn folder_tool_scenarios() -> Vec<FaultScenario> {
    let call = |name, tool, arguments| FaultScenario {
        name,
        work: ScenarioWork::Call(tool, arguments),
        before: initial_notes(),
    };
    vec![
        call("make folder", "create_folder", json!({"path": "A/B/C"})),
        call("delete note", "delete_file", json!({"path": "Old/Gone.md"})),
        call("delete folder", "delete_file", json!({"path": "Old"})),
        call("move note", "move_file", json!({"source": NOTE, "destination": "Far/Away/Moved.md"})),
        call("move folder", "move_file", json!({"source": "Deep", "destination": "Top/Shallow"})),
    ]
}

fn change_scenarios() -> Vec<FaultScenario> {
    let folder = |at: &str, act: ChangeAction| Change { path: note_path(at), act };
    let link = |at: &str, from: &str, to: &str| {
        let before = initial_notes().file(at).expect("a note").to_vec();
        let after = String::from_utf8_lossy(&before).replace(from, to);
        Change::replace(note_path(at), before, after)
    };
    let set = |name, changes| FaultScenario {
        name,
        work: ScenarioWork::Set(changes),
        before: initial_notes(),
    };
    vec![
        set(
            "restore folder",
            vec![folder(
                "Shelf",
                ChangeAction::RestoreFolder { trashed: "Shelf".into(), holds: None },
            )],
        ),
        set(
            "restore folder and a note in it",
            vec![
                folder(
                    "Shelf",
                    ChangeAction::RestoreFolder { trashed: "Shelf".into(), holds: None },
                ),
                Change::create(note_path("Shelf/Deep/Made.md"), "made\n"),
            ],
        ),
        set(
            "move folder and a note out of it",
            vec![
                link("Deep/Far.md", "[[Note]]", "[[Notes/Note]]"),
                Change::rename_folder(note_path("Deep"), note_path("Top")),
                Change::rename(note_path("Top/Far.md"), note_path("Far.md")),
            ],
        ),
        set(
            "several moves",
            vec![
                link("Notes/Link.md", "Deep/Far", "Shallow/Far"),
                link("Deep/er/Last.md", "[[Note]]", "[[Note|same]]"),
                Change::create(note_path("Deep/Index.md"), "index\n"),
                Change::rename_folder(note_path("Deep"), note_path("Top/Shallow")),
                Change::rename(note_path(NOTE), note_path("Note.md")),
            ],
        ),
        set(
            "all at once",
            vec![
                link("Notes/Link.md", "to", "from"),
                Change::create(note_path("X/Y/Z.md"), "z"),
                Change::trash(note_path("Old/Gone.md"), "gone\n"),
                folder("A", ChangeAction::MakeFolder),
            ],
        ),
    ]
}

/// Forty edits, fifteen new notes and five deletions, over a dozen folders.
fn sixty_changes() -> FaultScenario {
    let mut before = FolderTree::default();
    let mut changes = Vec::new();
    for n in 0..60 {
        let at = format!("F{}/Note {n}.md", n % 12);
        let (old, new) = (long_text(n, "old"), long_text(n, "new"));
        match n {
            0..40 => changes.push(Change::replace(note_path(&at), old.clone(), new)),
            40..45 => changes.push(Change::trash(note_path(&at), old.clone())),
            _ => changes.push(Change::create(note_path(&at), new)),
        }
        if n < 45 {
            before.put(&at, old);
        }
    }
    FaultScenario { name: "sixty notes", work: ScenarioWork::Set(changes), before }
}

/// The changes that undo plans to revert all of [`sixty_changes`].
fn undo_of_sixty() -> FaultScenario {
    let FaultScenario { before, work, .. } = sixty_changes();
    let ScenarioWork::Set(changes) = work else { panic!("sixty notes are no call") };
    let back = |Change { path, act }: &Change| match act {
        ChangeAction::Replace { before, after } => {
            Change::replace(path.clone(), &after[..], &before[..])
        }
        ChangeAction::Create { after, .. } => Change::trash(path.clone(), &after[..]),
        ChangeAction::Trash { before } => Change::create(path.clone(), &before[..]),
        other => panic!("sixty notes have no {other:?}"),
    };
    let work = ScenarioWork::Set(changes.iter().rev().map(back).collect());
    FaultScenario { name: "sixty undone", work, before: before.after_changes(&changes) }
}

/// A note moves, and two hundred others link to it.
fn many_links() -> FaultScenario {
    let mut before = FolderTree::default();
    before.put("Hub.md", "# Hub\n");
    let mut changes = Vec::new();
    for n in 0..200 {
        let at = format!("F{}/Link {n}.md", n % 20);
        let (old, new) = (format!("{n} to [[Hub]]\n"), format!("{n} to [[Centre]]\n"));
        changes.push(Change::replace(note_path(&at), old.clone(), new));
        before.put(&at, old);
    }
    changes.push(Change::rename(note_path("Hub.md"), note_path("Middle/Centre.md")));
    FaultScenario { name: "two hundred links", work: ScenarioWork::Set(changes), before }
}

/// Enough that a note fills several blocks.
fn long_text(n: usize, word: &str) -> String {
    (0..n * 8).fold(format!("# {n}\n\n"), |mut text, line| {
        let _ = writeln!(text, "{word} line {line} of note {n}");
        text
    })
}

fn note_path(text: &str) -> NotePath {
    NotePath::parse(text).expect("a path")
}

fn note_bytes(text: &str) -> Option<NotePath> {
    NotePath::parse(text).ok()
}
