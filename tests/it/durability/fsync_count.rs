//! How often a turn waits for the disk, counted from outside the process.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use testkit::scripted_model::{KEY, last_message_text, tool_results};
use testkit::{Reply, ScriptedModel, TempVault};

/// The calls that waited for the disk.
#[derive(Debug, Default, PartialEq, Eq)]
struct TurnSyncs {
    /// Commits of the database; folding its log into the file is not counted.
    commits: usize,
    /// Files of notes.
    notes: usize,
    /// Folders of notes.
    folders: usize,
}

/// The model reads or appends once a turn.
fn reply(request: &Value) -> Reply {
    if !tool_results(request).is_empty() {
        return Reply::text("Done.");
    }
    let words = last_message_text(request);
    let line = json!({ "path": "List.md", "content": format!("- {}", words.len()) });
    match words.contains("play append") {
        true => Reply::calls(vec![("append_file", line)]),
        false => Reply::calls(vec![("read_file", json!({ "path": "List.md" }))]),
    }
}

/// The syncs of so many turns in a process of their own, its start and end among them.
async fn count_syncs(kind: &str, turns: usize) -> TurnSyncs {
    let (notes, data) =
        (TempVault::new(&[("List.md", "# List\n\n- bread\n")]), TempVault::new(&[]));
    let model = ScriptedModel::responder(reply).await;
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
    let syncs = parse_trace(&std::fs::read_to_string(&trace).expect("a trace"), notes.root());
    std::fs::remove_file(&trace).expect("the trace is removed");
    syncs
}

fn parse_trace(trace: &str, notes: &Path) -> TurnSyncs {
    let (folder, inside) = (format!("<{}>", notes.display()), format!("<{}/", notes.display()));
    let count = |what: &str| {
        trace.lines().filter(|line| line.contains("sync(") && line.contains(what)).count()
    };
    TurnSyncs {
        commits: count("vaultmate.db-wal>"),
        notes: count(&inside),
        folders: count(&folder),
    }
}

/// The syncs of one turn, if all are alike.
async fn syncs_per_turn(kind: &str) -> TurnSyncs {
    let (few, more) = (count_syncs(kind, 2).await, count_syncs(kind, 7).await);
    let each = |more: usize, few: usize| {
        assert_eq!((more - few) % 5, 0, "{more} and {few} of five turns");
        (more - few) / 5
    };
    TurnSyncs {
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
    assert_eq!(syncs_per_turn("read").await, TurnSyncs { commits: 3, notes: 0, folders: 0 });
    // And the intent; the note and its folder.
    assert_eq!(syncs_per_turn("append").await, TurnSyncs { commits: 4, notes: 1, folders: 1 });
}
