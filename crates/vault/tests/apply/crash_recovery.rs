//! A change is stopped at every single step and recovered; the notes end up whole every time.
//!
//! A stop is a panic at a fault point: nothing after it runs, as if the process had ended there.

#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test makes its own files and fails where it cannot go on"
)]

#[path = "../support/mod.rs"]
mod support;

use std::fs;
use std::os::unix::fs::MetadataExt as _;

use protocol::{Change, ChangeAction, IntentState};
use support::stops::{NAMES, OPENED, OPENS, SAVES, faults, recover, run_until};
use support::{Folder, MemoryLedger, create, order, path, replace, unit};
use vault::ledger::LedgerError;
use vault::{Applied, Recovery, VaultError};

fn changes() -> Vec<Change> {
    vec![replace("notes/a.md", "old", "old and new"), create("x/y/b.md", "made")]
}

fn before() -> Folder {
    Folder::with(&[("notes/a.md", "old"), ("notes/other.md", "other")])
}

#[track_caller]
fn assert_applied(folder: &Folder, stop: usize) {
    assert_eq!(folder.read("notes/a.md").unwrap(), b"old and new", "stopped at {stop}");
    assert_eq!(folder.read("x/y/b.md").unwrap(), b"made", "stopped at {stop}");
    let names = ["notes", "notes/a.md", "notes/other.md", "x", "x/y", "x/y/b.md"];
    assert_eq!(folder.names(), names, "stopped at {stop}");
}

#[test]
fn a_change_stopped_at_any_step_is_finished_by_recovery() {
    let _one = faults();
    let mut stop = 0;
    loop {
        let (folder, ledger) = (before(), MemoryLedger::default());
        let work = async || drop(folder.vault().apply(order(changes()), &ledger).await);
        let ended = run_until(stop, work);
        let intended = ledger.states().len();
        let half = folder.read("notes/a.md").expect("a note is never away");
        assert!(half == b"old" || half == b"old and new", "stopped at {stop}: {half:?}");
        let recovery = recover(&folder.vault(), &ledger);
        assert!(recovery.problems.is_empty(), "stopped at {stop}: {:?}", recovery.problems);
        if intended == 0 {
            assert_eq!(folder.names(), before().names(), "not intended, not done");
        } else {
            assert_applied(&folder, stop);
            assert_eq!(ledger.states(), [IntentState::Done; 2], "stopped at {stop}");
        }
        if ended {
            break;
        }
        stop += 1;
    }
    assert!(stop > 20, "only {stop} steps were seen");
}

#[test]
fn a_group_that_moves_a_note_twice_is_finished_by_recovery_after_any_stop() {
    let _one = faults();
    let twice: fn() -> [Change; 3] = || {
        let renames = [("c.md", "b.md"), ("d.md", "e.md"), ("b.md", "a.md")];
        renames.map(|(from, to)| Change::rename(path(from), path(to)))
    };
    let with_its_folder: fn() -> [Change; 3] = || {
        let into = Change::rename(path("c.md"), path("F/c.md"));
        let other = Change::rename(path("d.md"), path("e.md"));
        [into, other, Change::rename_folder(path("F"), path("G"))]
    };
    for (renames, moved) in [(twice, "a.md"), (with_its_folder, "G/c.md")] {
        let mut stop = 0;
        loop {
            let notes = [("c.md", "c"), ("d.md", "d"), ("F/n.md", "n"), ("links.md", "[[c]]")];
            let (folder, ledger) = (Folder::with(&notes), MemoryLedger::default());
            let link = replace("links.md", "[[c]]", "[[moved]]");
            let batch = unit([link].into_iter().chain(renames()));
            let ended = run_until(stop, async || drop(folder.vault().apply(batch, &ledger).await));
            let is_intended = !ledger.states().is_empty();
            let recovery = recover(&folder.vault(), &ledger);
            let case = format!("{moved}, stopped at {stop}");
            assert!(recovery.problems.is_empty(), "{case}: {:?}", recovery.problems);
            if is_intended {
                assert_eq!(ledger.states(), [IntentState::Done; 4], "{case}");
                for (note, text) in [(moved, "c"), ("e.md", "d"), ("links.md", "[[moved]]")] {
                    assert_eq!(folder.read(note).unwrap(), text.as_bytes(), "{case}: {note}");
                }
                let files = ledger.files();
                assert_eq!(files[1], folder.vault().file_id(&path(moved)), "{case}");
            }
            if ended {
                break;
            }
            stop += 1;
        }
        assert!(stop > 10, "only {stop} steps were seen");
    }
}

