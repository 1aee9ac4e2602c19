//! The power is cut at durable steps of whole turns, with notes and database on one disk: after the next start
//! everything continues, nothing is lost and nothing is done twice. The same holds for the changes of
//! `vaultmate-cli ask --write`.
//!
//! `./dev faults` cuts at many points; with the tests runs a sample (`STORY_STRIDE`). It needs the right to mount.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Stdio};

use app::{App, DataDir};
use protocol::changes::history::{ListApplied, UndoConflict, UndoScope};
use protocol::chat::conversation_list::{ArchiveState, ListConversations};
use protocol::{ResumePolicy, Settings};
use serde_json::{Value, json};
use testkit::fault_injection::PowerCutDisk;
use testkit::stories::note_changes::{ADDED, EDITED, NOTES};
use testkit::{Reply, ScriptedModel, TempVault};

use crate::cli_ask::ask_command;
use crate::durability::turn_sweep::{TurnSweepFixture, UndisturbedRun, run_undisturbed, stride};
use crate::harness::test_app::{TestHome, run_command, settings_without_model};

/// Of the steps that the kills are tried at, so many-th.
const CUT_STRIDE: usize = 4;

const STORIES: [&str; 3] = ["t4", "t5", "t6"];

/// Nothing where the machine allows no mounts: a line says so.
fn disk_or_skip() -> Option<PowerCutDisk> {
    match PowerCutDisk::new("ext4") {
        Ok(disk) => Some(disk),
        Err(why) => {
            println!("skipped: no disk whose power can be cut: {why}");
            None
        }
    }
}

