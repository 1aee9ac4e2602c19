//! What is going on when the plug is pulled: each changing tool, each act, and large sets.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use index::Index;
use protocol::{
    Act, CallId, Change, ChangeSet, ChangeSetId, ContentHash, ConversationId, NotePath,
    PrivateRules, TurnId,
};
use serde_json::{Value, json};
use tools::catalog::{Shelf, catalog};
use vault::{Order, Planned, Vault};

use super::tree::Tree;
use crate::nothing::Nothing;

/// The turn and call that all changes of a scene belong to.
pub(super) const ONE: &str = "one";

/// A folder of notes and one order over it.
#[derive(Debug, Clone)]
pub(super) struct Scene {
    /// What it is called in the report.
    pub(super) name: &'static str,
    /// The folder before.
    pub(super) before: Tree,
    work: Work,
}

#[derive(Debug, Clone)]
enum Work {
    /// What a model would call.
    Call(&'static str, Value),
    /// Changes as they are.
    Set(Vec<Change>),
}

impl Scene {
    /// What shall change, planned anew: by the tool itself where the scene is one of a tool's.
    pub(super) async fn changes(&self, vault: &Vault) -> Result<Vec<Change>, String> {
        match &self.work {
            Work::Set(changes) => Ok(changes.clone()),
            Work::Call(tool, arguments) => self.planned(vault, tool, arguments.clone()).await,
        }
    }

    /// The order that a host would make of it.
    #[must_use]
    pub(super) fn order(changes: Vec<Change>) -> Order {
        let set: ChangeSet = changes.into_iter().collect();
        let plan = |change: &Change| Planned {
            change: change.clone(),
            turn: TurnId::from(ONE),
            call: CallId::from(ONE),
            unit: set.is_unit().then(|| CallId::from(ONE)),
            file: None,
        };
        let changes = set.changes().map(plan).collect();
        Order { change_set: ChangeSetId::from(ONE), changes }
    }