/// Where files cannot be exchanged, the note's file gets a second name just before the change.
#[test]
fn a_second_name_of_the_note_is_removed_although_somebody_else_wrote_to_it() {
    let _one = faults();
    let (mut stop, mut stopped_before) = (0, 0);
    loop {
        let (folder, ledger) = (Folder::with(&[("a.md", "old")]), MemoryLedger::default());
        let change = || order(vec![replace("a.md", "old", "old and new")]);
        let ended = run_until(stop, async || drop(folder.vault().apply(change(), &ledger).await));
        let note = folder.root.join("a.md");
        if !ledger.states().is_empty() && fs::read(&note).unwrap() == b"old" {
            stopped_before += 1;
            let kept = folder.root.join(".trash/vaultmate-replaced");
            fs::create_dir_all(&kept).unwrap();
            fs::hard_link(&note, kept.join("1-0000-3-1.000000000 a.md")).unwrap();
            fs::write(&note, "saved in place").unwrap();
            recover(&folder.vault(), &ledger);
            assert_eq!(fs::metadata(&note).unwrap().nlink(), 1, "stopped at {stop}");
            assert_eq!(fs::read(&note).unwrap(), b"saved in place", "stopped at {stop}");
        }
        if ended {
            break;
        }
        stop += 1;
    }
    assert!(stopped_before > 2, "only {stopped_before} stops were before the exchange");
}

#[test]
fn a_recovery_stopped_at_any_step_is_finished_by_the_next() {
    let _one = faults();
    // Stopped when both temporary files are written: all of recovery's work lies ahead.
    for first in [2, 8, 20] {
        let mut stop = 0;
        loop {
            let (folder, ledger) = (before(), MemoryLedger::default());
            run_until(first, async || drop(folder.vault().apply(order(changes()), &ledger).await));
            let ended = run_until(stop, async || drop(folder.vault().recover(&ledger).await));
            recover(&folder.vault(), &ledger);
            assert_applied(&folder, stop);
            assert_eq!(ledger.states(), [IntentState::Done; 2], "stopped at {stop}");
            if ended {
                break;
            }
            stop += 1;
        }
    }
}

/// Stops an apply at every step, lets another program write `theirs`, recovers.
fn with_another_writer(
    theirs: &str,
    check: impl Fn(&Folder, (usize, bool), &[IntentState], Recovery),
) {
    let _one = faults();
    let mut stop = 0;
    loop {
        let (folder, ledger) = (before(), MemoryLedger::default());
        let change = replace("notes/a.md", "old", "old and new");
        let work = async || drop(folder.vault().apply(order([change]), &ledger).await);
        let ended = run_until(stop, work);
        if ledger.states() == [IntentState::Open] {
            let is_changed = folder.read("notes/a.md").unwrap() == b"old and new";
            folder.write("notes/a.md", theirs);
            let recovery = recover(&folder.vault(), &ledger);
            check(&folder, (stop, is_changed), &ledger.states(), recovery);
        }
        if ended {
            return;
        }
        stop += 1;
    }
}

#[test]
fn what_another_program_wrote_after_the_stop_is_never_touched() {
    with_another_writer("theirs", |folder, (stop, is_changed), states, recovery| {
        assert_eq!(folder.read("notes/a.md").unwrap(), b"theirs", "stopped at {stop}");
        // The expected outcome where a program wrote to the note after the change was made. If the
        // staged file still exists, the change was not made.
        let is_right = match is_changed {
            true => states == [IntentState::Done],
            false => matches!(states, [IntentState::Parked | IntentState::Stale]),
        };
        assert!(is_right, "stopped at {stop}: {states:?}");
        let is_told = |(_, why): &(_, VaultError)| {
            matches!(why, VaultError::Parked { .. } | VaultError::Stale { .. })
        };
        assert_eq!(
            recovery.problems.iter().filter(|it| is_told(it)).count(),
            usize::from(!is_changed)
        );
        assert_eq!(folder.names(), ["notes", "notes/a.md", "notes/other.md"], "stopped at {stop}");
    });
}

