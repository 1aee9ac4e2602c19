//! A change is stopped at every single step and recovered; the notes end up whole every time.
//!
//! A stop is a panic at a fault point: nothing after it runs, as if the process had ended there.

#![allow(clippy::disallowed_methods, reason = "tests look at the files beside the vault")]

mod support;

use std::panic;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::thread;

use protocol::fault;
use protocol::{Change, IntentState};
use support::{Folder, MemoryLedger, create, order, path, replace};
use vault::{Recovery, Vault, VaultError};

/// Points still to pass before the stop; `usize::MAX` means none.
static LEFT: AtomicUsize = AtomicUsize::new(usize::MAX);
static PASSED: AtomicUsize = AtomicUsize::new(0);

fn stop_at_zero(_: &'static str) {
    PASSED.fetch_add(1, Ordering::SeqCst);
    let left = LEFT.load(Ordering::SeqCst);
    if left == usize::MAX {
        return;
    }
    assert!(left != 0, "stopped here");
    LEFT.store(left - 1, Ordering::SeqCst);
}

/// The points belong to the whole process, so one test uses them at a time.
fn faults() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        fault::install(stop_at_zero);
        let loud = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if info.payload_as_str() != Some("stopped here") {
                loud(info);
            }
        }));
    });
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs `work` on a thread of its own and says whether it came to its end.
fn run_until(stop: usize, work: impl AsyncFnOnce() + Send) -> bool {
    LEFT.store(stop, Ordering::SeqCst);
    let ended = thread::scope(|scope| {
        let block = || {
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            runtime.block_on(work());
        };
        scope.spawn(block).join().is_ok()
    });
    let was_stopped = LEFT.swap(usize::MAX, Ordering::SeqCst) == 0;
    ended && !was_stopped
}

fn recover(vault: &Vault, ledger: &MemoryLedger) -> Recovery {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(vault.recover(ledger)).unwrap()
}

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
fn with_another_writer(theirs: &str, check: impl Fn(&Folder, usize, &[IntentState], Recovery)) {
    let _one = faults();
    let mut stop = 0;
    loop {
        let (folder, ledger) = (before(), MemoryLedger::default());
        let change = replace("notes/a.md", "old", "old and new");
        let work = async || drop(folder.vault().apply(order([change]), &ledger).await);
        let ended = run_until(stop, work);
        if ledger.states() == [IntentState::Open] {
            folder.write("notes/a.md", theirs);
            let recovery = recover(&folder.vault(), &ledger);
            check(&folder, stop, &ledger.states(), recovery);
        }
        if ended {
            return;
        }
        stop += 1;
    }
}

#[test]
fn what_another_program_wrote_after_the_stop_is_never_touched() {
    with_another_writer("theirs", |folder, stop, states, recovery| {
        assert_eq!(folder.read("notes/a.md").unwrap(), b"theirs", "stopped at {stop}");
        assert_eq!(states, [IntentState::Parked], "stopped at {stop}");
        assert!(matches!(recovery.problems[0].1, VaultError::Parked { .. }));
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
    folder.write("notes/a.md", "old and new");
    folder.write(&format!("notes/{}", intent.temp_name), taken_out);
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

#[test]
fn a_note_written_in_the_moment_of_the_exchange_is_stale_and_kept() {
    let _one = faults();
    // Counts the points of an apply that nobody disturbs, to find those around the exchange.
    let mut kept = 0;
    for stop in 0..40 {
        let (folder, ledger) = (before(), MemoryLedger::default());
        run_until(stop, async || {
            drop(folder.vault().apply(order([changes().remove(0)]), &ledger).await);
        });
        let temp = folder.names().into_iter().find(|name| name.contains(".vaultmate-"));
        let is_staged = temp.is_some_and(|temp| folder.read(&temp).unwrap() == b"old and new");
        if !is_staged || folder.read("notes/a.md").unwrap() != b"old" {
            continue;
        }
        folder.write("notes/a.md", "saved just now");
        recover(&folder.vault(), &ledger);
        assert_eq!(folder.read("notes/a.md").unwrap(), b"saved just now");
        kept += 1;
    }
    assert!(kept > 0, "no stop lay between writing and exchanging");
}

#[test]
fn a_caller_that_goes_away_leaves_a_change_that_recovery_settles() {
    let _one = faults();
    let (folder, ledger) = (before(), MemoryLedger::default());
    let vault = folder.vault();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
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