    async fn planned(
        &self,
        vault: &Vault,
        tool: &str,
        arguments: Value,
    ) -> Result<Vec<Change>, String> {
        let shelf = Shelf {
            vault: vault.clone(),
            index: Index::new(vault, PrivateRules::default(), Path::new("unused")),
            archive: Arc::new(Nothing),
            desk: Arc::new(Nothing),
            questions: Arc::new(Nothing),
        };
        let registry = catalog(shelf).expect("no name twice");
        let seen: BTreeMap<_, _> = self
            .before
            .0
            .keys()
            .filter_map(|path| Some((path, self.before.file(path)?)))
            .filter_map(|(path, bytes)| Some((note(path)?, ContentHash::of(bytes))))
            .collect();
        let context = llm::tool::ToolContext {
            conversation: ConversationId::from(ONE),
            turn: TurnId::from(ONE),
            call: CallId::from(ONE),
            overlay: Arc::default(),
            seen: Arc::new(seen),
            room: usize::MAX,
            shows: llm::tool::Shows::default(),
        };
        match registry.call(tool, arguments, &context).await {
            llm::tool::Called::Planned(_, plan) => Ok(plan.change_set.changes().cloned().collect()),
            llm::tool::Called::Outcome(outcome) => Err(outcome.output),
        }
    }
}

/// All scenes; the large ones come last.
#[must_use]
pub(super) fn scenes() -> Vec<Scene> {
    let mut scenes = vec![
        called("edit text", "edit_file", json!({"old_text": "two", "new_text": "TWO"})),
        called("edit lines", "edit_file", json!({"start_line": 6, "end_line": 7})),
        called("insert line", "edit_file", json!({"line": 6, "action": "after", "text": "1½"})),
        called(
            "edit section",
            "edit_file",
            json!({"heading": "List", "action": "append", "text": "- four"}),
        ),
        called(
            "edit property",
            "edit_file",
            json!({"property": "tags", "action": "append", "value": "new"}),
        ),
        called("overwrite", "write_file", json!({"content": "all new\n", "overwrite": true})),
        called("append", "append_file", json!({"content": "at the end"})),
        Scene {
            name: "create",
            work: Work::Call(
                "write_file",
                json!({"path": "New/Folder/Made.md", "content": "made\n"}),
            ),
            before: notes(),
        },
        Scene {
            name: "append to none",
            work: Work::Call("append_file", json!({"path": "New.md", "content": "first"})),
            before: notes(),
        },
    ];
    scenes.extend(tools_on_folders());
    scenes.extend(acts());
    scenes.extend([sixty(), sixty_taken_back(), many_links()]);
    scenes
}

/// The one with this name.
#[must_use]
pub(super) fn scene(name: &str) -> Scene {
    scenes().into_iter().find(|scene| scene.name == name).unwrap_or_else(|| {
        panic!("there is no scene `{name}`");
    })
}

const NOTE: &str = "Notes/Note.md";

fn notes() -> Tree {
    let mut tree = Tree::default();
    tree.put(NOTE, "---\ntags: [old]\n---\n# List\n\n- one\n- two\n- three\n");
    tree.put("Notes/Link.md", "to [[Note]] and [[Deep/Far]]\n");
    tree.put("Deep/Far.md", "# Far\r\n\r\nback to [[Note]]\r\n");
    tree.put("Deep/er/Last.md", "[[Note]]");
    tree.put("Old/Gone.md", "gone\n");
    tree.put(".trash/Gone.md", "gone before\n");
    tree.put(".trash/Shelf/Book.md", "a book\n");
    tree
}

fn called(name: &'static str, tool: &'static str, mut arguments: Value) -> Scene {
    arguments["path"] = json!(NOTE);
    Scene { name, work: Work::Call(tool, arguments), before: notes() }
}

fn tools_on_folders() -> Vec<Scene> {
    let call =
        |name, tool, arguments| Scene { name, work: Work::Call(tool, arguments), before: notes() };
    vec![
        call("make folder", "create_folder", json!({"path": "A/B/C"})),
        call("delete note", "delete_file", json!({"path": "Old/Gone.md"})),
        call("delete folder", "delete_file", json!({"path": "Old"})),
        call("move note", "move_file", json!({"source": NOTE, "destination": "Far/Away/Moved.md"})),
        call("move folder", "move_file", json!({"source": "Deep", "destination": "Top/Shallow"})),
    ]
}

fn acts() -> Vec<Scene> {
    let folder = |at: &str, act: Act| Change { path: path(at), act };
    let link = |at: &str, from: &str, to: &str| {
        let before = notes().file(at).expect("a note").to_vec();
        let after = String::from_utf8_lossy(&before).replace(from, to);
        Change::replace(path(at), before, after)
    };
    let set = |name, changes| Scene { name, work: Work::Set(changes), before: notes() };
    vec![
        set(
            "restore folder",
            vec![folder("Shelf", Act::RestoreFolder { trashed: "Shelf".into(), holds: None })],
        ),
        set(
            "several moves",
            vec![
                link("Notes/Link.md", "Deep/Far", "Shallow/Far"),
                link("Deep/er/Last.md", "[[Note]]", "[[Note|same]]"),
                Change::create(path("Deep/Index.md"), "index\n"),
                Change::rename_folder(path("Deep"), path("Top/Shallow")),
                Change::rename(path(NOTE), path("Note.md")),
            ],
        ),
        set(
            "all at once",
            vec![
                link("Notes/Link.md", "to", "from"),
                Change::create(path("X/Y/Z.md"), "z"),
                Change::trash(path("Old/Gone.md"), "gone\n"),
                folder("A", Act::MakeFolder),
            ],
        ),
    ]
}

/// Forty edits, fifteen new notes and five deletions, over a dozen folders.
fn sixty() -> Scene {
    let mut before = Tree::default();
    let mut changes = Vec::new();
    for n in 0..60 {
        let at = format!("F{}/Note {n}.md", n % 12);
        let (old, new) = (text(n, "old"), text(n, "new"));
        match n {
            0..40 => changes.push(Change::replace(path(&at), old.clone(), new)),
            40..45 => changes.push(Change::trash(path(&at), old.clone())),
            _ => changes.push(Change::create(path(&at), new)),
        }
        if n < 45 {
            before.put(&at, old);
        }
    }
    Scene { name: "sixty notes", work: Work::Set(changes), before }
}

/// What undo plans to take back all of [`sixty`].
fn sixty_taken_back() -> Scene {
    let Scene { before, work, .. } = sixty();
    let Work::Set(changes) = work else { panic!("sixty notes are no call") };
    let back = |Change { path, act }: &Change| match act {
        Act::Replace { before, after } => Change::replace(path.clone(), &after[..], &before[..]),
        Act::Create { after, .. } => Change::trash(path.clone(), &after[..]),
        Act::Trash { before } => Change::create(path.clone(), &before[..]),
        other => panic!("sixty notes have no {other:?}"),
    };
    let work = Work::Set(changes.iter().rev().map(back).collect());
    Scene { name: "sixty taken back", work, before: before.after(&changes) }
}

/// A note moves, and two hundred others link to it.
fn many_links() -> Scene {
    let mut before = Tree::default();
    before.put("Hub.md", "# Hub\n");
    let mut changes = Vec::new();
    for n in 0..200 {
        let at = format!("F{}/Link {n}.md", n % 20);
        let (old, new) = (format!("{n} to [[Hub]]\n"), format!("{n} to [[Centre]]\n"));
        changes.push(Change::replace(path(&at), old.clone(), new));
        before.put(&at, old);
    }
    changes.push(Change::rename(path("Hub.md"), path("Middle/Centre.md")));
    Scene { name: "two hundred links", work: Work::Set(changes), before }
}

/// Enough that a note fills several blocks.
fn text(n: usize, word: &str) -> String {
    (0..n * 8).fold(format!("# {n}\n\n"), |mut text, line| {
        let _ = writeln!(text, "{word} line {line} of note {n}");
        text
    })
}

fn path(text: &str) -> NotePath {
    NotePath::parse(text).expect("a path")
}

fn note(text: &str) -> Option<NotePath> {
    NotePath::parse(text).ok()
}