/// The state right after an exchange that took out bytes the plan was not made on.
fn exchanged(taken_out: &str) -> (Folder, MemoryLedger) {
    let folder = before();
    let vault = folder.vault();
    let ledger = MemoryLedger::default();
    // The third point is behind `intend`: the intent is stored and nothing else has happened.
    run_until(2, async || drop(vault.apply(order([changes().remove(0)]), &ledger).await));
    let intent = ledger.0.lock().unwrap()[0].0.clone();
    let temp = folder.root.join("notes").join(&intent.temp_name);
    folder.write("notes/a.md", taken_out);
    std::fs::rename(folder.root.join("notes/a.md"), temp).unwrap();
    folder.write("notes/a.md", "old and new");
    (folder, MemoryLedger::holding(vec![intent]))
}

#[test]
fn bytes_that_an_exchange_took_out_by_mistake_go_back() {
    let _one = faults();
    for theirs in ["theirs", "o", ""] {
        let (folder, ledger) = exchanged(theirs);
        let recovery = recover(&folder.vault(), &ledger);
        assert!(matches!(recovery.problems[0].1, VaultError::Stale { .. }));
        assert_eq!(folder.read("notes/a.md").unwrap(), theirs.as_bytes());
        assert_eq!(ledger.states(), [IntentState::Stale]);
        assert_eq!(folder.names(), ["notes", "notes/a.md", "notes/other.md"]);
    }
}

#[test]
fn a_half_written_file_of_ours_never_takes_the_place_of_the_note() {
    let _one = faults();
    for half in ["", "old"] {
        let (folder, ledger) = exchanged("theirs");
        let intent = ledger.0.lock().unwrap()[0].0.clone();
        let temp = format!("notes/{}", intent.temp_name);
        std::fs::remove_file(folder.root.join(&temp)).unwrap();
        folder.write(&temp, &format!("{half} and")[..half.len()]);
        recover(&folder.vault(), &ledger);
        assert_eq!(folder.read("notes/a.md").unwrap(), b"old and new", "{half:?}");
    }
}

#[test]
fn an_exchange_that_only_missed_its_clean_up_is_done() {
    let _one = faults();
    let (folder, ledger) = exchanged("old");
    let recovery = recover(&folder.vault(), &ledger);
    assert_eq!(recovery.done[0].change.path, path("notes/a.md"));
    assert_eq!(folder.read("notes/a.md").unwrap(), b"old and new");
    assert_eq!(folder.names(), ["notes", "notes/a.md", "notes/other.md"]);
}

#[test]
fn a_file_of_another_content_under_the_temporary_name_is_not_swept() {
    let _one = faults();
    let (folder, ledger) = exchanged("someone else's");
    folder.write("notes/a.md", "old");
    recover(&folder.vault(), &ledger);
    assert_eq!(ledger.states(), [IntentState::Parked]);
    assert_eq!(folder.read("notes/a.md").unwrap(), b"old");
    assert_eq!(folder.names().len(), 4);
}

/// Applies one change while another program writes `saves[n]` at the n-th time `point` is passed.
fn applied_while(point: &'static str, saves: &[&'static str]) -> (Folder, MemoryLedger, Applied) {
    let (folder, ledger) = (before(), MemoryLedger::default());
    let note = folder.root.join("notes/a.md");
    *SAVES.lock().unwrap() = Some((point, note, saves.to_vec()));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let change = order([changes().remove(0)]);
    let applied = runtime.block_on(folder.vault().apply(change, &ledger)).unwrap();
    *SAVES.lock().unwrap() = None;
    (folder, ledger, applied)
}

#[test]
fn a_note_saved_just_before_the_exchange_is_restored_whole() {
    let _one = faults();
    let (folder, ledger, applied) = applied_while("vault.exchange.before", &["saved"]);
    assert!(matches!(applied.problems[0].1, VaultError::Stale { .. }), "{applied:?}");
    assert_eq!(ledger.states(), [IntentState::Stale]);
    assert_eq!(folder.read("notes/a.md").unwrap(), b"saved");
    // It was out of sight for a moment, so a copy is in the trash for an hour.
    let (trash, vault): (Vec<_>, Vec<_>) =
        folder.names().into_iter().partition(|name| name.starts_with(".trash"));
    assert_eq!(vault, before().names());
    let copies: Vec<_> = trash.iter().filter(|name| folder.root.join(name).is_file()).collect();
    assert_eq!(copies.len(), 1, "{trash:?}");
    assert_eq!(folder.read(copies[0]).unwrap(), b"saved");
}

