//! How often a turn waits for the disk, counted from outside the process.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use testkit::scripted_model::{KEY, last_words, results};
use testkit::{Reply, ScriptedModel, TempVault};

/// What waited for the disk.
#[derive(Debug, Default, PartialEq, Eq)]
struct Syncs {
    /// Commits of the database; folding its log into the file is not counted.
    commits: usize,
    /// Notes.
    notes: usize,
    /// Folders of notes.
    folders: usize,
}

/// The model reads or appends once a turn.
fn model(request: &Value) -> Reply {
    if !results(request).is_empty() {
        return Reply::text("Done.");
    }
    let words = last_words(request);
    let line = json!({ "path": "List.md", "content": format!("- {}", words.len()) });
    match words.contains("play append") {
        true => Reply::calls(vec![("append_file", line)]),
        false => Reply::calls(vec![("read_file", json!({ "path": "List.md" }))]),
    }
}

/// The syncs of so many turns in a process of their own, its start and end among them.
async fn counted(kind: &str, turns: usize) -> Syncs {
    let (notes, data) =
        (TempVault::new(&[("List.md", "# List\n\n- bread\n")]), TempVault::new(&[]));
    let model = ScriptedModel::responder(model).await;
    let trace = data.root().with_extension("trace");
    let mut command = Command::new("strace");
    command
        .args(["-f", "-y", "-qq", "-e", "trace=fsync,fdatasync,sync_file_range,syncfs,sync", "-o"])
        .arg(&trace)
        .arg(env!("CARGO_BIN_EXE_story"))
        .args([data.root(), notes.root(), format!("{kind} {turns}").as_ref()])
        .env("ANTHROPIC_BASE_URL", model.base_url())
        .env("ANTHROPIC_API_KEY", KEY)
        .env_remove("DBUS_SESSION_BUS_ADDRESS");
    let run = tokio::task::spawn_blocking(move || command.status()).await.expect("it runs");
    assert!(run.expect("strace runs").success());
    assert_eq!(model.requests().len(), 2 * turns);
    let syncs = in_trace(&std::fs::read_to_string(&trace).expect("a trace"), notes.root());
    std::fs::remove_file(&trace).expect("the trace is removed");
    syncs
}

fn in_trace(trace: &str, notes: &Path) -> Syncs {
    let (folder, inside) = (format!("<{}>", notes.display()), format!("<{}/", notes.display()));
    let count = |what: &str| {
        trace.lines().filter(|line| line.contains("sync(") && line.contains(what)).count()
    };
    Syncs { commits: count("vaultmate.db-wal>"), notes: count(&inside), folders: count(&folder) }
}

/// The syncs of one turn, if all are alike.
async fn of_one(kind: &str) -> Syncs {
    let (few, more) = (counted(kind, 2).await, counted(kind, 7).await);
    let each = |more: usize, few: usize| {
        assert_eq!((more - few) % 5, 0, "{more} and {few} of five turns");
        (more - few) / 5
    };
    Syncs {
        commits: each(more.commits, few.commits),
        notes: each(more.notes, few.notes),
        folders: each(more.folders, few.folders),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_waits_for_the_disk_as_often_as_it_must() {
    if Command::new("strace").arg("-V").output().is_err() {
        return eprintln!("skipped: syncs are counted with strace, which is not installed");
    }
    // The user's message, the step with the call, the end.
    assert_eq!(of_one("read").await, Syncs { commits: 3, notes: 0, folders: 0 });
    // And the intent; the note and its folder.
    assert_eq!(of_one("append").await, Syncs { commits: 4, notes: 1, folders: 1 });
}