/// Plays a story until it kills itself there, cuts the power and starts again; where it was, and what is not as it is
/// undisturbed.
async fn cut_power_at(
    disk: &mut PowerCutDisk,
    story: &str,
    at: usize,
    whole: &UndisturbedRun,
) -> (String, Vec<String>) {
    let stage = TurnSweepFixture::new_in(&disk.root(), story).await;
    disk.sync().expect("synced");
    let output = stage.run_story(story, &[("KILL_AT", at.to_string())]).await;
    let site = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    assert_eq!(output.status.signal(), Some(9), "{story}@{at}: {site}");
    disk.cut_power().expect("the disk is mounted again");
    let (_, wrong) = stage.check_resume(story, whole).await;
    stage.model.finish();
    (site, wrong)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sweep_of_power_cuts_over_turns_comes_to_the_same_end() {
    let Some(mut disk) = disk_or_skip() else { return };
    let (mut sites, mut wrong, mut cuts) = (BTreeSet::new(), Vec::new(), 0);
    for story in STORIES {
        let whole = run_undisturbed(story).await;
        for at in (1..=whole.points).step_by(CUT_STRIDE * stride(story)) {
            let (site, found) = cut_power_at(&mut disk, story, at, &whole).await;
            wrong.extend(found.into_iter().map(|what| format!("{story}@{at} {site}: {what}")));
            sites.insert(site);
            cuts += 1;
        }
    }
    println!("kills={cuts} sites={} wrong={} by power cuts", sites.len(), wrong.len());
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(sites.len() >= 5, "{sites:?}");
}

/// The application opens and undoes what the conversation led to; its conflicts and notes that were left.
async fn undo_everything(stage: &TurnSweepFixture) -> (Vec<UndoConflict>, u32) {
    let app = App::start(DataDir::at(stage.data_root().to_owned()).expect("a data folder"));
    app.open_vault(stage.vault_root()).await.expect("the vault opens");
    let page = ListConversations { archive_state: ArchiveState::Open, before: None };
    let listed = app.list_conversations(&page).await.expect("a list").conversations;
    let conversation = listed.first().expect("a conversation").id.clone();
    let undone = app.undo(&UndoScope::Conversation { conversation }).await.expect("undone");
    app.shutdown().await;
    (undone.conflicts, undone.left)
}

/// Sixty notes are changed in one review, the power is cut in the middle, the user edits one of them, and all is undone.
#[tokio::test(flavor = "multi_thread")]
async fn a_sweep_of_power_cuts_over_a_review_of_sixty_notes_leaves_all_of_them_undoable() {
    const EDITED: &str = "Many/Note 07.md";
    let Some(mut disk) = disk_or_skip() else { return };
    let whole = run_undisturbed("t60").await;
    let parts = if stride("t60") > 1 { 4 } else { 16 };
    for part in 1..=parts {
        // The review is applied in the second half of the story.
        let at = whole.points / 2 + part * (whole.points / 2) / (parts + 1);
        let stage = TurnSweepFixture::new_in(&disk.root(), "t60").await;
        let before = stage.notes();
        disk.sync().expect("synced");
        let output = stage.run_story("t60", &[("KILL_AT", at.to_string())]).await;
        let site = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        assert_eq!(output.status.signal(), Some(9), "{at}: {site}");
        disk.cut_power().expect("the disk is mounted again");
        let (_, wrong) = stage.check_resume("t60", &whole).await;
        assert_eq!(wrong, Vec::<String>::new(), "{at} {site}");

        let user_line = "\nA line of the user.\n";
        let edited = stage.vault_root().join(EDITED);
        let mut note = OpenOptions::new().append(true).open(&edited).expect("a note");
        note.write_all(user_line.as_bytes()).expect("written");
        drop(note);
        assert_eq!(undo_everything(&stage).await, (Vec::new(), 0), "{at} {site}");
        let mut expected = before;
        expected.get_mut(EDITED).expect("a note").extend_from_slice(user_line.as_bytes());
        assert_eq!(stage.notes(), expected, "{at} {site}");
        stage.model.finish();
    }
}

/// The control: a disk that reports a sync that it did not do.
#[tokio::test(flavor = "multi_thread")]
async fn the_sweep_of_power_cuts_finds_a_disk_that_lies_about_syncing() {
    let Some(mut disk) = disk_or_skip() else { return };
    let whole = run_undisturbed("t4").await;
    let stage = TurnSweepFixture::new_in(&disk.root(), "t4").await;
    disk.sync().expect("synced");
    let mut lying = Command::new("strace");
    lying.args(["-f", "-qq", "-o", "/dev/null", "-e", "trace=fsync,fdatasync"]);
    lying.args(["-e", "inject=fsync,fdatasync:retval=0", env!("CARGO_BIN_EXE_story")]);
    let output = stage.run_command(lying, "t4", &[]).await;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(stage.has_notes_of(&whole), "the story came to its end");
    disk.cut_power().expect("the disk is mounted again");
    assert!(!stage.has_notes_of(&whole), "the lie was not found");
    stage.model.finish();
}

/// One answer of the model to `ask --write`: its calls, and the notes that they change, as they are afterwards.
struct AskStep {
    calls: Vec<(&'static str, Value)>,
    notes: [(&'static str, &'static str); 2],
}

fn ask_steps() -> [AskStep; 2] {
    let edit = |path: &str, old: &str, new: &str| {
        ("edit_file", json!({ "path": path, "old_text": old, "new_text": new }))
    };
    let added = vec![
        ("append_file", json!({ "path": "List.md", "content": "- milk" })),
        ("write_file", json!({ "path": ADDED[1].0, "content": ADDED[1].1 })),
    ];
    let edited = vec![edit("Beta.md", "other", "CHANGED"), edit("Deep/Gamma.md", "- two", "- TWO")];
    [
        AskStep { calls: added, notes: ADDED },
        AskStep { calls: edited, notes: [EDITED[1], EDITED[2]] },
    ]
}

/// The moment at which the disk loses what was not synced.
#[derive(Debug, Clone, Copy)]
enum AskPowerCut {
    /// While the model is asked for its next answer; it knows the results of its calls by then.
    MidTurn,
    /// After the program has ended.
    AtEnd,
}

/// Runs `ask --write` until the calls of these answers are done and the power is to be cut.
async fn run_ask_until(home: &TestHome, steps: &[AskStep], cut: AskPowerCut) {
    let mut replies: Vec<Reply> =
        steps.iter().map(|step| Reply::calls(step.calls.clone())).collect();
    replies.push(match cut {
        AskPowerCut::MidTurn => Reply::hang(),
        AskPowerCut::AtEnd => Reply::text("All of it is done."),
    });
    let requests = replies.len();
    let model = ScriptedModel::start(replies).await;
    let mut command = ask_command(home, &model, &["--write", "Change the notes"]);
    match cut {
        AskPowerCut::MidTurn => {
            let quiet = command.stdout(Stdio::null()).stderr(Stdio::null());
            let mut child = quiet.spawn().expect("it starts");
            model.wait_for_request(requests).await;
            child.kill().await.expect("it ran");
        }
        AskPowerCut::AtEnd => {
            let said = run_command(&mut command).await;
            assert_eq!(said.code, Some(0), "{said:?}");
        }
    }
    model.finish();
}

/// All notes, without the files of the application and the trash.
fn own_notes(home: &TestHome) -> BTreeMap<String, Vec<u8>> {
    let files = home.notes.snapshot().into_iter();
    let is_own = |path: &str| path.starts_with(".vaultmate") || path.starts_with(".trash");
    files.filter(|(path, _)| !is_own(path)).collect()
}

/// The application opens and lists the notes of every applied change.
async fn applied_paths(home: &TestHome) -> BTreeSet<String> {
    let settings = Settings { resume: ResumePolicy::Never, ..settings_without_model() };
    let running = home.open(settings).await;
    let all = ListApplied { conversation: None, before: None };
    let sets = running.app.list_applied(&all).await.expect("a list").sets;
    let notes = sets.into_iter().flat_map(|set| set.notes);
    let paths = notes.map(|note| note.path.to_string()).collect();
    running.quit().await;
    paths
}

/// A change that was told as done, to the model or to the user, is on the disk and in the ledger.
#[tokio::test(flavor = "multi_thread")]
async fn changes_that_ask_told_as_done_outlast_a_power_cut() {
    let Some(mut disk) = disk_or_skip() else { return };
    let steps = ask_steps();
    for (done, cut) in
        [(1, AskPowerCut::MidTurn), (2, AskPowerCut::MidTurn), (2, AskPowerCut::AtEnd)]
    {
        let home = TestHome {
            notes: TempVault::new_in(&disk.root(), &NOTES),
            data: TempVault::new_in(&disk.root(), &[]),
        };
        let before = own_notes(&home);
        disk.sync().expect("synced");
        run_ask_until(&home, &steps[..done], cut).await;
        // The control: a file that nobody synced is lost.
        let unsynced = disk.root().join("unsynced");
        fs::write(&unsynced, "x").expect("written");
        disk.cut_power().expect("the disk is mounted again");
        assert_ne!(fs::read(&unsynced).ok(), Some(b"x".to_vec()), "the control");

        let mut expected = before;
        let mut paths = BTreeSet::new();
        for (path, text) in steps[..done].iter().flat_map(|step| step.notes) {
            expected.insert(path.to_owned(), text.into());
            paths.insert(path.to_owned());
        }
        assert_eq!(own_notes(&home), expected, "{done} {cut:?}");
        assert_eq!(applied_paths(&home).await, paths, "{done} {cut:?}");
    }
}