#[test]
fn a_note_saved_twice_around_the_exchange_keeps_the_newest_and_loses_neither() {
    let _one = faults();
    let (folder, ledger, applied) = applied_while("vault.exchange.before", &["first", "second"]);
    assert!(matches!(applied.problems[0].1, VaultError::Overtaken { .. }), "{applied:?}");
    assert_eq!(ledger.states(), [IntentState::Failed], "it certainly was not made");
    assert_eq!(folder.read("notes/a.md").unwrap(), b"second");
    let temp = folder.names().into_iter().find(|name| name.contains(".vaultmate-")).unwrap();
    assert_eq!(folder.read(&temp).unwrap(), b"first");
}

#[test]
fn a_new_note_that_another_program_replaces_at_once_is_that_programs() {
    let _one = faults();
    let (folder, ledger) = (before(), MemoryLedger::default());
    let note = folder.root.join("notes/new.md");
    *SAVES.lock().unwrap() = Some(("vault.rename.after", note, vec!["theirs"]));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let change = order([create("notes/new.md", "ours")]);
    let applied = runtime.block_on(folder.vault().apply(change, &ledger)).unwrap();
    *SAVES.lock().unwrap() = None;
    assert!(matches!(applied.problems[0].1, VaultError::Exists { .. }), "{applied:?}");
    assert_eq!(ledger.states(), [IntentState::Stale]);
    assert_eq!(folder.read("notes/new.md").unwrap(), b"theirs");
    assert!(!folder.names().iter().any(|name| name.contains(".vaultmate-")));
}

#[test]
fn what_is_written_by_a_program_that_opens_the_note_around_the_exchange_is_kept() {
    let _one = faults();
    for point in ["vault.exchange.before", "vault.exchange.after", "vault.unlink.after"] {
        let folder = Folder::with(&[("a.md", "title\n\n\nend\n")]);
        *OPENS.lock().unwrap() = Some((point, folder.root.join("a.md")));
        let edit = replace("a.md", "title\n\n\nend\n", "title, edited\n\n\nend\n");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let ledger = MemoryLedger::default();
        let applied = runtime.block_on(folder.vault().apply(order([edit]), &ledger)).unwrap();
        OPENED.lock().unwrap().take().expect("somebody opened the note").join().unwrap();
        assert_eq!(applied.done, [path("a.md")], "{point}: {applied:?}");
        let now = String::from_utf8(folder.read("a.md").unwrap()).unwrap();
        assert_eq!(now, "title, edited\n\n\nend\nmine\n", "{point}");
        assert_eq!(folder.names(), ["a.md", "notes"], "{point}");
    }
}

#[test]
fn a_note_costs_one_file_sync_and_one_folder_sync() {
    let _one = faults();
    NAMES.lock().unwrap().clear();
    let (folder, ledger) = (before(), MemoryLedger::default());
    folder.write("notes/b.md", "b");
    let changes = [changes().remove(0), replace("notes/b.md", "b", "c"), create("notes/c.md", "c")];
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(folder.vault().apply(order(changes), &ledger)).unwrap();
    let names = NAMES.lock().unwrap().clone();
    let count = |name: &str| names.iter().filter(|passed| **passed == name).count();
    assert_eq!(count("vault.intend.before"), 1);
    assert_eq!((count("vault.fsync.before"), count("vault.folder_fsync.before")), (3, 3));
    let last_staged = names.iter().rposition(|name| *name == "vault.fsync.after");
    let first_changed = names.iter().position(|name| *name == "vault.exchange.before");
    assert!(last_staged < first_changed, "every temporary file is durable before a note changes");
}

#[test]
fn a_caller_that_goes_away_leaves_a_change_that_recovery_settles() {
    let _one = faults();
    let (folder, ledger) = (before(), MemoryLedger::default());
    let vault = folder.vault();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let mut applying = Box::pin(vault.apply(order(changes()), &ledger));
        // Polled once: the intents are stored and the work on the files has begun.
        let polled = std::future::poll_fn(|context| {
            std::task::Poll::Ready(applying.as_mut().poll(context).is_ready())
        });
        polled.await;
        drop(applying);
        // Waits until the abandoned work is over: orders run one after the other.
        vault.recover(&ledger).await.unwrap();
    });
    assert_applied(&folder, 0);
    assert_eq!(ledger.states(), [IntentState::Done; 2]);
}

/// The disk of the ledger takes intents, and not how the first of them ended.
struct LedgerFullAfterIntents {
    ledger: MemoryLedger,
    refuses: std::sync::atomic::AtomicBool,
}

#[async_trait::async_trait]
impl vault::ledger::Ledger for LedgerFullAfterIntents {
    async fn record_intents(&self, intents: &[protocol::Intent]) -> Result<(), LedgerError> {
        self.ledger.record_intents(intents).await
    }

    async fn record_outcomes(&self, ended: &[protocol::SettledIntent]) -> Result<(), LedgerError> {
        if self.refuses.swap(false, std::sync::atomic::Ordering::SeqCst) {
            return Err(LedgerError("the disk is full".to_owned()));
        }
        self.ledger.record_outcomes(ended).await
    }

    async fn open_intents(&self) -> Result<Vec<protocol::Intent>, LedgerError> {
        self.ledger.open_intents().await
    }
}

#[test]
fn a_change_whose_end_was_not_stored_is_not_made_again_after_its_revert() {
    let _one = faults();
    let folder = before();
    let vault = folder.vault();
    let ledger = LedgerFullAfterIntents { ledger: MemoryLedger::default(), refuses: true.into() };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        vault.apply(order([replace("notes/a.md", "old", "new")]), &ledger).await.unwrap();
        assert_eq!(ledger.ledger.states(), [IntentState::Open]);
        vault.apply(order([replace("notes/a.md", "new", "old")]), &ledger).await.unwrap();
        assert_eq!(ledger.ledger.states(), [IntentState::Done; 2]);
        folder.vault().recover(&ledger).await.unwrap();
    });
    assert_eq!(folder.read("notes/a.md").unwrap(), b"old");
}

/// Makes `changes` with a ledger that cannot store how they end, lets `after` happen to the notes, and
/// settles.
fn settle_after(folder: &Folder, changes: Vec<Change>, after: impl FnOnce()) -> Vec<IntentState> {
    let vault = folder.vault();
    let ledger = LedgerFullAfterIntents { ledger: MemoryLedger::default(), refuses: true.into() };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let applied = vault.apply(order(changes), &ledger).await.unwrap();
        assert!(applied.problems.is_empty(), "{:?}", applied.problems);
        assert!(ledger.ledger.states().iter().all(|state| *state == IntentState::Open));
        after();
        vault.settle(&ledger).await.unwrap();
    });
    ledger.ledger.states()
}

#[test]
fn a_change_that_the_user_reverted_before_its_end_was_stored_is_not_made_again() {
    let _one = faults();
    let folder = before();
    let act = ChangeAction::Trash { before: b"old".to_vec() };
    let gone = Change { path: path("notes/a.md"), act };
    let states = settle_after(&folder, vec![gone], || {
        let trashed = fs::read_dir(folder.root.join(".trash")).unwrap().next().unwrap().unwrap();
        fs::rename(trashed.path(), folder.root.join("notes/a.md")).unwrap();
    });
    assert_eq!((states, folder.read("notes/a.md")), (vec![IntentState::Done], Some(b"old".into())));

    let folder = before();
    let states = settle_after(&folder, vec![replace("notes/a.md", "old", "new")], || {
        fs::write(folder.root.join("notes/a.md"), "old").unwrap();
    });
    assert_eq!((states, folder.read("notes/a.md")), (vec![IntentState::Done], Some(b"old".into())));
}

#[test]
fn a_change_that_was_stopped_is_not_made_later_because_its_end_was_not_stored() {
    let _one = faults();
    let folder = before();
    let vault = folder.vault();
    let ledger = LedgerFullAfterIntents { ledger: MemoryLedger::default(), refuses: true.into() };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let stopped = vault::Progress::default();
        stopped.stop();
        let applied = vault.apply_until(&stopped, order(changes()), &ledger).await.unwrap();
        assert_eq!(applied.problems.len(), 2);
        vault.settle(&ledger).await.unwrap();
    });
    assert_eq!(ledger.ledger.states(), [IntentState::Failed; 2]);
    assert_eq!(folder.names(), before().names());
}
